//! The answer as it goes down: copied, judged, or refused.

use std::future::poll_fn;

use bytes::Bytes;
use callgate_dialect::Blame;
use callgate_gate::{Ending, Gate, RequestedForm};
use callgate_wire::Decoder;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Response, StatusCode};
use http_body_util::{BodyExt as _, Limited};

use crate::copied::Copied;
use crate::gateway::{Exchange, Inner};
use crate::headers;
use crate::judged::{Around, Judged};
use crate::outgoing::Outgoing;
use crate::respond::{self, Refusal};
use crate::route::Treatment;
use crate::settings::Mode;
use crate::upstream::UpstreamBody;

/// What the client gets for what the provider answered.
pub(crate) async fn down(
    inner: &Inner,
    exchange: Exchange,
    mut response: Response<UpstreamBody>,
) -> Result<Response<Outgoing>, Refusal> {
    headers::downward(response.headers_mut());
    let status = response.status();
    if status.is_redirection() && status != StatusCode::NOT_MODIFIED {
        let why = "it redirects elsewhere, around callgate; set the provider's `base_url` to the \
                   place it redirects to";
        return Err(Refusal::Answer(why.to_owned()));
    }
    if !inner.inspects(exchange.way.treatment) {
        if let (true, Some(why)) = (status.is_success(), unjudged(inner, &exchange)) {
            inner.decider.unjudged(&exchange.context, why);
        }
        return Ok(copied(inner, response));
    }
    if has_no_body(&exchange.method, status) {
        headers::body_changes(response.headers_mut());
        return Ok(response.map(|_| Outgoing::Whole(None)));
    }
    if !status.is_success() {
        return error_status(&exchange, response).await;
    }
    inspected(inner, exchange, response).await
}

/// Why nobody looks at an answer that may hold calls.
fn unjudged(inner: &Inner, exchange: &Exchange) -> Option<&'static str> {
    match (exchange.way.treatment, inner.settings.mode) {
        (Treatment::Opened, _) => Some("gateway.passthrough lets this path pass unread"),
        (Treatment::Inspect(_), Mode::Off) => Some("gateway.mode is off"),
        (Treatment::Inspect(_), Mode::Full | Mode::CallsOnly) => Some("there is no policy"),
        (
            Treatment::Pass
            | Treatment::PassSaid(_)
            | Treatment::PassRestored(_)
            | Treatment::Refuse(_),
            _,
        ) => None,
    }
}

fn copied(inner: &Inner, response: Response<UpstreamBody>) -> Response<Outgoing> {
    let open = inner.metrics.open();
    response.map(|body| Outgoing::Copied(Box::new(Copied::new(body, open))))
}

fn has_no_body(method: &Method, status: StatusCode) -> bool {
    method == Method::HEAD
        || matches!(
            status,
            StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED | StatusCode::RESET_CONTENT
        )
}

/// A response that goes through the gate. A stream's head leaves at once; that of a body waits for
/// the body, for it may have to say that the body was refused.
async fn inspected(
    inner: &Inner,
    exchange: Exchange,
    mut response: Response<UpstreamBody>,
) -> Result<Response<Outgoing>, Refusal> {
    let limits = callgate_wire::Limits {
        frame: inner.settings.limits.frame,
        body: inner.settings.limits.body,
        ..Default::default()
    };
    let decoder = decoder(&response, &limits)?;
    if let Some(charset) = headers::foreign_charset(response.headers()) {
        return Err(Refusal::Answer(format!("its character set is `{charset}`, not UTF-8")));
    }
    headers::body_changes(response.headers_mut());
    let Exchange { way, binding, context, answered, .. } = exchange;
    let dialect = way.dialect;
    let streamed = headers::says_stream(response.headers());
    let mut settings = callgate_gate::Settings::new(context.origin.clone());
    settings.on_deny = inner.settings.on_deny;
    settings.denial = inner.decider.denial_text();
    settings.malformed = inner.settings.malformed;
    settings.limits = inner.settings.limits.clone();
    // Only the form of an error for an empty answer hangs on it.
    settings.requested_form = if streamed { RequestedForm::Stream } else { RequestedForm::Body };
    let Some(hearing) = inner.decider.hearing(context) else {
        return Err(Refusal::Internal("the policies went away"));
    };
    if inner.settings.mode == Mode::Full {
        settings.text = hearing.text_guard();
    }
    let around = Around {
        decider: inner.decider.clone(),
        binding,
        answered: answered.into_inner(),
        metrics: inner.metrics.clone(),
        _open: inner.metrics.open(),
    };
    let (parts, upstream) = response.into_parts();
    let gate = Gate::new(dialect, settings);
    let judged = Box::new(Judged::new(upstream, decoder, gate, hearing, around));
    if streamed {
        return Ok(Response::from_parts(parts, Outgoing::Judged(judged)));
    }
    let (refused, body) = begun(judged).await;
    let mut response = Response::from_parts(parts, body);
    if refused {
        *response.status_mut() = StatusCode::BAD_GATEWAY;
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        respond::mark_refused(response.headers_mut(), dialect);
    }
    Ok(response)
}

/// The body from its first bytes on, and whether all there is of it is a refusal.
async fn begun(mut judged: Box<Judged>) -> (bool, Outgoing) {
    let Some(first) = poll_fn(|cx| judged.poll_chunk(cx)).await else {
        return (false, Outgoing::Whole(None));
    };
    match judged.ending() {
        // A client reads a stopped answer as one the provider's own filter stopped.
        Some(Ending::Clean | Ending::Blocked) => (false, Outgoing::whole(first)),
        // A stream that came under another name has its error as its last event.
        Some(Ending::Error(_)) => (first.starts_with(b"{"), Outgoing::whole(first)),
        None => {
            judged.put_back(first.into());
            (false, Outgoing::Judged(judged))
        }
    }
}

fn decoder(
    response: &Response<UpstreamBody>,
    limits: &callgate_wire::Limits,
) -> Result<Decoder, Refusal> {
    let named = headers::content_encoding(response.headers())
        .map_err(|_| Refusal::Answer("its content coding is no word".to_owned()))?;
    Decoder::for_header(Some(&named), limits).map_err(|error| {
        Refusal::Answer(format!("{error}; callgate reads gzip, deflate, br and zstd"))
    })
}

/// The body of an error is for people and programs to read; call text in it is taken out.
async fn error_status(
    exchange: &Exchange,
    mut response: Response<UpstreamBody>,
) -> Result<Response<Outgoing>, Refusal> {
    let limits = callgate_wire::Limits { decoded_total: MAX_ERROR as u64, ..Default::default() };
    let mut decoder = decoder(&response, &limits)?;
    headers::body_changes(response.headers_mut());
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, MAX_ERROR).collect().await;
    let body =
        body.map_err(|_| Refusal::Answer("its error is too long or broke off".to_owned()))?;
    let mut plain = Vec::new();
    let decoded =
        decoder.push(&body.to_bytes(), &mut plain).and_then(|()| decoder.finish(&mut plain));
    decoded.map_err(|error| Refusal::Answer(format!("it cannot be decoded: {error}")))?;
    // UTF-16 of plain letters is UTF-8 with zeros in between.
    let readable = std::str::from_utf8(&plain).ok().filter(|text| !text.contains('\0'));
    let Some(text) = readable else {
        // Some clients would read calls in it that callgate cannot.
        let why = "callgate withheld the text of this error: it is not UTF-8";
        let body = exchange.way.dialect.error_body(Blame::Upstream, why);
        return Ok(Response::from_parts(parts, Outgoing::whole(Bytes::from(body))));
    };
    let cleaned = callgate_dialect::clean_error(exchange.way.dialect, text);
    let body = cleaned.map_or(Bytes::from(plain), Bytes::from);
    Ok(Response::from_parts(parts, Outgoing::whole(body)))
}

/// Errors are a few hundred bytes; the longest seen quote the request. It bounds what is received,
/// and what that decodes to.
const MAX_ERROR: usize = 4 << 20;
