//! Servers on the network. To the client, callgate looks like the server, and to the server, like
//! the client.
//!
//! ```text
//! client ─ POST ─► post ─► session ─► decide ─► upstream ─► server
//! client ◄─ JSON or events ◄─ response, events ◄─ session ◄──┘
//! ```
//!
//! [`HttpDoor::answer`] handles a request to `/mcp/<server>`. The listener has already checked
//! access. A message is forwarded unchanged, and its headers must agree with it. The older
//! revisions name their conversations (`Mcp-Session-Id`), and state is kept under that name. In the
//! newer ones every request is independent.

pub(crate) mod events;
mod legacy_sse;
mod list;
pub(crate) mod mirror;
pub(crate) mod post;
pub(crate) mod read;
pub(crate) mod reply;
mod response;
mod site;
mod tls;
mod upstream;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use callgate_call::ClientInfo;
use callgate_decide::Decider;
use http::header::{ALLOW, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use rustls::RootCertStore;
use tokio::sync::watch;
use tokio::task::JoinSet;
use url::Url;

pub use reply::ReplyBody;

use self::site::Site;
use self::upstream::ServerClient;
use crate::answers;

/// The path below which servers are, each under its name.
pub const PATH: &str = "/mcp";

/// A declared server on the network.
#[derive(Debug, Clone)]
pub struct HttpServer {
    /// Its name.
    pub id: String,
    /// Its transport.
    pub kind: ServerType,
    /// Its address.
    pub url: Url,
    /// The token for the server, which replaces any token of a client.
    pub bearer: Option<HeaderValue>,
    /// The SHA-256 of its certificate, in lower-case hex.
    pub tls_fingerprint: Option<String>,
}

/// The transport of a server on the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerType {
    /// Streamable HTTP.
    Streamable,
    /// HTTP with server-sent events, the older transport.
    Events,
}

/// The limits and timeouts of servers on the network.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// The maximum size of a message.
    pub max_message: usize,
    /// The number of conversations with one server that are remembered. When a client starts one
    /// too many, its longest silent conversation is forgotten. If that one continues, pending
    /// requests of the server in it are no longer known.
    pub max_conversations: usize,
    /// How long a server may take to list its tools before a call.
    pub list_timeout: Duration,
    /// How long connecting to a server may take.
    pub connect: Duration,
    /// How long a server may take to start its response: tools work for minutes.
    pub head: Duration,
    /// How long a client may pause within a message.
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

/// The door for declared servers on the network.
pub struct HttpDoor {
    sites: HashMap<String, Arc<Site>>,
    ending: watch::Sender<bool>,
}

impl HttpDoor {
    /// Creates a door for these servers. `roots` are the certificates that the system trusts.
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
            let upstream = ServerClient::new(roots, pin, server.bearer, waits)?;
            let named = (server.id.clone(), server.kind, server.url);
            let site = Site::new(named, upstream, decider.clone(), settings.clone(), ends.clone());
            Ok::<_, rustls::Error>((server.id, Arc::new(site)))
        };
        Ok(Self { sites: servers.into_iter().map(site).collect::<Result<_, _>>()?, ending })
    }

    /// Ends streams that wait for no answer: they would never end by themselves.
    pub fn end(&self) {
        self.ending.send_replace(true);
    }

    /// Lists the tools of every server, if that needs no client. So they are known and pinned
    /// before the first call.
    pub async fn list(&self) {
        // All at once: a server that does not respond must not delay the others.
        let mut listing = JoinSet::new();
        for site in self.sites.values() {
            let site = Arc::clone(site);
            listing.spawn(async move { list::at_start(&site).await });
        }
        while listing.join_next().await.is_some() {}
    }

    /// Answers any request.
    pub async fn answer(
        &self,
        client: ClientInfo,
        request: Request<Incoming>,
    ) -> Response<ReplyBody> {
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
                post::answer(site, client, request).await
            }
            (ServerType::Streamable, &Method::GET, "") => {
                response::get(site, client, request).await
            }
            (ServerType::Streamable, &Method::DELETE, "") => {
                response::delete(site, client, request).await
            }
            (ServerType::Events, &Method::GET, "") => legacy_sse::open(site, client, request).await,
            (ServerType::Events, &Method::POST, token) if !token.is_empty() => {
                legacy_sse::post(site, client, token, request).await
            }
            (ServerType::Streamable, _, "") => not_allowed("GET, POST, DELETE"),
            // Clients that support both transports try the newer one first, and fall back after
            // this response.
            (ServerType::Events, _, "") => not_allowed("GET"),
            _ => reply::status(StatusCode::NOT_FOUND),
        }
    }
}

/// The JSON body for a client without access.
pub fn refusal(text: &str) -> String {
    answers::transport_error(answers::REFUSED, text)
}

/// The code for an unknown server.
const NO_SERVER: i32 = 1404;

fn not_allowed(methods: &'static str) -> Response<ReplyBody> {
    let mut response = reply::status(StatusCode::METHOD_NOT_ALLOWED);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
    response
}

/// The server, and the rest of the path.
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
