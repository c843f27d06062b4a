//! Reads events of a stream, and whole responses.

use callgate_json::{Span, Text};

use super::copies::{ItemPosition, Items, KnownItem};
use super::event::{ECHOES, Event, Response, read_event, read_response};
use super::item::{Class, Item};
use super::places::{ItemPlaces, List};
use super::texts;
use crate::event::{
    After, ArgumentsPiece, Block, BlockStep, CallKind, Carrier, FollowedBy, Host, Lane, Order,
    Part, Piece, PieceRole, Reading, Slot, Unreadable, What,
};
use crate::json::{document, expect_object, inside, is_done, whole};
use crate::side_text::TextNames;
use crate::spec::Read;
use crate::stray::{self, DocumentKind, SkippedMembers};

/// The one lane of a response.
const LANE: Lane = Lane(0);

/// The slot of an item that began before a resumed stream.
const BEFORE: Slot = Slot(u32::MAX);

/// Why a call is refused if the type of its item changes between events.
const TYPE_CHANGED: &str = "its item changed its type";

/// Why a frame is refused if its index is not an integer.
const ODD_INDEX: Unreadable = Unreadable::Ambiguous("its index is not a whole number");

/// Reads the frames of one response.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "what has been seen so far; any of them go together"
)]
pub(super) struct Reader {
    items: Items,
    places: ItemPlaces,
    /// Text has arrived in events of its item: a repetition is not new text.
    text_came: bool,
    /// Text has arrived in pieces of an unknown item.
    text_of_unknown: bool,
    /// A signature has arrived in a separate item.
    signature_came: bool,
    /// Whether an event of the API was read.
    has_read_any: bool,
    max_calls: usize,
}

impl Reader {
    /// A reader at the start of a response. It refuses more than `max_calls` calls.
    pub(super) fn new(max_calls: usize) -> Self {
        Self {
            items: Items::default(),
            places: ItemPlaces::default(),
            text_came: false,
            text_of_unknown: false,
            signature_came: false,
            has_read_any: false,
            max_calls,
        }
    }
}

impl Read for Reader {
    fn has_read_any(&self) -> bool {
        self.has_read_any
    }

    /// Reads one event's data.
    fn read(&mut self, event: Option<&[u8]>, data: &str) -> Result<Reading, Unreadable> {
        if is_done(data) {
            return Ok(Reading::in_stream());
        }
        if !data.trim_start().starts_with('{') {
            return match event {
                // Clients stop at the name, whatever the data is.
                Some(b"error") => Ok(Reading::failure()),
                _ => Err(Unreadable::Nothing),
            };
        }
        let frame = read_event(data)?;
        if frame.index.is_some_and(|(at, index)| index.is_none() && at.of(data) != "null") {
            return Err(ODD_INDEX);
        }
        let decoded = match frame.kind {
            Some(kind) if kind.is_escaped() => Some(kind.decode()?.into_owned()),
            _ => None,
        };
        let kind = decoded.as_deref().or(frame.kind.as_ref().map(Text::raw)).unwrap_or_default();
        let is_ours = kind.starts_with("response.") || kind == "error";
        if !is_ours && (!self.has_read_any || kind.is_empty() || stray::holds_call(data)?) {
            return Err(Unreadable::Foreign);
        }
        let mut reading = self.event(kind, &frame, data)?;
        self.misplaced(kind, &frame, data, &mut reading)?;
        self.has_read_any = true;
        reading.rename = rename(event, kind);
        Ok(reading)
    }

    /// Reads a whole response, or a list of items.
    fn read_body(&mut self, data: &str) -> Result<Reading, Unreadable> {
        expect_object(data, Unreadable::Ambiguous("not a response"))?;
        let response = whole(data, read_response)?;
        let is_error = response.has_error && response.output.is_none();
        if !response.is_ours() && !is_error {
            return Err(Unreadable::Foreign);
        }
        self.has_read_any = true;
        let mut reading =
            Reading { order: Order::Stream, repeats_texts: true, ..Reading::default() };
        self.response_parts(&response, data, true, &mut reading)?;
        // A list of earlier items is not a turn.
        if response.output.is_some() && !response.is_list {
            reading.finish(LANE, Span::default(), response.is_completed());
        }
        Ok(reading)
    }

    fn skipped_members(&self, form: DocumentKind) -> Option<SkippedMembers> {
        Some(match form {
            DocumentKind::Frame => &[("response", &ECHOES)],
            DocumentKind::Body => &[("", &ECHOES)],
        })
    }

    fn stray_slot(&mut self) -> Result<Slot, Unreadable> {
        Ok(self.items.take_slot())
    }

    fn names(&self) -> TextNames {
        TextNames::Responses
    }

    fn texts(&self, data: &str) -> Vec<Span> {
        texts::find(data)
    }

    /// Every event names its item, and every copy is judged separately.
    fn contain(&mut self) -> bool {
        self.has_read_any
    }
}

impl Reader {
    fn event(&mut self, kind: &str, frame: &Event<'_>, data: &str) -> Result<Reading, Unreadable> {
        match kind.strip_prefix("response.").unwrap_or(kind) {
            "output_text.delta" | "refusal.delta" => self.text(frame),
            "output_item.added" => self.item_added(frame, data),
            "output_item.done" => self.item_done(frame, data),
            "function_call_arguments.delta" => {
                let fragment = |text: &Text<'_>| ArgumentsPiece::Fragment(text.raw().to_owned());
                self.arguments(frame, "function_call", frame.delta.as_ref().map(fragment))
            }
            "custom_tool_call_input.delta" => {
                let free = |text: &Text<'_>| ArgumentsPiece::Free(text.raw().to_owned());
                self.arguments(frame, "custom_tool_call", frame.delta.as_ref().map(free))
            }
            "function_call_arguments.done" => {
                self.arguments(frame, "function_call", again(frame.whole)?)
            }
            "custom_tool_call_input.done" => {
                self.arguments(frame, "custom_tool_call", again(frame.whole)?)
            }
            "shell_call_command.added" | "shell_call_command.delta" => {
                self.command(frame, "shell_call", false)
            }
            "shell_call_command.done" => self.command(frame, "shell_call", true),
            "apply_patch_call_operation_diff.delta" => {
                self.command(frame, "apply_patch_call", false)
            }
            "apply_patch_call_operation_diff.done" => self.command(frame, "apply_patch_call", true),
            "created" => self.lifecycle(frame, data, List::First, false),
            "queued" | "in_progress" => self.lifecycle(frame, data, List::Other, false),
            ending @ ("completed" | "incomplete") => {
                // Older clients look at no other lists than these two.
                let list = if ending == "completed" { List::Last } else { List::Other };
                let mut reading = self.lifecycle(frame, data, list, true)?;
                self.refuse_unfinished(&mut reading);
                // One that is complete may have calls.
                reading.finish(LANE, Span::default(), ending == "completed");
                Ok(reading)
            }
            "failed" => {
                let mut reading = self.lifecycle(frame, data, List::Other, true)?;
                reading.after = After::Failure;
                Ok(reading)
            }
            "error" => Ok(Reading::failure()),
            other => {
                let repeats_texts = WHOLE_TEXT_EVENTS.contains(&other);
                let reading = self.other(frame)?;
                Ok(Reading { repeats_texts, ..reading })
            }
        }
    }

    /// Text that the user sees.
    fn text(&mut self, frame: &Event<'_>) -> Result<Reading, Unreadable> {
        let item = self.items.find(frame)?;
        let known = item.and_then(|item| self.items.get(item));
        if known.is_some_and(|known| known.host.is_some()) {
            return Err(Unreadable::Orphan);
        }
        let slot = known.map_or(BEFORE, |known| known.slot);
        let place = self.place_of(known, frame)?;
        let mut reading = block_reading(slot, BlockStep::Add, frame, place);
        reading.text = frame.delta.filter(|text| !text.is_empty()).map(|text| inside(&text));
        if reading.text.is_some() {
            self.text_came = true;
            match item.and_then(|item| self.items.get_mut(item)) {
                Some(known) => known.said = true,
                None => self.text_of_unknown = true,
            }
        }
        Ok(reading)
    }

    fn item_added(&mut self, frame: &Event<'_>, data: &str) -> Result<Reading, Unreadable> {
        let Some(item) = &frame.item else {
            return Err(Unreadable::Ambiguous("an item event without the item"));
        };
        if self.items.len() >= self.max_calls {
            return Err(Unreadable::TooManyCalls);
        }
        let index = frame.index.and_then(|(_, index)| index);
        let place = Some(self.places.add(index, self.max_calls)?);
        let slot = self.items.take_slot();
        let mut known = KnownItem::new(slot, ItemPosition { index, place }, item)?;
        let mut reading = block_reading(slot, BlockStep::Open, frame, place);
        match item.class() {
            Class::Call(host) => {
                known.host = Some(host);
                let mut piece = self.opening(slot, item, host, data)?;
                if item.begins_as_sketch() {
                    // The content with which it is added may be incomplete.
                    piece.arguments = ArgumentsPiece::None;
                    if !known.remember_sketch(item, data)? {
                        piece.refuse = Some("the start of its arguments is unknown");
                    }
                }
                reading.takes(item.span, item.called());
                reading.add_call(LANE, item.span, piece);
            }
            Class::Other => {}
        }
        reading.repeats_texts = item.kind == "message";
        self.items.push(known);
        Ok(reading)
    }

    fn item_done(&mut self, frame: &Event<'_>, data: &str) -> Result<Reading, Unreadable> {
        let Some(item) = &frame.item else {
            return Err(Unreadable::Ambiguous("the end of an item without the item"));
        };
        let index = frame.index.and_then(|(_, index)| index);
        let class = item.class();
        let open = match index {
            Some(index) => self.items.open_at(index),
            None => self.items.copy_of(item, usize::MAX, &[])?,
        };
        let open = open.filter(|place| self.items.get(*place).is_some_and(|known| known.open));
        let was = open.and_then(|place| self.items.get(place));
        let changed = was.is_some_and(|known| known.kind != item.kind);
        let was_call = was.is_some_and(|known| known.host.is_some());
        let is_copy = |host: Host| was.is_some_and(|known| !changed && known.covers(host));
        match (class, open) {
            (Class::Call(host), Some(place)) if is_copy(host) => {
                self.places.check()?;
                let slot = was.map_or(BEFORE, |known| known.slot);
                let at = was.and_then(|known| known.place);
                let mut reading = block_reading(slot, BlockStep::Close, frame, at);
                self.copy(place, item, host, data, &mut reading)?;
                self.sign(item, &mut reading);
                Ok(reading)
            }
            (Class::Call(host), _) => {
                if self.is_repeated(item)? {
                    return Err(Unreadable::Orphan);
                }
                let refuse = was.is_some().then_some(TYPE_CHANGED);
                if refuse.is_none() {
                    self.places.check_unused(index)?;
                }
                // Clients that count items have not counted this one.
                let place = self.places.of_uncounted(index);
                let slot = self.items.take_slot();
                let mut reading = block_reading(slot, BlockStep::Close, frame, place);
                let stand = ItemPosition { index, place: None };
                self.new_whole(slot, stand, item, host, refuse, data, &mut reading)?;
                self.sign(item, &mut reading);
                Ok(reading)
            }
            // The added call now has another type: its new content does not count for it.
            (_, Some(_)) if was_call => Err(Unreadable::Orphan),
            (Class::Other, None) if index.is_some() && self.items.had_call_at(index) => {
                Err(Unreadable::Orphan)
            }
            (Class::Other, open) => {
                let slot = was.map_or(BEFORE, |known| known.slot);
                let place = match (was, index) {
                    (Some(known), _) => known.place,
                    (None, Some(index)) => {
                        self.places.of(index).or(self.places.of_uncounted(Some(index)))
                    }
                    (None, None) => None,
                };
                let said = was.map_or(self.text_of_unknown, |known| known.said);
                let mut reading = block_reading(slot, BlockStep::Close, frame, place);
                if item.kind == "message" && !said {
                    self.add_whole_texts(item, data, &mut reading);
                }
                self.sign(item, &mut reading);
                reading.repeats_texts = true;
                match open {
                    Some(place) => self.items.forget(place),
                    // It was never added, but still has a position among the items.
                    None => drop(self.items.take_slot()),
                }
                Ok(reading)
            }
        }
    }

    /// The position of the item that an event belongs to.
    fn place_of(
        &self,
        known: Option<&KnownItem>,
        frame: &Event<'_>,
    ) -> Result<Option<i64>, Unreadable> {
        let index = frame.index.and_then(|(_, index)| index);
        match (known, index) {
            (Some(known), _) => Ok(known.place),
            (None, None) => Ok(None),
            // Clients would add it to the item at that position.
            (None, Some(index)) => {
                self.places.of_unknown(index).map(Some).ok_or(Unreadable::Orphan)
            }
        }
    }

    /// Whether a call that is done was done before: some clients would run it twice.
    fn is_repeated(&self, item: &Item<'_>) -> Result<bool, Unreadable> {
        let place = self.items.copy_of(item, usize::MAX, &[])?;
        let known = place.and_then(|place| self.items.get(place));
        Ok(known
            .is_some_and(|known| known.whole && !known.open && known.host == Some(Host::Client)))
    }

    /// Reads a piece of the arguments, or all of them.
    fn arguments(
        &mut self,
        frame: &Event<'_>,
        kind: &str,
        arguments: Option<ArgumentsPiece>,
    ) -> Result<Reading, Unreadable> {
        let known = self.items.find(frame)?.and_then(|place| self.items.get(place));
        let Some(known) = known.filter(|known| known.host.is_some()) else {
            return Err(Unreadable::Orphan);
        };
        self.places.check()?;
        let mut piece = Piece { slot: known.slot, ..Piece::default() };
        let renamed = frame.name.is_some_and(|name| !name.is(&known.name));
        match arguments {
            _ if known.kind != kind => piece.refuse = Some("a piece of it has another type"),
            _ if renamed => piece.refuse = Some("its name changes"),
            Some(arguments) => piece.arguments = arguments,
            None => piece.refuse = Some("a piece of its arguments is missing"),
        }
        let mut reading = block_reading(known.slot, BlockStep::Add, frame, known.place);
        let at = Span::default();
        reading.takes(at, frame.name);
        reading.add_call(LANE, at, piece);
        Ok(reading)
    }

    /// Reads a piece of a command or of a patch, or all of it.
    fn command(
        &mut self,
        frame: &Event<'_>,
        kind: &str,
        is_whole: bool,
    ) -> Result<Reading, Unreadable> {
        let known = self.items.find(frame)?.and_then(|place| self.items.get_mut(place));
        let Some(known) = known.filter(|known| known.host.is_some()) else {
            return Err(Unreadable::Orphan);
        };
        self.places.check()?;
        let mut reading = block_reading(known.slot, BlockStep::Add, frame, known.place);
        if known.host == Some(Host::Provider) {
            return Ok(reading);
        }
        let command = frame.command_index.unwrap_or(0);
        if frame.delta.is_some() && frame.whole.is_some() {
            return Err(Unreadable::Ambiguous("an event has two different contents"));
        }
        let text = frame.delta.or(frame.whole).map(|text| text.decode()).transpose()?;
        let agrees = match &text {
            Some(text) if is_whole => known.pieces_match(command, text),
            Some(text) => known.add_piece(command, text),
            None => false,
        };
        let mut piece = Piece { slot: known.slot, ..Piece::default() };
        if known.kind != kind || !agrees {
            piece.refuse = Some(crate::COPIES_DIFFER);
        }
        reading.add_call(LANE, Span::default(), piece);
        Ok(reading)
    }

    /// Reads an unknown event, or one that is not about calls.
    fn other(&mut self, frame: &Event<'_>) -> Result<Reading, Unreadable> {
        let known = self.items.find(frame)?.and_then(|place| self.items.get(place));
        let adds = frame.has_delta || frame.whole.is_some();
        let index = frame.index.and_then(|(_, index)| index);
        if known.is_none() && adds && self.items.had_call_at(index) {
            return Err(Unreadable::Orphan);
        }
        let place = self.place_of(known, frame)?;
        let mut reading = match known {
            Some(known) => block_reading(known.slot, BlockStep::Add, frame, place),
            None if frame.index.is_some() => block_reading(BEFORE, BlockStep::Add, frame, place),
            None => Reading::in_lane(LANE),
        };
        if known.is_some_and(|known| known.host == Some(Host::Provider)) {
            // The name of what the provider runs may be in it.
            reading.takes(Span::default(), frame.name);
        }
        if let Some(known) = known
            && known.host == Some(Host::Client)
        {
            let mut piece = Piece { slot: known.slot, ..Piece::default() };
            if adds {
                piece.refuse = Some("an unknown event adds to it");
            }
            reading.add_call(LANE, Span::default(), piece);
        }
        Ok(reading)
    }

    /// Calls in an event that has no place for them.
    fn misplaced(
        &mut self,
        kind: &str,
        frame: &Event<'_>,
        data: &str,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        let items = frame.item.iter().map(|item| &**item);
        let items = items.filter(|_| !kind.starts_with("response.output_item."));
        let outputs = frame.response.iter().flat_map(|response| &response.items);
        let outputs = outputs.filter(|_| !LIFECYCLE.contains(&kind));
        for item in items.chain(outputs) {
            let Class::Call(host) = item.class() else { continue };
            let slot = self.items.take_slot();
            let mut piece = self.opening(slot, item, host, data)?;
            (piece.followed_by, piece.carrier) = (FollowedBy::Nothing, Carrier::Stray);
            let at = document(data);
            reading.takes(item.span, item.called());
            reading.add_call(LANE, at, piece);
        }
        Ok(())
    }

    /// Reads an event that contains the current response.
    fn lifecycle(
        &mut self,
        frame: &Event<'_>,
        data: &str,
        list: List,
        ended: bool,
    ) -> Result<Reading, Unreadable> {
        let mut reading = Reading::in_lane(LANE);
        if let Some(response) = &frame.response {
            let as_placed = self.response_parts(response, data, ended, &mut reading)?;
            if response.output.is_some() {
                self.places.list(list, response.items.len(), as_placed);
            }
            reading.repeats_texts = !response.items.is_empty();
        }
        Ok(reading)
    }

    /// Reads the items of a list. Returns whether every call in it came before, and is at its
    /// position.
    fn response_parts(
        &mut self,
        response: &Response<'_>,
        data: &str,
        ended: bool,
        reading: &mut Reading,
    ) -> Result<bool, Unreadable> {
        reading.model = response.model.map(|text| inside(&text));
        reading.tally = response.tally(data, ended);
        reading.content = response.output;
        let is_new = !self.has_items();
        let mut taken = Vec::new();
        let mut as_placed = true;
        for (place, item) in response.items.iter().enumerate() {
            let Class::Call(host) = item.class() else {
                if is_new {
                    self.items.take_slot();
                }
                self.add_texts_once(item, data, reading);
                continue;
            };
            if !self.signature_came {
                texts::signatures(item).for_each(|text| reading.add_signature(LANE, Some(text)));
            }
            let copy = self.items.copy_of(item, place, &taken)?;
            let index = i64::try_from(place).ok();
            let known = copy.and_then(|place| self.items.get(place));
            let fits = known.filter(|known| known.covers(host));
            match (copy, fits) {
                (Some(at), Some(known)) => {
                    taken.push(known.slot);
                    as_placed &= known.place == index;
                    self.copy(at, item, host, data, reading)?;
                }
                _ => {
                    let slot = self.items.take_slot();
                    taken.push(slot);
                    as_placed = false;
                    let stand = ItemPosition { index, place: index };
                    self.new_whole(slot, stand, item, host, None, data, reading)?;
                }
            }
        }
        Ok(as_placed)
    }

    /// Whether items have arrived in separate events, so that the whole response repeats them.
    fn has_items(&self) -> bool {
        self.text_came || self.signature_came || self.items.len() > 0
    }

    /// Adds the texts and signatures of an item in a list, if none came before.
    fn add_texts_once(&self, item: &Item<'_>, data: &str, reading: &mut Reading) {
        if !self.text_came && item.kind == "message" {
            let part = |at| Part { lane: LANE, at, what: What::Text };
            reading.parts.extend(texts::of_item(data, item.span).into_iter().map(part));
        }
        if !self.signature_came {
            texts::signatures(item).for_each(|text| reading.add_signature(LANE, Some(text)));
        }
    }

    /// Adds the texts of a message that came without pieces: some clients take them from here.
    fn add_whole_texts(&mut self, item: &Item<'_>, data: &str, reading: &mut Reading) {
        let texts = texts::of_item(data, item.span);
        if !texts.is_empty() {
            self.text_came = true;
            // They are whole, and no pieces follow.
            reading.content = Some(item.span);
            let part = |at| Part { lane: LANE, at, what: What::Text };
            reading.parts.extend(texts.into_iter().map(part));
        }
    }

    /// Adds the signatures that identify the item when the client sends its turn back.
    fn sign(&mut self, item: &Item<'_>, reading: &mut Reading) {
        let before = reading.parts.len();
        texts::signatures(item).for_each(|text| reading.add_signature(LANE, Some(text)));
        self.signature_came |= reading.parts.len() > before;
    }

    /// A repetition of a call that came before.
    fn copy(
        &mut self,
        place: usize,
        item: &Item<'_>,
        host: Host,
        data: &str,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        let Some(known) = self.items.get_mut(place) else { return Ok(()) };
        let mut refuse = (known.kind != item.kind).then_some(TYPE_CHANGED);
        let unnamed = !known.name.is_empty() && item.bare_name()?.is_empty();
        if unnamed || !known.agrees(item, data)? {
            refuse = Some(crate::COPIES_DIFFER);
        }
        (known.open, known.whole) = (false, true);
        let slot = known.slot;
        let piece = Piece {
            slot,
            role: PieceRole::Copy,
            followed_by: FollowedBy::Nothing,
            name: Some(item.tool()?),
            id: Some(item.result_id()?),
            arguments: ArgumentsPiece::Again(item.arguments(data)?),
            host: known.host.unwrap_or(host),
            refuse,
            ..Piece::default()
        };
        reading.takes(item.span, item.called());
        reading.add_call(LANE, item.span, piece);
        Ok(())
    }

    /// A call that comes whole, and for the first time.
    #[expect(clippy::too_many_arguments, reason = "all of them describe the one call")]
    fn new_whole(
        &mut self,
        slot: Slot,
        stand: ItemPosition,
        item: &Item<'_>,
        host: Host,
        refuse: Option<&'static str>,
        data: &str,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        if self.items.len() >= self.max_calls {
            return Err(Unreadable::TooManyCalls);
        }
        let mut known = KnownItem::new(slot, stand, item)?;
        (known.host, known.open, known.whole) = (Some(host), false, true);
        let mut piece = self.opening(slot, item, host, data)?;
        (piece.followed_by, piece.refuse) = (FollowedBy::Nothing, refuse);
        reading.takes(item.span, item.called());
        reading.add_call(LANE, item.span, piece);
        self.items.push(known);
        Ok(())
    }

    /// The first piece of a call.
    fn opening(
        &self,
        slot: Slot,
        item: &Item<'_>,
        host: Host,
        data: &str,
    ) -> Result<Piece, Unreadable> {
        let arguments = match item.free_text(data) {
            Some(text) => ArgumentsPiece::WholeFree(text.to_owned()),
            None => ArgumentsPiece::Again(item.arguments(data)?),
        };
        Ok(Piece {
            slot,
            role: PieceRole::Open(CallKind::Repeated),
            name: Some(item.tool()?),
            id: Some(item.result_id()?),
            arguments,
            host,
            original: Some(item.span.of(data).to_owned()),
            ..Piece::default()
        })
    }

    /// Refuses calls that came only in part, and that the end of the response does not contain.
    fn refuse_unfinished(&self, reading: &mut Reading) {
        for known in self.items.unfinished() {
            let refuse = Some("it is incomplete");
            let piece = Piece { slot: known.slot, refuse, ..Piece::default() };
            reading.add_call(LANE, Span::default(), piece);
        }
    }
}

fn again(text: Option<Text<'_>>) -> Result<Option<ArgumentsPiece>, Unreadable> {
    let text = text.map(|text| text.decode()).transpose()?;
    Ok(text.map(|text| ArgumentsPiece::Again(text.into_owned())))
}

fn block_reading(slot: Slot, does: BlockStep, frame: &Event<'_>, place: Option<i64>) -> Reading {
    let index = frame.index.map(|(span, _)| span);
    Reading { block: Some(Block { slot, does, index, place }), ..Reading::in_lane(LANE) }
}

/// The name that a frame must have, if its own name hides it from some clients: older ones read
/// only these names, and most clients stop at the name `error`.
fn rename(event: Option<&[u8]>, kind: &str) -> Option<&'static str> {
    match event {
        None => None,
        Some(name) if name.starts_with(b"response.") || name == kind.as_bytes() => None,
        Some(_) => EVENTS.into_iter().find(|event| *event == kind),
    }
}

/// The events that contain the current response.
const LIFECYCLE: [&str; 6] = [
    "response.created",
    "response.queued",
    "response.in_progress",
    "response.completed",
    "response.incomplete",
    "response.failed",
];

/// The events that carry text or calls, and those that begin and end a response.
const EVENTS: [&str; 24] = [
    "response.created",
    "response.queued",
    "response.in_progress",
    "response.completed",
    "response.incomplete",
    "response.failed",
    "response.output_item.added",
    "response.output_item.done",
    "response.content_part.added",
    "response.content_part.done",
    "response.output_text.delta",
    "response.output_text.done",
    "response.refusal.delta",
    "response.refusal.done",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.custom_tool_call_input.delta",
    "response.custom_tool_call_input.done",
    "response.shell_call_command.added",
    "response.shell_call_command.delta",
    "response.shell_call_command.done",
    "response.apply_patch_call_operation_diff.delta",
    "response.apply_patch_call_operation_diff.done",
    "error",
];

/// Events that contain whole texts.
const WHOLE_TEXT_EVENTS: [&str; 4] =
    ["output_text.done", "refusal.done", "content_part.added", "content_part.done"];
