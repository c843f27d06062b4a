//! A Converse turn that continues after its calls were denied: the turn as the provider produced
//! it, and the request that asks for more.

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
    // No event is known that all clients ignore.
    keep_alive: || None,
    wants_json,
    stored: None,
    end_has_content: false,
    keeps_thinking: false,
};

/// The error results, as the content of a message.
fn results(calls: &[RemovedCall]) -> String {
    let results: Vec<String> = calls.iter().map(error_result).collect();
    format!("[{}]", results.join(","))
}

/// The request with the turn and its results at the end.
fn request(request: &str, turn: &DeniedTurn<'_>) -> Result<String, NotContinued> {
    let DeniedTurn { content, calls, names } = *turn;
    let whole = whole_object(request).ok_or(NotContinued("the request cannot be read"))?;
    let all = members(request, whole);
    let at = |key: &str| all.iter().find(|member| member.key.is(key)).map(|member| member.value);
    if at("toolConfig").is_some_and(|config| forces(request, config, names)) {
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
    let turns = format!(
        ",{{\"role\":\"assistant\",\"content\":{content}}},{{\"role\":\"user\",\"content\":{}}}",
        results(calls)
    );
    edits.insert(last.end, turns);
    Ok(edits.apply(request))
}

/// Whether the model must call one of these tools.
fn forces(request: &str, config: Span, names: &[&str]) -> bool {
    let choice = member(request, config, "toolChoice");
    let tool = choice.and_then(|choice| member(request, choice, "tool"));
    let name = tool.and_then(|tool| string_member(request, tool, "name"));
    let name = name.and_then(|name| name.decode().ok());
    name.is_some_and(|name| names.contains(&name.as_ref()))
}

/// Whether the answer must be a JSON document, which a notice would break.
fn wants_json(request: &str) -> bool {
    let config = member(request, document(request), "outputConfig");
    let format = config.and_then(|config| member(request, config, "textFormat"));
    format.is_some_and(|format| format.of(request) != "null")
}

/// The usage in an event or a body.
pub(super) fn usage_of(data: &str) -> Option<(Span, &str)> {
    let span = member(data, document(data), "usage")?;
    let usage = span.of(data);
    usage.starts_with('{').then_some((span, usage))
}

/// Whether the object at `block` is thinking: a block, or a piece of one.
pub(super) fn is_thinking(data: &str, block: Span) -> bool {
    member(data, block, "reasoningContent").is_some()
}

#[cfg(test)]
mod tests;
