//! Writes a Messages stream: the same bytes, renumbered, or replaced.

use callgate_json::Span;
use callgate_wire::Frame;

use super::continued::{is_thinking, usage_of};
use super::read::input_edits;
use crate::block_writer::{BlockApi, NamedEvent};
use crate::departure::Leaving;
use crate::event::{ArgumentsPiece, Block, BlockStep, Canonical, Part, Piece, What};
use crate::json::{Edits, document, member, set, string_member};
use crate::object::{Raw, object};
use crate::usage::{TurnUsage, overlay};

/// The blocks of a message. In an answer after the first one, the start has no place in the message,
/// thinking is not valid after what another answer said, and the end counts the tokens of all.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// How many blocks were sent.
    sent: u64,
}

impl BlockApi for Blocks {
    const ORDINARY_END: &'static str = "\"end_turn\"";
    const FILTERED_END: &'static [(Option<&'static str>, &'static str)] = &[
        (
            Some("message_delta"),
            "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\",\
             \"stop_sequence\":null},\"usage\":{\"output_tokens\":0}}",
        ),
        (Some("message_stop"), "{\"type\":\"message_stop\"}"),
    ];

    fn claim(&mut self, _: &Block, _: bool, _: &str) -> u64 {
        self.claim_text(None)
    }

    fn claim_text(&mut self, _: Option<(&Block, &str)>) -> u64 {
        self.sent += 1;
        self.sent - 1
    }

    fn claim_listed(&mut self, count: usize) {
        self.sent += u64::try_from(count).unwrap_or(u64::MAX);
    }

    fn is_left_out(&mut self, leaving: &Leaving<'_>, usage: &mut TurnUsage) -> bool {
        let Leaving { data, reading, .. } = *leaving;
        if reading.block.is_some_and(|block| block.does == BlockStep::Open) {
            let block = member(data, document(data), "content_block");
            return block.is_some_and(|block| is_thinking(data, block));
        }
        let starts = is(data, "message_start");
        if let (true, Some(begun)) = (starts, usage_of(data)) {
            usage.note(begun);
        }
        starts
    }

    fn text_events(&self, number: u64, text: &str) -> Vec<NamedEvent> {
        let start = object! {
            "type": "content_block_start", "index": number,
            "content_block": { "type": "text", "text": "" },
        };
        let delta = object! {
            "type": "content_block_delta", "index": number,
            "delta": { "type": "text_delta", "text": text },
        };
        vec![(Some("content_block_start"), start), (Some("content_block_delta"), delta)]
    }

    fn end_event(&self, number: u64, _: bool) -> NamedEvent {
        let stop = object! { "type": "content_block_stop", "index": number };
        (Some("content_block_stop"), stop)
    }

    fn complete(
        &self,
        data: &str,
        part: &Part,
        (number, whole): (u64, &Canonical),
        edits: &mut Edits,
    ) -> Option<NamedEvent> {
        if came_whole(part) {
            edits.append(input_edits(data, part.at, &whole.arguments));
            return None;
        }
        let delta = object! {
            "type": "content_block_delta", "index": number,
            "delta": { "type": "input_json_delta", "partial_json": &whole.arguments },
        };
        Some((Some("content_block_delta"), delta))
    }

    /// Makes the end of a message count the tokens of all answers.
    fn edit_frame(&mut self, leaving: &Leaving<'_>, usage: Option<&TurnUsage>, edits: &mut Edits) {
        let data = leaving.data;
        let Some(usage) = usage.filter(|_| is(data, "message_delta")) else { return };
        let all = match usage_of(data) {
            Some(newer) => usage.total_with(&overlay(usage.own(), newer)),
            None => usage.total(),
        };
        set(edits, data, document(data), "usage", &all);
    }

    /// Begins a message, if the frame that would have begun it does not leave.
    fn start_of_stopped(&self, frame: &Frame<'_>) -> Option<NamedEvent> {
        let data = frame.text().unwrap_or_default();
        let kind = member(data, document(data), "type").map(|span| span.of(data));
        (kind == Some("\"message_start\"")).then(|| {
            let start = object! { "type": "message_start", "message": Raw(&message("", "null")) };
            (Some("message_start"), start)
        })
    }

    fn text_block(text: &str) -> String {
        object! { "type": "text", "text": text }
    }

    fn edit_listed(data: &str, at: Span, call: &Canonical, edits: &mut Edits) {
        edits.append(input_edits(data, at, &call.arguments));
    }
}

/// The error body that replaces a message.
pub(super) fn error_body(kind: &str, message: &str) -> String {
    object! { "type": "error", "error": { "type": kind, "message": message } }
}

/// The message that replaces one that a text rule stopped.
pub(super) fn blocked_body(text: &str) -> String {
    message(&Blocks::text_block(text), "\"refusal\"")
}

fn message(content: &str, stop_reason: &str) -> String {
    object! {
        "id": "msg_blocked", "type": "message", "role": "assistant", "model": "",
        "content": [Raw(content)], "stop_reason": Raw(stop_reason), "stop_sequence": Raw("null"),
        "usage": { "input_tokens": 0, "output_tokens": 0 },
    }
}

/// Whether an event has this type.
fn is(data: &str, kind: &str) -> bool {
    string_member(data, document(data), "type").is_some_and(|found| found.is(kind))
}

/// Whether the call's block contains all of its arguments.
fn came_whole(part: &Part) -> bool {
    matches!(&part.what, What::Piece(Piece { arguments: ArgumentsPiece::Whole(_), .. }))
}
