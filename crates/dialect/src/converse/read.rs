//! Reads events of a ConverseStream, and whole responses.

use callgate_json::{Kind, Reader as Json, Span};

use super::view::{self, Event};
use crate::event::{ArgumentsPiece, BlockStep, FollowedBy, Lane, Piece, Reading, Slot, Unreadable};
use crate::json::{Fields, document, expect_object, inside};
use crate::spec::Read;
use crate::stray::{DocumentKind, SkippedMembers};
use crate::tally::{Tally, counts};

/// The one lane of a message.
const LANE: Lane = Lane(0);

/// A tool result may look like anything.
const SKIPPED_MEMBERS: SkippedMembers =
    &[("start", &["toolresult"]), ("delta", &["toolresult"]), ("content", &["toolresult"])];

/// Where the name of an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventNames {
    /// In the event itself.
    OfEvents,
    /// In the key of its data: `{"contentBlockDelta":{…}}`.
    OfKeys,
}

/// Reads the events of one response.
#[derive(Debug)]
pub(crate) struct Reader {
    names: EventNames,
    /// The blocks that have begun and not ended.
    open: Vec<OpenBlock>,
    /// The slot of the next block, or of the next call that is no block.
    next_slot: Slot,
    in_message: bool,
    has_read_any: bool,
    max_open: usize,
}

#[derive(Debug)]
struct OpenBlock {
    slot: Slot,
    index: i64,
    is_call: bool,
    /// An unreadable event may have belonged to this block: nothing more of it leaves.
    spoiled: bool,
}

impl Reader {
    /// A reader at the start of a response. It refuses more than `max_open` open blocks.
    pub(crate) fn new(names: EventNames, max_open: usize) -> Self {
        let (open, next_slot) = (Vec::new(), Slot::default());
        Self { names, open, next_slot, in_message: false, has_read_any: false, max_open }
    }
}

impl Read for Reader {
    fn has_read_any(&self) -> bool {
        self.has_read_any
    }

    fn read(&mut self, event: Option<&[u8]>, data: &str) -> Result<Reading, Unreadable> {
        expect_object(data, Unreadable::Nothing)?;
        match self.names {
            EventNames::OfEvents => {
                let name = std::str::from_utf8(event.unwrap_or_default());
                let name = name.map_err(|_| Unreadable::NotUtf8)?;
                self.read_named(name, data, document(data))
            }
            EventNames::OfKeys => {
                let (name, at) = named(data)?;
                self.read_named(name, data, at)
            }
        }
    }

    fn read_body(&mut self, data: &str) -> Result<Reading, Unreadable> {
        expect_object(data, Unreadable::Ambiguous("not a message"))?;
        let body = view::body(data)?;
        if !body.is_error && body.content.is_none() {
            return Err(Unreadable::Foreign);
        }
        self.has_read_any = true;
        let mut reading = Reading::in_stream();
        reading.tally = tally(body.usage, body.stop_reason, data);
        reading.content = body.content.filter(|_| !body.blocks.is_empty());
        self.whole_blocks(&body, data, &mut reading)?;
        if !body.is_error {
            let at = body.stop_reason.map(|reason| reason.span()).unwrap_or_default();
            let announces_calls = body.stop_reason.is_some_and(|reason| reason.is("tool_use"));
            reading.finish(LANE, at, announces_calls);
        }
        Ok(reading)
    }

    fn skipped_members(&self, _: DocumentKind) -> Option<SkippedMembers> {
        Some(SKIPPED_MEMBERS)
    }

    fn stray_slot(&mut self) -> Result<Slot, Unreadable> {
        Ok(self.next_slot.take())
    }

    /// The texts of a whole response.
    fn texts(&self, data: &str) -> Vec<Span> {
        let Ok(body) = view::body(data) else { return Vec::new() };
        body.blocks.iter().filter_map(|block| block.text).map(|text| inside(&text)).collect()
    }

    /// The event may have belonged to any open block.
    fn contain(&mut self) -> bool {
        for block in &mut self.open {
            block.spoiled = true;
        }
        self.in_message
    }
}

impl Reader {
    fn read_named(&mut self, name: &str, data: &str, at: Span) -> Result<Reading, Unreadable> {
        let mut json = Json::at(data, at);
        let event = view::event(&mut json, data)?;
        json.end()?;
        let has_start = event.start.is_some() && name != "contentBlockStart";
        let has_delta = event.delta.is_some() && name != "contentBlockDelta";
        if has_start || has_delta {
            return Err(Unreadable::Ambiguous("an event whose content contradicts its name"));
        }
        let mut reading = match name {
            "messageStart" => {
                self.in_message = true;
                Reading::in_lane(LANE)
            }
            "contentBlockStart" => self.block_start(&event, data)?,
            "contentBlockDelta" => self.block_delta(&event)?,
            "contentBlockStop" => self.block_stop(&event)?,
            "messageStop" => message_stop(&event),
            "metadata" => Reading::in_lane(LANE),
            name if name.ends_with("Exception") => Reading::failure(),
            // An event of a later version passes, a stream of another API does not.
            _ if self.has_read_any => Reading::in_lane(LANE),
            _ => return Err(Unreadable::Foreign),
        };
        self.has_read_any = true;
        reading.tally = tally(event.usage, event.stop_reason, data);
        Ok(reading)
    }

    fn block_start(&mut self, event: &Event<'_>, data: &str) -> Result<Reading, Unreadable> {
        let (at, index) = block_index(event)?;
        let call = event.start.as_ref().and_then(|start| start.call.as_ref());
        if call.is_some_and(|call| call.input.is_some()) {
            // Only some clients look there.
            return Err(Unreadable::Ambiguous("the start of a call has arguments"));
        }
        let slot = self.begin(index, call.is_some())?;
        let mut reading = Reading::of_block(LANE, slot, BlockStep::Open, Some(at));
        if let Some(call) = call {
            let piece = call.piece(slot, data)?;
            reading.takes(call.span, call.name);
            reading.add_call(LANE, call.span, piece);
        }
        Ok(reading)
    }

    fn block_delta(&mut self, event: &Event<'_>) -> Result<Reading, Unreadable> {
        let (at, index) = block_index(event)?;
        let known = self.resolve(index).map(|block| (block.slot, block.is_call, block.spoiled));
        let delta = event.delta.as_ref();
        let input = delta.and_then(|delta| delta.call);
        let (slot, is_call, does) = match known {
            // Arguments without a call, and pieces of a withheld block, are dropped.
            Some((_, false, _)) | None if input.is_some() => return Err(Unreadable::Orphan),
            Some((_, false, true)) => return Err(Unreadable::Orphan),
            Some((slot, is_call, _)) => (slot, is_call, BlockStep::Add),
            None => (self.begin(index, false)?, false, BlockStep::Open),
        };
        let mut reading = Reading::of_block(LANE, slot, does, Some(at));
        if is_call {
            let mut piece = Piece { slot, ..Piece::default() };
            match input {
                Some(Some(text)) => {
                    piece.arguments = ArgumentsPiece::Fragment(text.raw().to_owned());
                }
                Some(None) => piece.refuse = Some("a piece of its arguments is missing"),
                None => {}
            }
            reading.add_call(LANE, Span::default(), piece);
        }
        let text = delta.and_then(|delta| delta.text).filter(|text| !text.is_empty());
        reading.text = text.map(|text| inside(&text));
        reading.add_signature(LANE, delta.and_then(|delta| delta.signature));
        Ok(reading)
    }

    fn block_stop(&mut self, event: &Event<'_>) -> Result<Reading, Unreadable> {
        let (at, index) = block_index(event)?;
        let Some(block) = self.resolve(index) else {
            // There is nothing to end. It means nothing to a client that had no such block.
            return Ok(Reading::left_out(LANE));
        };
        let (slot, is_call) = (block.slot, block.is_call);
        self.open.retain(|block| block.slot != slot);
        let mut reading = Reading::of_block(LANE, slot, BlockStep::Close, Some(at));
        if is_call {
            reading.add_end(LANE, slot);
        }
        Ok(reading)
    }

    /// Begins a block. A client that goes by the index has lost an earlier block with the same
    /// index.
    fn begin(&mut self, index: i64, is_call: bool) -> Result<Slot, Unreadable> {
        self.open.retain(|block| block.index != index || block.is_call);
        if self.open.len() >= self.max_open {
            return Err(Unreadable::TooManyCalls);
        }
        let slot = self.next_slot.take();
        self.open.push(OpenBlock { slot, index, is_call, spoiled: false });
        Ok(slot)
    }

    fn resolve(&self, index: i64) -> Option<&OpenBlock> {
        self.open.iter().rev().find(|block| block.index == index)
    }

    fn whole_blocks(
        &mut self,
        body: &view::Body<'_>,
        data: &str,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        let mut calls = 0;
        for block in &body.blocks {
            let slot = self.next_slot.take();
            reading.add_text(LANE, block.text);
            reading.add_signature(LANE, block.signature);
            if let Some(call) = &block.call {
                calls += 1;
                if calls > self.max_open {
                    return Err(Unreadable::TooManyCalls);
                }
                let mut piece = call.piece(slot, data)?;
                reading.takes(call.span, call.name);
                piece.followed_by = FollowedBy::Nothing;
                reading.add_call(LANE, block.span, piece);
            }
        }
        Ok(())
    }
}

/// The events whose name may be a key.
pub(crate) const EVENTS: [&str; 6] = [
    "messageStart",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockStop",
    "messageStop",
    "metadata",
];

/// The event whose name is a key of the data, and the span of its value.
fn named(data: &str) -> Result<(&'static str, Span), Unreadable> {
    let (mut json, mut found) = (Json::new(data), None);
    let mut object = Fields::mixed(&EVENTS).enter(&mut json)?;
    while let Some(place) = object.next(&mut json)? {
        match EVENTS.get(place) {
            Some(name) if json.kind()? == Kind::Object => {
                if found.replace((*name, json.skip()?)).is_some() {
                    return Err(Unreadable::Ambiguous("two events in one"));
                }
            }
            _ => json.ignore()?,
        }
    }
    json.end()?;
    found.ok_or(Unreadable::Foreign)
}

/// The index of an event's block, which every event of a block has.
fn block_index(event: &Event<'_>) -> Result<(Span, i64), Unreadable> {
    match event.index {
        Some((at, Some(index))) if index >= 0 => Ok((at, index)),
        _ => Err(Unreadable::Ambiguous("an event of a block without its index")),
    }
}

fn message_stop(event: &Event<'_>) -> Reading {
    let mut reading = Reading::in_lane(LANE);
    let at = event.stop_reason.map(|reason| reason.span()).unwrap_or_default();
    let announces_calls = event.stop_reason.is_some_and(|reason| reason.is("tool_use"));
    reading.finish(LANE, at, announces_calls);
    reading
}

/// The token counts and the stop reason of an event or a response. In this API the input count does
/// not include cached tokens.
fn tally(
    usage: Option<Span>,
    stop_reason: Option<callgate_json::Text<'_>>,
    data: &str,
) -> Option<Box<Tally>> {
    const USAGE: [&str; 4] =
        ["inputTokens", "cacheWriteInputTokens", "cacheReadInputTokens", "outputTokens"];
    let mut tally = Tally::default();
    tally.stopped(stop_reason);
    if let Some(usage) = usage {
        [tally.input, tally.cache_written, tally.cache_read, tally.output] =
            counts(data, usage, USAGE);
    }
    tally.boxed()
}

#[cfg(test)]
mod tests;
