//! Notices that a client went away while its statement runs, so that the statement's locks do not outlive it.
//!
//! The statement is only watched while it is suspended (a lock wait, a commit's wait for the disk, a slow reader): one that
//! runs to its end on its first poll pays nothing. A hang-up *cancels* the statement, as a cancel request would, instead of
//! dropping it half-way: a commit that has begun then still ends in one way or the other.
//!
//! A closed socket is recognised by the kernel's word that the other side will send nothing more. A client that shuts down
//! its sending side and still waits for a statement of more than [`HANGUP_CHECK_EVERY`] is taken for gone, too.

use crate::limits::HANGUP_CHECK_EVERY;
use futures::FutureExt;
use std::future::Future;
use std::pin::Pin;
use tokio::io::Interest;
use tokio::net::TcpStream;

/// Runs `work` to its end; calls `gone` when the client hangs up meanwhile. (Pinned by the caller: a future that is handed
/// over by value is kept twice, and the tasks of idle connections are counted in kilobytes.)
pub(crate) async fn watched<F: Future>(socket: &TcpStream, gone: impl FnOnce(), mut work: Pin<&mut F>) -> F::Output {
    tokio::select! {
        biased;
        done = work.as_mut() => return done,
        () = hung_up(socket) => gone(),
    }
    work.await
}

async fn hung_up(socket: &TcpStream) {
    loop {
        tokio::time::sleep(HANGUP_CHECK_EVERY).await;
        // Readiness is level-held by the runtime: pending input does not hide that the other side has closed.
        match socket.ready(Interest::READABLE).now_or_never() {
            Some(Ok(ready)) if ready.is_read_closed() => return,
            Some(Err(_)) => return,
            _ => {}
        }
    }
}
