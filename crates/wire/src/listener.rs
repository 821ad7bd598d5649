//! The listener: accepts sockets, deals them out to the workers, and stops in good order.

use crate::connection::Shared;
use crate::limits::{CANCEL_GRACE, DRAIN_GRACE, STARTING_CONNECTIONS};
use crate::metrics::WireMetrics;
use crate::worker::{Order, Worker};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tidelock_sql::session::Cluster;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// How the wire layer is started.
#[derive(Clone, Debug)]
pub struct WireConfig {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Threads that serve connections; 0 is one for each core.
    pub workers: usize,
    /// Sessions at a time; the next one is refused with 53300.
    pub max_connections: usize,
}

/// A running listener with its workers. Dropping it drops all connections; [`Listener::stop`] is the polite way.
pub struct Listener {
    address: SocketAddr,
    metrics: Arc<WireMetrics>,
    stop: watch::Sender<bool>,
    acceptor: tokio::task::JoinHandle<()>,
    workers: Arc<Vec<Worker>>,
}

/// How long to wait after the system refused to hand out a socket (it is out of file descriptors, as a rule).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How often a stop looks whether all connections are gone.
const STOP_POLL: Duration = Duration::from_millis(5);

impl Listener {
    /// Binds the address and starts the workers; the acceptor runs on the caller's runtime.
    pub async fn start(config: WireConfig, cluster: Arc<Cluster>, metrics: Arc<WireMetrics>) -> io::Result<Listener> {
        let socket = TcpListener::bind(config.listen).await?;
        let address = socket.local_addr()?;
        let shared =
            Arc::new(Shared { cluster, metrics: Arc::clone(&metrics), places: tokio::sync::Semaphore::new(config.max_connections) });
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let count = if config.workers == 0 { cores } else { config.workers };
        let workers = (0..count).map(|number| Worker::start(number, Arc::clone(&shared))).collect::<io::Result<Vec<_>>>()?;
        let workers = Arc::new(workers);
        let (stop, stopped) = watch::channel(false);
        let dealer = Dealer {
            workers: Arc::clone(&workers),
            metrics: Arc::clone(&metrics),
            bound: config.max_connections.saturating_add(STARTING_CONNECTIONS),
            next: 0,
        };
        let acceptor = tokio::spawn(dealer.accept(socket, stopped));
        Ok(Listener { address, metrics, stop, acceptor, workers })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The counters.
    pub fn metrics(&self) -> &Arc<WireMetrics> {
        &self.metrics
    }

    /// Takes no more connections; idle clients are told and go at once, running statements have a few seconds, then they
    /// are cancelled, then dropped.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        // Whatever the acceptor had in hand is dealt before the workers are told to drain.
        let _ = (&mut self.acceptor).await;
        for (order, patience) in [(Order::Drain, DRAIN_GRACE), (Order::Cancel, CANCEL_GRACE), (Order::Abort, CANCEL_GRACE)] {
            self.tell_all(&order).await;
            if self.wait_until_empty(patience).await {
                break;
            }
        }
        if let Ok(workers) = Arc::try_unwrap(std::mem::take(&mut self.workers)) {
            let joined = tokio::task::spawn_blocking(|| workers.into_iter().for_each(Worker::join)).await;
            if joined.is_err() {
                tracing::warn!("the workers could not be waited for");
            }
        }
    }

    async fn tell_all(&self, order: &Order) {
        for worker in self.workers.iter() {
            let order = match order {
                Order::Cancel => Order::Cancel,
                Order::Abort => Order::Abort,
                _ => Order::Drain,
            };
            // A worker that is gone has no connections to be told of.
            let _ = worker.orders.send(order).await;
        }
    }

    async fn wait_until_empty(&self, patience: Duration) -> bool {
        let begun = Instant::now();
        while self.workers.iter().any(|worker| worker.load.load(Ordering::Relaxed) > 0) {
            if begun.elapsed() >= patience {
                return false;
            }
            tokio::time::sleep(STOP_POLL).await;
        }
        true
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.acceptor.abort();
    }
}

/// Accepts and deals.
struct Dealer {
    workers: Arc<Vec<Worker>>,
    metrics: Arc<WireMetrics>,
    bound: usize,
    next: usize,
}

impl Dealer {
    async fn accept(mut self, listener: TcpListener, mut stopped: watch::Receiver<bool>) {
        loop {
            let accepted = tokio::select! {
                biased;
                _ = stopped.wait_for(|stop| *stop) => return,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((socket, remote)) => self.deal(socket, remote).await,
                Err(error) => {
                    tracing::warn!(%error, "no connection could be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    /// The worker with the fewest connections gets it, taking turns among equals.
    async fn deal(&mut self, socket: TcpStream, remote: SocketAddr) {
        self.metrics.accepted.fetch_add(1, Ordering::Relaxed);
        let load = |worker: &Worker| worker.load.load(Ordering::Relaxed);
        if self.workers.iter().map(load).sum::<usize>() >= self.bound {
            // So many are here already that not even an error can be afforded.
            self.metrics.refused.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let count = self.workers.len();
        self.next = (self.next + 1) % count;
        let turn = (0..count).map(|step| (self.next + step) % count);
        let Some(worker) = turn.min_by_key(|at| load(&self.workers[*at])).map(|at| &self.workers[at]) else { return };
        // Answers are whole when they are sent: waiting for more to send would only add delay.
        let socket = socket.set_nodelay(true).and_then(|()| socket.into_std());
        match socket {
            Ok(socket) => {
                worker.load.fetch_add(1, Ordering::Relaxed);
                if worker.orders.send(Order::Serve(socket, remote)).await.is_err() {
                    worker.load.fetch_sub(1, Ordering::Relaxed);
                }
            }
            Err(error) => tracing::warn!(%error, "a socket could not be prepared"),
        }
    }
}
