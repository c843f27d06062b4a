//! Writes a Messages stream: the same bytes, renumbered, or replaced.

use callgate_json::Span;
use callgate_wire::Frame;

use super::continued::{is_thinking, usage_of};
use super::read::{input_edits, with_input};
use crate::blocks::{OpenBlocks, Progress, call_of, is_call, is_number};
use crate::departure::Orders;
use crate::event::{
    ArgumentsPiece, Block, BlockStep, Fate, Finish, Part, Piece, Reading, Slot, What,
};
use crate::json::{Edits, document, elements, member, set, string_member};
use crate::leave::{finish_body, leave};
use crate::object::{Raw, object};
use crate::spec::Write;
use crate::usage::{overlay, sum};

/// Writes the frames of one response.
#[derive(Debug, Default)]
pub(super) struct Writer {
    /// How many blocks have left.
    left: u64,
    open: OpenBlocks,
    /// Set once the turn continues with another answer.
    later: Option<Box<LaterAnswer>>,
}

/// An answer after the first one. Its start has no place in the message, its thinking is not valid
/// after what another answer said, and its end counts the tokens of all.
#[derive(Debug)]
struct LaterAnswer {
    /// The usage of the answers before it.
    spent: String,
    /// Its own usage so far.
    usage: String,
    progress: Progress,
}

impl Write for Writer {
    /// Whether the start of this block has left and its end has not.
    fn is_out(&self, slot: Slot) -> bool {
        self.open.is_out(slot)
    }

    /// The call whose start has left and whose end has not.
    fn open_call(&self) -> Option<Slot> {
        self.open.call()
    }

    /// Whether a text frame can leave unchanged.
    fn leaves_as_it_came(&self, reading: &Reading, data: &str) -> bool {
        let Some(block) = reading.block else { return self.later.is_none() };
        self.open.has_index_of(&block, data)
    }

    /// Writes one frame.
    fn write(
        &mut self,
        frame: &Frame<'_>,
        data: &str,
        reading: &Reading,
        orders: Orders<'_>,
        out: &mut Vec<u8>,
    ) {
        let Orders { departure, fates } = orders;
        if self.later.is_some() && self.is_left_out(data, reading) {
            return;
        }
        if let Some(block) = reading.block {
            let call = call_of(reading);
            let fate = call.and_then(|place| fates.get(place));
            match fate {
                Some(Fate::Notice(text)) => return self.write_text(frame, text, out),
                Some(Fate::Drop) => return,
                _ => {}
            }
            let Some(number) = self.number(&block, call.is_some()) else { return };
            let mut edits = Edits::default();
            match block.index {
                Some(index) if is_number(index.of(data), number) => {}
                Some(index) => edits.replace(index, number.to_string()),
                None => edits.insert(document(data).start + 1, format!("\"index\":{number},")),
            }
            let whole = call.and_then(|place| reading.parts.get(place)).zip(fate);
            let Some((part, Fate::Whole(call))) = whole else {
                return leave(frame, data, reading, departure, edits, out);
            };
            if came_whole(part) {
                edits.append(input_edits(data, part.at, &call.arguments));
                return leave(frame, data, reading, departure, edits, out);
            }
            leave(frame, data, reading, departure, edits, out);
            return arguments(frame, number, &call.arguments, out);
        }
        let mut edits = Edits::default();
        self.edit_blocks(data, reading, fates, &mut edits);
        for (part, fate) in reading.parts.iter().zip(fates) {
            match (&part.what, fate) {
                (What::Finish(finish), Fate::Ordinary(text)) => {
                    self.close_call(frame, out);
                    match text {
                        Some(text) if reading.content.is_none() => {
                            self.write_text(frame, text, out)
                        }
                        _ => {}
                    }
                    if finish.announces_calls {
                        edits.replace(part.at, "\"end_turn\"");
                    }
                }
                (What::Finish(_), _) => self.close_call(frame, out),
                _ => {}
            }
        }
        self.count_all(data, &mut edits);
        leave(frame, data, reading, departure, edits, out);
    }

    fn add_text(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        self.write_text(frame, text, out);
    }

    fn next_answer(&mut self, spent: &str) {
        self.later = Some(Box::new(LaterAnswer {
            spent: spent.to_owned(),
            usage: "{}".to_owned(),
            progress: Progress::Reading,
        }));
        self.open = OpenBlocks::default();
    }

    fn give_up_answer(&mut self) {
        if let Some(later) = &mut self.later {
            later.progress = Progress::GivenUp;
        }
    }

    /// Writes a whole message.
    fn write_body(&mut self, data: &str, reading: &Reading, orders: Orders<'_>) -> Option<String> {
        let Orders { departure, fates } = orders;
        let mut edits = Edits::default();
        self.edit_blocks(data, reading, fates, &mut edits);
        for (part, fate) in reading.parts.iter().zip(fates) {
            if let (What::Finish(Finish { announces_calls: true }), Fate::Ordinary(_)) =
                (&part.what, fate)
            {
                edits.replace(part.at, "\"end_turn\"");
            }
        }
        Some(finish_body(data, departure, edits))
    }

    /// Ends the message as the API does when its own filter stops it.
    fn stop_early(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        Self::begin(frame, out);
        for number in self.open.end_all() {
            stop(frame, number, out);
        }
        self.write_text(frame, text, out);
        let delta = "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\",\
                     \"stop_sequence\":null},\"usage\":{\"output_tokens\":0}}";
        frame.another(Some("message_delta"), delta, out);
        frame.another(Some("message_stop"), "{\"type\":\"message_stop\"}", out);
    }

    /// Ends the open call, for clients that run nothing without its end.
    fn close_call(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        let Some(number) = self.open.end_call() else { return };
        stop(frame, number, out);
    }

    fn has_open_block(&self) -> bool {
        self.open.has_others()
    }

    fn close_blocks(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        for number in self.open.end_others() {
            stop(frame, number, out);
        }
    }
}

impl Writer {
    /// Whether a frame of a later answer has no place in the message.
    fn is_left_out(&mut self, data: &str, reading: &Reading) -> bool {
        let whole = document(data);
        let opens = reading.block.is_some_and(|block| block.does == BlockStep::Open);
        if opens {
            return member(data, whole, "content_block")
                .is_some_and(|block| is_thinking(data, block));
        }
        let starts =
            string_member(data, whole, "type").is_some_and(|kind| kind.is("message_start"));
        if let (true, Some(later), Some(usage)) = (starts, &mut self.later, usage_of(data)) {
            later.usage = usage.to_owned();
        }
        starts
    }

    /// Makes the end of a message count the tokens of all answers.
    fn count_all(&self, data: &str, edits: &mut Edits) {
        let Some(later) = &self.later else { return };
        let whole = document(data);
        if !string_member(data, whole, "type").is_some_and(|kind| kind.is("message_delta")) {
            return;
        }
        let usage = match (&later.progress, usage_of(data)) {
            (Progress::Reading, Some(newer)) => overlay(&later.usage, newer),
            (Progress::Reading, None) | (Progress::GivenUp, _) => later.usage.clone(),
        };
        set(edits, data, whole, "usage", &sum(&later.spent, &usage));
    }

    /// Begins a message, if the frame that would have begun it does not leave.
    fn begin(frame: &Frame<'_>, out: &mut Vec<u8>) {
        let data = frame.data().and_then(|data| std::str::from_utf8(data).ok()).unwrap_or("");
        let kind = member(data, document(data), "type").map(|span| span.of(data));
        if kind == Some("\"message_start\"") {
            let start = object! { "type": "message_start", "message": Raw(&message("", "null")) };
            frame.another(Some("message_start"), &start, out);
        }
    }

    /// Writes `text` in a separate block.
    fn write_text(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        let n = self.left;
        self.left += 1;
        let start = object! {
            "type": "content_block_start", "index": n,
            "content_block": { "type": "text", "text": "" },
        };
        let delta = object! {
            "type": "content_block_delta", "index": n,
            "delta": { "type": "text_delta", "text": text },
        };
        frame.another(Some("content_block_start"), &start, out);
        frame.another(Some("content_block_delta"), &delta, out);
        stop(frame, n, out);
    }

    /// The index with which a block's frame leaves.
    fn number(&mut self, block: &Block, is_call: bool) -> Option<u64> {
        self.open.number(block, is_call, || {
            self.left += 1;
            self.left - 1
        })
    }

    /// Edits the whole blocks in a message.
    fn edit_blocks(&mut self, data: &str, reading: &Reading, fates: &[Fate], edits: &mut Edits) {
        let Some(content) = reading.content else { return };
        let blocks = elements(data, content);
        // Parts are in the order of the text.
        let judged: Vec<(Span, &Fate)> = reading
            .parts
            .iter()
            .zip(fates)
            .filter(|(part, _)| is_call(part))
            .map(|(part, fate)| (part.at, fate))
            .collect();
        let fate_at = |span: Span| {
            let place = judged.binary_search_by_key(&span.start, |(at, _)| at.start).ok()?;
            judged.get(place).map(|(_, fate)| *fate)
        };
        let gone = |place: usize| {
            blocks.get(place).is_some_and(|span| matches!(fate_at(*span), Some(Fate::Drop)))
        };
        let left = (0..blocks.len()).filter(|place| !gone(*place)).count();
        for span in &blocks {
            match fate_at(*span) {
                Some(Fate::Notice(text)) => edits.replace(*span, text_block(text)),
                Some(Fate::Whole(call)) => {
                    edits.append(input_edits(data, *span, &call.arguments));
                }
                _ => {}
            }
        }
        edits.remove(&blocks, gone);
        self.left += u64::try_from(left).unwrap_or(u64::MAX);
        for (part, fate) in reading.parts.iter().zip(fates) {
            if let (What::Finish(_), Fate::Ordinary(Some(text))) = (&part.what, fate) {
                let comma = if left > 0 { "," } else { "" };
                edits.insert(content.end - 1, format!("{comma}{}", text_block(text)));
                self.left += 1;
            }
        }
    }
}

/// The error body that replaces a message.
pub(super) fn error_body(kind: &str, message: &str) -> String {
    object! { "type": "error", "error": { "type": kind, "message": message } }
}

/// The message that replaces one that a text rule stopped.
pub(super) fn blocked_body(text: &str) -> String {
    message(&text_block(text), "\"refusal\"")
}

fn message(content: &str, stop_reason: &str) -> String {
    object! {
        "id": "msg_blocked", "type": "message", "role": "assistant", "model": "",
        "content": [Raw(content)], "stop_reason": Raw(stop_reason), "stop_sequence": Raw("null"),
        "usage": { "input_tokens": 0, "output_tokens": 0 },
    }
}

/// The end of a block.
fn stop(frame: &Frame<'_>, number: u64, out: &mut Vec<u8>) {
    let stop = object! { "type": "content_block_stop", "index": number };
    frame.another(Some("content_block_stop"), &stop, out);
}

/// All arguments of a call in one piece, after its start.
fn arguments(frame: &Frame<'_>, number: u64, arguments: &str, out: &mut Vec<u8>) {
    let delta = object! {
        "type": "content_block_delta", "index": number,
        "delta": { "type": "input_json_delta", "partial_json": arguments },
    };
    frame.another(Some("content_block_delta"), &delta, out);
}

/// Whether the call's block contains all of its arguments.
fn came_whole(part: &Part) -> bool {
    matches!(&part.what, What::Piece(Piece { arguments: ArgumentsPiece::Whole(_), .. }))
}

/// A removed call as the provider has it.
pub(super) fn original(block: &str, arguments: &str) -> String {
    with_input(block, arguments)
}

fn text_block(text: &str) -> String {
    object! { "type": "text", "text": text }
}
