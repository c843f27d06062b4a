//! Listing a server's tools in a client's conversation, or in one of our own.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use callgate_call::Who;
use callgate_call::json::{Span, elements, member};
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
use crate::params;
use crate::session::listing;

/// A server that did not list its tools is not asked again so soon.
const PAUSE: Duration = Duration::from_secs(30);

const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const MODERN: &str = "2026-07-28";
/// The newest first.
const LEGACY: [&str; 4] = [NEWEST_LEGACY, "2025-06-18", "2025-03-26", "2024-11-05"];
const NEWEST_LEGACY: &str = "2025-11-25";

/// What a server says to a revision that it does not speak. Its data name those that it does.
const UNSUPPORTED: &str = "-32022";

/// Why a server has not answered a request of our own.
#[derive(Debug, Default, PartialEq, Eq)]
struct Unanswered {
    /// The revisions it offers, if it does not speak the one it was asked in.
    offers: Vec<String>,
}

impl Unanswered {
    /// What an error says.
    fn of(text: &str, error: Span) -> Self {
        let is_it = member(text, error, "code").is_some_and(|code| code.of(text) == UNSUPPORTED);
        let data = member(text, error, "data").filter(|_| is_it);
        let offers = data.and_then(|data| member(text, data, "supported"));
        let offers = offers.map(|offers| elements(text, offers)).unwrap_or_default();
        let offers = offers.into_iter().filter_map(|offer| params::string(text, offer));
        Self { offers: offers.collect() }
    }

    fn offers(&self, revision: &str) -> bool {
        self.offers.iter().any(|offer| offer == revision)
    }
}

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
        *failed = (listed.await != Ok(Ok(()))).then(Instant::now);
    }

    /// Asks for page after page, until the server does not answer with one.
    async fn pages(&self, desk: &McpSession) -> Result<(), Unanswered> {
        let mut headers = self.headers.clone();
        if self.meta.is_some() {
            headers.insert("mcp-method", HeaderValue::from_static("tools/list"));
        }
        let mut cursor: Option<String> = None;
        for page in 0..listing::MAX_PAGES {
            let id = own_id().ok_or_else(Unanswered::default)?;
            let request = listing::request(&id, self.meta.as_deref(), cursor.as_deref());
            let (_, answer) = self.ask(&headers, &id, request).await?;
            let (text, result) = result_of(&answer)?;
            cursor = listing::page(desk, text, result, page == 0);
            if cursor.is_none() {
                break;
            }
        }
        // A list without an end, or one that cannot be read, is none.
        desk.knows_tools().then_some(()).ok_or_else(Unanswered::default)
    }

    /// The answer to a request of our own, and its head.
    async fn ask(
        &self,
        headers: &HeaderMap,
        id: &Id,
        request: String,
    ) -> Result<(HeaderMap, Vec<u8>), Unanswered> {
        let expected = self.channel.as_ref().map(|channel| channel.expect(id));
        let sent = self.site.upstream.send(Method::POST, &self.to, headers, request.into()).await;
        let (head, body) = sent.map_err(|_| Unanswered::default())?.into_parts();
        let settings = &self.site.settings;
        let (limit, patience) = (settings.max_message, settings.list_timeout);
        if !head.status.is_success() {
            let read = read::whole(&head.headers, body, limit, patience).await;
            let why = read.ok().and_then(|body| result_of(&body).err());
            return Err(why.unwrap_or_default());
        }
        let answer = match expected {
            Some(expected) => expected.await.ok(),
            None if !down::is_stream(&head.headers) => {
                read::whole(&head.headers, body, limit, patience).await.ok()
            }
            None => {
                let take = |data: &[u8]| match answers(data, id) {
                    true => ControlFlow::Break(data.to_vec()),
                    false => ControlFlow::Continue(()),
                };
                events::find(&head.headers, body, limit, take).await
            }
        };
        Ok((head.headers, answer.ok_or_else(Unanswered::default)?))
    }
}

/// The result of an answer, and where it stands; or what the server says instead.
fn result_of(answer: &[u8]) -> Result<(&str, Span), Unanswered> {
    let message = Message::of_body(answer).map_err(|_| Unanswered::default())?;
    match message.kind {
        Kind::Answer { outcome: Outcome::Result(result), .. } => Ok((message.text, result)),
        Kind::Answer { outcome: Outcome::Error(error), .. } => {
            Err(Unanswered::of(message.text, error))
        }
        _ => Err(Unanswered::default()),
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
        let modern = Asked::by_ourselves(site, MODERN, Some(META));
        match modern.pages(&desk).await {
            Ok(()) => Ok(()),
            // Some speak it all the same, to whoever has been told so.
            Err(why) if why.offers(MODERN) => modern.pages(&desk).await,
            Err(why) => {
                let offered = LEGACY.into_iter().find(|revision| why.offers(revision));
                let revision = offered.unwrap_or(NEWEST_LEGACY);
                Asked::by_ourselves(site, revision, None).greet(&desk, revision).await
            }
        }
    };
    let listed = tokio::time::timeout(site.settings.list_timeout, listing).await;
    if listed != Ok(Ok(())) {
        let server = &site.id;
        tracing::info!(server, "the server's tools cannot be listed before a client connects");
    }
}

impl Asked {
    fn by_ourselves(site: &Arc<Site>, revision: &'static str, meta: Option<&str>) -> Self {
        let mut headers = site::own(&HeaderMap::new());
        headers.insert(REVISION, HeaderValue::from_static(revision));
        let meta = meta.map(str::to_owned);
        Self { site: Arc::clone(site), to: site.url.clone(), channel: None, headers, meta }
    }
}

/// On a stream of our own, where all answers come on one.
async fn on_stream(site: &Arc<Site>, visitor: Visitor) -> Result<(), Unanswered> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    let opened = old::connect(Arc::clone(site), visitor, headers.clone()).await;
    let (channel, stream) = opened.map_err(|_| Unanswered::default())?;
    let mut stream = stream.into_body();
    let to = loop {
        match (channel.place(), stream.frame()) {
            (Some(place), _) => break place.clone(),
            (None, frame) => match frame.await {
                Some(Ok(_)) => {}
                _ => return Err(Unanswered::default()),
            },
        }
    };
    let asked = Asked {
        site: Arc::clone(site),
        to,
        channel: Some(Arc::clone(&channel)),
        headers: site::own(&headers),
        meta: None,
    };
    // Nobody reads what else the server says; but it must be able to say it.
    let unread = async { while stream.frame().await.is_some() {} };
    tokio::select! {
        listed = asked.greet(channel.desk(), NEWEST_LEGACY) => listed,
        () = unread => Err(Unanswered::default()),
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
    /// Lists the tools in a conversation of an older revision, from its greeting to its end.
    async fn greet(mut self, desk: &McpSession, revision: &str) -> Result<(), Unanswered> {
        let id = own_id().ok_or_else(Unanswered::default)?;
        let hello = format!(
            concat!(
                r#"{{"jsonrpc":"2.0","id":{},"method":"initialize","params":{{"#,
                r#""protocolVersion":"{}","capabilities":{{}},"#,
                r#""clientInfo":{{"name":"callgate","version":"{}"}}}}}}"#
            ),
            id.json(),
            revision,
            env!("CARGO_PKG_VERSION"),
        );
        let (head, _) = self.ask(&self.headers, &id, hello).await?;
        let named = head.get(SESSION).cloned();
        if let Some(named) = &named {
            self.headers.insert(SESSION, named.clone());
        }
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let upstream = &self.site.upstream;
        let told = upstream.send(Method::POST, &self.to, &self.headers, ready.into()).await;
        told.map_err(|_| Unanswered::default())?;
        let listed = self.pages(desk).await;
        if named.is_some() {
            upstream.send(Method::DELETE, &self.to, &self.headers, Bytes::new()).await.ok();
        }
        listed
    }
}
