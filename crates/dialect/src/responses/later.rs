//! The events of an answer behind the first one of a turn.

use callgate_call::json::Span;
use callgate_wire::Frame;

use super::continued::{OpenMessage, usage_of};
use super::message::{Sequence, event};
use crate::event::BlockStep;
use crate::json::{Edits, document, elements, member, raw_member, string_member};
use crate::usage::sum;

/// An answer behind the first one. Its items follow those of the answers before it, its events are
/// numbered on, and its end is that of the first response, with the items and the usage of all.
#[derive(Debug)]
pub(super) struct LaterAnswer {
    /// The members that identify the first response.
    first: Vec<(&'static str, String)>,
    /// The items of the answers before it, as they left.
    before: Vec<String>,
    /// Its own items that have left.
    own: Vec<String>,
    /// Its items that have begun to leave, except calls.
    open: Vec<(i64, OpenItem)>,
    /// The number of the next event, if events have numbers.
    number: Option<u64>,
    /// The usage of the answers before it.
    spent: String,
    progress: Progress,
}

#[derive(Debug)]
enum OpenItem {
    Message(OpenMessage),
    /// Thinking, as it began.
    Other(String),
}

#[derive(Debug, PartialEq, Eq)]
enum Progress {
    /// It is being read.
    Reading,
    /// It was cut off: the end of an earlier answer ends the turn.
    GivenUp,
}

impl LaterAnswer {
    /// An answer behind one that ended with the event `end`.
    pub(super) fn behind(end: &str) -> Self {
        let response = response_in(end);
        let of_end = |key| Some((key, member(end, response, key)?.of(end).to_owned()));
        Self {
            first: FIRST.into_iter().filter_map(of_end).collect(),
            before: Vec::new(),
            own: Vec::new(),
            open: Vec::new(),
            number: sequence_of(end),
            spent: "{}".to_owned(),
            progress: Progress::Reading,
        }
    }

    /// The answer before it has ended with these items, as they left.
    pub(super) fn add_before(&mut self, items: Vec<String>) {
        self.before.extend(items);
        self.own.clear();
        self.open.clear();
    }

    /// It is read from its start. `spent` is the usage of the answers before it.
    pub(super) fn begin(&mut self, spent: &str) {
        spent.clone_into(&mut self.spent);
        self.progress = Progress::Reading;
    }

    pub(super) fn give_up(&mut self) {
        self.progress = Progress::GivenUp;
    }

    pub(super) fn is_given_up(&self) -> bool {
        self.progress == Progress::GivenUp
    }

    /// How many items the answers before it have.
    pub(super) fn base(&self) -> i64 {
        i64::try_from(self.before.len()).unwrap_or(i64::MAX)
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
        match (&self.progress, usage_of(data, response)) {
            (_, None) => {}
            (Progress::Reading, Some((at, usage))) => edits.replace(at, sum(&self.spent, usage)),
            (Progress::GivenUp, Some((at, _))) => edits.replace(at, self.spent.clone()),
        }
        let Some(output) = output else { return };
        match self.progress {
            Progress::Reading => {
                let comma = if has_items && !self.before.is_empty() { "," } else { "" };
                edits.insert(output.start + 1, format!("{}{comma}", self.before.join(",")));
            }
            Progress::GivenUp => {
                let items: Vec<&str> =
                    self.before.iter().chain(&self.own).map(String::as_str).collect();
                edits.replace(output, format!("[{}]", items.join(",")));
            }
        }
    }
}

/// The members of a response that stay those of the first one.
const FIRST: [&str; 3] = ["id", "created_at", "previous_response_id"];

/// The response in an event.
pub(super) fn response_in(data: &str) -> Span {
    member(data, document(data), "response").unwrap_or_else(|| document(data))
}

/// The items of the response in an event.
pub(super) fn items_in(data: &str) -> Vec<Span> {
    let output = member(data, response_in(data), "output");
    output.map(|list| elements(data, list)).unwrap_or_default()
}

fn sequence_of(data: &str) -> Option<u64> {
    member(data, document(data), "sequence_number")?.of(data).parse().ok()
}
