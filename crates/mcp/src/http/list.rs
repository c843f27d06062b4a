//! Lists a server's tools in a client's conversation, or in our own.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use callgate_call::{ClientInfo, Principal};
use callgate_decide::mcp::McpSession;
use callgate_json::{Span, elements, member};
use http::header::ACCEPT;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use http_body_util::BodyExt as _;
use url::Url;

use super::legacy_sse::{self, LegacyStream};
use super::post::ClientRequest;
use super::site::{self, HttpConversation, SESSION, Site};
use super::{ServerType, events, hex, read, response};
use crate::message::{AnswerContent, Id, RpcMessage, RpcMessageKind};
use crate::params;
use crate::session::listing;

/// How long to wait before asking a server again that did not list its tools.
const PAUSE: Duration = Duration::from_secs(30);

const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const MODERN: &str = "2026-07-28";
/// Newest first.
const LEGACY: [&str; 4] = [NEWEST_LEGACY, "2025-06-18", "2025-03-26", "2024-11-05"];
const NEWEST_LEGACY: &str = "2025-11-25";

/// The error code for an unsupported revision. Its data names the supported ones.
const UNSUPPORTED: &str = "-32022";

/// Why a server did not answer our own request.
#[derive(Debug, Default, PartialEq, Eq)]
struct ListFailure {
    /// The revisions that it supports, if it does not support the requested one.
    offers: Vec<String>,
}

impl ListFailure {
    /// Reads an error.
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

/// Lists the tools before a call: they must be known by then, and a client may have listed them in
/// an earlier session. `meta` is the client metadata of a request in the newer revisions.
pub(super) async fn before_call(exchange: &ClientRequest, meta: Option<String>) {
    ToolLister::by(exchange, meta).list_once(&exchange.conversation).await;
}

/// Lists the tools again after the server announced a change, before a client does.
pub(super) fn again(exchange: &ClientRequest) {
    let lister = ToolLister::by(exchange, is_modern(&exchange.headers).then(|| META.to_owned()));
    let conversation = Arc::clone(&exchange.conversation);
    tokio::spawn(async move { lister.list_once(&conversation).await });
}

/// Revisions are dates, so later ones are greater.
fn is_modern(headers: &HeaderMap) -> bool {
    headers.get(REVISION).is_some_and(|said| said.as_bytes() >= MODERN.as_bytes())
}

/// Requests a server's list of tools.
struct ToolLister {
    site: Arc<Site>,
    to: Url,
    /// The stream for answers, if they do not come with the request.
    channel: Option<Arc<LegacyStream>>,
    headers: HeaderMap,
    /// The client metadata that the newer revisions require.
    meta: Option<String>,
}

impl ToolLister {
    /// In a client's conversation.
    fn by(exchange: &ClientRequest, meta: Option<String>) -> Self {
        Self {
            site: Arc::clone(&exchange.site),
            to: exchange.place(),
            channel: exchange.channel.clone(),
            headers: site::own(&exchange.headers),
            meta,
        }
    }

    async fn list_once(&self, conversation: &HttpConversation) {
        if conversation.mcp_session.knows_tools() {
            return;
        }
        let mut failed = conversation.listing.lock().await;
        // Another task may have done it in the meantime.
        if conversation.mcp_session.knows_tools() || failed.is_some_and(|at| at.elapsed() < PAUSE) {
            return;
        }
        let listed = tokio::time::timeout(
            self.site.settings.list_timeout,
            self.pages(&conversation.mcp_session),
        );
        *failed = (listed.await != Ok(Ok(()))).then(Instant::now);
    }

    /// Requests page after page, until there are no more.
    async fn pages(&self, mcp_session: &McpSession) -> Result<(), ListFailure> {
        let mut headers = self.headers.clone();
        if self.meta.is_some() {
            headers.insert("mcp-method", HeaderValue::from_static("tools/list"));
        }
        let mut cursor: Option<String> = None;
        for page in 0..listing::MAX_PAGES {
            let id = own_id().ok_or_else(ListFailure::default)?;
            let request = listing::request(&id, self.meta.as_deref(), cursor.as_deref());
            let (_, answer) = self.ask(&headers, &id, request).await?;
            let (text, result) = result_of(&answer)?;
            cursor = listing::page(mcp_session, text, result, page == 0);
            if cursor.is_none() {
                break;
            }
        }
        // A list that never ends, or that cannot be read, counts as missing.
        mcp_session.knows_tools().then_some(()).ok_or_else(ListFailure::default)
    }

    /// Sends our own request. Returns the headers and the answer.
    async fn ask(
        &self,
        headers: &HeaderMap,
        id: &Id,
        request: String,
    ) -> Result<(HeaderMap, Vec<u8>), ListFailure> {
        let expected = self.channel.as_ref().map(|channel| channel.expect(id));
        let sent = self.site.upstream.send(Method::POST, &self.to, headers, request.into()).await;
        let (head, body) = sent.map_err(|_| ListFailure::default())?.into_parts();
        let settings = &self.site.settings;
        let (limit, timeout) = (settings.max_message, settings.list_timeout);
        if !head.status.is_success() {
            let read = read::whole(&head.headers, body, limit, timeout).await;
            let why = read.ok().and_then(|body| result_of(&body).err());
            return Err(why.unwrap_or_default());
        }
        let answer = match expected {
            Some(expected) => expected.await.ok(),
            None if !response::is_stream(&head.headers) => {
                read::whole(&head.headers, body, limit, timeout).await.ok()
            }
            None => {
                let take = |data: &[u8]| match answers(data, id) {
                    true => ControlFlow::Break(data.to_vec()),
                    false => ControlFlow::Continue(()),
                };
                events::find(&head.headers, body, limit, take).await
            }
        };
        Ok((head.headers, answer.ok_or_else(ListFailure::default)?))
    }
}

/// The result in an answer with its position, or the server's error.
fn result_of(answer: &[u8]) -> Result<(&str, Span), ListFailure> {
    let message = RpcMessage::of_body(answer).map_err(|_| ListFailure::default())?;
    match message.kind {
        RpcMessageKind::Answer { outcome: AnswerContent::Result(result), .. } => {
            Ok((message.text, result))
        }
        RpcMessageKind::Answer { outcome: AnswerContent::Error(error), .. } => {
            Err(ListFailure::of(message.text, error))
        }
        _ => Err(ListFailure::default()),
    }
}

fn answers(data: &[u8], id: &Id) -> bool {
    let message = RpcMessage::of_body(data);
    matches!(message, Ok(RpcMessage { kind: RpcMessageKind::Answer { id: Some(of), .. }, .. }) if of == *id)
}

/// A random id that clients cannot guess.
fn own_id() -> Option<Id> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).ok()?;
    Some(Id::Text(format!("callgate-{}", hex(&random))))
}

/// Lists the tools at start-up, in our own conversation: in the newer revision, otherwise in the
/// older ones.
pub(super) async fn at_start(site: &Arc<Site>) {
    let who = Principal { user: Some("callgate".to_owned()), ..Principal::default() };
    let client = ClientInfo { who, agent: None, session: None, request: String::new() };
    let mcp_session = site.mcp_session(&client);
    if mcp_session.admitted().is_err() {
        return;
    }
    let listing = async {
        if site.kind == ServerType::Events {
            return on_stream(site, client).await;
        }
        let modern = ToolLister::by_ourselves(site, MODERN, Some(META));
        match modern.pages(&mcp_session).await {
            Ok(()) => Ok(()),
            // Some servers reject the revision and yet list it as supported, and then accept it.
            Err(why) if why.offers(MODERN) => modern.pages(&mcp_session).await,
            Err(why) => {
                let offered = LEGACY.into_iter().find(|revision| why.offers(revision));
                let revision = offered.unwrap_or(NEWEST_LEGACY);
                ToolLister::by_ourselves(site, revision, None)
                    .list_with_handshake(&mcp_session, revision)
                    .await
            }
        }
    };
    let listed = tokio::time::timeout(site.settings.list_timeout, listing).await;
    if listed != Ok(Ok(())) {
        let server = &site.id;
        tracing::info!(server, "the server's tools cannot be listed before a client connects");
    }
}

impl ToolLister {
    fn by_ourselves(site: &Arc<Site>, revision: &'static str, meta: Option<&str>) -> Self {
        let mut headers = site::own(&HeaderMap::new());
        headers.insert(REVISION, HeaderValue::from_static(revision));
        let meta = meta.map(str::to_owned);
        Self { site: Arc::clone(site), to: site.url.clone(), channel: None, headers, meta }
    }
}

/// Lists the tools over our own stream, which carries all answers.
async fn on_stream(site: &Arc<Site>, client: ClientInfo) -> Result<(), ListFailure> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    let opened = legacy_sse::connect(Arc::clone(site), client, headers.clone()).await;
    let (channel, stream) = opened.map_err(|_| ListFailure::default())?;
    let mut stream = stream.into_body();
    let to = loop {
        match (channel.place(), stream.frame()) {
            (Some(place), _) => break place.clone(),
            (None, frame) => match frame.await {
                Some(Ok(_)) => {}
                _ => return Err(ListFailure::default()),
            },
        }
    };
    let lister = ToolLister {
        site: Arc::clone(site),
        to,
        channel: Some(Arc::clone(&channel)),
        headers: site::own(&headers),
        meta: None,
    };
    // Reads and discards everything else that the server sends, so that it is not blocked.
    let unread = async { while stream.frame().await.is_some() {} };
    tokio::select! {
        listed = lister.list_with_handshake(channel.mcp_session(), NEWEST_LEGACY) => listed,
        () = unread => Err(ListFailure::default()),
    }
}

/// The client metadata of our own requests.
const META: &str = concat!(
    r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientCapabilities":{},"#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"callgate","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}}"#
);

impl ToolLister {
    /// Lists the tools in a conversation of an older revision, from its handshake to its end.
    async fn list_with_handshake(
        mut self,
        mcp_session: &McpSession,
        revision: &str,
    ) -> Result<(), ListFailure> {
        let id = own_id().ok_or_else(ListFailure::default)?;
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
        let sent = upstream.send(Method::POST, &self.to, &self.headers, ready.into()).await;
        sent.map_err(|_| ListFailure::default())?;
        let listed = self.pages(mcp_session).await;
        if named.is_some() {
            upstream.send(Method::DELETE, &self.to, &self.headers, Bytes::new()).await.ok();
        }
        listed
    }
}
