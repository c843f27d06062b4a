//! Prepares the request for the provider: unchanged, unless something is removed, restored or
//! masked.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use callgate_call::{Conversation, HiddenConversation};
use callgate_decide::{RemovedEntry, TextGuard};
use callgate_dialect::request;
use callgate_gate::OnDeny;
use callgate_wire::{CodingError, Decoder};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderMap, Method, Request};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};

use crate::access::{self, AccessDenied, RequestSender};
use crate::continuation::SentRequest;
use crate::gateway::{LoadedGateway, ProviderExchange};
use crate::headers::{self, BodyUse};
use crate::inbound;
use crate::kept_body::{BodyRoom, KeptBody};
use crate::refusal::Refusal;
use crate::restore::{self, RestoredRequest};
use crate::route::Treatment;
use crate::sign;
use crate::texts;
use crate::upstream::{ClientBody, RequestBody};

/// A request as it goes to the provider.
pub(crate) struct Prepared {
    pub(crate) request: Request<RequestBody>,
    pub(crate) facts: RequestFacts,
}

/// What a response needs to know of its request.
#[derive(Default)]
pub(crate) struct RequestFacts {
    /// What was kept of it, if its turn may continue.
    pub(crate) kept: Option<SentRequest>,
    /// What was found in it.
    pub(crate) found: FoundFacts,
    /// The answers before the one that it reads: the client knows them as one response.
    pub(crate) earlier: Option<String>,
}

/// What was found in a request that was read.
#[derive(Default)]
pub(crate) struct FoundFacts {
    /// The calls that it answers, to be stored once the response is complete.
    pub(crate) answered: Option<RemovedEntry>,
    /// The conversation in it, if a rule asks about it.
    pub(crate) conversation: Option<Arc<Conversation>>,
}

/// Prepares the request to the provider.
pub(crate) async fn prepare(
    inner: &LoadedGateway,
    exchange: &ProviderExchange,
    principal: &RequestSender,
    parts: Parts,
    body: Incoming,
) -> Result<Prepared, Refusal> {
    let mut headers = parts.headers;
    let route = &exchange.route;
    let mut query = parts.uri.query().map(Cow::from);
    let body_use = match inner.inspects(route.treatment) {
        true => BodyUse::Read,
        false => BodyUse::Copied,
    };
    headers::for_provider(&mut headers, body_use);
    if principal.swap {
        headers::drop_keys(&mut headers);
        query = query.and_then(|query| access::without_key(&query).map(Cow::from));
    }
    if access::contains_gateway_key(&headers, &route.path, query.as_deref()) {
        return Err(Refusal::Access(AccessDenied::MisplacedKey));
    }
    if principal.swap {
        let key = route.site.provider.api_key.as_ref();
        key.and_then(|key| headers::swap_key(&mut headers, route, key))
            .ok_or(Refusal::Internal("the provider's key cannot be sent"))?;
    }
    let why = ReadReasons::of(inner, exchange, &headers);
    let keeps = may_continue(inner, exchange);
    let mut found = FoundFacts::default();
    let body = if body.is_end_stream() {
        if why.offers {
            // Its path may name something that includes tools.
            inbound::judge(inner, exchange, "{}")?;
        }
        RequestBody::Empty
    } else {
        let body = ClientBody::new(body, &inner.settings.timeouts);
        let body = if keeps && !why.any() { body.kept(&inner.body_room) } else { body };
        match why.any() {
            true => read(inner, exchange, why, &mut headers, body, &mut found).await?,
            // Do not take a connection to a provider before the first byte of the body has arrived.
            false => {
                body.after_first_byte().await?.map_or(RequestBody::Empty, RequestBody::Streamed)
            }
        }
    };
    let path = match query {
        Some(query) => format!("{}?{query}", route.path),
        None => route.path.clone(),
    };
    let path: PathAndQuery =
        path.parse().map_err(|_| Refusal::BadRequest("the path is not a valid URI".to_owned()))?;
    let kept = match keeps {
        true => sent_request(inner, principal, &headers, &path, &body),
        false => None,
    };
    let credentials = principal.key().of_gateway(route);
    let signing = sign::SigningRequest { route, method: &parts.method, path: &path };
    let body =
        sign::sign(signing, credentials, inner.settings.request_body, &mut headers, body).await?;
    let mut request = Request::new(body);
    *request.method_mut() = parts.method;
    *request.uri_mut() = path.into();
    *request.headers_mut() = headers;
    Ok(Prepared { request, facts: RequestFacts { kept, found, earlier: None } })
}

/// Whether the turn may continue after a denial. Then its request is kept until it ends.
fn may_continue(inner: &LoadedGateway, exchange: &ProviderExchange) -> bool {
    inner.settings.on_deny == OnDeny::Continue
        && exchange.route.dialect.continuing().is_some()
        && exchange.method == Method::POST
        && asks_for_turn(exchange)
        && inner.inspects(exchange.route.treatment)
        && inner.decider.may_deny()
}

/// Whether the request asks a model for a turn. Some others of the same API show turns as well.
fn asks_for_turn(exchange: &ProviderExchange) -> bool {
    (exchange.route.dialect.http().asks_for_turn)(&exchange.route.path)
}

/// What is kept of a request.
fn sent_request(
    inner: &LoadedGateway,
    principal: &RequestSender,
    headers: &HeaderMap,
    path: &PathAndQuery,
    body: &RequestBody,
) -> Option<SentRequest> {
    let body = match body {
        RequestBody::Empty => return None,
        RequestBody::Whole(body) => KeptBody::whole(&inner.body_room, body.clone()),
        RequestBody::Streamed(body) => body.copy()?,
    };
    let key = principal.key();
    Some(SentRequest { headers: headers.clone(), path: path.clone(), body, key })
}

/// Why a request must be read.
#[derive(Debug)]
struct ReadReasons {
    /// Calls were removed from this client's turns before.
    restore: bool,
    /// A policy has rules for the tools it offers.
    offers: bool,
    /// The text rules that apply to it.
    texts: Option<TextGuard>,
    /// A rule asks where the values of a call come from.
    conversation: bool,
}

impl ReadReasons {
    fn of(inner: &LoadedGateway, exchange: &ProviderExchange, headers: &HeaderMap) -> Self {
        let treatment = exchange.route.treatment;
        let carries_turns = matches!(treatment, Treatment::Inspect(_) | Treatment::PassRestored(_));
        Self {
            restore: carries_turns && inner.decider.has_removed(&exchange.binding),
            offers: carries_turns && inner.judges() && inner.decider.judges_offers(),
            texts: texts::guard(inner, exchange, headers),
            conversation: inner.inspects(treatment) && inner.decider.looks_at_conversation(),
        }
    }

    fn any(&self) -> bool {
        self.restore || self.offers || self.texts.is_some() || self.conversation
    }
}

/// Reads the request: judges the tools it offers, restores removed calls in its turns, and applies
/// text rules. In this order, because turns are recognized by the text that the client received.
async fn read(
    inner: &LoadedGateway,
    exchange: &ProviderExchange,
    why: ReadReasons,
    headers: &mut HeaderMap,
    body: ClientBody,
    found: &mut FoundFacts,
) -> Result<RequestBody, Refusal> {
    let limit = inner.settings.request_body;
    let decoder = decoder(headers, limit)?;
    let sent = collect(body, limit).await?;
    let plain = decode(decoder, &sent, limit)?;
    let text = std::str::from_utf8(&plain);
    if why.conversation {
        // As the client sent it: restored calls have denials of callgate's own as their results.
        found.conversation = Some(conversation(&inner.body_room, &plain));
    }
    let mut changed: Option<Bytes> = None;
    if why.offers {
        let text = text.map_err(|_| Refusal::BadRequest("the body is not UTF-8".to_owned()))?;
        changed = inbound::judge(inner, exchange, text)?.map(Bytes::from);
    }
    if why.restore {
        let body = changed.as_ref().unwrap_or(&plain).clone();
        let restored = restored(inner, exchange, body).await;
        found.answered = restored.answered;
        changed = restored.body.map(Bytes::from).or(changed);
    }
    if let Some(guard) = &why.texts {
        let body = changed.as_ref().unwrap_or(&plain);
        changed = texts::judge(inner, exchange, guard, body)?.map(Bytes::from).or(changed);
    }
    match changed {
        None => Ok(RequestBody::Whole(sent)),
        Some(body) => {
            headers.remove(CONTENT_ENCODING);
            headers.remove(CONTENT_LENGTH);
            Ok(RequestBody::Whole(body))
        }
    }
}

/// The conversation in a request. It is kept until the response ends, and read when a rule needs it.
fn conversation(room: &BodyRoom, body: &Bytes) -> Arc<Conversation> {
    let kept = KeptBody::whole(room, body.clone());
    Arc::new(Conversation::new(move || {
        let body = kept.bytes().ok_or(HiddenConversation::NotKept)?;
        let text = std::str::from_utf8(&body).map_err(|_| HiddenConversation::Unreadable)?;
        request::passages(text)
    }))
}

/// A request after its removed calls were put back.
#[derive(Default)]
struct RestoredBody {
    /// The request; `None` if there were none, or they cannot be restored.
    body: Option<String>,
    /// The calls that it answers.
    answered: Option<RemovedEntry>,
}

/// Puts removed calls back into a request, and records those that cannot be.
async fn restored(inner: &LoadedGateway, exchange: &ProviderExchange, body: Bytes) -> RestoredBody {
    let (decider, binding) = (inner.decider.clone(), exchange.binding);
    let dialect = exchange.route.dialect;
    // It reads the store and the complete request: other connections must not wait for that.
    let put_back = tokio::task::spawn_blocking(move || {
        restore::restore(&decider, &binding, dialect, std::str::from_utf8(&body).ok()?)
    });
    let put_back = put_back.await.unwrap_or_else(|error| {
        tracing::error!(%error, "removed calls cannot be restored");
        None
    });
    let Some(RestoredRequest { restored, problems, answered }) = put_back else {
        return RestoredBody::default();
    };
    let skipped = restored.skipped.iter().map(ToString::to_string);
    let mut reasons = skipped.chain(problems.iter().map(ToString::to_string));
    if let Some(first) = reasons.next() {
        let more = reasons.count();
        inner.decider.record_not_restored(&exchange.context, &format!("{first}; {more} more"));
    }
    if restored.body.is_some() {
        inner.metrics.count_restored(restored.restored.len());
    }
    RestoredBody { body: restored.body, answered }
}

pub(crate) async fn collect(mut body: ClientBody, limit: usize) -> Result<Bytes, Refusal> {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        if whole.len().saturating_add(data.len()) > limit {
            return Err(Refusal::TooLarge(limit));
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

/// A decoder for a request with these headers.
pub(crate) fn decoder(headers: &HeaderMap, limit: usize) -> Result<Decoder, Refusal> {
    let coding = headers::content_encoding(headers).map_err(|_| {
        Refusal::BadRequest("the `Content-Encoding` header is not valid text".to_owned())
    })?;
    let limits = callgate_wire::ReadLimits {
        body: limit,
        decoded_total: limit as u64,
        ..Default::default()
    };
    Decoder::for_header(Some(&coding), &limits).map_err(|_| Refusal::RequestCoding(coding))
}

pub(crate) fn decode(mut decoder: Decoder, sent: &Bytes, limit: usize) -> Result<Bytes, Refusal> {
    if decoder.is_identity() {
        return Ok(sent.clone());
    }
    let mut plain = Vec::new();
    let decoded = decoder.push(sent, &mut plain).and_then(|()| decoder.finish());
    decoded.map_err(|error| match error {
        CodingError::TooMuch { .. } => Refusal::TooLarge(limit),
        error => Refusal::BadRequest(format!("the body cannot be decoded: {error}")),
    })?;
    if plain.len() > limit {
        return Err(Refusal::TooLarge(limit));
    }
    Ok(plain.into())
}
