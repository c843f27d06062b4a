//! The resolved settings of the gateway, with all defaults filled in.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use callgate_dialect::Dialect;
use callgate_gate::{GateLimits, Malformed, Notice, OnDeny};
use url::Url;

/// The settings of the gateway.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address that clients connect to.
    pub listen: SocketAddr,
    /// The providers, in order of preference.
    pub providers: Vec<ProviderSettings>,
    /// How much of a response is inspected.
    pub mode: InspectionMode,
    /// What to do with a request that offers a denied tool.
    pub inbound: Inbound,
    /// What replaces a denied call.
    pub on_deny: OnDeny,
    /// How far a turn continues after all of its calls were denied.
    pub continuing: ContinueSettings,
    /// What to do with unreadable frames.
    pub malformed: Malformed,
    /// The limits of each response.
    pub limits: GateLimits,
    /// The maximum size of a request that is read to restore calls.
    pub request_body: usize,
    /// Paths that are forwarded although callgate does not know them.
    pub passthrough: Vec<String>,
    /// Number of worker threads.
    pub workers: usize,
    /// All timeouts.
    pub timeouts: Timeouts,
    /// Maximum number of client connections. More wait to be accepted.
    pub max_connections: usize,
}

impl Default for Settings {
    fn default() -> Self {
        // A gateway waits more than it computes: four threads carry thousands of streams.
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(4);
        Self {
            // This machine only, on a port that nothing else is known for.
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8484)),
            providers: Vec::new(),
            mode: InspectionMode::Full,
            inbound: Inbound::Reject,
            on_deny: OnDeny::Continue,
            continuing: ContinueSettings::default(),
            malformed: Malformed::Withhold,
            limits: GateLimits::default(),
            // Providers themselves take at most about this much.
            request_body: 32 << 20,
            passthrough: Vec::new(),
            workers,
            timeouts: Timeouts::default(),
            // With two descriptors each, they stay well below what systems allow a service.
            max_connections: 10_000,
        }
    }
}

/// A provider's API.
#[derive(Debug, Clone)]
pub struct ProviderSettings {
    /// Its name in the configuration: the prefix of its paths, and its name in records.
    pub name: String,
    /// The base URL, as its official SDK expects it.
    pub base_url: Url,
    /// Its dialect.
    pub dialect: Dialect,
    /// The provider's own key. If set, clients send a gateway key instead.
    pub api_key: Option<ApiKey>,
}

/// A provider's key. Its debug output is masked.
#[derive(Clone)]
pub struct ApiKey(Secret);

#[derive(Clone)]
enum Secret {
    Key(String),
    Aws(AwsAccess),
}

/// AWS credentials for signing requests.
#[derive(Clone)]
pub struct AwsAccess {
    /// The id of the access key.
    pub key_id: String,
    /// The secret access key.
    pub secret: String,
    /// The session token of temporary credentials.
    pub session: Option<String>,
    /// The region of the service.
    pub region: String,
}

impl ApiKey {
    /// A key that is sent in a header.
    pub fn new(key: String) -> Self {
        Self(Secret::Key(key))
    }

    /// Credentials that sign requests instead of being sent.
    pub fn aws(access: AwsAccess) -> Self {
        Self(Secret::Aws(access))
    }

    /// The key, if it is one that is sent.
    pub(crate) fn reveal(&self) -> Option<&str> {
        match &self.0 {
            Secret::Key(key) => Some(key),
            Secret::Aws(_) => None,
        }
    }

    /// The credentials, if they sign requests.
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

/// How far a turn continues after all of its calls were denied. At each limit it ends with an
/// explanation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContinueSettings {
    /// How often the provider is asked again.
    pub rounds: usize,
    /// The tokens of all answers so far, input and output, after which it is not asked again.
    pub tokens: u64,
    /// The time since the beginning of the turn after which it is not asked again.
    pub time: Duration,
    /// How the denied calls are shown.
    pub notice: Notice,
}

impl Default for ContinueSettings {
    fn default() -> Self {
        Self {
            rounds: 3,
            // Four answers with a full context of most models.
            tokens: 1_000_000,
            time: Duration::from_secs(600),
            notice: Notice::Line,
        }
    }
}

/// How much of a response is inspected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InspectionMode {
    /// Everything that policies apply to.
    Full,
    /// Calls only, never text.
    CallsOnly,
    /// Nothing: responses are copied, and recorded as unjudged.
    Off,
}

/// What to do with a request that offers a denied tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inbound {
    /// Refuse it before it reaches the provider.
    Reject,
    /// Forward it without the tool.
    Strip,
}

/// All timeouts of the gateway. None of them interrupts a stream that is alive.
#[derive(Debug, Clone)]
pub struct Timeouts {
    /// To connect to a provider.
    pub connect: Duration,
    /// From the complete request to the head of the response: models think for minutes.
    pub head: Duration,
    /// Between two bytes of a response.
    pub idle: Duration,
    /// For the head of a client's request.
    pub client_head: Duration,
    /// For the next byte of a client's request body.
    pub client_body: Duration,
    /// For a complete request body. Received bytes extend it.
    pub client_body_total: Duration,
    /// For streams to finish when the gateway stops.
    pub shutdown: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            head: Duration::from_secs(600),
            idle: Duration::from_secs(600),
            client_head: Duration::from_secs(30),
            // Clients have the complete body when they start to send it.
            client_body: Duration::from_secs(60),
            client_body_total: Duration::from_secs(600),
            shutdown: Duration::from_secs(30),
        }
    }
}
