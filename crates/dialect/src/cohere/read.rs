//! Reads events of a Cohere stream, and whole bodies.

use callgate_json::{Kind, Span, Text};

use super::view::{Document, Entry, Message, Turn, view};
use super::{EVENTS, LANE, PLAN};
use crate::event::{
    After, ArgumentsPiece, BlockStep, CallKind, Carrier, FollowedBy, Lane, Piece, PieceRole,
    Reading, Slot, Unreadable,
};
use crate::json::{decode, document, expect_object, inside, is_done};
use crate::spec::Read;
use crate::stray::{self, DocumentKind, SkippedMembers};
use crate::tally::{Tally, counts};

/// The sources of a citation are results of the client's own tools.
const SKIPPED_MEMBERS: SkippedMembers = &[("citations", &["sources"])];

/// Reads the events of one response.
#[derive(Debug)]
pub(super) struct Reader {
    /// The calls and contents that have started and not ended.
    open: Vec<Open>,
    /// The slot of the next call or content.
    next: Slot,
    /// Whether an event of the API was read.
    has_read_any: bool,
    max_open: usize,
}

/// A call or a content that has started.
#[derive(Debug)]
struct Open {
    slot: Slot,
    /// The index in its start event.
    claimed: i64,
    kind: OpenKind,
    id: String,
    /// Its arguments were `null`: it has none, and none may follow.
    is_null: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenKind {
    Call,
    Content,
}

impl Reader {
    /// A reader at the start of a response. It refuses more than `max_open` open calls and
    /// contents.
    pub(super) fn new(max_open: usize) -> Self {
        Self { open: Vec::new(), next: Slot::default(), has_read_any: false, max_open }
    }
}

impl Read for Reader {
    fn has_read_any(&self) -> bool {
        self.has_read_any
    }

    fn read(&mut self, event: Option<&[u8]>, data: &str) -> Result<Reading, Unreadable> {
        if is_done(data) {
            self.has_read_any = true;
            return Ok(Reading::done());
        }
        expect_object(data, Unreadable::Nothing)?;
        let frame = view(data)?;
        let kind = decode(frame.kind)?;
        let kind = kind.as_deref();
        let known = EVENTS.into_iter().find(|known| Some(*known) == kind);
        let named = event.filter(|event| kind.map(str::as_bytes) != Some(*event));
        if known.is_none() && named.is_some_and(|name| EVENTS.iter().any(|e| e.as_bytes() == name))
        {
            // Some clients go by the name and some by the type.
            return Err(Unreadable::Ambiguous("an event whose name and type differ"));
        }
        let mut reading = match known {
            Some("content-start") => self.content_start(&frame)?,
            Some("content-delta") => self.content_delta(&frame),
            Some("content-end") => self.content_end(&frame),
            Some("tool-call-start") => self.call_start(&frame, data)?,
            Some("tool-call-delta") => self.call_delta(&frame, data)?,
            Some("tool-call-end") => self.call_end(&frame)?,
            Some("message-end") => message_end(&frame.delta, data),
            Some(_) => Reading::in_lane(LANE),
            None => self.unknown(kind, &frame, data)?,
        };
        self.has_read_any = true;
        if reading.text.is_none() {
            (reading.text, reading.text_lane) = text(&frame);
        }
        reading.repeats_texts = frame.messages().any(|message| !message.quoted.is_empty());
        let is_call = matches!(known, Some("tool-call-start" | "tool-call-delta"));
        self.misplaced(&frame, is_call, data, &mut reading)?;
        reading.rename = known.filter(|_| named.is_some());
        Ok(reading)
    }

    fn read_body(&mut self, data: &str) -> Result<Reading, Unreadable> {
        expect_object(data, Unreadable::Ambiguous("not a message"))?;
        let body = view(data)?;
        let mut reading = Reading::in_stream();
        let is_message = |message: &Message<'_>| {
            message.role.is_some_and(|role| role.is("assistant"))
                && (message.content.is_some() || message.calls.is_some() || message.plan.is_some())
        };
        match &body.own.message {
            Some(message) if body.kind.is_none() && is_message(message) => {
                self.message(message, data, &mut reading)?;
                reading.tally = tally(&body.own, data);
                let (at, reason) = body.own.finish.unwrap_or_default();
                let announces_calls = announces_calls(reason);
                reading.finish(LANE, at, announces_calls);
            }
            None if body.own.is_text || body.own.has_error => {}
            _ => return Err(Unreadable::Foreign),
        }
        self.has_read_any = true;
        let siblings = body.delta.message.iter().flat_map(|message| &message.entries);
        for entry in siblings {
            self.stray_entry(entry, data, &mut reading)?;
        }
        Ok(reading)
    }

    fn skipped_members(&self, _: DocumentKind) -> Option<SkippedMembers> {
        Some(SKIPPED_MEMBERS)
    }

    fn stray_slot(&mut self) -> Result<Slot, Unreadable> {
        Ok(self.next.take())
    }

    /// The texts of a body, and the quoted texts of citations.
    fn texts(&self, data: &str) -> Vec<Span> {
        let Ok(found) = view(data) else { return Vec::new() };
        let of_body = found.own.message.iter().filter(|_| found.kind.is_none());
        let plain = of_body.flat_map(|message| message.plan.iter().chain(&message.texts));
        let quoted = found.messages().flat_map(|message| &message.quoted);
        plain.chain(quoted).map(inside).collect()
    }
}

impl Reader {
    /// The calls and texts of a whole message.
    fn message(
        &mut self,
        message: &Message<'_>,
        data: &str,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        if matches!(message.calls, Some((_, kind)) if !matches!(kind, Kind::Array | Kind::Null)) {
            return Err(Unreadable::Ambiguous("`tool_calls` is not a list"));
        }
        let texts = message.plan.iter().map(|plan| (PLAN, plan));
        for (lane, text) in texts.chain(message.texts.iter().map(|text| (LANE, text))) {
            reading.add_text(lane, Some(*text));
        }
        if message.entries.len() > self.max_open {
            return Err(Unreadable::TooManyCalls);
        }
        for entry in &message.entries {
            let mut piece = begin(self.next.take(), entry, data)?;
            piece.followed_by = FollowedBy::Nothing;
            reading.takes(entry.span, entry.name);
            reading.add_call(LANE, entry.span, piece);
        }
        Ok(())
    }

    fn content_start(&mut self, frame: &Document<'_>) -> Result<Reading, Unreadable> {
        let slot = self.start(frame, OpenKind::Content, String::new())?;
        Ok(of_block(slot, BlockStep::Open, frame))
    }

    /// A text with an unknown start passes with its own index.
    fn content_delta(&mut self, frame: &Document<'_>) -> Reading {
        match self.resolve(frame, OpenKind::Content) {
            Some(open) => of_block(open.slot, BlockStep::Add, frame),
            None => Reading::in_lane(LANE),
        }
    }

    fn content_end(&mut self, frame: &Document<'_>) -> Reading {
        match self.resolve(frame, OpenKind::Content).map(|open| open.slot) {
            Some(slot) => {
                self.open.retain(|open| open.slot != slot);
                of_block(slot, BlockStep::Close, frame)
            }
            None => Reading::in_lane(LANE),
        }
    }

    fn call_start(&mut self, frame: &Document<'_>, data: &str) -> Result<Reading, Unreadable> {
        let Some(entry) = frame.call() else {
            return Err(Unreadable::Ambiguous("the start of a call without the call"));
        };
        let slot = self.start(frame, OpenKind::Call, decode(entry.id)?.unwrap_or_default())?;
        let piece = begin(slot, entry, data)?;
        if let Some(open) = self.open.last_mut() {
            open.is_null = is_null(entry, data);
        }
        let mut reading = of_block(slot, BlockStep::Open, frame);
        reading.takes(entry.span, entry.name);
        reading.add_call(LANE, entry.span, piece);
        Ok(reading)
    }

    fn call_delta(&mut self, frame: &Document<'_>, data: &str) -> Result<Reading, Unreadable> {
        let Some(entry) = frame.call() else {
            return Err(Unreadable::Ambiguous("a piece of a call without content"));
        };
        let Some(open) = self.resolve(frame, OpenKind::Call) else {
            return Err(Unreadable::Orphan);
        };
        let slot = open.slot;
        let mut piece = Piece { slot, name: decode(entry.name)?, ..Piece::default() };
        piece.arguments = arguments(entry, data);
        let says_nothing = entry
            .arguments
            .is_none_or(|(span, kind)| kind == Kind::Null || matches!(span.of(data), "\"\""));
        if open.is_null && !says_nothing {
            piece.refuse = Some("more arguments follow the arguments `null`");
        }
        if entry.id.is_some_and(|id| !id.is_empty() && !id.is(&open.id)) {
            piece.refuse = Some("its id changes");
        }
        open.is_null |= is_null(entry, data);
        let mut reading = of_block(slot, BlockStep::Add, frame);
        // Clients that join text skip anything else.
        reading.skipped_by_some_clients =
            entry.arguments.is_some_and(|(_, kind)| !matches!(kind, Kind::String | Kind::Null));
        reading.takes(entry.span, entry.name);
        reading.add_call(LANE, entry.span, piece);
        Ok(reading)
    }

    fn call_end(&mut self, frame: &Document<'_>) -> Result<Reading, Unreadable> {
        let Some(slot) = self.resolve(frame, OpenKind::Call).map(|open| open.slot) else {
            return Err(Unreadable::Orphan);
        };
        self.open.retain(|open| open.slot != slot);
        let mut reading = of_block(slot, BlockStep::Close, frame);
        reading.add_end(LANE, slot);
        Ok(reading)
    }

    fn start(
        &mut self,
        frame: &Document<'_>,
        kind: OpenKind,
        id: String,
    ) -> Result<Slot, Unreadable> {
        if self.open.len() >= self.max_open {
            return Err(Unreadable::TooManyCalls);
        }
        let slot = self.next.take();
        let claimed = frame.index.and_then(|(_, index)| index).unwrap_or(i64::from(slot.0));
        // An earlier content with the same index can no longer be addressed. A call still needs its
        // end.
        self.open.retain(|open| {
            open.kind == OpenKind::Call || open.kind != kind || open.claimed != claimed
        });
        self.open.push(Open { slot, claimed, kind, id, is_null: false });
        Ok(slot)
    }

    /// The open call or content that a frame belongs to: by the index in its start, else the only
    /// one. Frames are renumbered on the way out, so every client sees the one that is chosen here.
    fn resolve(&mut self, frame: &Document<'_>, kind: OpenKind) -> Option<&mut Open> {
        let index = frame.index.and_then(|(_, index)| index);
        let several = self.open.iter().filter(|open| open.kind == kind).count() > 1;
        let mut open = self.open.iter_mut().rev().filter(|open| open.kind == kind);
        match index {
            Some(index) => open.find(|open| open.claimed == index),
            None if several => None,
            None => open.next(),
        }
    }

    /// An unknown event passes. The first event shows whether the stream is of this API.
    fn unknown(
        &self,
        kind: Option<&str>,
        frame: &Document<'_>,
        data: &str,
    ) -> Result<Reading, Unreadable> {
        let is_error =
            kind.is_none_or(|kind| kind == "error") && (frame.own.is_text || frame.own.has_error);
        if is_error {
            return Ok(Reading::failure());
        }
        let holds_entry = frame.messages().any(|message| !message.entries.is_empty());
        let may_pass = kind.is_some_and(may_be_event)
            || (self.has_read_any && !holds_entry && !stray::holds_call(data)?);
        if may_pass { Ok(Reading::in_lane(LANE)) } else { Err(Unreadable::Foreign) }
    }

    /// Calls in unexpected places: each is judged, and leaves or stays with its frame. Only some
    /// clients would add a piece of a call there to their call.
    fn misplaced(
        &mut self,
        frame: &Document<'_>,
        is_call: bool,
        data: &str,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        let in_place = frame.call().map(|entry| entry.span).filter(|_| is_call);
        for entry in frame.messages().flat_map(|message| &message.entries) {
            if Some(entry.span) != in_place {
                self.stray_entry(entry, data, reading)?;
            }
        }
        Ok(())
    }

    fn stray_entry(
        &mut self,
        entry: &Entry<'_>,
        data: &str,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        if entry.name.is_none_or(|name| name.is_empty()) {
            return Err(Unreadable::Ambiguous("a piece of a call in a place for something else"));
        }
        let mut piece = begin(self.next.take(), entry, data)?;
        (piece.followed_by, piece.carrier) = (FollowedBy::Nothing, Carrier::Stray);
        reading.takes(entry.span, entry.name);
        reading.add_call(LANE, document(data), piece);
        Ok(())
    }
}

/// The piece that begins a call.
fn begin(slot: Slot, entry: &Entry<'_>, data: &str) -> Result<Piece, Unreadable> {
    Ok(Piece {
        slot,
        role: PieceRole::Open(CallKind::Identified),
        name: decode(entry.name)?,
        id: decode(entry.id)?,
        arguments: arguments(entry, data),
        refuse: (!entry.is_function).then_some("it is not a function"),
        ..Piece::default()
    })
}

/// The arguments of an entry: a piece of text, or, from some servers, the object itself.
fn arguments(entry: &Entry<'_>, data: &str) -> ArgumentsPiece {
    match entry.arguments {
        Some(value) if !is_null(entry, data) => ArgumentsPiece::of_value(value, data),
        _ => ArgumentsPiece::None,
    }
}

/// Whether the arguments are `null`, as the API writes for a call without arguments.
fn is_null(entry: &Entry<'_>, data: &str) -> bool {
    matches!(entry.arguments, Some((span, Kind::String)) if span.of(data) == "\"null\"")
}

fn of_block(slot: Slot, does: BlockStep, frame: &Document<'_>) -> Reading {
    Reading::of_block(LANE, slot, does, frame.index.map(|(span, _)| span))
}

/// The text that an event adds: to the answer, or to the plan.
fn text(frame: &Document<'_>) -> (Option<Span>, Lane) {
    let Some(message) = &frame.delta.message else { return (None, LANE) };
    let some = |text: Option<&Text<'_>>| text.filter(|text| !text.is_empty()).map(inside);
    match (some(message.texts.first()), some(message.plan.as_ref())) {
        (None, Some(plan)) => (Some(plan), PLAN),
        (text, _) => (text, LANE),
    }
}

/// If an error ends the message, unfinished calls stay unfinished; any other reason ends it
/// regularly.
fn message_end(end: &Turn<'_>, data: &str) -> Reading {
    let mut reading = Reading::in_lane(LANE);
    reading.tally = tally(end, data);
    let (at, reason) = end.finish.unwrap_or_default();
    if end.has_error || reason.is_some_and(|reason| reason.is("ERROR")) {
        reading.after = After::Failure;
    } else {
        for (lane, at, announces_calls) in
            [(LANE, at, announces_calls(reason)), (PLAN, Span::default(), false)]
        {
            reading.finish(lane, at, announces_calls);
        }
    }
    reading
}

fn announces_calls(reason: Option<Text<'_>>) -> bool {
    reason.is_some_and(|reason| reason.is("TOOL_CALL"))
}

/// The finish reason and the token counts: all tokens, if the API separates them from the billed
/// ones.
fn tally(turn: &Turn<'_>, data: &str) -> Option<Box<Tally>> {
    let mut tally = Tally::default();
    tally.stopped(turn.finish.and_then(|(_, reason)| reason));
    if let Some(usage) = turn.usage {
        let of = ["tokens", "billed_units"]
            .into_iter()
            .find_map(|key| crate::json::member(data, usage, key));
        if let Some(of) = of {
            [tally.input, tally.output] = counts(data, of, ["input_tokens", "output_tokens"]);
        }
        [tally.cached] = counts(data, usage, ["cached_tokens"]);
    }
    tally.boxed()
}

/// Whether a type may belong to this API, known or future. Other APIs use dots or underscores in
/// their event types.
fn may_be_event(kind: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
    !kind.is_empty() && kind.bytes().all(plain)
}
