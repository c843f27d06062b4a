//! A Gemini turn that continues after its calls were denied: the turn as the provider produced it,
//! and the request that asks for more.

mod join;
mod turn;

use callgate_json::{Reader as Json, Span};

use super::request::error_result;
use crate::continued::{
    ContinueSpec, DENIED_TOOL, DeniedTurn, LastRequest, NotContinued, in_list, refuse_if,
};
use crate::json::{elements, members};
use crate::object::{Raw, object};
use crate::request::RemovedCall;

pub(super) static CONTINUES: ContinueSpec = ContinueSpec {
    // Comments break some clients; an empty chunk breaks none.
    keep_alive: Some((None, "{}")),
    end_has_content: true,
    // A call is not valid without its signature.
    keeps_thinking: true,
    ..ContinueSpec::of::<turn::Answer>(results, request, join::join, wants_json)
};

/// The error results, as the parts of a content.
fn results(calls: &[RemovedCall]) -> String {
    in_list(calls, error_result)
}

/// The contents of a turn: as it was, then the error results.
pub(super) fn contents(parts: &str, results: &str) -> String {
    format!("{},{{\"role\":\"user\",\"parts\":{results}}}", model(parts))
}

/// A content of the model.
pub(super) fn model(parts: &str) -> String {
    object! { "role": "model", "parts": Raw(parts) }
}

/// The request with the turn and its results at the end.
fn request(request: &str, turn: &DeniedTurn<'_>) -> Result<String, NotContinued> {
    let DeniedTurn { content, calls, names } = *turn;
    let whole = LastRequest::read(request)?;
    let inner = inner(&whole).ok_or(NotContinued("the request cannot be read"))?;
    refuse_if([(forces(request, inner, names), DENIED_TOOL)])?;
    let list = find(request, inner, "contents");
    let last = list.and_then(|list| elements(request, list).last().copied());
    let last = last.ok_or(NotContinued("the request has no contents"))?;
    let role = find(request, last, "role");
    let is_of_model = role.is_some_and(|role| is_text(request, role, "model"));
    whole.with_more(last, is_of_model, &contents(content, &results(calls)))
}

/// The request itself: some clients send it in an envelope.
fn inner(request: &LastRequest<'_>) -> Option<Span> {
    match find(request.text, request.whole, "contents") {
        Some(_) => Some(request.whole),
        None => find(request.text, request.whole, "request")
            .filter(|span| span.of(request.text).starts_with('{')),
    }
}

/// Whether the model must call one of these tools, and no other.
fn forces(request: &str, inner: Span, names: &[&str]) -> bool {
    let config = find(request, inner, "toolConfig");
    let config = config.and_then(|config| find(request, config, "functionCallingConfig"));
    let Some(config) = config else { return false };
    let is_any = find(request, config, "mode").is_some_and(|mode| is_text(request, mode, "ANY"));
    let allowed = find(request, config, "allowedFunctionNames");
    let allowed = allowed.map(|list| elements(request, list)).unwrap_or_default();
    let is_denied = |name: &Span| names.iter().any(|denied| is_text(request, *name, denied));
    is_any && !allowed.is_empty() && allowed.iter().all(is_denied)
}

/// Whether the answer must be a JSON document, which a notice would break.
fn wants_json(request: &str) -> bool {
    let inner = LastRequest::read(request).ok().and_then(|request| inner(&request));
    let config = inner.and_then(|inner| find(request, inner, "generationConfig"));
    let Some(config) = config else { return false };
    let is_json = |kind: Span| !is_text(request, kind, "text/plain");
    find(request, config, "responseMimeType").is_some_and(is_json)
        || ["responseSchema", "responseJsonSchema"]
            .iter()
            .any(|key| find(request, config, key).is_some())
}

/// A member in camel case or in snake case, unless it is `null`.
fn find(data: &str, object: Span, camel: &str) -> Option<Span> {
    let fold = |text: &str| text.replace('_', "");
    let is_it = |key: &str| key == camel || fold(key).eq_ignore_ascii_case(camel);
    let found = members(data, object).into_iter().find(|member| is_it(member.key.raw()))?;
    (found.value.of(data) != "null").then_some(found.value)
}

fn is_text(data: &str, span: Span, text: &str) -> bool {
    Json::at(data, span).string().is_ok_and(|found| found.is(text))
}

#[cfg(test)]
mod tests;
