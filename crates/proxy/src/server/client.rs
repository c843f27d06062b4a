//! One client's connection, from its first byte to its end.

use std::convert::Infallible;
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

use super::{owner, silence};
use crate::access::{Owner, Trust};
use crate::gateway::Gateway;

/// How connections are served.
#[derive(Clone)]
pub(super) struct Serving {
    h1: http1::Builder,
    h2: http2::Builder<TokioExecutor>,
    /// How long a client may take for its first request.
    patience: Duration,
}

/// How a connection is asked to end.
pub(super) struct Asked {
    /// The gateway stops.
    pub(super) stopping: watch::Receiver<bool>,
    /// Lets what is under way finish.
    pub(super) watcher: Watcher,
}

/// Which of the two a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spoken {
    H1,
    H2,
}

impl Serving {
    pub(super) fn new(patience: Duration) -> Self {
        let mut h1 = http1::Builder::new();
        h1.timer(TokioTimer::new()).header_read_timeout(patience).max_buf_size(MAX_HEAD);
        let mut h2 = http2::Builder::new(TokioExecutor::new());
        h2.timer(TokioTimer::new())
            .max_concurrent_streams(MAX_STREAMS)
            .keep_alive_interval(H2_PING)
            .keep_alive_timeout(H2_PING);
        Self { h1, h2, patience }
    }

    /// Serves a client until it leaves, or until it has its answers and the gateway stops.
    pub(super) async fn serve(self, stream: TcpStream, gateway: Gateway, mut asked: Asked) {
        let spoken = tokio::select! {
            spoken = timeout(self.patience, spoken(&stream)) => spoken,
            // Who has asked for nothing yet is not waited for.
            _ = asked.stopping.wait_for(|stopping| *stopping) => return,
        };
        let Ok(Ok(spoken)) = spoken else { return };
        let owner = match gateway.now().trust {
            Trust::Local => owner::of(&stream).await,
            Trust::Keys => None,
        };
        let owner = Owner(owner.map(Arc::from));
        let watcher = asked.watcher;
        let (speaks, heard) = silence::watch();
        let service = service_fn(move |mut request: Request<Incoming>| {
            speaks.note();
            request.extensions_mut().insert(owner.clone());
            let gateway = gateway.clone();
            // In a box, for hyper keeps room for it as long as the connection lasts.
            Box::pin(async move { Ok::<_, Infallible>(gateway.answer(request).await) })
        });
        let stream = TokioIo::new(stream);
        let ended = match spoken {
            Spoken::H1 => {
                let connection = watcher.watch(self.h1.serve_connection(stream, service));
                heard.or_cut(connection, self.patience).await
            }
            Spoken::H2 => {
                let connection = watcher.watch(self.h2.serve_connection(stream, service));
                heard.or_cut(connection, self.patience).await
            }
        };
        if let Some(Err(error)) = ended {
            tracing::debug!(%error, "a connection broke off");
        }
    }
}

/// Tells by the first bytes, which stay where they are: what has been taken would have to be kept
/// for the connection, in a buffer of its own.
async fn spoken(stream: &TcpStream) -> io::Result<Spoken> {
    let mut seen = [0; GREETING.len()];
    loop {
        let seen = match stream.peek(&mut seen).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => seen.get(..count).unwrap_or_default(),
        };
        if !GREETING.starts_with(seen) {
            return Ok(Spoken::H1);
        }
        if seen.len() == GREETING.len() {
            return Ok(Spoken::H2);
        }
        // The rest is on its way; there is no waiting for more than what is there.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// How HTTP/2 begins (RFC 9113, section 3.4). No method of HTTP/1.1 has that name.
const GREETING: &[u8; 4] = b"PRI ";

/// The most a request's head may take, and what is read of a body at once.
const MAX_HEAD: usize = 64 * 1024;
/// How often a client of HTTP/2 must show that it is still there.
const H2_PING: Duration = Duration::from_secs(30);
/// Streams of one HTTP/2 connection at once.
const MAX_STREAMS: u32 = 250;
