//! Looks at a statement while it runs: its client may have gone away, it may wait for a lock for long, its transaction may have lasted too long.
//!
//! The statement is only watched while it is suspended (a lock wait, a commit's wait for the disk, a slow reader): one that
//! runs to its end on its first poll pays nothing. A hang-up *cancels* the statement, as a cancel request would, instead of
//! dropping it half-way: a commit that has begun then still ends in one way or the other.
//!
//! A closed socket is recognised by the kernel's word that the other side will send nothing more. A client that shuts down
//! its sending side and still waits for a statement of more than [`LOOK_EVERY`] is taken for gone, too.
//!
//! The notice about a lock goes to the socket at once, past the output buffer, which belongs to the statement. That is safe because a statement that waits
//! for a lock is not in the middle of sending anything.

use crate::control::{Control, End};
use crate::limits::LOOK_EVERY;
use crate::metrics::WireMetrics;
use crate::output::Output;
use futures::FutureExt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::Ordering::Relaxed;
use tidelock_sql::exec::Notice;
use tokio::io::Interest;
use tokio::net::TcpStream;

/// What was seen.
enum Seen {
    HungUp,
    LongWait(Box<Notice>),
    Overdue,
}

/// Runs `work` to its end. (Pinned by the caller: a future that is handed
/// over by value is kept twice, and the tasks of idle connections are counted in kilobytes.)
pub(crate) async fn watched<F: Future>(socket: &TcpStream, control: &Control, metrics: &WireMetrics, mut work: Pin<&mut F>) -> F::Output {
    let mut told = false;
    loop {
        let seen = tokio::select! {
            biased;
            done = work.as_mut() => return done,
            seen = look(socket, control, &mut told) => seen,
        };
        match seen {
            // A client that cannot be told is found out by the next look.
            Seen::LongWait(notice) => drop(send(socket, &notice).await),
            Seen::Overdue => {
                control.ask(End::TransactionTimeout);
                break;
            }
            Seen::HungUp => {
                metrics.hangups.fetch_add(1, Relaxed);
                control.cancel();
                break;
            }
        }
    }
    work.await
}

async fn look(socket: &TcpStream, control: &Control, told: &mut bool) -> Seen {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        // Readiness is level-held by the runtime: pending input does not hide that the other side has closed.
        match socket.ready(Interest::READABLE).now_or_never() {
            Some(Ok(ready)) if ready.is_read_closed() => return Seen::HungUp,
            Some(Err(_)) => return Seen::HungUp,
            _ => {}
        }
        let Some(watch) = control.watch() else { continue };
        if watch.end_overdue() {
            return Seen::Overdue;
        }
        if let Some(notice) = watch.long_wait(told) {
            return Seen::LongWait(Box::new(notice));
        }
    }
}

async fn send(socket: &TcpStream, notice: &Notice) -> io::Result<()> {
    let mut output = Output::default();
    output.notice(notice);
    let mut rest = &output.buffer[..];
    while !rest.is_empty() {
        socket.writable().await?;
        match socket.try_write(rest) {
            Ok(written) => rest = &rest[written..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
