//! How the gateway behaves, resolved: nothing here means "default" any more.

use std::net::SocketAddr;
use std::time::Duration;

use callgate_dialect::Dialect;
use callgate_gate::{Limits, Malformed, OnDeny};
use url::Url;

/// The settings of the gateway.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where clients connect.
    pub listen: SocketAddr,
    /// The providers, in the order they are looked through.
    pub providers: Vec<Provider>,
    /// How much of a response is looked at.
    pub mode: Mode,
    /// What becomes of a request that offers a denied tool.
    pub inbound: Inbound,
    /// What takes the place of a denied call.
    pub on_deny: OnDeny,
    /// What becomes of frames that cannot be read.
    pub malformed: Malformed,
    /// The bounds of each response.
    pub limits: Limits,
    /// The largest request that is read in order to restore calls in it.
    pub request_body: usize,
    /// Paths that are forwarded although callgate does not know them.
    pub passthrough: Vec<String>,
    /// Threads that serve.
    pub workers: usize,
    /// Every wait.
    pub timeouts: Timeouts,
    /// The most client connections at a time; further ones wait to be accepted.
    pub max_connections: usize,
}

/// One API behind the gateway.
#[derive(Debug, Clone)]
pub struct Provider {
    /// Its name in the configuration: the prefix of its paths, and the word in records.
    pub name: String,
    /// What its official SDK takes as its base URL.
    pub base_url: Url,
    /// What it speaks.
    pub dialect: Dialect,
    /// The provider's own key. Clients then send a gateway key in its place.
    pub api_key: Option<ApiKey>,
}

/// A provider's key, which prints masked.
#[derive(Clone)]
pub struct ApiKey(Secret);

#[derive(Clone)]
enum Secret {
    Key(String),
    Aws(AwsAccess),
}

/// What requests to Amazon are signed with.
#[derive(Clone)]
pub struct AwsAccess {
    /// The id of the access key.
    pub key_id: String,
    /// The access key.
    pub secret: String,
    /// The session, where the key is a temporary one.
    pub session: Option<String>,
    /// The region whose service is asked.
    pub region: String,
}

impl ApiKey {
    /// A key.
    pub fn new(key: String) -> Self {
        Self(Secret::Key(key))
    }

    /// No key, but what signs.
    pub fn aws(access: AwsAccess) -> Self {
        Self(Secret::Aws(access))
    }

    /// The key, where it is one that is sent.
    pub(crate) fn reveal(&self) -> Option<&str> {
        match &self.0 {
            Secret::Key(key) => Some(key),
            Secret::Aws(_) => None,
        }
    }

    /// What signs, where nothing is sent.
    pub(crate) fn signs(&self) -> Option<&AwsAccess> {
        match &self.0 {
            Secret::Key(_) => None,
            Secret::Aws(access) => Some(access),
        }
    }
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// How much of a response is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Everything the policies speak of.
    Full,
    /// Calls only, never text.
    CallsOnly,
    /// Nothing: responses are copied, and recorded as unjudged.
    Off,
}

/// What becomes of a request that offers a denied tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inbound {
    /// It is refused before the provider is asked.
    Reject,
    /// It goes on without the tool.
    Strip,
}

/// Every wait of the gateway. None of them cuts a stream that is alive.
#[derive(Debug, Clone)]
pub struct Timeouts {
    /// To reach a provider.
    pub connect: Duration,
    /// From the whole request to the head of the answer: models think for minutes.
    pub head: Duration,
    /// Between two bytes of an answer.
    pub idle: Duration,
    /// For the head of a client's request.
    pub client_head: Duration,
    /// For the next byte of the body of a client's request.
    pub client_body: Duration,
    /// For all of such a body; what has come buys more time.
    pub client_body_total: Duration,
    /// For streams to finish once the gateway is told to stop.
    pub shutdown: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            head: Duration::from_secs(600),
            idle: Duration::from_secs(600),
            client_head: Duration::from_secs(30),
            // Clients have the whole body when they begin to send it.
            client_body: Duration::from_secs(60),
            client_body_total: Duration::from_secs(600),
            shutdown: Duration::from_secs(30),
        }
    }
}
