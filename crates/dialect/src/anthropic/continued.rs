//! A Messages turn that continues after its calls were denied: the turn as the provider produced
//! it, and the request that asks for more.

mod join;
mod turn;

use callgate_json::Span;

use super::request::error_result;
use crate::continued::{
    ContinueSpec, DENIED_TOOL, DeniedTurn, LastRequest, NotContinued, in_list, refuse_if,
};
use crate::json::{at_path, document, member, string_member};
use crate::request::RemovedCall;
use crate::usage::usage_in;

pub(super) static CONTINUES: ContinueSpec = ContinueSpec {
    keep_alive: Some((Some("ping"), "{\"type\":\"ping\"}")),
    ..ContinueSpec::of::<turn::Answer>(results, request, join::join, wants_json)
};

/// The error results, as the content of a message.
fn results(calls: &[RemovedCall]) -> String {
    in_list(calls, |call| error_result(call, &[]))
}

/// The request with the turn and its results at the end.
fn request(request: &str, turn: &DeniedTurn<'_>) -> Result<String, NotContinued> {
    let DeniedTurn { content, calls, names } = *turn;
    let last = LastRequest::read(request)?;
    let is_forced = |choice| last.is_one_of(choice, "name", names);
    refuse_if([
        (last.at("thread").is_some(), "the provider keeps the conversation"),
        (last.at("tool_choice").is_some_and(is_forced), DENIED_TOOL),
        (
            calls.iter().any(|call| call.is_programmatic()),
            "code that the provider runs waits for the result",
        ),
    ])?;
    last.with_blocks(content, &results(calls))
}

/// Whether the answer must be a JSON document, which a notice would break.
fn wants_json(request: &str) -> bool {
    let at = |path: &[&str]| at_path(request, document(request), path);
    let format = at(&["output_format"]).or_else(|| at(&["output_config", "format"]));
    format.is_some_and(|format| format.of(request) != "null")
}

/// The usage object in `data`, at its top or in the message that it starts.
pub(super) fn usage_of(data: &str) -> Option<&str> {
    let whole = document(data);
    let found = |object| member(data, object, "usage").is_some();
    let of_message = member(data, whole, "message");
    let object = [Some(whole), of_message].into_iter().flatten().find(|object| found(*object))?;
    usage_in(data, object).map(|(_, usage)| usage)
}

/// Whether the block is thinking, readable or not.
pub(super) fn is_thinking(data: &str, block: Span) -> bool {
    string_member(data, block, "type")
        .is_some_and(|kind| kind.is("thinking") || kind.is("redacted_thinking"))
}

#[cfg(test)]
mod tests;
