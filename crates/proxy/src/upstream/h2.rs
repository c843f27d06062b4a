//! HTTP/2 connections: each carries many exchanges and is driven by its own task.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http2::{Builder, Connection, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use parking_lot::Mutex;
use tokio::time::Instant;

use super::request_body::RequestBody;
use super::stream::Stream;

/// hyper's answer to a request: the response, or an error with the request if nothing was sent.
pub(super) type H2Response = Result<Response<Incoming>, TrySendError<Request<RequestBody>>>;

/// A shared connection. Dropping the last clone closes it once its exchanges are over.
#[derive(Clone)]
pub(super) struct H2Connection {
    sender: SendRequest<RequestBody>,
    load: Arc<Load>,
}

/// How busy a connection is.
struct Load {
    /// The number of concurrent exchanges that the peer allows, as far as known.
    allowed: AtomicUsize,
    usage: Mutex<ExchangeCount>,
}

struct ExchangeCount {
    exchanges: usize,
    /// Always the time when `exchanges` last changed.
    changed: Instant,
}

/// A slot for one exchange on a connection. Dropping it frees the slot.
pub(super) struct H2Slot {
    connection: H2Connection,
}

impl H2Connection {
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
        let usage = Mutex::new(ExchangeCount { exchanges: 0, changed: Instant::now() });
        let load = Arc::new(Load { allowed: AtomicUsize::new(MAX_EXCHANGES), usage });
        tokio::spawn(ConnectionTask { connection, load: Arc::clone(&load) });
        Ok(Self { sender, load })
    }

    /// Whether it can still be used: not closed, no GOAWAY received, and not quiet for so long that
    /// a middlebox may have dropped it.
    pub(super) fn is_alive(&self) -> bool {
        let usage = self.load.usage.lock();
        let stale = usage.exchanges == 0 && usage.changed.elapsed() > MAX_QUIET;
        !stale && !self.sender.is_closed()
    }

    /// A slot, if the peer accepts another exchange.
    pub(super) fn slot(&self) -> Option<H2Slot> {
        let allowed = self.load.allowed.load(Ordering::Relaxed).min(MAX_EXCHANGES);
        let mut usage = self.load.usage.lock();
        if usage.exchanges >= allowed {
            return None;
        }
        usage.change(|exchanges| exchanges + 1);
        Some(H2Slot { connection: self.clone() })
    }

    /// A slot, even if it has to wait for others to finish.
    pub(super) fn queue(&self) -> H2Slot {
        self.load.usage.lock().change(|exchanges| exchanges + 1);
        H2Slot { connection: self.clone() }
    }

    pub(super) fn exchanges(&self) -> usize {
        self.load.usage.lock().exchanges
    }

    pub(super) fn is(&self, slot: &H2Slot) -> bool {
        Arc::ptr_eq(&self.load, &slot.connection.load)
    }
}

impl H2Slot {
    /// Sends the request and waits for the head. Dropping the future resets the stream.
    pub(super) async fn exchange(&mut self, request: Request<RequestBody>) -> H2Response {
        self.connection.sender.try_send_request(request).await
    }
}

impl Drop for H2Slot {
    fn drop(&mut self) {
        self.connection.load.usage.lock().change(|exchanges| exchanges.saturating_sub(1));
    }
}

impl ExchangeCount {
    fn change(&mut self, new: impl FnOnce(usize) -> usize) {
        self.exchanges = new(self.exchanges);
        self.changed = Instant::now();
    }
}

/// The connection's task, which also tracks how many exchanges the peer allows.
struct ConnectionTask {
    connection: Connection<TokioIo<Stream>, RequestBody, TokioExecutor>,
    load: Arc<Load>,
}

impl Future for ConnectionTask {
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

/// Maximum number of exchanges per connection, even if the peer allows more: this many full stream
/// windows fit into the connection window.
const MAX_EXCHANGES: usize = 100;
/// How much a stream may send ahead of its reader: limits the memory for a client that does not
/// read.
const STREAM_WINDOW: u32 = 256 << 10;
/// More than `MAX_EXCHANGES` full streams: readers that stall never block the others.
const CONNECTION_WINDOW: u32 = 32 << 20;
/// How much of a request is buffered before the peer reads it.
const SEND_BUFFER: usize = 256 << 10;
/// Only while exchanges are open.
const PING_INTERVAL: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// Without exchanges. Below the 180 seconds or more for which large providers keep quiet
/// connections.
const MAX_QUIET: Duration = Duration::from_secs(90);
