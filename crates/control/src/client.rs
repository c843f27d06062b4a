//! A client of the API that first verifies the server.
//!
//! Anyone who can write to the folder of the socket can put another socket there. So before the
//! client trusts it, the process on the other side must run as the same user and be this very
//! program, and it must report the same store and config as the client. Otherwise the client works
//! without it.

mod events;

use std::io;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use callgate_audit::Filter;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rustix::process::geteuid;
use tokio::net::UnixStream;
use tokio::time::timeout;

pub use events::{FeedEnd, FeedEvents, FeedRecord};

use crate::health::GatewayHealth;
use crate::process::{descends_from, is_this_program};
use crate::query;
use crate::route::{FEED, HEALTH};

/// What a gateway must be to be trusted. A `None` field is not checked.
#[derive(Debug, Clone, Default)]
pub struct ExpectedGateway {
    /// The file of its store, from [`store_file`](crate::store_file).
    pub store: Option<String>,
    /// The digest of its config.
    pub digest: Option<String>,
    /// The process of an agent. A server that the agent has started is not trusted.
    pub agent: Option<i32>,
}

/// Why a socket is not trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Untrusted {
    /// Nothing listens there.
    #[error("no gateway listens there: {0}")]
    NotListening(io::Error),
    /// It belongs to another user.
    #[error("it belongs to another user (uid {0})")]
    OtherUser(u32),
    /// Its process is unknown.
    #[error("the system does not say which process listens there")]
    NoProcess,
    /// It is another program, or another version of this one.
    #[error(
        "process {0} listens there, and it runs another program or another version of callgate"
    )]
    OtherProgram(i32),
    /// The agent has started it.
    #[error("process {0} listens there, which the agent has started")]
    StartedByAgent(i32),
    /// It does not answer like a gateway.
    #[error("it does not answer like a gateway: {0}")]
    Answer(String),
    /// It has another store.
    #[error("its gateway uses another store: {0}")]
    OtherStore(String),
    /// It has another config.
    #[error("its gateway uses another config: {}", .0.as_deref().unwrap_or("none"))]
    OtherConfig(Option<String>),
}

/// A connection to a trusted gateway.
#[derive(Debug)]
pub struct ApiClient {
    wire: Wire,
    health: GatewayHealth,
}

/// A connection to a server that has not been verified.
#[derive(Debug)]
struct Wire(SendRequest<Empty<Bytes>>);

impl ApiClient {
    /// Connects to a socket and verifies the gateway that listens there. Call it inside a Tokio
    /// runtime.
    pub async fn connect(path: &Path, expected: &ExpectedGateway) -> Result<Self, Untrusted> {
        let late = |_| Untrusted::Answer("it did not answer in time".to_owned());
        timeout(CONNECT_TIMEOUT, Self::try_connect(path, expected)).await.map_err(late)?
    }

    async fn try_connect(path: &Path, expected: &ExpectedGateway) -> Result<Self, Untrusted> {
        let stream = UnixStream::connect(path).await.map_err(Untrusted::NotListening)?;
        let pid = trusted_process(&stream, expected)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(no_answer)?;
        // It ends with the connection.
        tokio::spawn(connection);
        let mut wire = Wire(sender);
        let health = wire.health().await?;
        check(&health, pid, expected)?;
        Ok(Self { wire, health })
    }

    /// The gateway's health at the time of connecting.
    pub fn health(&self) -> &GatewayHealth {
        &self.health
    }

    /// Follows the records after `after` that match the filter. The filter's own `after`, limit and
    /// order are ignored.
    pub async fn feed(mut self, filter: &Filter, after: u64) -> Result<FeedEvents, Untrusted> {
        let filter = Filter { after: Some(after), limit: None, ..filter.clone() };
        let path = format!("{FEED}?{}", query::write(&filter));
        let answer = timeout(CONNECT_TIMEOUT, self.wire.ask(&path)).await;
        let answer =
            answer.map_err(|_| Untrusted::Answer("it did not answer in time".to_owned()))??;
        // The connection stays open as long as the feed exists.
        Ok(FeedEvents::new(answer, self.wire.0))
    }
}

impl Wire {
    async fn health(&mut self) -> Result<GatewayHealth, Untrusted> {
        let body = self.ask(HEALTH).await?;
        let body = Limited::new(body, MAX_HEALTH).collect().await;
        let body = body.map_err(|error| Untrusted::Answer(error.to_string()))?.to_bytes();
        serde_json::from_slice(&body).map_err(|error| Untrusted::Answer(error.to_string()))
    }

    async fn ask(&mut self, path: &str) -> Result<Incoming, Untrusted> {
        let request = Request::get(path).header("host", "callgate").body(Empty::new());
        let request = request.map_err(|error| Untrusted::Answer(error.to_string()))?;
        let response = self.0.send_request(request).await.map_err(no_answer)?;
        match response.status() {
            StatusCode::OK => Ok(response.into_body()),
            status => Err(Untrusted::Answer(format!("status {status}"))),
        }
    }
}

/// The process on the other side, if it can be trusted. The operating system knows who called
/// `listen`.
fn trusted_process(stream: &UnixStream, expected: &ExpectedGateway) -> Result<i32, Untrusted> {
    let peer = stream.peer_cred().map_err(|_| Untrusted::NoProcess)?;
    if peer.uid() != geteuid().as_raw() {
        return Err(Untrusted::OtherUser(peer.uid()));
    }
    let pid = peer.pid().filter(|pid| *pid > 0).ok_or(Untrusted::NoProcess)?;
    if !is_this_program(pid) {
        return Err(Untrusted::OtherProgram(pid));
    }
    match expected.agent {
        Some(agent) if descends_from(pid, agent) => Err(Untrusted::StartedByAgent(pid)),
        _ => Ok(pid),
    }
}

/// Whether the gateway is the expected one. A server that reports another process id than its own
/// is refused.
fn check(health: &GatewayHealth, pid: i32, expected: &ExpectedGateway) -> Result<(), Untrusted> {
    if i64::from(health.pid) != i64::from(pid) {
        return Err(Untrusted::Answer(format!(
            "process {pid} claims to be process {}",
            health.pid
        )));
    }
    if expected.store.is_some() && health.store.file != expected.store {
        return Err(Untrusted::OtherStore(health.store.location.clone()));
    }
    match &expected.digest {
        Some(digest) if *digest != health.config_digest => {
            Err(Untrusted::OtherConfig(health.config.clone()))
        }
        _ => Ok(()),
    }
}

fn no_answer(error: hyper::Error) -> Untrusted {
    Untrusted::Answer(error.to_string())
}

/// A gateway on this machine answers within a millisecond.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Enough for the names of a thousand policy files with their problems.
const MAX_HEALTH: usize = 1 << 20;

#[cfg(test)]
mod tests;
