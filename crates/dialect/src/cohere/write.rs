//! Writes a Cohere stream or body: the same bytes, renumbered, or replaced.

use callgate_json::{Kind, Span, quote};

use super::PLAN;
use super::view::{Message, view};
use crate::block_writer::{BlockApi, NamedEvent};
use crate::blocks::is_number;
use crate::departure::Leaving;
use crate::event::{Block, Canonical, Fate, Finish, Part, Reading, What};
use crate::json::{
    Edits, Member, append_to, at_path, document, elements, list_of, member, prepend_to,
    remove_members, string_member,
};
use crate::object::object;
use crate::usage::{TurnUsage, usage_in};

/// The calls and contents of a message. In an answer after the first one, the start has no place in
/// the message, the plan follows that of the answers before it, and the end counts the tokens of
/// all.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// How many calls have left.
    calls: u64,
    /// How many contents have left.
    contents: u64,
    /// The content that began last: its original index, and the index that it left with.
    last_content: Option<(u64, u64)>,
    /// Whether a part of the plan has left.
    plan: bool,
    /// Whether the plan must be separated from that of the answer before.
    needs_gap: bool,
}

impl BlockApi for Blocks {
    const ORDINARY_END: &'static str = "\"COMPLETE\"";
    /// The API has no finish reason for a filter.
    const FILTERED_END: &'static [(Option<&'static str>, &'static str)] = &[
        (Some("message-end"), "{\"type\":\"message-end\",\"delta\":{\"finish_reason\":\"ERROR\"}}"),
        (None, "[DONE]"),
    ];
    /// Not ended, so that no client runs it.
    const ENDS_STOPPED_CALL: bool = false;

    fn claim(&mut self, block: &Block, is_call: bool, data: &str) -> u64 {
        if is_call {
            self.calls += 1;
            return self.calls - 1;
        }
        let number = self.claim_text(None);
        let came = block.index.and_then(|index| index.of(data).parse::<u32>().ok());
        self.last_content = Some((came.map_or(number, u64::from), number));
        number
    }

    fn claim_text(&mut self, _: Option<(&Block, &str)>) -> u64 {
        self.contents += 1;
        self.contents - 1
    }

    fn is_left_out(&mut self, leaving: &Leaving<'_>, _: &mut TurnUsage) -> bool {
        let Leaving { data, reading, .. } = *leaving;
        reading.block.is_none() && is_start(data)
    }

    fn leaves_as_it_came(&self, reading: &Reading) -> bool {
        let is_first = self.plan || reading.text_lane != PLAN;
        is_first && self.last_content.is_none_or(|(came, left)| came == left)
    }

    fn next_answer(&mut self) {
        (self.needs_gap, self.last_content) = (self.plan, None);
    }

    fn text_events(&self, number: u64, text: &str) -> Vec<NamedEvent> {
        let start = object! {
            "type": "content-start", "index": number,
            "delta": { "message": { "content": { "type": "text", "text": "" } } },
        };
        let delta = object! {
            "type": "content-delta", "index": number,
            "delta": { "message": { "content": { "text": text } } },
        };
        vec![(Some("content-start"), start), (Some("content-delta"), delta)]
    }

    fn end_event(&self, number: u64, is_call: bool) -> NamedEvent {
        let kind = if is_call { "tool-call-end" } else { "content-end" };
        (Some(kind), object! { "type": kind, "index": number })
    }

    /// Writes the name into the start of a call that leaves whole, and no arguments yet.
    fn complete(
        &self,
        data: &str,
        _: &Part,
        (number, whole): (u64, &Canonical),
        edits: &mut Edits,
    ) -> Option<NamedEvent> {
        if let Ok(frame) = view(data)
            && let Some(start) = frame.call()
        {
            if start.name.is_none_or(|name| !name.is(&whole.name)) {
                // The name came later.
                edits.replace(start.span, entry(whole, ""));
            } else if let Some((at, _)) = start.arguments.filter(|(at, _)| at.of(data) != "\"\"") {
                edits.replace(at, "\"\"");
            }
        }
        let delta = object! {
            "type": "tool-call-delta", "index": number, "delta": {
                "message": { "tool_calls": { "function": { "arguments": &whole.arguments } } },
            },
        };
        Some((Some("tool-call-delta"), delta))
    }

    fn edit_frame(&mut self, leaving: &Leaving<'_>, usage: Option<&TurnUsage>, edits: &mut Edits) {
        let data = leaving.data;
        if leaving.reading.text_lane == PLAN {
            self.separate_plan(data, edits);
        }
        let delta = member(data, document(data), "delta");
        let counted = delta.and_then(|delta| usage_in(data, delta));
        if let (Some(usage), Some((at, last))) = (usage, counted) {
            edits.replace(at, usage.total_with(last));
        }
        self.point_citation(data, edits);
    }

    fn text_block(text: &str) -> String {
        object! { "type": "text", "text": text }
    }

    /// A message lists its calls separately: see [`edit_message`].
    fn edit_listed(_: &str, _: Span, _: &Canonical, _: &mut Edits) {}

    fn edit_body(&mut self, data: &str, reading: &Reading, fates: &[Fate], edits: &mut Edits) {
        if let Some(message) = view(data).ok().and_then(|body| body.own.message) {
            edit_message(data, &message, reading, fates, edits);
        }
    }
}

impl Blocks {
    /// Separates the plan of a later answer from the one before it.
    fn separate_plan(&mut self, data: &str, edits: &mut Edits) {
        self.plan = true;
        if !std::mem::take(&mut self.needs_gap) {
            return;
        }
        let message = at_path(data, document(data), &["delta", "message"]);
        let plan = message.and_then(|message| string_member(data, message, "tool_plan"));
        if let Some(plan) = plan {
            edits.insert(plan.span().start + 1, "\\n\\n");
        }
    }

    /// Renumbers the index of the content that a citation quotes.
    fn point_citation(&self, data: &str, edits: &mut Edits) {
        let Some((came, left)) = self.last_content.filter(|(came, left)| came != left) else {
            return;
        };
        let Ok(frame) = view(data) else { return };
        let at = frame.delta.message.and_then(|message| message.content_index);
        if let Some(at) = at.filter(|at| is_number(at.of(data), came)) {
            edits.replace(at, left.to_string());
        }
    }
}

/// Whether an event begins a message.
fn is_start(data: &str) -> bool {
    string_member(data, document(data), "type").is_some_and(|kind| kind.is("message-start"))
}

/// A removed call as the provider has it.
pub(super) fn original(call: &Canonical) -> String {
    let arguments = call.arguments.as_str();
    entry(call, if arguments.trim().is_empty() { "{}" } else { arguments })
}

fn entry(call: &Canonical, arguments: &str) -> String {
    object! {
        "id": &call.id, "type": "function",
        "function": { "name": &call.name, "arguments": arguments },
    }
}

/// Edits a whole message.
fn edit_message(
    data: &str,
    message: &Message<'_>,
    reading: &Reading,
    fates: &[Fate],
    edits: &mut Edits,
) {
    let mut said: Vec<&str> = Vec::new();
    let mut gone = vec![false; message.entries.len()];
    for (part, fate) in reading.parts.iter().zip(fates) {
        let entry = message.entries.iter().position(|entry| entry.span == part.at);
        match (&part.what, fate) {
            (What::Finish(Finish { announces_calls }), Fate::Ordinary(text)) => {
                said.extend(text.as_deref());
                if *announces_calls {
                    edits.replace(part.at, "\"COMPLETE\"");
                }
            }
            (What::Piece(_), Fate::Whole(call)) => {
                let arguments = entry.and_then(|place| message.entries.get(place)?.arguments);
                if let Some((at, _)) = arguments {
                    edits.replace(at, quote(&call.arguments));
                }
            }
            (What::Piece(_), Fate::Notice(_) | Fate::Drop) => {
                if let Fate::Notice(text) = fate {
                    said.push(text);
                }
                if let Some(gone) = entry.and_then(|place| gone.get_mut(place)) {
                    *gone = true;
                }
            }
            _ => {}
        }
    }
    let empty = !gone.is_empty() && gone.iter().all(|gone| *gone);
    let is_list = |member: &Member<'_>| empty && member.key.is("tool_calls");
    let has_members = remove_members(edits, data, message.span, is_list) > 0;
    if let (false, Some((list, _))) = (empty, message.calls) {
        edits.remove(&elements(data, list), |place| gone.get(place) == Some(&true));
    }
    if empty && said.is_empty() && message.content.is_none() && message.plan.is_none() {
        // A message has one of them.
        prepend_to(edits, message.span, has_members, "\"content\":[]");
    }
    add_text_to_body(message, &said, has_members, edits);
}

/// Adds contents to a whole message.
fn add_text_to_body(message: &Message<'_>, said: &[&str], has_members: bool, edits: &mut Edits) {
    if said.is_empty() {
        return;
    }
    let blocks: Vec<String> = said.iter().map(|text| Blocks::text_block(text)).collect();
    let list = list_of(&blocks);
    let blocks = blocks.join(",");
    match message.content {
        None => {
            prepend_to(edits, message.span, has_members, &format!("\"content\":{list}"));
        }
        Some((at, Kind::Array)) => append_to(edits, at, message.has_contents, &blocks),
        Some((at, Kind::String)) => {
            edits.insert(at.start, "[{\"type\":\"text\",\"text\":");
            edits.insert(at.end, format!("}},{blocks}]"));
        }
        Some((at, Kind::Object)) => {
            edits.insert(at.start, "[");
            edits.insert(at.end, format!(",{blocks}]"));
        }
        Some((at, _)) => edits.replace(at, list),
    }
}
