//! Writes a Cohere stream or body: the same bytes, renumbered, or replaced.

use callgate_json::{Kind, Span, quote};
use callgate_wire::Frame;

use super::PLAN;
use super::view::{Message, view};
use crate::blocks::{OpenBlocks, Progress, call_of, is_number};
use crate::departure::Orders;
use crate::event::{Block, BlockStep, Canonical, Fate, Finish, Reading, Slot, What};
use crate::json::{Edits, document, elements, member, members, string_member};
use crate::leave::{finish_body, leave};
use crate::object::object;
use crate::spec::Write;
use crate::usage::{sum, usage_in};

/// Writes the events of one response.
#[derive(Debug, Default)]
pub(super) struct Writer {
    /// How many calls have left.
    calls: u64,
    /// How many contents have left.
    contents: u64,
    open: OpenBlocks,
    /// The content that began last: its original index, and the index that it left with.
    last_content: Option<(u64, u64)>,
    /// Whether a part of the plan has left.
    plan: bool,
    /// Set once the turn continues with another answer.
    later: Option<Box<LaterAnswer>>,
}

/// An answer after the first one. Its start has no place in the message, its plan follows that of
/// the answers before it, and its end counts the tokens of all.
#[derive(Debug)]
struct LaterAnswer {
    /// The usage of the answers before it.
    spent: String,
    progress: Progress,
    /// Whether its plan must be separated from the one before it.
    needs_gap: bool,
}

impl Write for Writer {
    fn is_out(&self, slot: Slot) -> bool {
        self.open.is_out(slot)
    }

    fn open_call(&self) -> Option<Slot> {
        self.open.call()
    }

    fn leaves_as_it_came(&self, reading: &Reading, data: &str) -> bool {
        let Some(block) = reading.block else {
            let is_first = self.later.is_none() && (self.plan || reading.text_lane != PLAN);
            return is_first && self.last_content.is_none_or(|(came, left)| came == left);
        };
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
        if reading.block.is_some() {
            return self.write_block(frame, data, reading, orders, out);
        }
        if self.later.is_some() && is_start(data) {
            return frame.leave_out(out);
        }
        let mut edits = Edits::default();
        if reading.text_lane == PLAN {
            self.separate_plan(data, &mut edits);
        }
        self.count_all(data, &mut edits);
        for (part, fate) in reading.parts.iter().zip(fates) {
            let What::Finish(finish) = part.what else { continue };
            self.close_call(frame, out);
            if let Fate::Ordinary(text) = fate {
                if let Some(text) = text {
                    self.write_text(frame, text, out);
                }
                if finish.announces_calls {
                    edits.replace(part.at, "\"COMPLETE\"");
                }
            }
        }
        self.point_citation(data, &mut edits);
        leave(frame, data, reading, departure, edits, out);
    }

    fn write_body(&mut self, data: &str, reading: &Reading, orders: Orders<'_>) -> Option<String> {
        let Orders { departure, fates } = orders;
        let mut edits = Edits::default();
        if let Some(message) = view(data).ok()?.own.message {
            edit_message(data, &message, reading, fates, &mut edits);
        }
        Some(finish_body(data, departure, edits))
    }

    fn add_text(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        self.write_text(frame, text, out);
    }

    fn next_answer(&mut self, spent: &str) {
        let (spent, progress, needs_gap) = (spent.to_owned(), Progress::Reading, self.plan);
        self.later = Some(Box::new(LaterAnswer { spent, progress, needs_gap }));
        (self.open, self.last_content) = (OpenBlocks::default(), None);
    }

    fn give_up_answer(&mut self) {
        if let Some(later) = &mut self.later {
            later.progress = Progress::GivenUp;
        }
    }

    /// Ends the message with an error: the API has no finish reason for a filter. An open call is
    /// not ended, so that no client runs it.
    fn stop_early(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        self.close_blocks(frame, out);
        self.open = OpenBlocks::default();
        self.write_text(frame, text, out);
        let end = "{\"type\":\"message-end\",\"delta\":{\"finish_reason\":\"ERROR\"}}";
        frame.another(Some("message-end"), end, out);
        frame.another(None, "[DONE]", out);
    }

    /// Ends the open call, for clients that run nothing without its end.
    fn close_call(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        let Some(number) = self.open.end_call() else { return };
        let end = object! { "type": "tool-call-end", "index": number };
        frame.another(Some("tool-call-end"), &end, out);
    }

    fn has_open_block(&self) -> bool {
        self.open.has_others()
    }

    fn close_blocks(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        for number in self.open.end_others() {
            end_content(frame, number, out);
        }
    }
}

fn end_content(frame: &Frame<'_>, number: u64, out: &mut Vec<u8>) {
    let end = object! { "type": "content-end", "index": number };
    frame.another(Some("content-end"), &end, out);
}

impl Writer {
    /// Writes a frame of a call or of a content.
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
            Some(Fate::Drop) => return frame.leave_out(out),
            _ => {}
        }
        let Some(number) = self.number(&block, call.is_some()) else { return };
        let mut edits = Edits::default();
        match block.index {
            Some(index) if is_number(index.of(data), number) => {}
            Some(index) => edits.replace(index, number.to_string()),
            None => edits.insert(document(data).start + 1, format!("\"index\":{number},")),
        }
        if block.does == BlockStep::Open && call.is_none() {
            let came = block.index.and_then(|index| index.of(data).parse::<u32>().ok());
            self.last_content = Some((came.map_or(number, u64::from), number));
        }
        let Some(Fate::Whole(whole)) = fate else {
            return leave(frame, data, reading, departure, edits, out);
        };
        edit_start(data, whole, &mut edits);
        leave(frame, data, reading, departure, edits, out);
        let delta = object! {
            "type": "tool-call-delta", "index": number, "delta": {
                "message": { "tool_calls": { "function": { "arguments": &whole.arguments } } },
            },
        };
        frame.another(Some("tool-call-delta"), &delta, out);
    }

    /// Separates the plan of a later answer from the one before it.
    fn separate_plan(&mut self, data: &str, edits: &mut Edits) {
        self.plan = true;
        let Some(later) = self.later.as_mut().filter(|later| later.needs_gap) else { return };
        later.needs_gap = false;
        let message = member(data, document(data), "delta");
        let message = message.and_then(|delta| member(data, delta, "message"));
        let plan = message.and_then(|message| string_member(data, message, "tool_plan"));
        if let Some(plan) = plan {
            edits.insert(plan.span().start + 1, "\\n\\n");
        }
    }

    /// Makes the end of a message count the tokens of all answers.
    fn count_all(&self, data: &str, edits: &mut Edits) {
        let Some(later) = &self.later else { return };
        let Some(delta) = member(data, document(data), "delta") else { return };
        match (&later.progress, usage_in(data, delta)) {
            (_, None) => {}
            (Progress::Reading, Some((at, usage))) => edits.replace(at, sum(&later.spent, usage)),
            (Progress::GivenUp, Some((at, _))) => edits.replace(at, later.spent.clone()),
        }
    }

    /// Writes `text` in a separate content.
    fn write_text(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        let n = self.contents;
        self.contents += 1;
        let start = object! {
            "type": "content-start", "index": n,
            "delta": { "message": { "content": { "type": "text", "text": "" } } },
        };
        let delta = object! {
            "type": "content-delta", "index": n,
            "delta": { "message": { "content": { "text": text } } },
        };
        let end = object! { "type": "content-end", "index": n };
        frame.another(Some("content-start"), &start, out);
        frame.another(Some("content-delta"), &delta, out);
        frame.another(Some("content-end"), &end, out);
    }

    /// The index with which a frame leaves.
    fn number(&mut self, block: &Block, is_call: bool) -> Option<u64> {
        let left = if is_call { &mut self.calls } else { &mut self.contents };
        self.open.number(block, is_call, || {
            *left += 1;
            *left - 1
        })
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

/// Writes the name into the start of a call that leaves whole, and no arguments yet.
fn edit_start(data: &str, whole: &Canonical, edits: &mut Edits) {
    let Ok(frame) = view(data) else { return };
    let Some(start) = frame.call() else { return };
    if start.name.is_none_or(|name| !name.is(&whole.name)) {
        // The name came later.
        edits.replace(start.span, entry(whole, ""));
    } else if let Some((at, _)) = start.arguments.filter(|(at, _)| at.of(data) != "\"\"") {
        edits.replace(at, "\"\"");
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
    let all = members(data, message.span);
    let spans: Vec<Span> = all.iter().map(|member| member.span).collect();
    let is_list = |place: usize| all.get(place).is_some_and(|member| member.key.is("tool_calls"));
    if empty {
        edits.remove(&spans, is_list);
    } else if let Some((list, _)) = message.calls {
        edits.remove(&elements(data, list), |place| gone.get(place) == Some(&true));
    }
    let left = spans.len() - usize::from(empty);
    if empty && said.is_empty() && message.content.is_none() && message.plan.is_none() {
        // A message has one of them.
        let comma = if left > 0 { "," } else { "" };
        edits.insert(message.span.start + 1, format!("\"content\":[]{comma}"));
    }
    add_text_to_body(message, &said, left > 0, edits);
}

/// Adds contents to a whole message.
fn add_text_to_body(message: &Message<'_>, said: &[&str], has_members: bool, edits: &mut Edits) {
    if said.is_empty() {
        return;
    }
    let block = |text: &&str| object! { "type": "text", "text": text };
    let blocks = said.iter().map(block).collect::<Vec<_>>().join(",");
    match message.content {
        None => {
            let comma = if has_members { "," } else { "" };
            edits.insert(message.span.start + 1, format!("\"content\":[{blocks}]{comma}"));
        }
        Some((at, Kind::Array)) => {
            let comma = if message.has_contents { "," } else { "" };
            edits.insert(at.end - 1, format!("{comma}{blocks}"));
        }
        Some((at, Kind::String)) => {
            edits.insert(at.start, "[{\"type\":\"text\",\"text\":");
            edits.insert(at.end, format!("}},{blocks}]"));
        }
        Some((at, Kind::Object)) => {
            edits.insert(at.start, "[");
            edits.insert(at.end, format!(",{blocks}]"));
        }
        Some((at, _)) => edits.replace(at, format!("[{blocks}]")),
    }
}
