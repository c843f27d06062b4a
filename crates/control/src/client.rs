//! A client of the API, which first makes sure whom it talks to.
//!
//! Whoever can write the folder of the socket can put another one there. Before anything is believed, the
//! process on the other side must run as the same user and be this very program, and it must say that it
//! has the store and the config that the client has. Otherwise the client does without.

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

use crate::health::Health;
use crate::process::{descends_from, is_this_program};
use crate::query;
use crate::route::{FEED, HEALTH};

/// What a gateway must be for its word to be taken. What is `None` does not matter.
#[derive(Debug, Clone, Default)]
pub struct Expected {
    /// The file of its store, as [`store_file`](crate::store_file) tells it.
    pub store: Option<String>,
    /// The digest of its config.
    pub digest: Option<String>,
    /// The process of an agent: whatever the agent started could be of its making.
    pub agent: Option<i32>,
}

/// Why a socket is not believed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Distrust {
    /// Nobody listens.
    #[error("no gateway listens there: {0}")]
    Nobody(io::Error),
    /// It is somebody else's.
    #[error("it belongs to another user (uid {0})")]
    OtherUser(u32),
    /// It cannot be told whose it is.
    #[error("the system does not say which process listens there")]
    NoProcess,
    /// It is another program, or another version of this one.
    #[error("process {0} listens there, which is not this program or another version of it")]
    OtherProgram(i32),
    /// The agent has started it.
    #[error("process {0} listens there, which the agent has started")]
    OfTheAgent(i32),
    /// It does not answer as a gateway does.
    #[error("it does not answer as a gateway does: {0}")]
    Answer(String),
    /// It keeps other records.
    #[error("its gateway has another store: {0}")]
    OtherStore(String),
    /// It judges by other words.
    #[error("its gateway has another config: {}", .0.as_deref().unwrap_or("none"))]
    OtherConfig(Option<String>),
}

/// A connection to a gateway that is believed.
#[derive(Debug)]
pub struct Client {
    wire: Wire,
    health: Health,
}

/// A connection, whoever is on the other side.
#[derive(Debug)]
struct Wire(SendRequest<Empty<Bytes>>);

impl Client {
    /// Connects to a socket, and makes sure that a gateway listens there which is as expected. Must be
    /// called inside a runtime.
    pub async fn connect(path: &Path, expected: &Expected) -> Result<Self, Distrust> {
        let late = |_| Distrust::Answer("it takes too long".to_owned());
        timeout(PATIENCE, Self::try_connect(path, expected)).await.map_err(late)?
    }

    async fn try_connect(path: &Path, expected: &Expected) -> Result<Self, Distrust> {
        let stream = UnixStream::connect(path).await.map_err(Distrust::Nobody)?;
        let pid = trusted_process(&stream, expected)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(no_answer)?;
        // It ends with the connection.
        tokio::spawn(connection);
        let mut wire = Wire(sender);
        let health = wire.health().await?;
        check(&health, pid, expected)?;
        Ok(Self { wire, health })
    }

    /// What the gateway said of itself.
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// Follows the records behind `after` that pass the filter. The filter's own `after`, limit and order
    /// do not count.
    pub async fn feed(mut self, filter: &Filter, after: u64) -> Result<FeedEvents, Distrust> {
        let filter = Filter { after: Some(after), limit: None, ..filter.clone() };
        let path = format!("{FEED}?{}", query::write(&filter));
        let answer = timeout(PATIENCE, self.wire.ask(&path)).await;
        let answer = answer.map_err(|_| Distrust::Answer("it takes too long".to_owned()))??;
        // The connection lasts as long as somebody may ask.
        Ok(FeedEvents::new(answer, self.wire.0))
    }
}

impl Wire {
    async fn health(&mut self) -> Result<Health, Distrust> {
        let body = self.ask(HEALTH).await?;
        let body = Limited::new(body, MAX_HEALTH).collect().await;
        let body = body.map_err(|error| Distrust::Answer(error.to_string()))?.to_bytes();
        serde_json::from_slice(&body).map_err(|error| Distrust::Answer(error.to_string()))
    }

    async fn ask(&mut self, path: &str) -> Result<Incoming, Distrust> {
        let request = Request::get(path).header("host", "callgate").body(Empty::new());
        let request = request.map_err(|error| Distrust::Answer(error.to_string()))?;
        let response = self.0.send_request(request).await.map_err(no_answer)?;
        match response.status() {
            StatusCode::OK => Ok(response.into_body()),
            status => Err(Distrust::Answer(format!("status {status}"))),
        }
    }
}

/// The process on the other side, if it may be believed. The system tells who called `listen`.
fn trusted_process(stream: &UnixStream, expected: &Expected) -> Result<i32, Distrust> {
    let peer = stream.peer_cred().map_err(|_| Distrust::NoProcess)?;
    if peer.uid() != geteuid().as_raw() {
        return Err(Distrust::OtherUser(peer.uid()));
    }
    let pid = peer.pid().filter(|pid| *pid > 0).ok_or(Distrust::NoProcess)?;
    if !is_this_program(pid) {
        return Err(Distrust::OtherProgram(pid));
    }
    match expected.agent {
        Some(agent) if descends_from(pid, agent) => Err(Distrust::OfTheAgent(pid)),
        _ => Ok(pid),
    }
}

/// Whether the gateway is the one that was asked for. One that answers for another process is none.
fn check(health: &Health, pid: i32, expected: &Expected) -> Result<(), Distrust> {
    if i64::from(health.pid) != i64::from(pid) {
        return Err(Distrust::Answer(format!("process {pid} claims to be process {}", health.pid)));
    }
    if expected.store.is_some() && health.store.file != expected.store {
        return Err(Distrust::OtherStore(health.store.location.clone()));
    }
    match &expected.digest {
        Some(digest) if *digest != health.config_digest => {
            Err(Distrust::OtherConfig(health.config.clone()))
        }
        _ => Ok(()),
    }
}

fn no_answer(error: hyper::Error) -> Distrust {
    Distrust::Answer(error.to_string())
}

/// A gateway on this machine answers in a millisecond.
const PATIENCE: Duration = Duration::from_secs(2);

/// The names of a thousand policy files, and what is wrong with them.
const MAX_HEALTH: usize = 1 << 20;

#[cfg(test)]
mod tests;
