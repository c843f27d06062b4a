//! A message that replaces a call: its events, and its item.

use callgate_json::quote;
use callgate_wire::Frame;

use crate::event::Slot;
use crate::json::{document, member};
use crate::object::{Raw, object};

/// A message that replaces an item.
pub(super) struct Message<'m> {
    /// Its id, the same in every copy.
    pub(super) id: &'m str,
    pub(super) text: &'m str,
}

impl Message<'_> {
    /// The whole message, as an item of the output.
    pub(super) fn item(&self) -> String {
        let (id, text) = (quote(self.id), quote(self.text));
        object! {
            "id": Raw(&id), "type": "message", "status": "completed", "content": [
                { "type": "output_text", "annotations": [], "logprobs": [], "text": Raw(&text) },
            ],
            "role": "assistant",
        }
    }

    /// Writes the message as separate events. They have the sequence number of the event that they
    /// replace, because a client that resumes the stream after it counts the upstream's numbers.
    pub(super) fn write(&self, frame: &Frame<'_>, data: &str, index: i64, out: &mut Vec<u8>) {
        self.write_numbered(&mut Sequence::at(data), frame, index, out);
    }

    /// Writes it with the given sequence numbers.
    pub(super) fn write_numbered(
        &self,
        sequence: &mut Sequence,
        frame: &Frame<'_>,
        index: i64,
        out: &mut Vec<u8>,
    ) {
        let (id, text) = (quote(self.id), quote(self.text));
        let of_item = format!("\"item_id\":{id},\"output_index\":{index},\"content_index\":0");
        let part = |text: &str| {
            format!(
                "\"part\":{{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":{text}}}"
            )
        };
        let begun = format!(
            "\"output_index\":{index},\"item\":{{\"id\":{id},\"type\":\"message\",\
             \"status\":\"in_progress\",\"content\":[],\"role\":\"assistant\"}}"
        );
        let done = format!("\"output_index\":{index},\"item\":{}", self.item());
        for (name, members) in [
            ("response.output_item.added", begun),
            ("response.content_part.added", format!("{of_item},{}", part("\"\""))),
            ("response.output_text.delta", format!("{of_item},\"delta\":{text},\"logprobs\":[]")),
            ("response.output_text.done", format!("{of_item},\"text\":{text},\"logprobs\":[]")),
            ("response.content_part.done", format!("{of_item},{}", part(&text))),
            ("response.output_item.done", done),
        ] {
            event(frame, name, &sequence.next(), &members, out);
        }
    }
}

/// The sequence numbers of added events.
pub(super) struct Sequence {
    number: Option<u64>,
    counts: bool,
}

impl Sequence {
    /// All of them have the number of the event that they replace.
    pub(super) fn at(data: &str) -> Self {
        let number = member(data, document(data), "sequence_number");
        let number = number.and_then(|span| span.of(data).parse().ok());
        Self { number, counts: false }
    }

    /// They count on from that event's number: no event of the upstream follows.
    pub(super) fn from(data: &str) -> Self {
        Self { counts: true, ..Self::at(data) }
    }

    /// They count on from this number; without one, events have none.
    pub(super) fn counting(number: Option<u64>) -> Self {
        Self { number, counts: true }
    }

    /// The number of the next event.
    pub(super) fn number(&self) -> Option<u64> {
        self.number
    }

    /// The next number, as a member to be inserted into an event; empty if events have none.
    pub(super) fn next(&mut self) -> String {
        let Some(number) = self.number else { return String::new() };
        self.number = Some(number.saturating_add(u64::from(self.counts)));
        format!("\"sequence_number\":{number},")
    }
}

/// The metadata of a response, as JSON.
#[derive(Debug)]
pub(super) struct ResponseMetadata {
    id: String,
    created_at: String,
    model: String,
}

impl ResponseMetadata {
    /// The metadata of the response in the event, if there is one.
    pub(super) fn of(data: &str) -> Self {
        let response = member(data, document(data), "response");
        let said = |key: &str, other: &str| {
            let span = response.and_then(|response| member(data, response, key));
            span.map_or(other, |span| span.of(data)).to_owned()
        };
        Self {
            id: said("id", "\"resp_callgate\""),
            created_at: said("created_at", "0"),
            model: said("model", "\"\""),
        }
    }

    /// A whole response, as a member of an added event.
    pub(super) fn response(&self, status: &str, incomplete: &str, output: &str) -> String {
        let Self { id, created_at, model } = self;
        format!(
            "\"response\":{{\"id\":{id},\"object\":\"response\",\"created_at\":{created_at},\
             \"status\":\"{status}\",\"error\":null,\"incomplete_details\":{incomplete},\
             \"instructions\":null,\"metadata\":{{}},\"model\":{model},\"output\":[{output}],\
             \"parallel_tool_calls\":true,\"temperature\":null,\"tool_choice\":\"auto\",\
             \"tools\":[],\"top_p\":null,\"usage\":null}}"
        )
    }
}

/// Writes an added event.
pub(super) fn event(
    frame: &Frame<'_>,
    name: &str,
    sequence: &str,
    members: &str,
    out: &mut Vec<u8>,
) {
    let data = format!("{{\"type\":\"{name}\",{sequence}{members}}}");
    frame.another(Some(name), &data, out);
}

/// The id of the message that replaces an item: that item's id, with the prefix of messages.
pub(super) fn id_for(item: Option<&str>, slot: Slot) -> String {
    item.and_then(id_of).unwrap_or_else(|| format!("msg_callgate_{slot}"))
}

/// The id of the message that replaces the item with that id, if it can be derived.
pub(super) fn id_of(item: &str) -> Option<String> {
    let (_, own) = item.split_once('_')?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let fits = !own.is_empty() && own.len() <= 100 && own.bytes().all(plain);
    fits.then(|| format!("msg_{own}"))
}
