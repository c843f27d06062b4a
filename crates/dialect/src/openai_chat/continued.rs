//! A Chat turn that continues after its calls were denied: the turn as the provider produced it,
//! and the request that asks for more.
//!
//! The content of a turn is the assistant's whole message, because its calls are next to its text.

mod call;
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
    end_has_content: true,
    keeps_thinking: false,
};

/// The members of a message with the model's thinking.
pub(super) const THINKING: [&str; 4] =
    ["reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"];

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
    if at("n").is_some_and(|n| !matches!(n.of(request), "1" | "null")) {
        return Err(NotContinued("the request asks for several choices"));
    }
    let forced = ["tool_choice", "function_call"].into_iter().filter_map(at);
    if forced.into_iter().any(|choice| forces(request, choice, names)) {
        return Err(NotContinued("the request demands a tool that is denied"));
    }
    if calls.iter().any(|call| !super::request::can_be_answered(call)) {
        return Err(NotContinued("a result cannot name a call without an id"));
    }
    let messages = at("messages").ok_or(NotContinued("the request has no messages"))?;
    let last = elements(request, messages).last().copied();
    let last = last.ok_or(NotContinued("the request has no messages"))?;
    if string_member(request, last, "role").is_some_and(|role| role.is("assistant")) {
        return Err(NotContinued("the request holds the beginning of the answer"));
    }
    let mut edits = Edits::default();
    edits.insert(last.end, format!(",{content},{}", results(calls)));
    Ok(edits.apply(request))
}

/// Whether the model must call one of these tools.
fn forces(request: &str, choice: Span, names: &[&str]) -> bool {
    let at = |object: Span, key: &str| member(request, object, key);
    let is_denied = |object: Span| {
        let name = string_member(request, object, "name").and_then(|name| name.decode().ok());
        name.is_some_and(|name| names.contains(&name.as_ref()))
    };
    let named = |object: Span| {
        let inner = ["function", "custom"].into_iter().filter_map(|key| at(object, key));
        [object].into_iter().chain(inner).any(is_denied)
    };
    let Some(allowed) = at(choice, "allowed_tools") else { return named(choice) };
    let is_required = string_member(request, allowed, "mode").is_some_and(|it| it.is("required"));
    let tools = at(allowed, "tools").map(|tools| elements(request, tools)).unwrap_or_default();
    is_required && tools.into_iter().all(named)
}

/// Whether the answer must be a JSON document, which a notice would break.
fn wants_json(request: &str) -> bool {
    let format = member(request, document(request), "response_format");
    let kind = format.and_then(|format| string_member(request, format, "type"));
    kind.is_some_and(|kind| !kind.is("text"))
}

/// The usage object in a chunk or a completion.
pub(super) fn usage_of(data: &str) -> Option<(Span, &str)> {
    let span = member(data, document(data), "usage")?;
    let usage = span.of(data);
    usage.starts_with('{').then_some((span, usage))
}
#[cfg(test)]
mod tests;
