//! The history in a request: its items, and which of them form one turn of the assistant.

use std::collections::HashSet;
use std::ops::Range;

use callgate_json::{Error, Kind, Reader as Json, Span, Text, quote};

use super::super::item::{Class, read_item};
use super::id_at;
use crate::event::Host;
use crate::json::{Edits, Fields, document, text_in, text_or_skip};
use crate::request::{ClientCall, ClientMessage, Decoded, RemovedTurn, Sent, meaning};

/// A request.
pub(super) struct Request<'a> {
    pub(super) input: Input<'a>,
    /// Where its top-level object begins.
    pub(super) start: usize,
    /// It has no members.
    pub(super) is_empty: bool,
    response: Option<String>,
    /// Where the id of that response is.
    response_at: Span,
    conversation: Option<String>,
}

/// The input of a request.
pub(super) enum Input<'a> {
    Missing,
    /// A text of the user.
    Text(Span),
    Items(Span, Vec<Entry<'a>>),
}

/// An item. A member of an unexpected type is treated as missing.
#[derive(Default)]
pub(super) struct Entry<'a> {
    pub(super) span: Span,
    kind: Option<Text<'a>>,
    role: Option<Text<'a>>,
    texts: Vec<Text<'a>>,
    id: Option<Text<'a>>,
    call_id: Option<Text<'a>>,
    approval_request_id: Option<Text<'a>>,
    encrypted_content: Option<Text<'a>>,
}

/// The members of a request that must not be duplicated.
const REQUEST: [&str; 3] = ["input", "previous_response_id", "conversation"];

impl<'a> Request<'a> {
    pub(super) fn read(request: &'a str) -> Result<Self, Error> {
        let mut reader = Json::new(request);
        let mut read = Self {
            input: Input::Missing,
            start: document(request).start,
            is_empty: true,
            response: None,
            response_at: Span::default(),
            conversation: None,
        };
        let mut object = Fields::new(&REQUEST).enter(&mut reader)?;
        while let Some((_, place)) = object.next_key(&mut reader)? {
            read.is_empty = false;
            match place {
                Some(0) => read.input = read_input(&mut reader)?,
                Some(1) => {
                    read.response_at = reader.skip()?;
                    read.response = id_at(request, read.response_at);
                }
                Some(_) => read.conversation = id_at(request, reader.skip()?),
                None => reader.ignore()?,
            }
        }
        reader.end()?;
        Ok(read)
    }

    /// Whether the provider itself has the removed calls of `turn`.
    pub(super) fn goes_on_from(&self, turn: &RemovedTurn) -> bool {
        let same = |one: &Option<String>, other: &Option<String>| one.is_some() && one == other;
        same(&self.response, &turn.response)
            || same(&self.conversation, &turn.conversation)
            || self.response.is_some() && self.response.as_deref() == turn.last_stored()
    }

    /// Makes the request continue the last answer of a turn of which it names the first.
    pub(super) fn continue_last(&self, turns: &[&RemovedTurn], edits: &mut Edits) -> Vec<String> {
        let of_first = turns.iter().find(|turn| self.response == turn.response);
        let merged = of_first.and_then(|turn| turn.merged.as_ref());
        let Some(stored) = merged.and_then(|merged| merged.stored.as_ref()) else {
            return Vec::new();
        };
        edits.replace(self.response_at, quote(&stored.last));
        (!stored.behind.is_empty()).then(|| stored.behind.clone()).into_iter().collect()
    }

    /// Every id that the client mentions: in its calls, and in its results.
    pub(super) fn known_ids(&self) -> HashSet<String> {
        let ids = self.items().iter().flat_map(|item| {
            let own = item.id.filter(|_| item.is("mcp_approval_request"));
            [meaning(item.call_id), meaning(item.approval_request_id), meaning(own)]
        });
        ids.flatten().collect()
    }

    /// The ids that refer to the provider's memory.
    pub(super) fn states(&self) -> Vec<String> {
        let references = self.items().iter().filter_map(|item| item.reference());
        let own = self.response.iter().chain(&self.conversation).map(String::as_str);
        own.chain(references).take(Sent::MAX).map(str::to_owned).collect()
    }

    /// The recognisable traits of each turn of the assistant. First those that a client may have
    /// sent in pairs of a call and its output, then the consecutive items.
    pub(super) fn seen(&self, request: &str) -> Vec<ClientMessage<'a>> {
        let items = self.items();
        let calls: Vec<_> = items.iter().map(|item| item.client_call(request)).collect();
        let runs = runs(items);
        let in_pairs = in_pairs(items, &calls, &runs);
        in_pairs.into_iter().chain(runs).map(|turn| look(items, &calls, turn)).collect()
    }

    fn items(&self) -> &[Entry<'a>] {
        match &self.input {
            Input::Items(_, items) => items,
            Input::Missing | Input::Text(_) => &[],
        }
    }
}

/// The consecutive items of the assistant, from `start` on.
pub(super) fn turn_at(items: &[Entry<'_>], start: usize) -> Range<usize> {
    let behind = items.get(start..).unwrap_or(&[]);
    let length = behind.iter().take_while(|item| item.is_of_assistant()).count();
    start..start + length
}

fn runs(items: &[Entry<'_>]) -> Vec<Range<usize>> {
    let (mut runs, mut at) = (Vec::new(), 0);
    while at < items.len() {
        let run = turn_at(items, at);
        at = run.end.max(at + 1);
        runs.extend((!run.is_empty()).then_some(run));
    }
    runs
}

/// The most pairs that may form one turn.
const MAX_PAIRS: usize = 16;

/// The ranges that may be one turn although outputs are between its items: each run of items except
/// the first begins with a call.
fn in_pairs(
    items: &[Entry<'_>],
    calls: &[Option<ClientCall>],
    runs: &[Range<usize>],
) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    for (number, first) in runs.iter().enumerate() {
        let mut end = first.end;
        for next in runs.iter().skip(number + 1).take(MAX_PAIRS - 1) {
            let mut between = items.iter().take(next.start).skip(end);
            let is_call = calls.get(next.start).is_some_and(Option::is_some);
            if !is_call || !between.all(Entry::is_output) {
                break;
            }
            end = next.end;
            ranges.push(first.start..end);
        }
    }
    ranges
}

fn look<'a>(
    items: &[Entry<'a>],
    calls: &[Option<ClientCall>],
    turn: Range<usize>,
) -> ClientMessage<'a> {
    let all = || items.iter().zip(calls).enumerate().take(turn.end).skip(turn.start);
    let of_turn = || all().filter(|(_, (item, _))| item.is_of_assistant());
    let messages = of_turn().filter(|(_, (item, _))| item.is_message());
    let texts = messages.flat_map(|(place, (item, _))| {
        item.texts.iter().map(move |text| (place, Decoded::new(text)))
    });
    let mut seen = ClientMessage::new(turn.start, texts.collect());
    seen.end = turn.end;
    for (_, (item, call)) in of_turn() {
        if item.is("reasoning") {
            seen.add_signature(item.encrypted_content.filter(|text| !text.is_empty()).or(item.id));
        } else if let Some(id) = item.reference() {
            seen.references.push(id.to_owned());
        } else {
            seen.client.calls.extend(call.clone());
        }
    }
    seen
}

impl<'a> Entry<'a> {
    /// The call in it, if the client runs it: read in the same way as in the response.
    fn client_call(&self, request: &str) -> Option<ClientCall> {
        if !self.is_of_assistant() || self.is_message() {
            return None;
        }
        let item = read_item(&mut Json::at(request, self.span)).ok()?;
        if item.class() != Class::Call(Host::Client) {
            return None;
        }
        let (id, name) = (item.result_id().ok()?, item.tool().ok()?);
        Some(ClientCall::new(id, &name, &item.arguments(request).ok()?))
    }

    fn is(&self, kind: &str) -> bool {
        self.kind.is_some_and(|text| text.is(kind))
    }

    fn is_message(&self) -> bool {
        self.is("message") || self.kind.is_none()
    }

    pub(super) fn is_of_assistant(&self) -> bool {
        if self.is_message() {
            return self.role.is_some_and(|role| role.is("assistant"));
        }
        !self.is_output() && !self.is("additional_tools")
    }

    /// Whether it is the client's answer to a call.
    fn is_output(&self) -> bool {
        let kind = meaning(self.kind).unwrap_or_default();
        kind.ends_with("_output") || kind == "mcp_approval_response"
    }

    /// The id of the item that it refers to, if it only refers to one.
    pub(super) fn reference(&self) -> Option<&'a str> {
        let is_plain = |text: &Text<'_>| !text.is_escaped() && !text.is_empty();
        self.id.filter(|_| self.is("item_reference")).filter(is_plain).map(|id| id.raw())
    }
}

fn read_input<'a>(reader: &mut Json<'a>) -> Result<Input<'a>, Error> {
    match reader.kind()? {
        Kind::String => reader.string().map(|text| Input::Text(text.span())),
        Kind::Array => reader.list(read_entry).map(|(span, items)| Input::Items(span, items)),
        // No client sends anything else; nothing can be inserted here.
        _ => Err(Error::new(callgate_json::Problem::WrongType, reader.position())),
    }
}

const ENTRY: [&str; 7] =
    ["type", "role", "content", "id", "call_id", "approval_request_id", "encrypted_content"];

fn read_entry<'a>(reader: &mut Json<'a>) -> Result<Entry<'a>, Error> {
    let mut item = Entry::default();
    if reader.kind()? != Kind::Object {
        item.span = reader.skip()?;
        return Ok(item);
    }
    let mut object = Fields::new(&ENTRY).enter(reader)?;
    while let Some(place) = object.next(reader)? {
        match place {
            0 => item.kind = text_or_skip(reader)?,
            1 => item.role = text_or_skip(reader)?,
            2 => item.texts = read_content(reader)?,
            3 => item.id = text_or_skip(reader)?,
            4 => item.call_id = text_or_skip(reader)?,
            5 => item.approval_request_id = text_or_skip(reader)?,
            _ => item.encrypted_content = text_or_skip(reader)?,
        }
    }
    item.span = object.span(reader);
    Ok(item)
}

/// The texts of a message.
fn read_content<'a>(reader: &mut Json<'a>) -> Result<Vec<Text<'a>>, Error> {
    let mut texts = Vec::new();
    match reader.kind()? {
        Kind::String => texts.push(reader.string()?),
        Kind::Array => {
            let mut array = reader.array()?;
            while array.next(reader)? {
                texts.extend(text_in(reader, Fields::new(&["text"]))?);
            }
        }
        _ => reader.ignore()?,
    }
    Ok(texts)
}
