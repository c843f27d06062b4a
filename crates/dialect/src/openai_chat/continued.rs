//! A Chat turn that continues after its calls were denied: the turn as the provider produced it,
//! and the request that asks for more.
//!
//! The content of a turn is the assistant's whole message, because its calls are next to its text.

mod call;
mod join;
mod turn;

use callgate_json::Span;

use super::request::{can_be_answered, error_result};
use crate::continued::{
    ContinueSpec, DENIED_TOOL, DeniedTurn, LastRequest, NO_ID, NotContinued, read_rest, read_turn,
    refuse_if,
};
use crate::json::{document, elements, member, string_member};
use crate::request::RemovedCall;

pub(super) static CONTINUES: ContinueSpec = ContinueSpec {
    turn: read_turn::<turn::Answer>,
    rest: read_rest::<turn::Answer>,
    results,
    request,
    join: join::join,
    keep_alive: None,
    wants_json: has_response_format,
    stored: None,
    end_has_content: true,
    keeps_thinking: false,
};

/// The members of a message with the model's thinking.
pub(super) const THINKING: [&str; 4] =
    ["reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"];

/// The error results, as messages.
fn results(calls: &[RemovedCall]) -> String {
    calls.iter().map(error_result).collect::<Vec<_>>().join(",")
}

/// The request with the turn and its results at the end.
fn request(request: &str, turn: &DeniedTurn<'_>) -> Result<String, NotContinued> {
    let DeniedTurn { content, calls, names } = *turn;
    let last = LastRequest::read(request)?;
    let has_several = last.at("n").is_some_and(|n| !matches!(n.of(request), "1" | "null"));
    let mut forced = ["tool_choice", "function_call"].into_iter().filter_map(|key| last.at(key));
    refuse_if([
        (has_several, "the request asks for several choices"),
        (forced.any(|choice| forces(&last, choice, names)), DENIED_TOOL),
        (!calls.iter().all(can_be_answered), NO_ID),
    ])?;
    last.with_messages(&format!("{content},{}", results(calls)))
}

/// Whether the model must call one of these tools.
fn forces(request: &LastRequest<'_>, choice: Span, names: &[&str]) -> bool {
    let at = |object: Span, key: &str| member(request.text, object, key);
    let named = |object: Span| {
        let inner = ["function", "custom"].into_iter().filter_map(|key| at(object, key));
        [object].into_iter().chain(inner).any(|named| request.is_one_of(named, "name", names))
    };
    let Some(allowed) = at(choice, "allowed_tools") else { return named(choice) };
    let mode = string_member(request.text, allowed, "mode");
    let tools = at(allowed, "tools").map(|tools| elements(request.text, tools));
    mode.is_some_and(|it| it.is("required")) && tools.unwrap_or_default().into_iter().all(named)
}

/// Whether the answer must be a JSON document, which a notice would break.
pub(crate) fn has_response_format(request: &str) -> bool {
    let format = member(request, document(request), "response_format");
    let kind = format.and_then(|format| string_member(request, format, "type"));
    kind.is_some_and(|kind| !kind.is("text"))
}

#[cfg(test)]
mod tests;
