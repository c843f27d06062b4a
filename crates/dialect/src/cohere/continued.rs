//! A Cohere turn that continues after its calls were denied: the turn as the provider produced it,
//! and the request that asks for more.
//!
//! The content of a turn is the assistant's whole message, because its calls are next to its text.

mod join;
mod turn;

use callgate_json::Span;

use super::request::error_result;
use crate::continued::{ContinueSpec, DeniedTurn, NotContinued};
use crate::json::{Edits, document, elements, member, members, string_member};
use crate::request::{RemovedCall, whole_object};
use crate::usage::sum;

pub(super) static CONTINUES: ContinueSpec = ContinueSpec {
    turn: turn::turn,
    rest: turn::rest,
    sum,
    results,
    request,
    join: join::join,
    keep_alive: || None,
    wants_json,
    stored: None,
    end_has_content: false,
    // It is not signed.
    keeps_thinking: true,
};

/// The error results, as messages.
fn results(calls: &[RemovedCall]) -> String {
    let results: Vec<String> = calls.iter().map(error_result).collect();
    results.join(",")
}

/// The request with the turn and its results at the end.
fn request(request: &str, turn: &DeniedTurn<'_>) -> Result<String, NotContinued> {
    let DeniedTurn { content, calls, names } = *turn;
    let whole = whole_object(request).ok_or(NotContinued("the request cannot be read"))?;
    let all = members(request, whole);
    let at = |key: &str| all.iter().find(|member| member.key.is(key)).map(|member| member.value);
    let is_required = string_member(request, whole, "tool_choice")
        .is_some_and(|choice| choice.raw().eq_ignore_ascii_case("required"));
    if is_required && at("tools").is_some_and(|tools| offers_only(request, tools, names)) {
        return Err(NotContinued("the request demands a tool that is denied"));
    }
    if calls.iter().any(|call| call.id.is_empty()) {
        return Err(NotContinued("a result cannot name a call without an id"));
    }
    let last = at("messages").and_then(|list| elements(request, list).last().copied());
    let last = last.ok_or(NotContinued("the request has no messages"))?;
    if string_member(request, last, "role").is_some_and(|role| role.is("assistant")) {
        return Err(NotContinued("the request holds the beginning of the answer"));
    }
    let mut edits = Edits::default();
    edits.insert(last.end, format!(",{content},{}", results(calls)));
    Ok(edits.apply(request))
}

/// Whether the request offers no other tools than these.
fn offers_only(request: &str, tools: Span, names: &[&str]) -> bool {
    let is_denied = |tool: &Span| {
        let function = member(request, *tool, "function");
        let name = function.and_then(|function| string_member(request, function, "name"));
        let name = name.and_then(|name| name.decode().ok());
        name.is_some_and(|name| names.contains(&name.as_ref()))
    };
    let tools = elements(request, tools);
    !tools.is_empty() && tools.iter().all(is_denied)
}

/// Whether the answer must be a JSON document, which a notice would break.
fn wants_json(request: &str) -> bool {
    let format = member(request, document(request), "response_format");
    let kind = format.and_then(|format| string_member(request, format, "type"));
    kind.is_some_and(|kind| !kind.is("text"))
}

/// The usage in an object: the `delta` that ends a stream, or a body.
pub(super) fn usage_of(data: &str, object: Span) -> Option<(Span, &str)> {
    let span = member(data, object, "usage")?;
    let usage = span.of(data);
    usage.starts_with('{').then_some((span, usage))
}

#[cfg(test)]
mod tests;
