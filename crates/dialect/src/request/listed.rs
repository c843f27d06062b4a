//! Puts removed calls back into messages that list their calls.
//!
//! A call goes to its old position in `tool_calls`, its notice is removed from `content`, and its
//! result is a message directly after it.

use std::collections::HashSet;

use callgate_json::{Error, Kind, Problem, Reader as Json, Span, Text};

use super::{
    ClientMessage, Decoded, MergedTurn, NotRestored, Placed, Plan, RemovedCall, RemovedTurn,
    Restored, SentCall, TextDigest, meaning, messages, plan, rest, shown, whole_object,
};
use crate::json::{
    Edits, Fields, Member, document, list_of, member, members, remove_members, text_or_skip,
};

/// The differences between dialects whose messages list their calls.
pub(crate) struct Listed {
    /// Reads a message.
    pub(crate) read: for<'a> fn(&mut Json<'a>) -> Result<Message<'a>, Error>,
    /// The call in an entry of the list.
    pub(crate) call: for<'a> fn(&'a str, Span) -> SentCall<'a>,
    /// Why a call of the turn cannot be put back into the message.
    pub(crate) refuse: fn(&Message<'_>, &RemovedTurn, &RemovedCall) -> Option<NotRestored>,
    /// Whether a call is a `function_call` instead of an entry of the list.
    pub(crate) is_legacy: fn(&RemovedCall) -> bool,
    /// What to do with a `content` that contained only notices.
    pub(crate) emptied: Emptied,
    /// Where a member goes that the message does not have.
    pub(crate) added: AddedMember,
    /// The member with the plan, in APIs that have one.
    pub(crate) plan: Option<&'static str>,
    /// The members with thinking that clients may leave out.
    pub(crate) thinking: &'static [&'static str],
    /// The message that answers a call.
    pub(crate) result: fn(&RemovedCall) -> String,
}

/// What to do with a `content` that contained only notices.
#[derive(Clone, Copy)]
pub(crate) enum Emptied {
    /// Remove the member.
    Gone,
    /// Replace it.
    Replaced(&'static str),
}

/// Where a member goes that a message does not have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddedMember {
    First,
    Last,
}

impl Listed {
    /// Puts the removed calls of `turns` back into `request`.
    pub(crate) fn restore(&self, request: &str, turns: &[RemovedTurn]) -> Result<Restored, Error> {
        let messages = messages(request, self.read)?;
        let seen = self.look_all(request, &messages);
        let message = |seen: &ClientMessage<'_>| messages.get(seen.message);
        let refuse = |place: usize, turn: &RemovedTurn, call: &RemovedCall| {
            let seen = seen.get(place);
            let Some((seen, message)) = seen.and_then(|it| Some((it, message(it)?))) else {
                return Some(NotRestored::NotFound);
            };
            let is_last = seen.message + 1 == messages.len();
            (self.refuse)(message, turn, call).or(is_last.then_some(NotRestored::Unanswered))
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
                edits.replace(message.span, self.unmerged(request, message, plan, merged));
                continue;
            }
            match (message.content.cut_notices(seen, plan, &mut edits), self.emptied) {
                (Some(_), Emptied::Gone) => {
                    remove_members(&mut edits, request, message.span, |it| it.key.is("content"));
                }
                (Some(content), Emptied::Replaced(empty)) => edits.replace(content, empty),
                (None, _) => {}
            }
            self.add_calls(request, message, seen, plan, &mut edits);
            for call in &plan.calls {
                edits.insert(message.span.end, format!(",{}", (self.result)(call)));
            }
        }
        out.body = (!edits.is_empty()).then(|| edits.apply(request));
        Ok(out)
    }

    /// The messages that replace a turn of several answers. A client that has left out the thinking
    /// of the turn gets back none of it.
    fn unmerged(
        &self,
        request: &str,
        message: &Message<'_>,
        plan: &Plan<'_>,
        merged: &MergedTurn,
    ) -> String {
        let first = merged.earlier.first().map_or("{}", |answer| answer.content.as_str());
        let drops_thinking =
            self.thinks(first, document(first)) && !self.thinks(request, message.span);
        let turn = |content: &str| {
            let is_gone = |member: &Member<'_>| {
                drops_thinking && self.thinking.iter().any(|key| member.key.is(key))
            };
            let mut edits = Edits::default();
            remove_members(&mut edits, content, document(content), is_gone);
            edits.apply(content)
        };
        let earlier = merged.earlier.iter();
        let earlier = earlier.flat_map(|it| [turn(&it.content), it.results.clone()]);
        let results = plan.calls.iter().map(|call| (self.result)(call));
        let all: Vec<String> = earlier.chain([turn(&merged.last)]).chain(results).collect();
        all.join(",")
    }

    /// Whether the message has any thinking.
    fn thinks(&self, data: &str, message: Span) -> bool {
        let mut thoughts = self.thinking.iter().filter_map(|key| member(data, message, key));
        thoughts.any(|at| !matches!(at.of(data), "null" | "[]" | "\"\""))
    }

    /// Inserts the calls among those that the client received.
    fn add_calls(
        &self,
        request: &str,
        message: &Message<'_>,
        seen: &ClientMessage<'_>,
        plan: &Plan<'_>,
        edits: &mut Edits,
    ) {
        match (plan.calls.as_slice(), message.calls.last()) {
            ([call], _) if (self.is_legacy)(call) => {
                self.set(request, message, "function_call", &call.original, edits);
            }
            (_, Some((last, _))) => insert_calls(&message.calls, last.end, seen, plan, edits),
            (calls, None) => {
                let calls: Vec<&str> = calls.iter().map(|call| call.original.as_str()).collect();
                self.set(request, message, "tool_calls", &list_of(&calls), edits);
            }
        }
    }

    /// Sets a member of the message that it does not have, or that is empty. The message has others.
    fn set(&self, request: &str, message: &Message<'_>, key: &str, value: &str, edits: &mut Edits) {
        let all = members(request, message.span);
        match (all.iter().find(|member| member.key.is(key)), all.last()) {
            (Some(member), _) => edits.replace(member.value, value),
            (None, Some(last)) if self.added == AddedMember::Last => {
                edits.insert(last.span.end, format!(",\"{key}\":{value}"));
            }
            (None, _) => edits.insert(message.span.start + 1, format!("\"{key}\":{value},")),
        }
    }

    /// The recognisable traits of each of the assistant's messages.
    pub(crate) fn seen<'a>(&self, request: &'a str) -> Result<Vec<ClientMessage<'a>>, Error> {
        Ok(self.look_all(request, &messages(request, self.read)?))
    }

    fn look_all<'a>(&self, request: &'a str, messages: &[Message<'a>]) -> Vec<ClientMessage<'a>> {
        let seen = |(place, message)| {
            let mut seen = self.look(request, place, message)?;
            seen.client.plan = self.plan.map(|key| plan_digest(request, message.span, key));
            Some(seen)
        };
        messages.iter().enumerate().filter_map(seen).collect()
    }

    /// The recognisable traits of a message, if it is the assistant's.
    fn look<'a>(
        &self,
        request: &'a str,
        place: usize,
        message: &Message<'a>,
    ) -> Option<ClientMessage<'a>> {
        if !message.role.is_some_and(|role| role.is("assistant")) {
            return None;
        }
        let mut seen = ClientMessage::new(place, message.content.texts());
        for (span, id) in &message.calls {
            seen.add_call(request, SentCall { id: *id, ..(self.call)(request, *span) });
        }
        if let Some(legacy) = message.function_call {
            let call = SentCall::read(request, legacy, "arguments");
            seen.add_call(request, SentCall { id: None, ..call });
        }
        Some(seen)
    }
}

/// The digest of the message's plan under `key`.
fn plan_digest(request: &str, message: Span, key: &str) -> [u8; 32] {
    let mut digest = TextDigest::new();
    let plan = member(request, message, key);
    if let Some(Ok(text)) = plan.map(|span| Json::at(request, span).string()) {
        digest.add_raw(text.raw());
    }
    digest.finish().unwrap_or_default()
}

#[derive(Default)]
pub(crate) struct Message<'a> {
    pub(crate) span: Span,
    pub(crate) role: Option<Text<'a>>,
    pub(crate) content: Content<'a>,
    /// Entries of `tool_calls`, each with its id.
    pub(crate) calls: Items<'a>,
    /// A legacy call, unless it is `null`.
    pub(crate) function_call: Option<Span>,
    /// The call that a `tool` message answers.
    pub(crate) tool_call_id: Option<Text<'a>>,
}

/// The content of a message.
#[derive(Default)]
pub(crate) enum Content<'a> {
    #[default]
    Missing,
    Text(Text<'a>),
    /// The parts, each with its text if it has one.
    Parts(Span, Items<'a>),
}

/// The objects of a list, each with one of its strings.
pub(crate) type Items<'a> = Vec<(Span, Option<Text<'a>>)>;

impl<'a> Content<'a> {
    /// Its texts, each with its place.
    fn texts(&self) -> Vec<(usize, Decoded<'a>)> {
        match self {
            Content::Missing => Vec::new(),
            Content::Text(text) => vec![(0, Decoded::new(text))],
            Content::Parts(_, parts) => {
                let text = |(place, (_, text)): (usize, &(Span, Option<Text<'a>>))| {
                    text.as_ref().map(|text| (place, Decoded::new(text)))
                };
                parts.iter().enumerate().filter_map(text).collect()
            }
        }
    }

    /// Removes the notices. Returns the content if it was nothing but notices.
    fn cut_notices(
        &self,
        seen: &ClientMessage<'_>,
        plan: &Plan<'_>,
        edits: &mut Edits,
    ) -> Option<Span> {
        let shown = shown(&seen.texts, &plan.calls);
        let mut gone = HashSet::new();
        for ((place, text), shown) in seen.texts.iter().zip(&shown) {
            if !shown.is_empty() && rest(&text.text, shown).is_empty() {
                gone.insert(*place);
                continue;
            }
            for notice in shown {
                edits.replace(text.span(&notice.cut), "");
            }
        }
        match self {
            _ if gone.is_empty() => None,
            Content::Missing => None,
            Content::Text(text) => Some(text.span()),
            Content::Parts(span, parts) if gone.len() == parts.len() => Some(*span),
            Content::Parts(_, parts) => {
                let spans: Vec<Span> = parts.iter().map(|(span, _)| *span).collect();
                edits.remove(&spans, |place| gone.contains(&place));
                None
            }
        }
    }
}

/// Whether the stored call is a valid list entry.
pub(crate) fn is_call(call: &RemovedCall) -> bool {
    whole_object(&call.original)
        .is_some_and(|object| member(&call.original, object, "function").is_some())
}

/// The call in an entry, in APIs with one kind of calls.
pub(crate) fn function_of(request: &str, entry: Span) -> SentCall<'_> {
    SentCall::read(request, member(request, entry, "function").unwrap_or(entry), "arguments")
}

/// Reads a message of an API without legacy calls.
pub(crate) fn read_message<'a>(reader: &mut Json<'a>) -> Result<Message<'a>, Error> {
    let mut message = Message::default();
    let mut object =
        Fields::new(&["role", "content", "tool_calls", "tool_call_id"]).enter(reader)?;
    while let Some(place) = object.next(reader)? {
        match place {
            0 => message.role = text_or_skip(reader)?,
            1 => message.content = read_content(reader)?,
            2 => message.calls = read_items(reader, "id")?.1,
            _ => message.tool_call_id = text_or_skip(reader)?,
        }
    }
    message.span = object.span(reader);
    Ok(message)
}

pub(crate) fn read_content<'a>(reader: &mut Json<'a>) -> Result<Content<'a>, Error> {
    match reader.kind()? {
        Kind::String => reader.string().map(Content::Text),
        Kind::Array => read_items(reader, "text").map(|(span, parts)| Content::Parts(span, parts)),
        _ => reader.skip().map(|_| Content::Missing),
    }
}

/// Reads a list of objects and the string at `key` of each; `null` is an empty list.
pub(crate) fn read_items<'a>(
    reader: &mut Json<'a>,
    key: &'static str,
) -> Result<(Span, Items<'a>), Error> {
    let mut items = Vec::new();
    if reader.kind()? == Kind::Null {
        return reader.skip().map(|span| (span, items));
    }
    let start = reader.position();
    let mut array = reader.array()?;
    while array.next(reader)? {
        if reader.kind()? != Kind::Object {
            items.push((reader.skip()?, None));
            continue;
        }
        let (mut seen, mut text) = (false, None);
        let start = reader.position();
        let mut object = reader.object()?;
        while let Some(name) = object.next(reader)? {
            if !name.is(key) {
                reader.skip()?;
                continue;
            }
            if std::mem::replace(&mut seen, true) {
                return Err(Error::new(Problem::DuplicateKey, name.span().start));
            }
            text = text_or_skip(reader)?;
        }
        items.push((Span { start, end: reader.position() }, text));
    }
    Ok((Span { start, end: reader.position() }, items))
}

/// Every id that the client mentions: in the calls of each message, and in the result that it is.
fn known<'m, 'a: 'm>(
    messages: impl Iterator<Item = (&'m Items<'a>, Option<Text<'a>>)>,
) -> HashSet<String> {
    let of = |(calls, result): (&Items<'a>, Option<Text<'a>>)| {
        calls.iter().map(|(_, id)| *id).chain([result]).filter_map(meaning).collect::<Vec<_>>()
    };
    messages.flat_map(of).collect()
}

/// Inserts the calls at their old positions among those that the client received.
fn insert_calls(
    received: &Items<'_>,
    end: usize,
    seen: &ClientMessage<'_>,
    plan: &Plan<'_>,
    edits: &mut Edits,
) {
    let is_hidden = |call: &&RemovedCall| !seen.has_id(&call.id);
    for call in &plan.calls {
        let hidden = plan.turn.calls.iter().filter(is_hidden);
        let missing = hidden.filter(|other| other.place < call.place).count();
        match received.get(call.place.saturating_sub(missing)) {
            Some((next, _)) => edits.insert(next.start, format!("{},", call.original)),
            None => edits.insert(end, format!(",{}", call.original)),
        }
    }
}
