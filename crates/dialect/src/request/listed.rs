//! Puts removed calls back into messages that list their calls.
//!
//! A call goes to its old position in `tool_calls`, its notice is removed from `content`, and its
//! result is a message directly after it.

use std::collections::HashSet;

use callgate_json::{Error, Kind, Problem, Reader as Json, Span, Text};

use super::{
    ClientMessage, Decoded, MergedTurn, Placed, Plan, RemovedCall, RemovedTurn, Restored, SentCall,
    TextDigest, meaning, messages, plan, rest, shown, whole_object,
};
use crate::json::{Edits, Fields, member, members, text_or_skip};

/// The differences between dialects whose messages list their calls.
pub(crate) struct Listed {
    /// Whether a result names its call by an id.
    pub(crate) needs_ids: bool,
    /// What to do with a `content` that contained only notices.
    pub(crate) emptied: Emptied,
    /// The member with the plan, in APIs that have one.
    pub(crate) plan: Option<&'static str>,
    /// The message that answers a call.
    pub(crate) result: fn(&RemovedCall) -> String,
}

/// What to do with a `content` that contained only notices.
#[derive(Clone, Copy)]
pub(crate) enum Emptied {
    /// Remove the member.
    Gone,
    /// Make it an empty text.
    Blank,
}

impl Listed {
    /// Puts the removed calls of `turns` back into `request`.
    pub(crate) fn restore(&self, request: &str, turns: &[RemovedTurn]) -> Result<Restored, Error> {
        let messages = messages(request, read_message)?;
        let seen = self.look_all(request, &messages);
        let refuse = |place: usize, _: &RemovedTurn, call: &RemovedCall| {
            let Some(seen) = seen.get(place) else { return Some(Restored::NOT_FOUND) };
            if !is_call(call) {
                return Some(Restored::UNREADABLE);
            }
            if self.needs_ids && call.id.is_empty() {
                return Some(Restored::NO_ID);
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
            let found = seen.get(plan.seen).and_then(|it| Some((it, messages.get(it.message)?)));
            let Some((seen, message)) = found else {
                plan.report(Placed::No, &mut out);
                continue;
            };
            plan.report(Placed::Yes, &mut out);
            if let Some(merged) = &plan.turn.merged {
                edits.replace(message.span, self.unmerged(plan, merged));
                continue;
            }
            let mut gone = false;
            match (message.content.cut_notices(seen, plan, &mut edits), self.emptied) {
                (Some(_), Emptied::Gone) => gone = true,
                (Some(content), Emptied::Blank) => edits.replace(content, "\"\""),
                (None, _) => {}
            }
            add_calls(request, message, seen, plan, gone, &mut edits);
            for call in &plan.calls {
                edits.insert(message.span.end, format!(",{}", (self.result)(call)));
            }
        }
        out.body = (!edits.is_empty()).then(|| edits.apply(request));
        Ok(out)
    }

    /// The messages that replace a turn of several answers.
    fn unmerged(&self, plan: &Plan<'_>, merged: &MergedTurn) -> String {
        let earlier = merged.earlier.iter();
        let earlier = earlier.flat_map(|it| [it.content.clone(), it.results.clone()]);
        let results = plan.calls.iter().map(|call| (self.result)(call));
        let all: Vec<String> = earlier.chain([merged.last.clone()]).chain(results).collect();
        all.join(",")
    }

    /// The recognisable traits of each of the assistant's messages.
    pub(crate) fn seen<'a>(&self, request: &'a str) -> Result<Vec<ClientMessage<'a>>, Error> {
        Ok(self.look_all(request, &messages(request, read_message)?))
    }

    fn look_all<'a>(&self, request: &'a str, messages: &[Message<'a>]) -> Vec<ClientMessage<'a>> {
        let seen = |(place, message)| {
            let mut seen = look(request, place, message)?;
            seen.client.plan = self.plan.map(|key| plan_digest(request, message.span, key));
            Some(seen)
        };
        messages.iter().enumerate().filter_map(seen).collect()
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
struct Message<'a> {
    span: Span,
    role: Option<Text<'a>>,
    content: Content<'a>,
    /// Entries of `tool_calls`, each with its id.
    calls: Items<'a>,
    /// The call that a `tool` message answers.
    tool_call_id: Option<Text<'a>>,
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
    pub(crate) fn texts(&self) -> Vec<(usize, Decoded<'a>)> {
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
    pub(crate) fn cut_notices(
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
fn is_call(call: &RemovedCall) -> bool {
    whole_object(&call.original)
        .is_some_and(|object| member(&call.original, object, "function").is_some())
}

fn read_message<'a>(reader: &mut Json<'a>) -> Result<Message<'a>, Error> {
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

/// The recognisable traits of a message, if it is the assistant's.
fn look<'a>(request: &'a str, place: usize, message: &Message<'a>) -> Option<ClientMessage<'a>> {
    if !message.role.is_some_and(|role| role.is("assistant")) {
        return None;
    }
    let mut seen = ClientMessage::new(place, message.content.texts());
    for (span, id) in &message.calls {
        let function = member(request, *span, "function").unwrap_or(*span);
        let call = SentCall::read(request, function, "arguments");
        seen.add_call(request, SentCall { id: *id, ..call });
    }
    Some(seen)
}

/// Every id that the client mentions: in the calls of each message, and in the result that it is.
pub(crate) fn known<'m, 'a: 'm>(
    messages: impl Iterator<Item = (&'m Items<'a>, Option<Text<'a>>)>,
) -> HashSet<String> {
    let of = |(calls, result): (&Items<'a>, Option<Text<'a>>)| {
        calls.iter().map(|(_, id)| *id).chain([result]).filter_map(meaning).collect::<Vec<_>>()
    };
    messages.flat_map(of).collect()
}

/// Inserts the calls among those that the client received, and removes `content` if it is `gone`.
fn add_calls(
    request: &str,
    message: &Message<'_>,
    seen: &ClientMessage<'_>,
    plan: &Plan<'_>,
    gone: bool,
    edits: &mut Edits,
) {
    let all = members(request, message.span);
    let is = |place: usize, key: &str| all.get(place).is_some_and(|member| member.key.is(key));
    if gone {
        let spans: Vec<Span> = all.iter().map(|member| member.span).collect();
        edits.remove(&spans, |place| is(place, "content"));
    }
    let Some((last, _)) = message.calls.last() else {
        let calls: Vec<&str> = plan.calls.iter().map(|call| call.original.as_str()).collect();
        let list = format!("[{}]", calls.join(","));
        match all.iter().find(|member| member.key.is("tool_calls")) {
            Some(member) => edits.replace(member.value, list),
            // The message has a role: inserts it before that.
            None => edits.insert(message.span.start + 1, format!("\"tool_calls\":{list},")),
        }
        return;
    };
    insert_calls(&message.calls, last.end, seen, plan, edits);
}

/// Inserts the calls at their old positions among those that the client received.
pub(crate) fn insert_calls(
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
