//! Listing a server's tools in a client's conversation, or in one of our own.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use callgate_call::Who;
use callgate_decide::mcp::McpSession;
use http::header::ACCEPT;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use http_body_util::BodyExt as _;
use url::Url;

use super::old::{self, Channel};
use super::post::Exchange;
use super::site::{self, Conversation, SESSION, Site};
use super::{ServerType, Visitor, down, events, hex, read};
use crate::message::{Id, Kind, Message, Outcome};
use crate::session::listing;

/// A server that did not list its tools is not asked again so soon.
const PAUSE: Duration = Duration::from_secs(30);

const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const MODERN: HeaderValue = HeaderValue::from_static("2026-07-28");
const LEGACY: HeaderValue = HeaderValue::from_static("2025-11-25");

/// Before a call: what a tool is must be known by then, and a client may have listed them in another
/// life. `meta` is what a request of the newer revisions says of its client.
pub(super) async fn before_call(exchange: &Exchange, meta: Option<String>) {
    Asked::by(exchange, meta).list_once(&exchange.conversation).await;
}

/// The server says that its tools are others now: they are looked at before a client does.
pub(super) fn again(exchange: &Exchange) {
    let asked = Asked::by(exchange, is_modern(&exchange.headers).then(|| META.to_owned()));
    let conversation = Arc::clone(&exchange.conversation);
    tokio::spawn(async move { asked.list_once(&conversation).await });
}

/// Revisions are dates, so that later ones are greater.
fn is_modern(headers: &HeaderMap) -> bool {
    headers.get(REVISION).is_some_and(|said| said.as_bytes() >= MODERN.as_bytes())
}

/// How a server is asked for its tools.
struct Asked {
    site: Arc<Site>,
    to: Url,
    /// Where answers come, if not with the request.
    channel: Option<Arc<Channel>>,
    headers: HeaderMap,
    /// What the newer revisions want to be told of a client.
    meta: Option<String>,
}

impl Asked {
    /// In a client's conversation.
    fn by(exchange: &Exchange, meta: Option<String>) -> Self {
        Self {
            site: Arc::clone(&exchange.site),
            to: exchange.place(),
            channel: exchange.channel.clone(),
            headers: site::own(&exchange.headers),
            meta,
        }
    }

    async fn list_once(&self, conversation: &Conversation) {
        if conversation.desk.knows_tools() {
            return;
        }
        let mut failed = conversation.listing.lock().await;
        // Somebody else may have done it meanwhile.
        if conversation.desk.knows_tools() || failed.is_some_and(|at| at.elapsed() < PAUSE) {
            return;
        }
        let listed =
            tokio::time::timeout(self.site.settings.list_timeout, self.pages(&conversation.desk));
        *failed = (listed.await != Ok(Some(()))).then(Instant::now);
    }

    /// Asks for page after page. `None` if the server does not answer with one.
    async fn pages(&self, desk: &McpSession) -> Option<()> {
        let mut headers = self.headers.clone();
        if self.meta.is_some() {
            headers.insert("mcp-method", HeaderValue::from_static("tools/list"));
        }
        let mut cursor: Option<String> = None;
        for page in 0..listing::MAX_PAGES {
            let id = own_id()?;
            let request = listing::request(&id, self.meta.as_deref(), cursor.as_deref());
            let (_, answer) = self.ask(&headers, &id, request).await?;
            let message = Message::of_body(&answer).ok()?;
            let Kind::Answer { outcome: Outcome::Result(result), .. } = message.kind else {
                return None;
            };
            cursor = listing::page(desk, message.text, result, page == 0);
            if cursor.is_none() {
                break;
            }
        }
        // A list without an end, or one that cannot be read, is none.
        desk.knows_tools().then_some(())
    }

    /// The answer to a request of our own, and its head.
    async fn ask(
        &self,
        headers: &HeaderMap,
        id: &Id,
        request: String,
    ) -> Option<(HeaderMap, Vec<u8>)> {
        let expected = self.channel.as_ref().map(|channel| channel.expect(id));
        let sent = self.site.upstream.send(Method::POST, &self.to, headers, request.into()).await;
        let (head, body) = sent.ok()?.into_parts();
        if !head.status.is_success() {
            return None;
        }
        let limit = self.site.settings.max_message;
        let answer = match expected {
            Some(expected) => expected.await.ok()?,
            None if !down::is_stream(&head.headers) => {
                read::whole(&head.headers, body, limit, self.site.settings.list_timeout)
                    .await
                    .ok()?
            }
            None => {
                let take = |data: &[u8]| match answers(data, id) {
                    true => ControlFlow::Break(data.to_vec()),
                    false => ControlFlow::Continue(()),
                };
                events::find(&head.headers, body, limit, take).await?
            }
        };
        Some((head.headers, answer))
    }
}

fn answers(data: &[u8], id: &Id) -> bool {
    let message = Message::of_body(data);
    matches!(message, Ok(Message { kind: Kind::Answer { id: Some(of), .. }, .. }) if of == *id)
}

/// Ids that nobody guesses.
fn own_id() -> Option<Id> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).ok()?;
    Some(Id::Text(format!("callgate-{}", hex(&random))))
}

/// At start-up: in a conversation of our own, in the newer revision and else in the older ones.
pub(super) async fn at_start(site: &Arc<Site>) {
    let who = Who { user: Some("callgate".to_owned()), ..Who::default() };
    let visitor = Visitor { who, agent: None, session: None, request: String::new() };
    let desk = site.desk(&visitor);
    if desk.admitted().is_err() {
        return;
    }
    let listing = async {
        if site.kind == ServerType::Events {
            return on_stream(site, visitor).await;
        }
        match Asked::by_ourselves(site, MODERN, Some(META)).pages(&desk).await {
            Some(()) => Some(()),
            None => Asked::by_ourselves(site, LEGACY, None).greet(&desk).await,
        }
    };
    let listed = tokio::time::timeout(site.settings.list_timeout, listing).await;
    if listed != Ok(Some(())) {
        let server = &site.id;
        tracing::info!(server, "the server's tools cannot be listed before a client speaks to it");
    }
}

impl Asked {
    fn by_ourselves(site: &Arc<Site>, revision: HeaderValue, meta: Option<&str>) -> Self {
        let mut headers = site::own(&HeaderMap::new());
        headers.insert(REVISION, revision);
        let meta = meta.map(str::to_owned);
        Self { site: Arc::clone(site), to: site.url.clone(), channel: None, headers, meta }
    }
}

/// On a stream of our own, where all answers come on one.
async fn on_stream(site: &Arc<Site>, visitor: Visitor) -> Option<()> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    let opened = old::connect(Arc::clone(site), visitor, headers.clone()).await;
    let (channel, stream) = opened.ok()?;
    let mut stream = stream.into_body();
    while channel.place().is_none() {
        stream.frame().await?.ok()?;
    }
    let asked = Asked {
        site: Arc::clone(site),
        to: channel.place()?.clone(),
        channel: Some(Arc::clone(&channel)),
        headers: site::own(&headers),
        meta: None,
    };
    // Nobody reads what else the server says; but it must be able to say it.
    let unread = async { while stream.frame().await.is_some() {} };
    tokio::select! {
        listed = asked.greet(channel.desk()) => listed,
        () = unread => None,
    }
}

/// What our own requests say of their client.
const META: &str = concat!(
    r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientCapabilities":{},"#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"callgate","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}}"#
);

impl Asked {
    /// Lists the tools in a conversation of the older revisions, from its greeting to its end.
    async fn greet(mut self, desk: &McpSession) -> Option<()> {
        let id = own_id()?;
        let hello = format!(
            concat!(
                r#"{{"jsonrpc":"2.0","id":{},"method":"initialize","params":{{"#,
                r#""protocolVersion":"2025-11-25","capabilities":{{}},"#,
                r#""clientInfo":{{"name":"callgate","version":"{}"}}}}}}"#
            ),
            id.json(),
            env!("CARGO_PKG_VERSION"),
        );
        let (head, _) = self.ask(&self.headers, &id, hello).await?;
        let named = head.get(SESSION).cloned();
        if let Some(named) = &named {
            self.headers.insert(SESSION, named.clone());
        }
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let upstream = &self.site.upstream;
        upstream.send(Method::POST, &self.to, &self.headers, ready.into()).await.ok()?;
        let listed = self.pages(desk).await;
        if named.is_some() {
            upstream.send(Method::DELETE, &self.to, &self.headers, Bytes::new()).await.ok();
        }
        listed
    }
}
