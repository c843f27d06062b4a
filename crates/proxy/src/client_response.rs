//! Sends the provider's response to the client: copied, judged, or refused.

use std::future::poll_fn;
use std::sync::Arc;

use bytes::Bytes;
use callgate_call::ValueOrigins;
use callgate_dialect::Blame;
use callgate_gate::{Announce, Ending, Gate, OnDeny, RequestedForm};
use callgate_wire::Decoder;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Response, StatusCode};
use http_body_util::{BodyExt as _, Limited};

use crate::continuation::{AnswerForm, Continuation};
use crate::copied_response::{CopiedResponse, OnceComplete};
use crate::gateway::{LoadedGateway, ProviderExchange};
use crate::headers;
use crate::judged_response::{JudgedResponse, ResponseContext};
use crate::outgoing::Outgoing;
use crate::provider_request::{FoundFacts, RequestFacts};
use crate::refusal::{self, Refusal};
use crate::route::Treatment;
use crate::settings::InspectionMode;
use crate::upstream::UpstreamBody;

/// Turns the provider's response into the client's.
pub(crate) async fn prepare(
    inner: &Arc<LoadedGateway>,
    exchange: ProviderExchange,
    facts: RequestFacts,
    mut response: Response<UpstreamBody>,
) -> Result<Response<Outgoing>, Refusal> {
    headers::for_client(response.headers_mut());
    let status = response.status();
    if status.is_redirection() && status != StatusCode::NOT_MODIFIED {
        let why = "it redirects to another address, which would bypass callgate; set the \
                   provider's `base_url` to that address";
        return Err(Refusal::Answer(why.to_owned()));
    }
    if !inner.inspects(exchange.route.treatment) {
        if let (true, Some(why)) = (status.is_success(), unjudged(inner, &exchange)) {
            inner.decider.record_unjudged(&exchange.context, why);
        }
        let once_complete = match facts.found.answered.filter(|_| status.is_success()) {
            Some(answered) => OnceComplete::Store(inner.decider.clone(), answered),
            None => OnceComplete::Nothing,
        };
        return Ok(copied(inner, response, once_complete));
    }
    if has_no_body(&exchange.method, status) {
        headers::body_changes(response.headers_mut());
        return Ok(response.map(|_| Outgoing::Whole(None)));
    }
    if !status.is_success() {
        return error_status(&exchange, response).await;
    }
    inspected(inner, exchange, facts, response).await
}

/// Why a response that may contain calls is not judged; `None` if it cannot contain any.
fn unjudged(inner: &LoadedGateway, exchange: &ProviderExchange) -> Option<&'static str> {
    match (exchange.route.treatment, inner.settings.mode) {
        (Treatment::Opened, _) => Some("gateway.passthrough lets this path pass unread"),
        (Treatment::Inspect(_), InspectionMode::Off) => Some("gateway.mode is off"),
        (Treatment::Inspect(_), InspectionMode::Full | InspectionMode::CallsOnly) => {
            Some("there is no policy")
        }
        (
            Treatment::Pass
            | Treatment::PassText(_)
            | Treatment::PassRestored(_)
            | Treatment::Refuse(_),
            _,
        ) => None,
    }
}

fn copied(
    inner: &LoadedGateway,
    response: Response<UpstreamBody>,
    once_complete: OnceComplete,
) -> Response<Outgoing> {
    let open = inner.metrics.open();
    response.map(|body| Outgoing::Copied(Box::new(CopiedResponse::new(body, once_complete, open))))
}

fn has_no_body(method: &Method, status: StatusCode) -> bool {
    method == Method::HEAD
        || matches!(
            status,
            StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED | StatusCode::RESET_CONTENT
        )
}

/// Sends a response through the gate. The head of a stream is sent at once. The head of a plain
/// body waits for the body, because its status depends on whether the body is refused.
async fn inspected(
    inner: &Arc<LoadedGateway>,
    exchange: ProviderExchange,
    facts: RequestFacts,
    mut response: Response<UpstreamBody>,
) -> Result<Response<Outgoing>, Refusal> {
    let decoder = decoder(&response, &wire_limits(inner))?;
    if let Some(charset) = headers::foreign_charset(response.headers()) {
        return Err(Refusal::Answer(format!("its character set is `{charset}`, not UTF-8")));
    }
    headers::body_changes(response.headers_mut());
    let RequestFacts { kept, found: FoundFacts { answered, conversation }, earlier } = facts;
    let mut exchange = exchange;
    if let Some(conversation) = conversation {
        let origin = &mut exchange.context.origin;
        *origin = origin.clone().with_values(ValueOrigins::Conversation(conversation));
    }
    let (dialect, binding) = (exchange.route.dialect, exchange.binding);
    let context = exchange.context.clone();
    let streamed = headers::announces_stream(response.headers());
    let mut settings = callgate_gate::Settings::new(context.origin.clone());
    settings.on_deny = match (inner.settings.on_deny, &kept) {
        // Without its request, the turn cannot continue.
        (OnDeny::Continue, None) => OnDeny::Explain,
        (on_deny, _) => on_deny,
    };
    settings.announce = match settings.on_deny {
        OnDeny::Silent => Announce::Nothing,
        OnDeny::Continue | OnDeny::Explain => Announce::Denials,
    };
    settings.denial = inner.decider.denial_text();
    settings.malformed = inner.settings.malformed;
    settings.limits = inner.settings.limits.clone();
    // The form of an error before anything has left, and whether one line of JSON may become several.
    settings.requested_form = if streamed { RequestedForm::Stream } else { RequestedForm::Body };
    let continuation = kept.and_then(|kept| {
        let form = if streamed { AnswerForm::Stream } else { AnswerForm::Body };
        Continuation::new(Arc::clone(inner), exchange, kept, form).map(Box::new)
    });
    let Some(response_decider) = inner.decider.response_decider(context) else {
        return Err(Refusal::Internal("no policies are loaded; send the request again"));
    };
    if inner.settings.mode == InspectionMode::Full {
        settings.text = response_decider.text_guard();
    }
    let response_context = ResponseContext {
        decider: inner.decider.clone(),
        binding,
        answered,
        metrics: inner.metrics.clone(),
        continuation,
        _open: inner.metrics.open(),
    };
    let (parts, upstream) = response.into_parts();
    let gate = Gate::new(dialect, settings);
    let judged =
        Box::new(JudgedResponse::new(upstream, decoder, gate, response_decider, response_context));
    if streamed {
        return Ok(Response::from_parts(parts, Outgoing::Judged(judged)));
    }
    let FirstBytes { mut body, denied, is_refused } = first_bytes(judged).await;
    if let (Some(earlier), false) = (earlier, is_refused) {
        body = with_earlier(body, &earlier)?;
    }
    let mut response = Response::from_parts(parts, body);
    if inner.settings.on_deny != OnDeny::Silent {
        headers::announce_denials(response.headers_mut(), &denied);
    }
    if is_refused {
        *response.status_mut() = StatusCode::BAD_GATEWAY;
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        refusal::mark_refused(response.headers_mut(), dialect);
    }
    Ok(response)
}

/// A body from its first bytes.
struct FirstBytes {
    body: Outgoing,
    /// The records of the calls that were denied in it.
    denied: Vec<String>,
    /// Whether it consists only of a refusal.
    is_refused: bool,
}

async fn first_bytes(mut judged: Box<JudgedResponse>) -> FirstBytes {
    let first = poll_fn(|cx| judged.poll_chunk(cx)).await;
    let denied = judged.denied().to_vec();
    let (is_refused, body) = match (first, judged.ending()) {
        (None, _) => (false, Outgoing::Whole(None)),
        // To the client, a blocked response looks like one that the provider's own filter stopped.
        (Some(first), Some(Ending::Clean | Ending::Blocked)) => (false, Outgoing::whole(first)),
        // A stream under another content type has its error as its last event.
        (Some(first), Some(Ending::Error(_))) => {
            (judged.is_only_an_error(), Outgoing::whole(first))
        }
        (Some(first), None) => {
            // A stream under another content type: more calls may be denied in it.
            judged.put_back(first.into());
            return FirstBytes {
                body: Outgoing::Judged(judged),
                denied: Vec::new(),
                is_refused: false,
            };
        }
    };
    FirstBytes { body, denied, is_refused }
}

/// A response of several answers: the last one, which was read, and those before it.
fn with_earlier(body: Outgoing, earlier: &str) -> Result<Outgoing, Refusal> {
    let whole = match &body {
        Outgoing::Whole(Some(whole)) => std::str::from_utf8(whole).ok(),
        _ => None,
    };
    let joined = whole.and_then(|last| callgate_dialect::read_again(last, earlier));
    let joined = joined.ok_or_else(|| Refusal::Answer("it is not a response".to_owned()))?;
    Ok(Outgoing::whole(Bytes::from(joined)))
}

/// The limits of a response.
pub(crate) fn wire_limits(inner: &LoadedGateway) -> callgate_wire::ReadLimits {
    callgate_wire::ReadLimits {
        frame: inner.settings.limits.frame,
        body: inner.settings.limits.body,
        ..Default::default()
    }
}

pub(crate) fn decoder(
    response: &Response<UpstreamBody>,
    limits: &callgate_wire::ReadLimits,
) -> Result<Decoder, Refusal> {
    let named = headers::content_encoding(response.headers()).map_err(|_| {
        Refusal::Answer("the `Content-Encoding` header is not valid text".to_owned())
    })?;
    Decoder::for_header(Some(&named), limits).map_err(|error| {
        Refusal::Answer(format!("{error}; callgate reads gzip, deflate, br and zstd"))
    })
}

/// Forwards an error response. People and programs read it, so any call text in it is removed.
async fn error_status(
    exchange: &ProviderExchange,
    mut response: Response<UpstreamBody>,
) -> Result<Response<Outgoing>, Refusal> {
    let limits =
        callgate_wire::ReadLimits { decoded_total: MAX_ERROR as u64, ..Default::default() };
    let mut decoder = decoder(&response, &limits)?;
    headers::body_changes(response.headers_mut());
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, MAX_ERROR).collect().await;
    let body = body
        .map_err(|_| Refusal::Answer("the error message is too long or incomplete".to_owned()))?;
    let mut plain = Vec::new();
    let decoded = decoder.push(&body.to_bytes(), &mut plain).and_then(|()| decoder.finish());
    decoded.map_err(|error| Refusal::Answer(format!("the body cannot be decoded: {error}")))?;
    // UTF-16 text of ASCII letters is valid UTF-8 with zero bytes in between.
    let readable = std::str::from_utf8(&plain).ok().filter(|text| !text.contains('\0'));
    let Some(text) = readable else {
        // Some clients would find calls in it that callgate cannot read.
        let why = "callgate withheld the text of this error: it is not UTF-8";
        let body = exchange.route.dialect.error_body(Blame::Upstream, why);
        return Ok(Response::from_parts(parts, Outgoing::whole(Bytes::from(body))));
    };
    let cleaned = callgate_dialect::clean_error(exchange.route.dialect, text);
    let body = cleaned.map_or(Bytes::from(plain), Bytes::from);
    Ok(Response::from_parts(parts, Outgoing::whole(body)))
}

/// Errors are a few hundred bytes; the longest quote the request. This bounds both the received and
/// the decoded size.
const MAX_ERROR: usize = 4 << 20;
