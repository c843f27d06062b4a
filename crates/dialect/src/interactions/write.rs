//! Writes an interaction: the same bytes, renumbered, or replaced.

use callgate_json::{Span, quote};

use crate::block_writer::{BlockApi, NamedEvent};
use crate::event::{Block, BlockStep, Canonical, Part};
use crate::json::{Edits, member, members, prepend_to};
use crate::object::{Raw, object};
use crate::request::whole_object;

/// The steps of an interaction.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// How many steps were removed without a replacement.
    gone: u64,
    /// One more than the index of the last step that has left.
    next: u64,
}

impl BlockApi for Steps {
    const ORDINARY_END: &'static str = "\"completed\"";
    const FILTERED_END: &'static [(Option<&'static str>, &'static str)] = &[
        (
            Some("interaction.completed"),
            "{\"interaction\":{\"id\":\"\",\"status\":\"incomplete\",\"object\":\"interaction\"},\
             \"event_type\":\"interaction.completed\"}",
        ),
        (Some("done"), "[DONE]"),
    ];
    const IN_TURNS: bool = false;

    fn claim(&mut self, block: &Block, _: bool, data: &str) -> u64 {
        self.claim_text(Some((block, data)))
    }

    fn claim_text(&mut self, in_place_of: Option<(&Block, &str)>) -> u64 {
        let claimed = in_place_of.and_then(|(block, data)| Some(block.index?.of(data)));
        let number = claimed.map_or(self.next, |index| {
            let claimed = index.trim_matches('"').parse::<f64>().unwrap_or(0.0) as u64;
            claimed.saturating_sub(self.gone)
        });
        self.next = self.next.max(number + 1);
        number
    }

    fn dropped(&mut self, does: BlockStep) {
        self.gone += u64::from(does == BlockStep::Open);
    }

    fn text_events(&self, number: u64, text: &str) -> Vec<NamedEvent> {
        let start = object! {
            "index": number, "step": { "type": "model_output" }, "event_type": "step.start",
        };
        let delta = object! {
            "index": number, "delta": { "text": text, "type": "text" }, "event_type": "step.delta",
        };
        vec![(Some("step.start"), start), (Some("step.delta"), delta)]
    }

    fn end_event(&self, number: u64, _: bool) -> NamedEvent {
        (Some("step.stop"), object! { "index": number, "event_type": "step.stop" })
    }

    fn complete(
        &self,
        data: &str,
        part: &Part,
        (number, whole): (u64, &Canonical),
        edits: &mut Edits,
    ) -> Option<NamedEvent> {
        edit_arguments(data, part.at, "{}", edits);
        let delta = object! {
            "index": number,
            "delta": { "arguments": arguments(whole), "type": "arguments_delta" },
            "event_type": "step.delta",
        };
        Some((Some("step.delta"), delta))
    }

    /// An event that only announces calls contains nothing else.
    fn is_all_of_frame(&self, place: &str) -> bool {
        place == "\"interaction.requires_action\""
    }

    fn text_block(text: &str) -> String {
        object! { "type": "model_output", "content": [{ "type": "text", "text": text }] }
    }

    fn edit_listed(data: &str, at: Span, call: &Canonical, edits: &mut Edits) {
        edit_arguments(data, at, arguments(call), edits);
    }
}

/// The interaction that replaces one that a text rule stopped.
pub(super) fn blocked_body(text: &str) -> String {
    let step = Steps::text_block(text);
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
            let has_others = !members(data, step).is_empty();
            prepend_to(edits, step, has_others, &format!("\"arguments\":{text}"));
        }
    }
}
