//! Reads lines of an Ollama stream, and whole bodies.

use callgate_json::Span;

use super::view::{Entry, Line, view};
use crate::event::{
    After, ArgumentsPiece, CallKind, CallSlots, FollowedBy, Lane, Order, Piece, PieceRole, Reading,
    Slot, Unreadable,
};
use crate::json::{decode, document, expect_object, inside};
use crate::side_text::TextNames;
use crate::spec::Read;
use crate::stray::{self, DocumentKind, SkippedMembers};
use crate::tally::{Tally, counts};

/// The one lane of a response.
const LANE: Lane = Lane(0);

/// Reads the lines of one response.
#[derive(Debug)]
pub(super) struct Reader {
    slots: CallSlots,
    /// Whether a line of the API was read.
    has_read_any: bool,
}

impl Reader {
    /// A reader at the start of a response. It refuses more than `max_calls` calls.
    pub(super) fn new(max_calls: usize) -> Self {
        Self { slots: CallSlots::new(max_calls), has_read_any: false }
    }
}

impl Read for Reader {
    fn has_read_any(&self) -> bool {
        self.has_read_any
    }

    fn read(&mut self, _: Option<&[u8]>, data: &str) -> Result<Reading, Unreadable> {
        expect_object(data, Unreadable::Nothing)?;
        let line = view(data)?;
        let mut reading = self.line(&line, data)?;
        if line.done == Some(true) {
            finish(&line, &mut reading);
        }
        Ok(reading)
    }

    fn read_body(&mut self, data: &str) -> Result<Reading, Unreadable> {
        expect_object(data, Unreadable::Ambiguous("not a response"))?;
        let line = view(data)?;
        let mut reading = self.line(&line, data)?;
        if !line.has_error {
            finish(&line, &mut reading);
        }
        reading.order = Order::Stream;
        Ok(reading)
    }

    fn skipped_members(&self, _: DocumentKind) -> Option<SkippedMembers> {
        Some(&[])
    }

    fn stray_slot(&mut self) -> Result<Slot, Unreadable> {
        self.slots.begin()
    }

    fn names(&self) -> TextNames {
        TextNames::Ollama
    }

    fn texts(&self, data: &str) -> Vec<Span> {
        let Ok(line) = view(data) else { return Vec::new() };
        line.said().filter_map(|said| said.text?.1).map(|text| inside(&text)).collect()
    }
}

impl Reader {
    /// Reads a line. The first line shows whether the response is of this API; a later one in
    /// another form passes, unless it contains something that looks like a call.
    fn line(&mut self, line: &Line<'_>, data: &str) -> Result<Reading, Unreadable> {
        let is_ours = line.done.is_some() || line.has_error;
        if !is_ours && (!self.has_read_any || stray::holds_call(data)?) {
            return Err(Unreadable::Foreign);
        }
        self.has_read_any = true;
        let mut reading = Reading {
            order: Order::Lane(LANE),
            model: line.model.map(|model| inside(&model)),
            after: if line.has_error { After::Failure } else { After::More },
            tally: tally(line, data),
            ..Reading::default()
        };
        for said in line.said() {
            let text = said.text.and_then(|(_, text)| text).filter(|text| !text.is_empty());
            match (text, reading.text) {
                (Some(text), None) => reading.text = Some(inside(&text)),
                (text, _) => reading.add_text(LANE, text),
            }
            for entry in &said.entries {
                let piece = self.call(entry, data)?;
                reading.takes(entry.span, entry.name);
                reading.add_call(LANE, entry.span, piece);
            }
        }
        Ok(reading)
    }

    fn call(&mut self, entry: &Entry<'_>, data: &str) -> Result<Piece, Unreadable> {
        let id = decode(entry.id)?.filter(|id| !id.is_empty());
        let arguments = entry.arguments.map(|value| ArgumentsPiece::of_value(value, data));
        Ok(Piece {
            slot: self.slots.begin()?,
            role: PieceRole::Open(match id {
                Some(_) => CallKind::Identified,
                None => CallKind::Anonymous,
            }),
            followed_by: FollowedBy::Nothing,
            name: decode(entry.name)?,
            id,
            arguments: arguments.unwrap_or_default(),
            refuse: entry.function.is_none().then_some("it is not a function"),
            ..Piece::default()
        })
    }
}

fn finish(line: &Line<'_>, reading: &mut Reading) {
    let (at, reason) = line.done_reason.unwrap_or_default();
    // Ollama has one reason for all turns; compatible servers might have another for calls.
    let announces_calls = reason.is_some_and(|reason| reason.is("stop") || reason.is("tool_calls"));
    reading.finish(LANE, at, announces_calls);
}

/// The metadata in the last line.
fn tally(line: &Line<'_>, data: &str) -> Option<Box<Tally>> {
    if line.done != Some(true) {
        return None;
    }
    let mut tally = Tally::default();
    tally.stopped(line.done_reason.and_then(|(_, reason)| reason));
    let keys = ["prompt_eval_count", "eval_count"];
    [tally.input, tally.output] = counts(data, document(data), keys);
    tally.boxed()
}
