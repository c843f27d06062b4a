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
    ContinueSpec, DENIED_TOOL, DeniedTurn, LastRequest, NO_ID, NotContinued, in_row, refuse_if,
    wants_format,
};
use crate::json::{elements, member, string_member};
use crate::request::RemovedCall;

pub(super) static CONTINUES: ContinueSpec = ContinueSpec {
    end_has_content: true,
    ..ContinueSpec::of::<turn::Answer>(results, request, join::join, wants_json)
};

/// The members of a message with the model's thinking.
pub(super) const THINKING: [&str; 4] =
    ["reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"];

/// The error results, as messages.
fn results(calls: &[RemovedCall]) -> String {
    in_row(calls, error_result)
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
fn wants_json(request: &str) -> bool {
    wants_format(request, &["response_format"])
}

#[cfg(test)]
mod tests;
