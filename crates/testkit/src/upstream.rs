//! A provider's server, scripted: for each request a handler says what is answered, down to the
//! single byte, the pause and the reset.
//!
//! Plain threads and HTTP/1.1, with code of its own, so that a mistake in the gateway's transport
//! is not repeated here. Everything is bounded: connections, heads, bodies, and how long a script
//! waits. Dropping it ends it, with every connection.

mod answer;
mod coding;
mod play;
pub(crate) mod request;

use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

pub use answer::{Answer, AnswerFeed, AnswerStep, BodyEnd};
pub use coding::{BodyCoding, gzip_pieces};
pub use request::Request;

/// More open connections than any test needs; the next is closed at once.
const CONNECTIONS: usize = 2048;

/// No script waits longer, whatever it says: a test that hangs must end by itself. Longer than any other
/// wait of a test, so that a busy machine never ends a script early.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// A server with a script.
#[derive(Debug)]
pub struct Upstream {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

/// What the threads of a server have in common.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    requests: Mutex<Vec<Request>>,
    connections: Mutex<Vec<TcpStream>>,
    released: Mutex<usize>,
    changed: Condvar,
    sent: AtomicUsize,
    left: AtomicUsize,
    served: AtomicUsize,
    stopped: AtomicBool,
}

impl Upstream {
    /// A server on a free port of this machine, answering as `handler` says.
    pub fn start(handler: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let (handler, common) = (Arc::new(handler), Arc::clone(&shared));
        let accepting = thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                if common.stopped.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                let Some(stream) = common.admit(stream) else { continue };
                let (handler, common) = (Arc::clone(&handler), Arc::clone(&common));
                let serve = move || play::connection(stream, number, &*handler, &common);
                // Small: a thousand of them must fit.
                let thread = thread::Builder::new().stack_size(512 << 10);
                thread.spawn(serve).expect("a thread for a connection");
            }
        });
        Self { address, shared, accepting: Some(accepting) }
    }

    /// A server that answers everything alike.
    pub fn always(answer: Answer) -> Self {
        Self::start(move |_| answer.clone())
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its root, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far, in the order they were complete.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    /// The only request so far.
    #[track_caller]
    pub fn request(&self) -> Request {
        let mut requests = self.requests();
        assert_eq!(requests.len(), 1, "requests: {requests:?}");
        requests.remove(0)
    }

    /// Lets every script that stalls now, and every later stall, continue.
    pub fn release(&self) {
        *lock(&self.shared.released) += 1;
        self.shared.changed.notify_all();
    }

    /// How many bytes of bodies were sent, all answers together.
    pub fn sent(&self) -> usize {
        self.shared.sent.load(Ordering::SeqCst)
    }

    /// How many answers were cut off because the peer went away.
    pub fn left(&self) -> usize {
        self.shared.left.load(Ordering::SeqCst)
    }

    /// How many answers were given to their end.
    pub fn served(&self) -> usize {
        self.shared.served.load(Ordering::SeqCst)
    }

    /// Waits for something to become true of this server; false if it does not within two minutes.
    pub fn wait_until(&self, holds: impl Fn(&Self) -> bool) -> bool {
        let end = Instant::now() + Duration::from_secs(120);
        while Instant::now() < end {
            if holds(self) {
                return true;
            }
            thread::sleep(Duration::from_millis(10));
        }
        holds(self)
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        self.release();
        for connection in lock(&self.shared.connections).drain(..) {
            connection.shutdown(Shutdown::Both).ok();
        }
        // The thread waits for a connection, and looks at the flag when there is one.
        TcpStream::connect(self.address).ok();
        if let Some(accepting) = self.accepting.take() {
            accepting.join().ok();
        }
    }
}

impl Shared {
    /// Keeps the connection, to end it when the server ends. `None` if there are too many.
    fn admit(&self, stream: TcpStream) -> Option<TcpStream> {
        let mut connections = lock(&self.connections);
        connections.retain(|stream| stream.peer_addr().is_ok());
        if connections.len() >= CONNECTIONS {
            return None;
        }
        stream.set_nodelay(true).ok()?;
        connections.push(stream.try_clone().ok()?);
        Some(stream)
    }

    /// Forgets a connection, so that its socket closes as soon as its thread drops it.
    pub(crate) fn forget(&self, stream: &TcpStream) {
        if let Ok(peer) = stream.peer_addr() {
            lock(&self.connections).retain(|other| other.peer_addr().is_ok_and(|it| it != peer));
        }
    }

    pub(crate) fn record(&self, request: &Request) {
        lock(&self.requests).push(request.clone());
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    pub(crate) fn count_sent(&self, bytes: usize) {
        self.sent.fetch_add(bytes, Ordering::SeqCst);
    }

    pub(crate) fn count(&self, played: play::Played) {
        match played {
            play::Played::Whole => self.served.fetch_add(1, Ordering::SeqCst),
            play::Played::PeerLeft => self.left.fetch_add(1, Ordering::SeqCst),
            play::Played::Broken => return,
        };
    }

    /// Waits a little for a release. True once there was one.
    pub(crate) fn wait_released(&self, at_most: Duration) -> bool {
        let released = lock(&self.released);
        let wait = self.changed.wait_timeout_while(released, at_most, |times| *times == 0);
        // Its end releases all who wait, and is no release.
        *wait.unwrap().0 > 0 && !self.is_stopped()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

#[cfg(test)]
mod tests;
