//! Writes a Converse stream or response: the same bytes, renumbered, or replaced.

use callgate_json::{Span, Value};
use callgate_wire::Frame;

use super::continued::is_thinking;
use super::read::EventNames;
use crate::block_writer::{BlockApi, BlockWriter, NamedEvent};
use crate::departure::Leaving;
use crate::event::{Block, BlockStep, Canonical, Part};
use crate::json::{Edits, document, member, members};
use crate::object::{Raw, object};
use crate::usage::{TurnUsage, usage_in};

/// A writer at the start of a response.
pub(crate) fn writer(names: EventNames) -> BlockWriter<impl BlockApi> {
    BlockWriter::new(Blocks { names, left: 0, dropped: 0, base: 0 })
}

/// The blocks of a message. In an answer after the first one, the start has no place in the message,
/// thinking is not valid after what another answer said, and the end counts the tokens of all.
#[derive(Debug)]
struct Blocks {
    names: EventNames,
    /// One more than the index of the last block that has left.
    left: u64,
    /// How many blocks were left out.
    dropped: u64,
    /// The index of the first block of the answer.
    base: u64,
}

impl BlockApi for Blocks {
    const ORDINARY_END: &'static str = "\"end_turn\"";
    const FILTERED_END: &'static [(Option<&'static str>, &'static str)] =
        &[(Some("messageStop"), "{\"stopReason\":\"content_filtered\"}")];

    /// Gaps that the model left stay; removed blocks leave none.
    fn claim(&mut self, block: &Block, _: bool, data: &str) -> u64 {
        let claimed = block.index.and_then(|index| index.of(data).parse::<u32>().ok());
        let moved = claimed.and_then(|claimed| u64::from(claimed).checked_sub(self.dropped));
        let number = moved.map_or(self.left, |moved| (moved + self.base).max(self.left));
        self.left = number + 1;
        number
    }

    fn claim_text(&mut self, _: Option<(&Block, &str)>) -> u64 {
        self.left += 1;
        self.left - 1
    }

    fn dropped(&mut self, does: BlockStep) {
        self.dropped += u64::from(does == BlockStep::Open);
    }

    fn is_left_out(&mut self, leaving: &Leaving<'_>, _: &mut TurnUsage) -> bool {
        let Leaving { frame, data, reading, .. } = *leaving;
        if frame.event() == Some(b"messageStart") {
            return true;
        }
        let opens = reading.block.is_some_and(|block| block.does == BlockStep::Open);
        let delta = member(data, document(data), "delta").filter(|_| opens);
        let is_thought = delta.is_some_and(|delta| is_thinking(data, delta));
        self.dropped += u64::from(is_thought);
        is_thought
    }

    fn next_answer(&mut self) {
        (self.base, self.dropped) = (self.left, 0);
    }

    fn text_events(&self, number: u64, text: &str) -> Vec<NamedEvent> {
        let delta = object! { "contentBlockIndex": number, "delta": { "text": text } };
        vec![(Some("contentBlockDelta"), delta)]
    }

    fn end_event(&self, number: u64, _: bool) -> NamedEvent {
        (Some("contentBlockStop"), object! { "contentBlockIndex": number })
    }

    fn complete(
        &self,
        _: &str,
        _: &Part,
        (number, whole): (u64, &Canonical),
        _: &mut Edits,
    ) -> Option<NamedEvent> {
        let delta = object! {
            "contentBlockIndex": number, "delta": { "toolUse": { "input": &whole.arguments } },
        };
        Some((Some("contentBlockDelta"), delta))
    }

    /// Makes the counts of a message those of all answers.
    fn edit_frame(&mut self, leaving: &Leaving<'_>, usage: Option<&TurnUsage>, edits: &mut Edits) {
        let data = leaving.data;
        if let (Some(usage), Some((at, last))) = (usage, usage_in(data, document(data))) {
            edits.replace(at, usage.total_with(last));
        }
    }

    /// The frame that would have begun the message does not leave.
    fn start_of_stopped(&self, frame: &Frame<'_>) -> Option<NamedEvent> {
        let data = frame.text().unwrap_or_default();
        let begins = frame.event() == Some(b"messageStart")
            || member(data, document(data), "messageStart").is_some();
        begins.then(|| (Some("messageStart"), "{\"role\":\"assistant\"}".to_owned()))
    }

    fn text_block(text: &str) -> String {
        object! { "text": text }
    }

    fn edit_listed(data: &str, at: Span, call: &Canonical, edits: &mut Edits) {
        edits.append(input_edits(data, at, &call.arguments));
    }

    fn event(&self, frame: &Frame<'_>, (name, data): &NamedEvent, out: &mut Vec<u8>) {
        match (self.names, name) {
            (EventNames::OfKeys, Some(name)) => {
                frame.another(None, &format!("{{\"{name}\":{data}}}"), out);
            }
            _ => frame.another(*name, data, out),
        }
    }
}

/// Replaces the arguments of the call in the block at `block`.
fn input_edits(data: &str, block: Span, arguments: &str) -> Edits {
    let mut edits = Edits::default();
    let call = members(data, block).into_iter().find(|it| it.value.of(data).starts_with('{'));
    if let Some(call) = call.map(|member| member.value) {
        match member(data, call, "input") {
            Some(input) => edits.replace(input, arguments),
            None => edits.insert(call.start + 1, format!("\"input\":{arguments},")),
        }
    }
    edits
}

/// The response that replaces one that a text rule stopped.
pub(super) fn blocked_body(text: &str) -> String {
    object! {
        "output": { "message": { "role": "assistant", "content": [Raw(&Blocks::text_block(text))] } },
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
