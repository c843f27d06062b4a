//! Writes a Converse stream or response: the same bytes, renumbered, or replaced.

use callgate_json::{Span, Value, quote};
use callgate_wire::Frame;

use super::continued::is_thinking;
use super::read::EventNames;
use crate::blocks::{OpenBlocks, Progress, call_of, is_call, is_number};
use crate::departure::Orders;
use crate::event::{Block, BlockStep, Canonical, Fate, Finish, Part, Reading, Slot, What};
use crate::json::{Edits, document, elements, member};
use crate::leave::{finish_body, leave};
use crate::object::{Raw, object};
use crate::spec::Write;
use crate::usage::{sum, usage_in};

/// Writes the events of one response.
#[derive(Debug)]
pub(crate) struct Writer {
    names: EventNames,
    /// One more than the index of the last block that has left.
    left: u64,
    /// How many blocks were left out.
    dropped: u64,
    open: OpenBlocks,
    /// Set once the turn continues with another answer.
    later: Option<LaterAnswer>,
}

/// An answer after the first one. Its start has no place in the message, its thinking is not valid
/// after what another answer said, and its end counts the tokens of all.
#[derive(Debug)]
struct LaterAnswer {
    /// The usage of the answers before it.
    spent: String,
    /// The index of its first block.
    base: u64,
    progress: Progress,
}

impl Writer {
    /// A writer at the start of a response.
    pub(crate) fn new(names: EventNames) -> Self {
        Self { names, left: 0, dropped: 0, open: OpenBlocks::default(), later: None }
    }
}

impl Write for Writer {
    fn is_out(&self, slot: Slot) -> bool {
        self.open.is_out(slot)
    }

    fn open_call(&self) -> Option<Slot> {
        self.open.call()
    }

    fn leaves_as_it_came(&self, reading: &Reading, data: &str) -> bool {
        let Some(block) = reading.block else { return self.later.is_none() };
        self.open.has_index_of(&block, data)
    }

    fn write(
        &mut self,
        frame: &Frame<'_>,
        data: &str,
        reading: &Reading,
        orders: Orders<'_>,
        out: &mut Vec<u8>,
    ) {
        let Orders { departure, fates } = orders;
        if self.later.is_some() && frame.event() == Some(b"messageStart") {
            return;
        }
        if reading.block.is_some() {
            return self.write_block(frame, data, reading, orders, out);
        }
        let mut edits = Edits::default();
        self.count_all(data, &mut edits);
        for (part, fate) in reading.parts.iter().zip(fates) {
            let What::Finish(finish) = &part.what else { continue };
            self.close_call(frame, out);
            if let Fate::Ordinary(text) = fate {
                if let Some(text) = text {
                    self.write_text(frame, text, out);
                }
                if finish.announces_calls {
                    edits.replace(part.at, "\"end_turn\"");
                }
            }
        }
        leave(frame, data, reading, departure, edits, out);
    }

    fn write_body(&mut self, data: &str, reading: &Reading, orders: Orders<'_>) -> Option<String> {
        let Orders { departure, fates } = orders;
        let mut edits = Edits::default();
        edit_blocks(data, reading, fates, &mut edits);
        for (part, fate) in reading.parts.iter().zip(fates) {
            if let (What::Finish(Finish { announces_calls: true }), Fate::Ordinary(_)) =
                (&part.what, fate)
            {
                edits.replace(part.at, "\"end_turn\"");
            }
        }
        Some(finish_body(data, departure, edits))
    }

    fn add_text(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        self.write_text(frame, text, out);
    }

    fn next_answer(&mut self, spent: &str) {
        let (spent, base) = (spent.to_owned(), self.left);
        self.later = Some(LaterAnswer { spent, base, progress: Progress::Reading });
        (self.dropped, self.open) = (0, OpenBlocks::default());
    }

    fn give_up_answer(&mut self) {
        if let Some(later) = &mut self.later {
            later.progress = Progress::GivenUp;
        }
    }

    /// Ends the message as the API does when its own filter stops it.
    fn stop_early(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        let data = frame.data().and_then(|data| std::str::from_utf8(data).ok()).unwrap_or("");
        if frame.event() == Some(b"messageStart")
            || member(data, document(data), "messageStart").is_some()
        {
            // The frame that would have begun it does not leave.
            self.event(frame, "messageStart", "{\"role\":\"assistant\"}", out);
        }
        for number in self.open.end_all() {
            self.stop(frame, number, out);
        }
        self.write_text(frame, text, out);
        self.event(frame, "messageStop", "{\"stopReason\":\"content_filtered\"}", out);
    }

    fn close_call(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        let Some(number) = self.open.end_call() else { return };
        self.stop(frame, number, out);
    }

    fn has_open_block(&self) -> bool {
        self.open.has_others()
    }

    fn close_blocks(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        for number in self.open.end_others() {
            self.stop(frame, number, out);
        }
    }
}

impl Writer {
    fn write_block(
        &mut self,
        frame: &Frame<'_>,
        data: &str,
        reading: &Reading,
        orders: Orders<'_>,
        out: &mut Vec<u8>,
    ) {
        let Orders { departure, fates } = orders;
        let Some(block) = reading.block else { return };
        let call = call_of(reading);
        let fate = call.and_then(|place| fates.get(place));
        match fate {
            Some(Fate::Notice(text)) => return self.write_text(frame, text, out),
            Some(Fate::Drop) => {
                self.dropped += u64::from(block.does == BlockStep::Open);
                return;
            }
            _ => {}
        }
        let delta = member(data, document(data), "delta");
        let is_thought = || delta.is_some_and(|delta| is_thinking(data, delta));
        if self.later.is_some() && block.does == BlockStep::Open && is_thought() {
            self.dropped += 1;
            return;
        }
        let Some(number) = self.number(&block, data, call.is_some()) else { return };
        let mut edits = Edits::default();
        if let Some(index) = block.index.filter(|index| !is_number(index.of(data), number)) {
            edits.replace(index, number.to_string());
        }
        leave(frame, data, reading, departure, edits, out);
        if let Some(Fate::Whole(call)) = fate {
            let input = quote(&call.arguments);
            let delta = object! {
                "contentBlockIndex": number, "delta": { "toolUse": { "input": Raw(&input) } },
            };
            self.event(frame, "contentBlockDelta", &delta, out);
        }
    }

    /// Makes the counts of a message those of all answers.
    fn count_all(&self, data: &str, edits: &mut Edits) {
        let Some(later) = &self.later else { return };
        match (&later.progress, usage_in(data, document(data))) {
            (_, None) => {}
            (Progress::Reading, Some((at, usage))) => edits.replace(at, sum(&later.spent, usage)),
            (Progress::GivenUp, Some((at, _))) => edits.replace(at, later.spent.clone()),
        }
    }

    /// Writes `text` in a separate block.
    fn write_text(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        let number = self.left;
        self.left += 1;
        let text = quote(text);
        let delta = object! { "contentBlockIndex": number, "delta": { "text": Raw(&text) } };
        self.event(frame, "contentBlockDelta", &delta, out);
        self.stop(frame, number, out);
    }

    fn stop(&self, frame: &Frame<'_>, number: u64, out: &mut Vec<u8>) {
        let stop = object! { "contentBlockIndex": number };
        self.event(frame, "contentBlockStop", &stop, out);
    }

    fn event(&self, frame: &Frame<'_>, name: &str, data: &str, out: &mut Vec<u8>) {
        match self.names {
            EventNames::OfEvents => frame.another(Some(name), data, out),
            EventNames::OfKeys => frame.another(None, &format!("{{\"{name}\":{data}}}"), out),
        }
    }

    /// The index for a block that begins. Gaps that the model left stay; removed blocks leave none.
    fn number(&mut self, block: &Block, data: &str, is_call: bool) -> Option<u64> {
        let claimed = block.index.and_then(|index| index.of(data).parse::<u32>().ok());
        let base = self.later.as_ref().map_or(0, |later| later.base);
        let moved = claimed.and_then(|claimed| u64::from(claimed).checked_sub(self.dropped));
        self.open.number(block, is_call, || {
            let number = moved.map_or(self.left, |moved| (moved + base).max(self.left));
            self.left = number + 1;
            number
        })
    }
}

/// Edits the blocks of a whole response.
fn edit_blocks(data: &str, reading: &Reading, fates: &[Fate], edits: &mut Edits) {
    let Some(content) = reading.content else { return };
    let blocks = elements(data, content);
    let fate_at = |span: Span| {
        let is_here = |part: &Part| is_call(part) && part.at.start == span.start;
        let place = reading.parts.iter().position(is_here)?;
        fates.get(place)
    };
    let gone = |place: usize| {
        blocks.get(place).is_some_and(|span| matches!(fate_at(*span), Some(Fate::Drop)))
    };
    for span in &blocks {
        match fate_at(*span) {
            Some(Fate::Notice(text)) => edits.replace(*span, text_block(text)),
            Some(Fate::Whole(call)) => edits.append(input_edits(data, *span, &call.arguments)),
            _ => {}
        }
    }
    edits.remove(&blocks, gone);
    let left = (0..blocks.len()).filter(|place| !gone(*place)).count();
    for (part, fate) in reading.parts.iter().zip(fates) {
        if let (What::Finish(_), Fate::Ordinary(Some(text))) = (&part.what, fate) {
            let comma = if left > 0 { "," } else { "" };
            edits.insert(content.end - 1, format!("{comma}{}", text_block(text)));
        }
    }
}

/// Replaces the arguments of the call in the block at `block`.
fn input_edits(data: &str, block: Span, arguments: &str) -> Edits {
    let mut edits = Edits::default();
    let call = crate::json::members(data, block).into_iter().find(|m| is_object(m.value.of(data)));
    if let Some(call) = call.map(|member| member.value) {
        match member(data, call, "input") {
            Some(input) => edits.replace(input, arguments),
            None => edits.insert(call.start + 1, format!("\"input\":{arguments},")),
        }
    }
    edits
}

fn is_object(text: &str) -> bool {
    text.starts_with('{')
}

/// The response that replaces one that a text rule stopped.
pub(super) fn blocked_body(text: &str) -> String {
    object! {
        "output": { "message": { "role": "assistant", "content": [Raw(&text_block(text))] } },
        "stopReason": "content_filtered",
        "usage": { "inputTokens": 0, "outputTokens": 0, "totalTokens": 0 },
        "metrics": { "latencyMs": 0 },
    }
}

/// A removed call as the provider has it.
pub(crate) fn original(opened: Option<&str>, call: &Canonical) -> String {
    let opened = opened.unwrap_or("{}");
    // Anything but one strict document could add members.
    let arguments = match Value::parse(&call.arguments) {
        Ok(_) => call.arguments.as_str(),
        Err(_) => "{}",
    };
    let mut edits = Edits::default();
    match member(opened, document(opened), "input") {
        Some(input) => edits.replace(input, arguments),
        None => edits.insert(document(opened).end - 1, format!(",\"input\":{arguments}")),
    }
    object! { "toolUse": Raw(&edits.apply(opened)) }
}

fn text_block(text: &str) -> String {
    object! { "text": text }
}
