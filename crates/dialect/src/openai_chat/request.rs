//! Puts removed calls back into a Chat request.
//!
//! A call goes to its old position in `tool_calls`, its notice is removed from `content`, and its
//! result is a message directly after it.

mod unmerge;

use callgate_json::{Error, Kind, Reader as Json, Span, Text, quote};

use unmerge::unmerge;

use crate::json::{Edits, Fields, member, members, text_or_skip};
use crate::object::{Raw, object};
use crate::request::listed::{Content, Items, insert_calls, known, read_content, read_items};
use crate::request::{
    ClientMessage, Placed, Plan, RemovedCall, RemovedTurn, Restored, SentCall, messages, plan,
    whole_object,
};

/// Puts the removed calls of `turns` back into `request`.
pub(crate) fn restore(request: &str, turns: &[RemovedTurn]) -> Result<Restored, Error> {
    let messages = messages(request, read_message)?;
    let seen = look_all(request, &messages);
    let message = |seen: &ClientMessage<'_>| messages.get(seen.message);
    let refuse = |place: usize, turn: &RemovedTurn, call: &RemovedCall| {
        let Some(seen) = seen.get(place) else { return Some(Restored::NOT_FOUND) };
        match kind(call) {
            None => return Some(Restored::UNREADABLE),
            Some(CallForm::Nameless) => return Some(Restored::NO_ID),
            // The whole message is replaced.
            Some(_) if turn.merged.is_some() => {}
            Some(CallForm::Legacy) => {
                let free = turn.calls.len() == 1 && message(seen).is_some_and(Message::has_no_call);
                if !free {
                    return Some(Restored::OCCUPIED);
                }
            }
            Some(CallForm::Listed) => {
                if message(seen).is_none_or(|message| message.function_call.is_some()) {
                    return Some(Restored::OCCUPIED);
                }
            }
        }
        (seen.message + 1 == messages.len()).then_some(Restored::UNANSWERED)
    };
    let mut out = Restored::default();
    let plans = plan(
        &seen,
        turns,
        known(messages.iter().map(|it| (&it.calls, it.tool_call_id))),
        refuse,
        &mut out,
    );

    let mut edits = Edits::default();
    for plan in &plans {
        let found = seen.get(plan.seen).and_then(|seen| Some((seen, message(seen)?)));
        let Some((seen, message)) = found else {
            plan.report(Placed::No, &mut out);
            continue;
        };
        plan.report(Placed::Yes, &mut out);
        if let Some(merged) = &plan.turn.merged {
            edits.replace(message.span, unmerge(request, message, merged, &plan.calls));
            continue;
        }
        if let Some(content) = message.content.cut_notices(seen, plan, &mut edits) {
            edits.replace(content, "null");
        }
        match plan.calls.as_slice() {
            [call] if kind(call) == Some(CallForm::Legacy) => {
                set_member(request, message, "function_call", &call.original, &mut edits);
            }
            _ => add_calls(request, message, seen, plan, &mut edits),
        }
        for call in &plan.calls {
            edits.insert(message.span.end, format!(",{}", error_result(call)));
        }
    }
    out.body = (!edits.is_empty()).then(|| edits.apply(request));
    Ok(out)
}

/// The recognisable traits of each of the assistant's messages.
pub(crate) fn seen(request: &str) -> Result<Vec<ClientMessage<'_>>, Error> {
    Ok(look_all(request, &messages(request, read_message)?))
}

#[derive(Default)]
struct Message<'a> {
    span: Span,
    role: Option<Text<'a>>,
    content: Content<'a>,
    /// Entries of `tool_calls`, each with its id.
    calls: Items<'a>,
    /// A legacy call, unless it is `null`.
    function_call: Option<Span>,
    /// The call that a `tool` message answers.
    tool_call_id: Option<Text<'a>>,
}

impl Message<'_> {
    fn has_no_call(&self) -> bool {
        self.calls.is_empty() && self.function_call.is_none()
    }
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

fn look_all<'a>(request: &'a str, messages: &[Message<'a>]) -> Vec<ClientMessage<'a>> {
    let seen = |(place, message)| look(request, place, message);
    messages.iter().enumerate().filter_map(seen).collect()
}

/// The recognisable traits of a message, if it is the assistant's.
fn look<'a>(request: &'a str, place: usize, message: &Message<'a>) -> Option<ClientMessage<'a>> {
    if !message.role.is_some_and(|role| role.is("assistant")) {
        return None;
    }
    let mut seen = ClientMessage::new(place, message.content.texts());
    for (span, id) in &message.calls {
        let inner = |key| member(request, *span, key).filter(|at| at.of(request).starts_with('{'));
        let call = match (inner("function"), inner("custom")) {
            (None, Some(custom)) => SentCall::read(request, custom, "input"),
            (function, _) => SentCall::read(request, function.unwrap_or(*span), "arguments"),
        };
        seen.add_call(request, SentCall { id: *id, ..call });
    }
    if let Some(legacy) = message.function_call {
        let call = SentCall::read(request, legacy, "arguments");
        seen.add_call(request, SentCall { id: None, ..call });
    }
    Some(seen)
}

/// Inserts the calls among those that the client received.
fn add_calls(
    request: &str,
    message: &Message<'_>,
    seen: &ClientMessage<'_>,
    plan: &Plan<'_>,
    edits: &mut Edits,
) {
    let Some((last, _)) = message.calls.last() else {
        let calls: Vec<&str> = plan.calls.iter().map(|call| call.original.as_str()).collect();
        let list = format!("[{}]", calls.join(","));
        return set_member(request, message, "tool_calls", &list, edits);
    };
    insert_calls(&message.calls, last.end, seen, plan, edits);
}

/// Sets a member of the message that it does not have, or that is empty.
fn set_member(request: &str, message: &Message<'_>, key: &str, value: &str, edits: &mut Edits) {
    let all = members(request, message.span);
    match (all.iter().find(|member| member.key.is(key)), all.last()) {
        (Some(member), _) => edits.replace(member.value, value),
        (None, Some(last)) => edits.insert(last.span.end, format!(",\"{key}\":{value}")),
        (None, None) => edits.insert(message.span.end - 1, format!("\"{key}\":{value}")),
    }
}

/// Whether a result can name the call.
pub(super) fn can_be_answered(call: &RemovedCall) -> bool {
    matches!(kind(call), Some(CallForm::Listed | CallForm::Legacy))
}

pub(super) fn error_result(call: &RemovedCall) -> String {
    let why = quote(&call.why);
    if kind(call) != Some(CallForm::Legacy) {
        let id = quote(&call.id);
        return object! { "role": "tool", "tool_call_id": Raw(&id), "content": Raw(&why) };
    }
    let name = whole_object(&call.original)
        .and_then(|object| member(&call.original, object, "name"))
        .map_or("\"\"", |name| name.of(&call.original));
    object! { "role": "function", "name": Raw(name), "content": Raw(&why) }
}

#[cfg(test)]
mod tests;
