//! A Cohere turn that continues after its calls were denied: the turn as the provider produced it,
//! and the request that asks for more.
//!
//! The content of a turn is the assistant's whole message, because its calls are next to its text.

mod join;
mod turn;

use callgate_json::Span;

use super::request::error_result;
use crate::continued::{
    ContinueSpec, DENIED_TOOL, DeniedTurn, LastRequest, NO_ID, NotContinued, in_row, refuse_if,
    wants_format,
};
use crate::json::{elements, member, string_member};
use crate::request::RemovedCall;

pub(super) static CONTINUES: ContinueSpec = ContinueSpec {
    // It is not signed.
    keeps_thinking: true,
    ..ContinueSpec::of::<turn::Answer>(results, request, join::join, wants_json)
};

/// The error results, as messages.
fn results(calls: &[RemovedCall]) -> String {
    in_row(calls, error_result)
}

/// The request with the turn and its results at the end.
fn request(request: &str, turn: &DeniedTurn<'_>) -> Result<String, NotContinued> {
    let DeniedTurn { content, calls, names } = *turn;
    let last = LastRequest::read(request)?;
    let is_required = string_member(request, last.whole, "tool_choice")
        .is_some_and(|choice| choice.raw().eq_ignore_ascii_case("required"));
    let offers_only = |tools| offers_only(&last, tools, names);
    refuse_if([
        (is_required && last.at("tools").is_some_and(offers_only), DENIED_TOOL),
        (calls.iter().any(|call| call.id.is_empty()), NO_ID),
    ])?;
    last.with_messages(&format!("{content},{}", results(calls)))
}

/// Whether the answer must be a JSON document, which a notice would break.
fn wants_json(request: &str) -> bool {
    wants_format(request, &["response_format"])
}

/// Whether the request offers no other tools than these.
fn offers_only(request: &LastRequest<'_>, tools: Span, names: &[&str]) -> bool {
    let is_denied = |tool: &Span| {
        let function = member(request.text, *tool, "function");
        function.is_some_and(|function| request.is_one_of(function, "name", names))
    };
    let tools = elements(request.text, tools);
    !tools.is_empty() && tools.iter().all(is_denied)
}

#[cfg(test)]
mod tests;
