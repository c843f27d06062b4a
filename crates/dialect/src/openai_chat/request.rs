//! Puts removed calls back into a Chat request.
//!
//! A call goes to its old position in `tool_calls`, its notice is removed from `content`, and its
//! result is a message directly after it.

use callgate_json::{Error, Kind, Reader as Json, Span};

use super::continued::THINKING;
use crate::json::{Fields, member, text_or_skip};
use crate::object::{Raw, object};
use crate::request::listed::{AddedMember, Emptied, Listed, Message, read_content, read_items};
use crate::request::{NotRestored, RemovedCall, RemovedTurn, SentCall, whole_object};

/// How messages list their calls.
pub(super) static LISTED: Listed = Listed {
    read: read_message,
    call,
    refuse,
    is_legacy: |call| kind(call) == Some(CallForm::Legacy),
    emptied: Emptied::Replaced("null"),
    added: AddedMember::Last,
    plan: None,
    thinking: &THINKING,
    result: |call| error_result(call),
};

/// Why a call cannot be put back.
fn refuse(message: &Message<'_>, turn: &RemovedTurn, call: &RemovedCall) -> Option<NotRestored> {
    let has_legacy = message.function_call.is_some();
    let is_occupied = match kind(call) {
        None => return Some(NotRestored::Unreadable),
        Some(CallForm::Nameless) => return Some(NotRestored::NoId),
        // The whole message is replaced.
        Some(_) if turn.merged.is_some() => false,
        Some(CallForm::Legacy) => turn.calls.len() != 1 || has_legacy || !message.calls.is_empty(),
        Some(CallForm::Listed) => has_legacy,
    };
    is_occupied.then_some(NotRestored::Occupied)
}

/// How a call is written in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallForm {
    /// In `tool_calls`.
    Listed,
    /// In `tool_calls`, without an id.
    Nameless,
    /// As `function_call`.
    Legacy,
}

/// The form of a stored call; `None` if it is not a call.
fn kind(call: &RemovedCall) -> Option<CallForm> {
    let object = whole_object(&call.original)?;
    let has = |key| member(&call.original, object, key).is_some();
    match (call.id.as_str(), has("function") || has("custom")) {
        ("", true) => Some(CallForm::Nameless),
        ("", false) => has("name").then_some(CallForm::Legacy),
        (_, listed) => listed.then_some(CallForm::Listed),
    }
}

const MESSAGE: [&str; 5] = ["role", "content", "tool_calls", "function_call", "tool_call_id"];

fn read_message<'a>(reader: &mut Json<'a>) -> Result<Message<'a>, Error> {
    let mut message = Message::default();
    let mut object = Fields::new(&MESSAGE).enter(reader)?;
    while let Some(place) = object.next(reader)? {
        match place {
            0 => message.role = text_or_skip(reader)?,
            1 => message.content = read_content(reader)?,
            2 => message.calls = read_items(reader, "id")?.1,
            3 => {
                let (span, kind) = reader.value()?;
                message.function_call = (kind != Kind::Null).then_some(span);
            }
            _ => message.tool_call_id = text_or_skip(reader)?,
        }
    }
    message.span = object.span(reader);
    Ok(message)
}

/// The call in an entry: a function, or a custom tool.
fn call(request: &str, entry: Span) -> SentCall<'_> {
    let inner = |key| member(request, entry, key).filter(|at| at.of(request).starts_with('{'));
    match (inner("function"), inner("custom")) {
        (None, Some(custom)) => SentCall::read(request, custom, "input"),
        (function, _) => SentCall::read(request, function.unwrap_or(entry), "arguments"),
    }
}

/// Whether a result can name the call.
pub(super) fn can_be_answered(call: &RemovedCall) -> bool {
    matches!(kind(call), Some(CallForm::Listed | CallForm::Legacy))
}

pub(super) fn error_result(call: &RemovedCall) -> String {
    if kind(call) != Some(CallForm::Legacy) {
        return object! { "role": "tool", "tool_call_id": &call.id, "content": &call.why };
    }
    let name = call.at(&["name"]);
    object! { "role": "function", "name": Raw(name), "content": &call.why }
}

#[cfg(test)]
mod tests;
