//! Servers on the network: a client speaks to us as it would to the server, and we to the server as
//! the client would.
//!
//! ```text
//! client ─ POST ─► post ─► session ─► decide ─► upstream ─► server
//! client ◄─ JSON or events ◄─ down, events ◄─ session ◄──────┘
//! ```
//!
//! [`Door::answer`] takes a request to `/mcp/<server>`. Whatever listens has looked at who asks. A
//! message goes on as it came; its headers must say what it says. The older revisions name their
//! conversations (`Mcp-Session-Id`), and state is kept by that name; in the newer ones every request
//! stands alone.

mod down;
pub(crate) mod events;
mod list;
pub(crate) mod mirror;
mod old;
pub(crate) mod post;
pub(crate) mod read;
pub(crate) mod reply;
mod site;
mod tls;
mod upstream;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use callgate_call::Who;
use callgate_decide::Decider;
use http::header::{ALLOW, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use rustls::RootCertStore;
use tokio::sync::watch;
use tokio::task::JoinSet;
use url::Url;

pub use reply::Body;

use self::site::Site;
use self::upstream::Upstream;
use crate::answers;

/// The path below which servers are, each under its name.
pub const PATH: &str = "/mcp";

/// A server on the network, as it is declared.
#[derive(Debug, Clone)]
pub struct HttpServer {
    /// Its name.
    pub id: String,
    /// How it is spoken to.
    pub kind: ServerType,
    /// Where it is.
    pub url: Url,
    /// The token that goes to it, in the place of any that a client sends.
    pub bearer: Option<HeaderValue>,
    /// The SHA-256 of its certificate, in small letters.
    pub tls_fingerprint: Option<String>,
}

/// How a server on the network is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerType {
    /// Streamable HTTP.
    Streamable,
    /// HTTP with server-sent events, the older way.
    Events,
}

/// The bounds and waits of servers on the network.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// The largest message that is read.
    pub max_message: usize,
    /// Conversations with one server that are remembered. Of whoever begins another one, the one that
    /// was silent longest is forgotten; should it go on, what the server asked in it is not known any
    /// more.
    pub max_conversations: usize,
    /// How long a server may take to list its tools before a call.
    pub list_timeout: Duration,
    /// How long it may take to reach a server.
    pub connect: Duration,
    /// How long a server may take to begin an answer: tools work for minutes.
    pub head: Duration,
    /// How long a client may pause in a message.
    pub client_body: Duration,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            max_message: 64 << 20,
            max_conversations: 4096,
            list_timeout: Duration::from_secs(30),
            connect: Duration::from_secs(10),
            head: Duration::from_secs(600),
            client_body: read::CLIENT,
        }
    }
}

/// Who asks, as whatever listens has found out.
#[derive(Debug, Clone)]
pub struct Visitor {
    /// Whose key it is.
    pub who: Who,
    /// What the client says of its agent: a claim.
    pub agent: Option<String>,
    /// What the client says of its session: a claim.
    pub session: Option<String>,
    /// The id of the request.
    pub request: String,
}

/// The servers on the network that are declared.
pub struct Door {
    sites: HashMap<String, Arc<Site>>,
    ending: watch::Sender<bool>,
}

impl Door {
    /// A door to these servers. `roots` are the certificates that the system trusts.
    pub fn new(
        decider: &Decider,
        servers: Vec<HttpServer>,
        roots: &RootCertStore,
        settings: &HttpSettings,
    ) -> Result<Self, rustls::Error> {
        let (ending, ends) = watch::channel(false);
        let site = |server: HttpServer| {
            let waits = (settings.connect, settings.head);
            let pin = server.tls_fingerprint.as_deref();
            let upstream = Upstream::new(roots, pin, server.bearer, waits)?;
            let named = (server.id.clone(), server.kind, server.url);
            let site = Site::new(named, upstream, decider.clone(), settings.clone(), ends.clone());
            Ok::<_, rustls::Error>((server.id, Arc::new(site)))
        };
        Ok(Self { sites: servers.into_iter().map(site).collect::<Result<_, _>>()?, ending })
    }

    /// Ends the streams on which no answer is waited for: they would never end by themselves.
    pub fn end(&self) {
        self.ending.send_replace(true);
    }

    /// Lists the tools of every server, as far as that needs no client: so they are known, and held to
    /// what they were, before anybody calls one.
    pub async fn list(&self) {
        // All at once: one that does not answer must not hold the others up.
        let mut listing = JoinSet::new();
        for site in self.sites.values() {
            let site = Arc::clone(site);
            listing.spawn(async move { list::at_start(&site).await });
        }
        while listing.join_next().await.is_some() {}
    }

    /// Answers a request, whatever it is.
    pub async fn answer(&self, visitor: Visitor, request: Request<Incoming>) -> Response<Body> {
        let path = request.uri().path().to_owned();
        let (id, rest) = split(&path);
        let Some(site) = self.sites.get(id).map(Arc::clone) else {
            let text = match id {
                "" => "callgate: this path names no MCP server. Use /mcp/NAME, with the name of a \
                       server under `mcp.servers`."
                    .to_owned(),
                id => format!(
                    "callgate: no server `{id}` is declared. The operator can declare it under \
                     `mcp.servers`, with its `url`."
                ),
            };
            return reply::error(StatusCode::NOT_FOUND, None, NO_SERVER, &text);
        };
        if !post::has_fit_session(request.headers()) {
            let text =
                "callgate did not forward this request: `Mcp-Session-Id` must be one short text";
            return reply::error(StatusCode::BAD_REQUEST, None, -32600, text);
        }
        match (site.kind, request.method(), rest) {
            (ServerType::Streamable, &Method::POST, "") => {
                post::answer(site, visitor, request).await
            }
            (ServerType::Streamable, &Method::GET, "") => down::get(site, visitor, request).await,
            (ServerType::Streamable, &Method::DELETE, "") => {
                down::delete(site, visitor, request).await
            }
            (ServerType::Events, &Method::GET, "") => old::open(site, visitor, request).await,
            (ServerType::Events, &Method::POST, token) if !token.is_empty() => {
                old::post(site, visitor, token, request).await
            }
            (ServerType::Streamable, _, "") => not_allowed("GET, POST, DELETE"),
            // Clients that can do both ask in the newer way first, and fall back on this.
            (ServerType::Events, _, "") => not_allowed("GET"),
            _ => reply::status(StatusCode::NOT_FOUND),
        }
    }
}

/// What somebody is told, as JSON, who is not let in at all.
pub fn refusal(text: &str) -> String {
    answers::transport_error(answers::REFUSED, text)
}

/// What callgate says of a server that it does not know.
const NO_SERVER: i32 = 1404;

fn not_allowed(methods: &'static str) -> Response<Body> {
    let mut response = reply::status(StatusCode::METHOD_NOT_ALLOWED);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
    response
}

/// The server, and what stands behind it.
fn split(path: &str) -> (&str, &str) {
    let rest = path.strip_prefix(PATH).unwrap_or_default().trim_start_matches('/');
    rest.split_once('/').unwrap_or((rest, ""))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        const DIGITS: [char; 16] =
            ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
        text.extend(
            [byte >> 4, byte & 15].map(|half| DIGITS.get(usize::from(half)).unwrap_or(&'0')),
        );
        text
    })
}
