//! Writes an interaction: the same bytes, renumbered, or replaced.

use callgate_json::{Span, quote};
use callgate_wire::Frame;

use crate::blocks::{OpenBlocks, call_of, is_call, is_number};
use crate::departure::Orders;
use crate::event::{Block, BlockStep, Canonical, Fate, Reading, Slot, What};
use crate::json::{Edits, elements, member, members};
use crate::leave::{finish_body, leave};
use crate::object::{Raw, object};
use crate::request::whole_object;
use crate::spec::Write;

/// Writes the events of one response.
#[derive(Debug, Default)]
pub(super) struct Writer {
    /// How many steps were removed without a replacement.
    gone: u64,
    /// One more than the index of the last step that has left.
    next: u64,
    open: OpenBlocks,
}

impl Write for Writer {
    fn is_out(&self, slot: Slot) -> bool {
        self.open.is_out(slot)
    }

    fn leaves_as_it_came(&self, reading: &Reading, data: &str) -> bool {
        let Some(block) = reading.block else { return true };
        self.open.has_index_of(&block, data)
    }

    /// Writes one event.
    fn write(
        &mut self,
        frame: &Frame<'_>,
        data: &str,
        reading: &Reading,
        orders: Orders<'_>,
        out: &mut Vec<u8>,
    ) {
        let Orders { departure, fates } = orders;
        if reading.block.is_some() {
            return self.write_step(frame, data, reading, orders, out);
        }
        let mut edits = Edits::default();
        edit_steps(data, reading, fates, &mut edits);
        for (part, fate) in reading.parts.iter().zip(fates) {
            let (What::Finish(finish), Fate::Ordinary(text)) = (&part.what, fate) else { continue };
            if let Some(text) = text.as_ref().filter(|_| reading.content.is_none()) {
                self.write_text(frame, self.next, text, out);
            }
            if part.at.of(data) == REQUIRES_ACTION {
                // It contains nothing else.
                return frame.leave_out(out);
            }
            if finish.announces_calls {
                edits.replace(part.at, "\"completed\"");
            }
        }
        leave(frame, data, reading, departure, edits, out);
    }

    /// Ends the interaction as the API does when it stops early.
    fn stop_early(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        for number in self.open.end_all() {
            let stop = object! { "index": number, "event_type": "step.stop" };
            frame.another(Some("step.stop"), &stop, out);
        }
        self.write_text(frame, self.next, text, out);
        let end = "{\"interaction\":{\"id\":\"\",\"status\":\"incomplete\",\"object\":\"interaction\"},\
                   \"event_type\":\"interaction.completed\"}";
        frame.another(Some("interaction.completed"), end, out);
        frame.another(Some("done"), "[DONE]", out);
    }

    /// Writes a whole interaction.
    fn write_body(&mut self, data: &str, reading: &Reading, orders: Orders<'_>) -> Option<String> {
        let Orders { departure, fates } = orders;
        let mut edits = Edits::default();
        edit_steps(data, reading, fates, &mut edits);
        for (part, fate) in reading.parts.iter().zip(fates) {
            if let (What::Finish(finish), Fate::Ordinary(_)) = (&part.what, fate)
                && finish.announces_calls
            {
                edits.replace(part.at, "\"completed\"");
            }
        }
        Some(finish_body(data, departure, edits))
    }
}

/// The type of an event that only announces calls.
const REQUIRES_ACTION: &str = "\"interaction.requires_action\"";

impl Writer {
    fn write_step(
        &mut self,
        frame: &Frame<'_>,
        data: &str,
        reading: &Reading,
        orders: Orders<'_>,
        out: &mut Vec<u8>,
    ) {
        let Orders { departure, fates } = orders;
        let Some((block, index)) = reading.block.and_then(|b| Some((b, b.index?))) else { return };
        let claimed = index.of(data).trim_matches('"').parse::<f64>().unwrap_or(0.0) as u64;
        let call = call_of(reading);
        let fate = call.and_then(|place| fates.get(place));
        match (fate, block.does) {
            (Some(Fate::Notice(text)), _) => {
                return self.write_text(frame, claimed.saturating_sub(self.gone), text, out);
            }
            (Some(Fate::Drop), BlockStep::Open) => {
                self.gone += 1;
                return frame.leave_out(out);
            }
            (Some(Fate::Drop), _) => return frame.leave_out(out),
            _ => {}
        }
        let Some(number) = self.number(&block, claimed) else {
            return frame.leave_out(out);
        };
        let mut edits = Edits::default();
        if !is_number(index.of(data), number) {
            edits.replace(index, number.to_string());
        }
        if let (Some(Fate::Whole(whole)), Some(part)) =
            (fate, call.and_then(|place| reading.parts.get(place)))
        {
            edit_arguments(data, part.at, "{}", &mut edits);
            leave(frame, data, reading, departure, edits, out);
            return frame.another(Some("step.delta"), &arguments_delta(number, whole), out);
        }
        leave(frame, data, reading, departure, edits, out);
    }

    /// Writes `text` in a separate step.
    fn write_text(&mut self, frame: &Frame<'_>, number: u64, text: &str, out: &mut Vec<u8>) {
        self.next = self.next.max(number + 1);
        let start = object! {
            "index": number, "step": { "type": "model_output" }, "event_type": "step.start",
        };
        let delta = object! {
            "index": number, "delta": { "text": text, "type": "text" }, "event_type": "step.delta",
        };
        let stop = object! { "index": number, "event_type": "step.stop" };
        frame.another(Some("step.start"), &start, out);
        frame.another(Some("step.delta"), &delta, out);
        frame.another(Some("step.stop"), &stop, out);
    }

    /// The index with which a step's event leaves.
    fn number(&mut self, block: &Block, claimed: u64) -> Option<u64> {
        self.open.number(block, false, || {
            let number = claimed.saturating_sub(self.gone);
            self.next = self.next.max(number + 1);
            number
        })
    }
}

/// Edits the whole steps in the list.
fn edit_steps(data: &str, reading: &Reading, fates: &[Fate], edits: &mut Edits) {
    let Some(list) = reading.content else { return };
    let steps = elements(data, list);
    let fate_at = |span: Span| {
        let mut parts = reading.parts.iter().zip(fates);
        parts.find(|(part, _)| is_call(part) && part.at == span).map(|(_, fate)| fate)
    };
    let gone = |place: usize| {
        steps.get(place).is_some_and(|span| matches!(fate_at(*span), Some(Fate::Drop)))
    };
    for span in &steps {
        match fate_at(*span) {
            Some(Fate::Notice(text)) => edits.replace(*span, text_step(text)),
            Some(Fate::Whole(whole)) => {
                edit_arguments(data, *span, arguments(whole), edits);
            }
            _ => {}
        }
    }
    edits.remove(&steps, gone);
    let left = (0..steps.len()).filter(|place| !gone(*place)).count();
    for (part, fate) in reading.parts.iter().zip(fates) {
        if let (What::Finish(_), Fate::Ordinary(Some(text))) = (&part.what, fate) {
            let comma = if left > 0 { "," } else { "" };
            edits.insert(list.end - 1, format!("{comma}{}", text_step(text)));
        }
    }
}

/// The interaction that replaces one that a text rule stopped.
pub(super) fn blocked_body(text: &str) -> String {
    let step = text_step(text);
    object! { "id": "", "object": "interaction", "status": "incomplete", "steps": [Raw(&step)] }
}

/// The event that ends a stream with an error.
pub(super) fn error_event(code: &str, message: &str) -> String {
    let (code, message) = (quote(code), quote(message));
    object! { "error": { "code": Raw(&code), "message": Raw(&message) }, "event_type": "error" }
}

/// A removed call as the provider has it.
pub(super) fn original(step: &str, call: &Canonical) -> String {
    let Some(span) = whole_object(step) else { return step.to_owned() };
    let mut edits = Edits::default();
    edit_arguments(step, span, arguments(call), &mut edits);
    edits.apply(step)
}

/// The arguments; `{}` if none came.
fn arguments(call: &Canonical) -> &str {
    match call.arguments.trim() {
        "" => "{}",
        text => text,
    }
}

/// Sets the arguments of the step at `step`.
fn edit_arguments(data: &str, step: Span, text: &str, edits: &mut Edits) {
    match member(data, step, "arguments") {
        Some(span) if span.of(data) == text => {}
        Some(span) => edits.replace(span, text),
        None => {
            let comma = if members(data, step).is_empty() { "" } else { "," };
            edits.insert(step.start + 1, format!("\"arguments\":{text}{comma}"));
        }
    }
}

fn arguments_delta(number: u64, call: &Canonical) -> String {
    object! {
        "index": number, "delta": { "arguments": arguments(call), "type": "arguments_delta" },
        "event_type": "step.delta",
    }
}

fn text_step(text: &str) -> String {
    object! { "type": "model_output", "content": [{ "type": "text", "text": text }] }
}
