//! A Messages turn that continues after its calls were denied: the turn as the provider produced
//! it, and the request that asks for more.

mod join;
mod turn;

use callgate_json::{Span, Text};

use super::request::error_result;
use crate::AddedEvent;
use crate::continued::{ContinueSpec, DeniedTurn, NotContinued};
use crate::json::{Edits, document, elements, member, members, set, string_member};
use crate::request::{RemovedCall, whole_object};
use crate::usage;

pub(super) static CONTINUES: ContinueSpec = ContinueSpec {
    turn: turn::turn,
    rest: turn::rest,
    sum: usage::sum,
    results,
    request,
    join: join::join,
    keep_alive: || Some(AddedEvent { name: Some("ping"), data: "{\"type\":\"ping\"}".to_owned() }),
    wants_json,
    stored: None,
    end_has_content: false,
    keeps_thinking: false,
};

/// The error results, as the content of a message.
fn results(calls: &[RemovedCall]) -> String {
    let results: Vec<String> = calls.iter().map(|call| error_result(call, &[])).collect();
    format!("[{}]", results.join(","))
}

/// The request with the turn and its results at the end.
fn request(request: &str, turn: &DeniedTurn<'_>) -> Result<String, NotContinued> {
    let DeniedTurn { content, calls, names } = *turn;
    let whole = whole_object(request).ok_or(NotContinued("the request cannot be read"))?;
    let all = members(request, whole);
    let at = |key: &str| all.iter().find(|member| member.key.is(key)).map(|member| member.value);
    if at("thread").is_some() {
        return Err(NotContinued("the provider keeps the conversation"));
    }
    if at("tool_choice").is_some_and(|choice| forces(request, choice, names)) {
        return Err(NotContinued("the request demands a tool that is denied"));
    }
    if calls.iter().any(|call| super::request::is_programmatic(&call.original)) {
        return Err(NotContinued("code that the provider runs waits for the result"));
    }
    let messages = at("messages").ok_or(NotContinued("the request has no messages"))?;
    let last = elements(request, messages).last().copied();
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
fn forces(request: &str, choice: Span, names: &[&str]) -> bool {
    let name = string_member(request, choice, "name").and_then(|name| name.decode().ok());
    name.is_some_and(|name| names.contains(&name.as_ref()))
}

/// Whether the answer must be a JSON document, which a notice would break.
fn wants_json(request: &str) -> bool {
    let whole = document(request);
    let format = member(request, whole, "output_format").or_else(|| {
        let config = member(request, whole, "output_config")?;
        member(request, config, "format")
    });
    format.is_some_and(|format| format.of(request) != "null")
}

/// The usage object in `data`, at its top or in the message that it starts.
pub(super) fn usage_of(data: &str) -> Option<&str> {
    let whole = document(data);
    let inside = member(data, whole, "message");
    let usage = [Some(whole), inside].into_iter().flatten();
    let mut usage = usage.filter_map(|object| member(data, object, "usage"));
    let usage = usage.next()?.of(data);
    usage.starts_with('{').then_some(usage)
}

/// The type of a block.
fn kind_of(data: &str, block: Span) -> Option<Text<'_>> {
    string_member(data, block, "type")
}

/// Whether the block is thinking, readable or not.
pub(super) fn is_thinking(data: &str, block: Span) -> bool {
    kind_of(data, block).is_some_and(|kind| kind.is("thinking") || kind.is("redacted_thinking"))
}

/// Writes the usage of all answers into the object at `object`.
pub(super) fn set_usage(edits: &mut Edits, data: &str, object: Span, usage: &str) {
    set(edits, data, object, "usage", usage);
}

#[cfg(test)]
mod tests;
