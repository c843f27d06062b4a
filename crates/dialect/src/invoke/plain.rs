//! Models that only write text: Titan, Llama, older Mistral, embeddings.
//!
//! Anything that looks like a call is judged; a value of an unknown form under a key for calls is
//! refused.

use callgate_json::{Kind, Reader as Json, Span};

use super::flavour::same_to_some;
use crate::departure::{Leaving, Orders};
use crate::event::{Lane, Order, Part, Reading, Slot, Unreadable, What};
use crate::json::{Edits, Member, document, elements, inside, members};
use crate::leave::{finish_body, leave};
use crate::side_text::TextNames;
use crate::spec::{Read, Write};
use crate::stray::{DocumentKind, SkippedMembers};

/// Reads the chunks of one response.
#[derive(Debug, Default)]
pub(super) struct Reader {
    strays: Slot,
    has_read_any: bool,
}

/// Keys under which models put calls.
const CALLS: [&str; 7] = [
    "tool_calls",
    "toolCalls",
    "tool_call",
    "toolUse",
    "tool_use",
    "function_call",
    "functionCall",
];

/// Keys under which models put their text.
const TEXTS: [&str; 4] = ["outputText", "generation", "completion", "text"];

impl Read for Reader {
    fn has_read_any(&self) -> bool {
        self.has_read_any
    }

    fn read(&mut self, _: Option<&[u8]>, data: &str) -> Result<Reading, Unreadable> {
        if holds_call_key(&mut Json::new(data), data)? {
            return Err(Unreadable::Ambiguous("a call in a shape that is not known"));
        }
        let mut reading = Reading::in_lane(Lane::default());
        let mut json = Json::new(data);
        let mut object = json.object()?;
        while let Some(key) = object.next(&mut json)? {
            let is_text = TEXTS.iter().any(|text| key.is(text));
            if is_text && json.kind()? == Kind::String {
                let text = json.string()?;
                reading.text = (!text.is_empty()).then(|| inside(&text));
                continue;
            }
            json.skip()?;
        }
        json.end()?;
        self.has_read_any = true;
        if is_over(data) {
            reading.finish(Lane::default(), Span::default(), false);
        }
        Ok(reading)
    }

    fn read_body(&mut self, data: &str) -> Result<Reading, Unreadable> {
        let mut reading = self.read(None, data)?;
        reading.order = Order::Stream;
        if let Some(at) = reading.text.take() {
            reading.parts.push(Part { lane: Lane::default(), at, what: What::Text });
        }
        if !reading.parts.iter().any(|part| matches!(part.what, What::Finish(_))) {
            reading.finish(Lane::default(), Span::default(), false);
        }
        Ok(reading)
    }

    fn skipped_members(&self, _: DocumentKind) -> Option<SkippedMembers> {
        Some(&[])
    }

    fn names(&self) -> TextNames {
        TextNames::Plain
    }

    fn stray_slot(&mut self) -> Result<Slot, Unreadable> {
        Ok(self.strays.take())
    }
}

/// Keys with which models end a response.
const ENDS: [&str; 4] = ["completionReason", "stop_reason", "finish_reason", "is_finished"];

/// Whether the chunk, or an element of its lists, ends the response.
fn is_over(data: &str) -> bool {
    let ends = |member: &Member<'_>| {
        let says = !matches!(member.value.of(data), "null" | "false" | "\"\"");
        says && ENDS.iter().any(|end| member.key.is(end))
    };
    let own = members(data, document(data));
    let listed = own.iter().flat_map(|member| elements(data, member.value));
    own.iter().any(ends) || listed.flat_map(|entry| members(data, entry)).any(|it| ends(&it))
}

/// Whether the next value contains a key for calls at any depth, with a value.
fn holds_call_key(json: &mut Json<'_>, data: &str) -> Result<bool, Unreadable> {
    let mut holds = false;
    match json.kind()? {
        Kind::Object => {
            let mut object = json.object()?;
            while let Some(key) = object.next(json)? {
                json.kind()?;
                let start = json.position();
                holds |= holds_call_key(json, data)?;
                let value = Span { start, end: json.position() };
                let key = key.decode()?;
                let is_call = CALLS.iter().any(|call| same_to_some(&key, call));
                holds |= is_call && has_content(value.of(data));
            }
        }
        Kind::Array => {
            let mut array = json.array()?;
            while array.next(json)? {
                holds |= holds_call_key(json, data)?;
            }
        }
        _ => {
            json.skip()?;
        }
    }
    Ok(holds)
}

fn has_content(value: &str) -> bool {
    let inside = value.trim_matches(['[', ']', '{', '}']).trim();
    !inside.is_empty() && inside != "null"
}

/// Writes the chunks of one response: unchanged, or not at all.
#[derive(Debug)]
pub(super) struct Writer;

impl Write for Writer {
    fn write_frame(&mut self, leaving: &Leaving<'_>, out: &mut Vec<u8>) {
        leave(leaving, Edits::default(), out);
    }

    fn whole_body(&mut self, data: &str, _: &Reading, orders: Orders<'_>) -> Option<String> {
        Some(finish_body(data, orders.departure, Edits::default()))
    }
}
