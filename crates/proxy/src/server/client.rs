//! Serves one client connection, from its first byte to its end.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::Watcher;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;

use super::{first_request, owner};
use crate::access::{Owner, Trust};
use crate::gateway::Gateway;

/// How connections are served.
#[derive(Clone)]
pub(super) struct Serving {
    h1: http1::Builder,
    h2: http2::Builder<TokioExecutor>,
    /// How long a client may take to send its first request.
    request_timeout: Duration,
}

/// Signals that end a connection.
pub(super) struct StopSignals {
    /// True once the gateway is stopping.
    pub(super) stopping: watch::Receiver<bool>,
    /// Lets open requests finish.
    pub(super) watcher: Watcher,
}

/// The HTTP version of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HttpVersion {
    H1,
    H2,
}

impl Serving {
    pub(super) fn new(request_timeout: Duration) -> Self {
        let mut h1 = http1::Builder::new();
        h1.timer(TokioTimer::new()).header_read_timeout(request_timeout).max_buf_size(MAX_HEAD);
        let mut h2 = http2::Builder::new(TokioExecutor::new());
        h2.timer(TokioTimer::new())
            .max_concurrent_streams(MAX_STREAMS)
            .keep_alive_interval(H2_PING)
            .keep_alive_timeout(H2_PING);
        Self { h1, h2, request_timeout }
    }

    /// Serves a client until it disconnects, or until its requests are answered and the gateway
    /// stops.
    pub(super) async fn serve(
        self,
        stream: TcpStream,
        gateway: Gateway,
        mut stop_signals: StopSignals,
    ) {
        let version = tokio::select! {
            version = timeout(self.request_timeout, detect_version(&stream)) => version,
            // A client that has not sent a request yet is disconnected.
            _ = stop_signals.stopping.wait_for(|stopping| *stopping) => return,
        };
        let Ok(Ok(version)) = version else { return };
        let owner = match gateway.now().trust {
            Trust::Local => owner::of(&stream).await,
            Trust::Keys => None,
        };
        let owner = Owner(owner.map(Arc::from));
        let watcher = stop_signals.watcher;
        let (marker, first_request) = first_request::watch();
        let service = service_fn(move |mut request: Request<Incoming>| {
            marker.note();
            request.extensions_mut().insert(owner.clone());
            // Boxed, because hyper reserves space for it as long as the connection lasts.
            Box::pin(gateway.now().answer(request))
        });
        let stream = TokioIo::new(stream);
        let ended = match version {
            HttpVersion::H1 => {
                let connection = watcher.watch(self.h1.serve_connection(stream, service));
                first_request.or_disconnect(connection, self.request_timeout).await
            }
            HttpVersion::H2 => {
                let connection = watcher.watch(self.h2.serve_connection(stream, service));
                first_request.or_disconnect(connection, self.request_timeout).await
            }
        };
        if let Some(Err(error)) = ended {
            tracing::debug!(%error, "a connection was interrupted");
        }
    }
}

/// Detects the version by peeking at the first bytes. Reading them would require a buffer for the
/// whole connection.
async fn detect_version(stream: &TcpStream) -> io::Result<HttpVersion> {
    let mut seen = [0; GREETING.len()];
    loop {
        let seen = match stream.peek(&mut seen).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => seen.get(..count).unwrap_or_default(),
        };
        if !GREETING.starts_with(seen) {
            return Ok(HttpVersion::H1);
        }
        if seen.len() == GREETING.len() {
            return Ok(HttpVersion::H2);
        }
        // The rest is on its way, and there is no way to wait for more bytes than have arrived.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The start of HTTP/2 (RFC 9113, section 3.4). It is not a method of HTTP/1.1.
const GREETING: &[u8; 4] = b"PRI ";

/// The maximum size of a request head, and of one read of a body.
const MAX_HEAD: usize = 64 * 1024;
/// How often an HTTP/2 client must answer a ping.
const H2_PING: Duration = Duration::from_secs(30);
/// Maximum number of concurrent streams per HTTP/2 connection.
const MAX_STREAMS: u32 = 250;
