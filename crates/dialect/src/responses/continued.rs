//! A Responses turn that goes on after its calls were denied: the turn as the provider produced it,
//! and the request that asks for more.
//!
//! The content of a turn is its items, one after the other. The next request contains the whole
//! conversation, also if the provider stores the response: every server accepts that, whereas the id
//! of a response means nothing to one that says it stores responses and does not, or to an
//! organisation without data retention.

mod join;
mod turn;

use callgate_json::Span;

use super::request::answer::result;
use super::stored::stored;
use crate::continued::{
    ContinueSpec, DENIED_TOOL, DeniedTurn, LastRequest, NotContinued, refuse_if, wants_format,
};
use crate::json::{Edits, elements, member, string_member, text_member};
use crate::request::RemovedCall;

pub(super) use turn::OpenMessage;

pub(super) static CONTINUES: ContinueSpec = ContinueSpec {
    stored: Some(stored),
    keeps_thinking: true,
    ..ContinueSpec::of::<turn::Answer>(results, request, join::join, wants_json)
};

/// The error results, one after the other.
fn results(calls: &[RemovedCall]) -> String {
    calls.iter().filter_map(result).collect::<Vec<_>>().join(",")
}

/// The request with the turn and its results at the end.
fn request(request: &str, turn: &DeniedTurn<'_>) -> Result<String, NotContinued> {
    let DeniedTurn { content, calls, names } = *turn;
    let last = LastRequest::read(request)?;
    let is_named = last.at("conversation").is_some_and(|at| at.of(request) != "null");
    let is_delayed = last.at("background").is_some_and(|at| at.of(request) == "true");
    let is_forced = last.at("tool_choice").is_some_and(|choice| forces(request, choice, names));
    let cannot_answer = |call: &RemovedCall| call.id.is_empty() || result(call).is_none();
    refuse_if([
        (is_named, "the response is part of a conversation that the provider stores"),
        (is_delayed, "the response is made in the background"),
        (is_forced, DENIED_TOOL),
        (
            calls.iter().any(|call| call.is_programmatic()),
            "code that the provider runs waits for the result",
        ),
        (calls.iter().any(cannot_answer), "the result of a call cannot be written"),
    ])?;
    let input = last.at("input").ok_or(NotContinued("the request has no input"))?;
    let added = format!("{content},{}", results(calls));
    let mut edits = Edits::default();
    match (input.of(request).starts_with('"'), elements(request, input).last()) {
        (true, _) => {
            edits.insert(input.start, "[{\"role\":\"user\",\"content\":");
            edits.insert(input.end, format!("}},{added}]"));
        }
        (false, Some(last)) => edits.insert(last.end, format!(",{added}")),
        (false, None) => return Err(NotContinued("the request has no input")),
    }
    Ok(edits.apply(request))
}

/// Whether the model must call one of these tools.
fn forces(request: &str, choice: Span, names: &[&str]) -> bool {
    let is_denied = |object: Span| {
        let text = |key: &str| text_member(request, object, key);
        let named = text("name").is_some_and(|name| names.iter().any(|it| ends_with(it, &name)));
        named || text("type").is_some_and(|kind| names.contains(&kind.as_ref()))
    };
    let Some(tools) = member(request, choice, "tools") else { return is_denied(choice) };
    let is_required = string_member(request, choice, "mode").is_some_and(|it| it.is("required"));
    is_required && elements(request, tools).into_iter().all(is_denied)
}

/// Whether a tool has this name, with or without a namespace.
fn ends_with(tool: &str, name: &str) -> bool {
    let before = tool.strip_suffix(name);
    before.is_some_and(|before| before.is_empty() || before.ends_with(['.', '_']))
}

/// Whether the answer must be a JSON document, which a notice would break.
fn wants_json(request: &str) -> bool {
    wants_format(request, &["text", "format"])
}

#[cfg(test)]
mod tests;
