//! A Converse turn that continues after its calls were denied: the turn as the provider produced
//! it, and the request that asks for more.

mod join;
mod turn;

use callgate_json::Span;

use super::request::error_result;
use crate::continued::{
    ContinueSpec, DENIED_TOOL, DeniedTurn, LastRequest, NO_ID, NotContinued, in_list, refuse_if,
};
use crate::json::{at_path, document, member};
use crate::request::RemovedCall;

/// No event is known that all clients ignore, to keep a stream alive.
pub(super) static CONTINUES: ContinueSpec =
    ContinueSpec::of::<turn::Answer>(results, request, join::join, wants_json);

/// The error results, as the content of a message.
fn results(calls: &[RemovedCall]) -> String {
    in_list(calls, error_result)
}

/// The request with the turn and its results at the end.
fn request(request: &str, turn: &DeniedTurn<'_>) -> Result<String, NotContinued> {
    let DeniedTurn { content, calls, names } = *turn;
    let last = LastRequest::read(request)?;
    let forced = at_path(request, last.whole, &["toolConfig", "toolChoice", "tool"]);
    refuse_if([
        (forced.is_some_and(|tool| last.is_one_of(tool, "name", names)), DENIED_TOOL),
        (calls.iter().any(|call| call.id.is_empty()), NO_ID),
    ])?;
    last.with_blocks(content, &results(calls))
}

/// Whether the answer must be a JSON document, which a notice would break.
fn wants_json(request: &str) -> bool {
    let format = at_path(request, document(request), &["outputConfig", "textFormat"]);
    format.is_some_and(|format| format.of(request) != "null")
}

/// Whether the object at `block` is thinking: a block, or a piece of one.
pub(super) fn is_thinking(data: &str, block: Span) -> bool {
    member(data, block, "reasoningContent").is_some()
}

#[cfg(test)]
mod tests;
