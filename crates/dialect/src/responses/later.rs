//! The events of an answer behind the first one of a turn.

use callgate_json::Span;
use callgate_wire::Frame;

use super::continued::OpenMessage;
use super::message::{Sequence, event};
use super::stored::IDENTITY;
use crate::event::BlockStep;
use crate::json::{
    Edits, document, elements, list_of, member, prepend_to, raw_member, string_member,
};
use crate::usage::{TurnUsage, usage_in};

/// An answer behind the first one. Its items follow those of the answers before it, its events are
/// numbered on, and its end is that of the first response, with the items and the usage of all.
#[derive(Debug)]
pub(super) struct LaterAnswer {
    /// The members that identify the first response.
    first: Vec<(&'static str, String)>,
    /// The items of each answer before it, as they left.
    before: Vec<Vec<String>>,
    /// Its own items that have left.
    own: Vec<String>,
    /// Its items that have begun to leave, except calls.
    open: Vec<(i64, OpenItem)>,
    /// The number of the next event, if events have numbers.
    number: Option<u64>,
    usage: TurnUsage,
}

#[derive(Debug)]
enum OpenItem {
    Message(OpenMessage),
    /// Thinking, as it began.
    Other(String),
}

impl LaterAnswer {
    /// An answer behind one that ended with the event `end`.
    pub(super) fn behind(end: &str) -> Self {
        let response = response_in(end);
        let of_end = |key| Some((key, member(end, response, key)?.of(end).to_owned()));
        Self {
            first: IDENTITY.into_iter().filter_map(of_end).collect(),
            before: Vec::new(),
            own: Vec::new(),
            open: Vec::new(),
            number: Sequence::at(end).number(),
            usage: TurnUsage::after("{}"),
        }
    }

    /// The answer before it has ended with these items, as they left. The first `notices` of them
    /// are about calls of the answer before that one.
    pub(super) fn add_before(&mut self, mut items: Vec<String>, notices: usize) {
        if let Some(earlier) = self.before.last_mut() {
            earlier.extend(items.drain(..notices.min(items.len())));
        }
        self.before.push(items);
        self.own.clear();
        self.open.clear();
    }

    /// It is read from its start. `spent` is the usage of the answers before it.
    pub(super) fn begin(&mut self, spent: &str) {
        self.usage = TurnUsage::after(spent);
    }

    pub(super) fn give_up(&mut self) {
        self.usage.give_up();
    }

    pub(super) fn is_given_up(&self) -> bool {
        self.usage.is_given_up()
    }

    /// How many items the answers before it have.
    pub(super) fn base(&self) -> i64 {
        i64::try_from(self.before.iter().map(Vec::len).sum::<usize>()).unwrap_or(i64::MAX)
    }

    /// Each answer before it, as it left: a response with its items. `notices` are about calls of
    /// the last one.
    pub(super) fn shown(&self, notices: &[String]) -> Vec<String> {
        let mut before = self.before.clone();
        before.iter_mut().next_back().into_iter().for_each(|last| last.extend_from_slice(notices));
        let answer = |items: &Vec<String>| format!("{{\"output\":[{}]}}", items.join(","));
        before.iter().map(answer).collect()
    }

    pub(super) fn sequence(&self) -> Sequence {
        Sequence::counting(self.number)
    }

    pub(super) fn count(&mut self, sequence: &Sequence) {
        self.number = sequence.number();
    }

    /// Numbers an event. Call [`Self::wrote`] if it leaves.
    pub(super) fn edit_number(&self, data: &str, edits: &mut Edits) {
        let at = member(data, document(data), "sequence_number");
        if let (Some(at), Some(number)) = (at, self.number) {
            edits.replace(at, number.to_string());
        }
    }

    pub(super) fn wrote(&mut self) {
        self.number = self.number.map(|number| number.saturating_add(1));
    }

    /// Notes an event of an item that has left.
    pub(super) fn follow(&mut self, data: &str, does: BlockStep, index: i64) {
        let whole = document(data);
        let item = member(data, whole, "item");
        match (does, item) {
            (BlockStep::Open, Some(item)) => {
                let kind = string_member(data, item, "type");
                if kind.is_some_and(|kind| kind.is("message")) {
                    let id = member(data, item, "id").map_or("\"\"", |id| id.of(data)).to_owned();
                    let message = OpenMessage { id, text: String::new() };
                    self.open.push((index, OpenItem::Message(message)));
                } else if kind.is_some_and(|kind| kind.is("reasoning")) {
                    self.open.push((index, OpenItem::Other(item.of(data).to_owned())));
                }
            }
            (BlockStep::Close, Some(item)) => {
                self.open.retain(|(open, _)| *open != index);
                self.own.push(item.of(data).to_owned());
            }
            _ => {
                let is_text = string_member(data, whole, "type")
                    .is_some_and(|kind| kind.is("response.output_text.delta"));
                let open = self.open.iter_mut().find(|(open, _)| *open == index);
                if let (true, Some((_, OpenItem::Message(message)))) = (is_text, open) {
                    message.text.push_str(raw_member(data, whole, "delta"));
                }
            }
        }
    }

    /// Notes an item that has left.
    pub(super) fn add_own(&mut self, item: String) {
        self.own.push(item);
    }

    /// Ends the items that have begun to leave.
    pub(super) fn close(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        let mut sequence = self.sequence();
        for (index, open) in std::mem::take(&mut self.open) {
            let message = match open {
                OpenItem::Message(message) => message,
                OpenItem::Other(item) => {
                    let done = format!("\"output_index\":{index},\"item\":{item}");
                    event(frame, "response.output_item.done", &sequence.next(), &done, out);
                    self.own.push(item);
                    continue;
                }
            };
            let item = message.item();
            let of_item =
                format!("\"item_id\":{},\"output_index\":{index},\"content_index\":0", message.id);
            let text = format!("\"text\":\"{}\"", message.text);
            let part = format!(
                "\"part\":{{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],{text}}}"
            );
            let done = format!("\"output_index\":{index},\"item\":{item}");
            for (name, members) in [
                ("response.output_text.done", format!("{of_item},{text},\"logprobs\":[]")),
                ("response.content_part.done", format!("{of_item},{part}")),
                ("response.output_item.done", done),
            ] {
                event(frame, name, &sequence.next(), &members, out);
            }
            self.own.push(item);
        }
        self.count(&sequence);
    }

    /// Makes the event that ends the response that of the first one. `has_items` is whether an item
    /// is left in its own list at `output`.
    pub(super) fn edit_end(
        &self,
        data: &str,
        output: Option<Span>,
        has_items: bool,
        edits: &mut Edits,
    ) {
        let response = response_in(data);
        for (key, value) in &self.first {
            if let Some(at) = member(data, response, key).filter(|at| at.of(data) != value) {
                edits.replace(at, value);
            }
        }
        if let Some((at, last)) = usage_in(data, response) {
            edits.replace(at, self.usage.total_with(last));
        }
        let Some(output) = output else { return };
        let before = self.before.iter().flatten().map(String::as_str);
        if self.is_given_up() {
            let own = self.own.iter().map(String::as_str);
            edits.replace(output, list_of(&before.chain(own).collect::<Vec<_>>()));
        } else {
            let before: Vec<&str> = before.collect();
            prepend_to(edits, output, has_items && !before.is_empty(), &before.join(","));
        }
    }
}

/// The response in an event.
pub(super) fn response_in(data: &str) -> Span {
    member(data, document(data), "response").unwrap_or_else(|| document(data))
}

/// The items of the response in an event.
pub(super) fn items_in(data: &str) -> Vec<Span> {
    let output = member(data, response_in(data), "output");
    output.map(|list| elements(data, list)).unwrap_or_default()
}
