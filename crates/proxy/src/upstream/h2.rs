//! HTTP/2 connections: many exchanges on each, worked on by tasks of their own.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http::Request;
use hyper::client::conn::http2::{Builder, Connection, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use parking_lot::Mutex;
use tokio::time::Instant;

use super::h1::Answer;
use super::request_body::RequestBody;
use super::stream::Stream;

/// A connection that is shared. Dropping the last copy closes it once its exchanges are over.
#[derive(Clone)]
pub(super) struct Trunk {
    sender: SendRequest<RequestBody>,
    load: Arc<Load>,
}

/// How busy a trunk is.
struct Load {
    /// Exchanges the peer allows at once, as far as it has said.
    allowed: AtomicUsize,
    usage: Mutex<Usage>,
}

struct Usage {
    exchanges: usize,
    /// Always the time when `exchanges` last changed.
    changed: Instant,
}

/// The place of one exchange on a trunk. Dropping it frees the place.
pub(super) struct Seat {
    trunk: Trunk,
}

impl Trunk {
    pub(super) async fn new(stream: Stream) -> Result<Self, hyper::Error> {
        let (sender, connection) = Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_send_buf_size(SEND_BUFFER)
            .keep_alive_interval(PING_INTERVAL)
            .keep_alive_timeout(PING_TIMEOUT)
            .handshake(TokioIo::new(stream))
            .await?;
        let usage = Mutex::new(Usage { exchanges: 0, changed: Instant::now() });
        let load = Arc::new(Load { allowed: AtomicUsize::new(MAX_EXCHANGES), usage });
        tokio::spawn(Work { connection, load: Arc::clone(&load) });
        Ok(Self { sender, load })
    }

    /// Whether it can still be used: not closed, not told to go away, not quiet for so long that something between
    /// may have forgotten it.
    pub(super) fn is_alive(&self) -> bool {
        let usage = self.load.usage.lock();
        let stale = usage.exchanges == 0 && usage.changed.elapsed() > MAX_QUIET;
        !stale && !self.sender.is_closed()
    }

    /// A place, if the peer takes one exchange more.
    pub(super) fn seat(&self) -> Option<Seat> {
        let allowed = self.load.allowed.load(Ordering::Relaxed).min(MAX_EXCHANGES);
        let mut usage = self.load.usage.lock();
        if usage.exchanges >= allowed {
            return None;
        }
        usage.change(|exchanges| exchanges + 1);
        Some(Seat { trunk: self.clone() })
    }

    /// A place even if it has to wait for others to leave.
    pub(super) fn queue(&self) -> Seat {
        self.load.usage.lock().change(|exchanges| exchanges + 1);
        Seat { trunk: self.clone() }
    }

    pub(super) fn exchanges(&self) -> usize {
        self.load.usage.lock().exchanges
    }

    pub(super) fn is(&self, seat: &Seat) -> bool {
        Arc::ptr_eq(&self.load, &seat.trunk.load)
    }
}

impl Seat {
    /// Sends the request and waits for the head. Dropping the future resets the stream.
    pub(super) async fn exchange(&mut self, request: Request<RequestBody>) -> Answer {
        self.trunk.sender.try_send_request(request).await
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.trunk.load.usage.lock().change(|exchanges| exchanges.saturating_sub(1));
    }
}

impl Usage {
    fn change(&mut self, new: impl FnOnce(usize) -> usize) {
        self.exchanges = new(self.exchanges);
        self.changed = Instant::now();
    }
}

/// The connection, with a note of what the peer allows.
struct Work {
    connection: Connection<TokioIo<Stream>, RequestBody, TokioExecutor>,
    load: Arc<Load>,
}

impl Future for Work {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let polled = Pin::new(&mut self.connection).poll(cx);
        let allowed = self.connection.current_max_send_streams();
        self.load.allowed.store(allowed, Ordering::Relaxed);
        polled.map(|end| {
            if let Err(error) = end {
                tracing::debug!(%error, "an HTTP/2 connection to a provider ended");
            }
        })
    }
}

/// Exchanges on one connection, even if the peer allows more: so many full stream windows fit into the connection's.
const MAX_EXCHANGES: usize = 100;
/// What a stream may send ahead of its reader: bounds what a client that does not read keeps in memory.
const STREAM_WINDOW: u32 = 256 << 10;
/// More than `MAX_EXCHANGES` full streams: readers that stall never stop the others.
const CONNECTION_WINDOW: u32 = 32 << 20;
/// What a request may wait with before the peer reads it.
const SEND_BUFFER: usize = 256 << 10;
/// While exchanges are open only.
const PING_INTERVAL: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// Without exchanges. Below the 180 seconds and more that large providers keep quiet connections.
const MAX_QUIET: Duration = Duration::from_secs(90);
