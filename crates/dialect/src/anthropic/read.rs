//! Reads frames of a Messages stream, and whole messages.

use callgate_json::{Error, Kind, Reader as Json, Span, Text, Value};

use super::EVENTS;
use crate::event::{
    ArgumentsPiece, BlockStep, CallKind, FollowedBy, Host, Lane, Piece, PieceRole, Reading, Slot,
    Unreadable,
};
use crate::json::{
    Edits, Fields, decode, document, elements, expect_object, index, inside, is_done, is_set,
    member, text_or_null, whole, word_or_null,
};
use crate::spec::Read;
use crate::stray::{self, DocumentKind, SkippedMembers};
use crate::tally::{Tally, counts_within};
use crate::template::Pieces;

/// The one lane of a message.
const LANE: Lane = Lane(0);

/// Reads the frames of one response.
#[derive(Debug)]
pub(super) struct Reader {
    /// The blocks that have started and not stopped.
    open: Vec<OpenBlock>,
    /// The slot of the next block, or of the next call that is no block.
    next_slot: Slot,
    /// How many blocks have started: the position of the next.
    started: u32,
    in_message: bool,
    /// Whether an event of the API was read.
    has_read_any: bool,
    max_open: usize,
}

#[derive(Debug)]
struct OpenBlock {
    slot: Slot,
    /// Its index among all blocks.
    position: u32,
    /// The index in its start event.
    claimed: i64,
    kind: BlockKind,
    /// An unreadable frame may have belonged to this block: nothing more of it leaves.
    spoiled: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    Call,
    Other,
}

/// The parts of a frame's data that the gate acts on.
#[derive(Default)]
struct Event<'a> {
    kind: Option<Text<'a>>,
    index: Option<(Span, Option<i64>)>,
    delta: Delta<'a>,
    // These two are rare and boxed, so that the common frames stay small.
    block: Option<Box<BlockHead<'a>>>,
    message: Option<Box<Message<'a>>>,
    usage: Option<Span>,
}

#[derive(Default)]
struct BlockHead<'a> {
    span: Span,
    kind: Option<Text<'a>>,
    id: Option<Text<'a>>,
    name: Option<Text<'a>>,
    input: Option<(Span, Kind)>,
    text: Option<Text<'a>>,
    signature: Option<Text<'a>>,
}

#[derive(Default)]
struct Delta<'a> {
    kind: Option<Text<'a>>,
    partial_json: Option<Text<'a>>,
    text: Option<Text<'a>>,
    stop_reason: Option<(Span, Option<Text<'a>>)>,
    signature: Option<Text<'a>>,
}

#[derive(Default)]
struct Message<'a> {
    content: Option<Span>,
    blocks: Vec<BlockHead<'a>>,
    stop_reason: Option<(Span, Option<Text<'a>>)>,
    model: Option<Text<'a>>,
    usage: Option<Span>,
    kind: Option<Text<'a>>,
    /// It has an `error` that is not `null`.
    has_error: bool,
}

impl Reader {
    /// A reader at the start of a response. It refuses more than `max_open` open blocks.
    pub(super) fn new(max_open: usize) -> Self {
        Self {
            open: Vec::new(),
            next_slot: Slot::default(),
            started: 0,
            in_message: false,
            has_read_any: false,
            max_open,
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
        let decoded = match frame.kind {
            Some(kind) if kind.is_escaped() => Some(kind.decode()?.into_owned()),
            _ => None,
        };
        let kind = decoded.as_deref().or(frame.kind.as_ref().map(Text::raw));
        let mut reading = match kind {
            Some("content_block_delta") => self.block_delta(&frame)?,
            Some("content_block_start") => self.block_start(&frame, data)?,
            Some("content_block_stop") => self.block_stop(&frame),
            Some("message_start") => self.message_start(&frame, data)?,
            Some("message_delta") => message_delta(&frame, data),
            Some("message_stop") => message_end(None),
            Some("ping") => Reading::default(),
            Some("error") if event == Some(b"error") => Reading::failure(),
            // With another name, no client takes it for the end.
            Some("error") => Reading::in_stream(),
            // If the data has no type, some clients take it from the event's name.
            None if event.is_some_and(|name| EVENTS.iter().any(|e| e.as_bytes() == name)) => {
                return Err(Unreadable::Ambiguous("an event whose data has no type"));
            }
            _ => self.unknown(kind, data)?,
        };
        self.has_read_any = true;
        reading.rename = rename(event, kind);
        Ok(reading)
    }

    /// Reads a whole message.
    fn read_body(&mut self, data: &str) -> Result<Reading, Unreadable> {
        expect_object(data, Unreadable::Ambiguous("not a message"))?;
        let message = whole(data, read_message)?;
        let is_error = message.is_error();
        if !is_error && !message.is_message() {
            return Err(Unreadable::Foreign);
        }
        self.has_read_any = true;
        let mut reading = Reading::in_stream();
        reading.model = message.model.map(|text| inside(&text));
        reading.tally = tally(message.usage, message.stop_reason, data);
        self.message_parts(&message, data, &mut reading)?;
        if !is_error {
            let at = message.stop_reason.map(|(span, _)| span).unwrap_or_default();
            let announces_calls = announces_calls(message.stop_reason);
            reading.finish(LANE, at, announces_calls);
        }
        Ok(reading)
    }

    fn skipped_members(&self, _: DocumentKind) -> Option<SkippedMembers> {
        Some(&[])
    }

    /// A delta only looks up its block.
    fn pieces(&self) -> Pieces {
        Pieces::Alike
    }

    fn stray_slot(&mut self) -> Result<Slot, Unreadable> {
        Ok(self.next_slot.take())
    }

    /// The texts of whole blocks in a message.
    fn texts(&self, data: &str) -> Vec<Span> {
        let whole = document(data);
        let messages = [Some(whole), member(data, whole, "message")].into_iter().flatten();
        let lists = messages.filter_map(|message| member(data, message, "content"));
        let text = |block| Json::at(data, member(data, block, "text")?).string().ok();
        let blocks = lists.flat_map(|list| elements(data, list));
        blocks.filter_map(text).map(|text| inside(&text)).collect()
    }

    /// The frame may have belonged to any open block. Before a message, blocks cannot be
    /// distinguished.
    fn contain(&mut self) -> bool {
        for block in &mut self.open {
            block.spoiled = true;
        }
        self.in_message
    }
}

impl Reader {
    fn message_start(&mut self, frame: &Event<'_>, data: &str) -> Result<Reading, Unreadable> {
        let mut reading = Reading::in_lane(LANE);
        // A second start: some clients ignore it, some continue, some fail. Block numbers continue,
        // so that clients that read on read the same.
        let second = std::mem::replace(&mut self.in_message, true);
        let Some(message) = &frame.message else { return Ok(reading) };
        if second && !message.blocks.is_empty() {
            return Err(Unreadable::Ambiguous("a second message that starts with blocks"));
        }
        reading.model = message.model.map(|text| inside(&text));
        reading.tally = tally(message.usage, message.stop_reason, data);
        self.message_parts(message, data, &mut reading)?;
        if let Some((at, Some(reason))) = message.stop_reason {
            reading.finish(LANE, at, reason.is("tool_use"));
        }
        Ok(reading)
    }

    fn message_parts(
        &mut self,
        message: &Message<'_>,
        data: &str,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        reading.content = message.content.filter(|_| !message.blocks.is_empty());
        let mut calls = 0;
        for block in &message.blocks {
            let (slot, _) = self.start_block();
            reading.add_text(LANE, block.text);
            reading.add_signature(LANE, block.signature);
            if let Some(mut piece) = block.call(slot, data)? {
                calls += 1;
                if calls > self.max_open {
                    return Err(Unreadable::TooManyCalls);
                }
                piece.followed_by = FollowedBy::Nothing;
                reading.takes(block.span, block.name);
                reading.add_call(LANE, block.span, piece);
            }
        }
        Ok(())
    }

    /// The slot and the position of another block.
    fn start_block(&mut self) -> (Slot, u32) {
        let position = self.started;
        self.started += 1;
        (self.next_slot.take(), position)
    }

    fn block_start(&mut self, frame: &Event<'_>, data: &str) -> Result<Reading, Unreadable> {
        let Some(head) = &frame.block else {
            return Err(Unreadable::Ambiguous("the start of a block without the block"));
        };
        if !self.in_message {
            // Some clients count it and some do not.
            return Err(Unreadable::Ambiguous("a block before the message"));
        }
        if self.open.len() >= self.max_open {
            return Err(Unreadable::TooManyCalls);
        }
        let (slot, position) = self.start_block();
        let call = head.call(slot, data)?;
        let kind = if call.is_some() { BlockKind::Call } else { BlockKind::Other };
        let claimed = frame.index.and_then(|(_, index)| index).unwrap_or(i64::from(position));
        // A client that goes by the claimed index has lost the earlier block with that index.
        self.open.retain(|block| block.claimed != claimed || block.kind == BlockKind::Call);
        self.open.push(OpenBlock { slot, position, claimed, kind, spoiled: false });

        let mut reading = block_reading(slot, BlockStep::Open, frame);
        if let Some(piece) = call {
            reading.takes(head.span, head.name);
            reading.add_call(LANE, head.span, piece);
        } else {
            reading.text = head.text.filter(|text| !text.is_empty()).map(|text| inside(&text));
            reading.add_signature(LANE, head.signature.filter(|text| !text.is_empty()));
        }
        Ok(reading)
    }

    fn block_delta(&mut self, frame: &Event<'_>) -> Result<Reading, Unreadable> {
        let Some(block) = self.resolve(frame) else {
            return Err(Unreadable::Orphan);
        };
        let (slot, kind, spoiled) = (block.slot, block.kind, block.spoiled);
        if spoiled && kind == BlockKind::Other {
            return Err(Unreadable::Orphan);
        }
        let mut reading = block_reading(slot, BlockStep::Add, frame);
        match kind {
            BlockKind::Call => {
                let mut piece = Piece { slot, ..Piece::default() };
                let at = frame.delta.partial_json.map(|text| inside(&text)).unwrap_or_default();
                let is_input = frame.delta.kind.is_some_and(|kind| kind.is("input_json_delta"));
                match (is_input, frame.delta.partial_json) {
                    (true, Some(text)) => {
                        piece.arguments = ArgumentsPiece::Fragment(text.raw().to_owned());
                    }
                    // Some clients append the word "undefined".
                    (true, None) => piece.refuse = Some("a piece of its arguments is missing"),
                    // Clients decide by the type, not by the field.
                    (false, Some(_)) => {
                        piece.refuse = Some("a piece of its arguments has another type");
                    }
                    (false, None) => {}
                }
                reading.add_call(LANE, at, piece);
            }
            // Clients ignore arguments for a block that is not a call, but one client adds them to
            // the call that began last.
            BlockKind::Other if frame.delta.partial_json.is_some_and(|text| !text.is_empty()) => {
                return Err(Unreadable::Orphan);
            }
            BlockKind::Other => {
                reading.text =
                    frame.delta.text.filter(|text| !text.is_empty()).map(|text| inside(&text));
                reading.add_signature(LANE, frame.delta.signature);
            }
        }
        Ok(reading)
    }

    fn block_stop(&mut self, frame: &Event<'_>) -> Reading {
        let Some(block) = self.resolve(frame) else {
            // There is nothing to stop. It means nothing to a client that had no such block.
            return Reading::left_out(LANE);
        };
        let (slot, kind) = (block.slot, block.kind);
        self.open.retain(|block| block.slot != slot);
        let mut reading = block_reading(slot, BlockStep::Close, frame);
        if kind == BlockKind::Call {
            reading.add_end(LANE, slot);
        }
        reading
    }

    /// The open block that a frame belongs to: by the index in its start, else by its position,
    /// else the only one if there is no index, or the last one if it is -1. Frames are renumbered
    /// on the way out, so every client sees the block that is chosen here.
    fn resolve(&self, frame: &Event<'_>) -> Option<&OpenBlock> {
        let index = frame.index.and_then(|(_, index)| index);
        match index {
            Some(index) if index >= 0 => self
                .open
                .iter()
                .rev()
                .find(|block| block.claimed == index)
                .or_else(|| self.open.iter().find(|block| i64::from(block.position) == index)),
            Some(-1) => self.open.last(),
            Some(_) => None,
            None => match self.open.as_slice() {
                [only] => Some(only),
                _ => None,
            },
        }
    }

    /// An unknown event passes, unless it contains something that looks like a call: then that is
    /// judged.
    ///
    /// The first event shows whether the stream is of this API. A later one in another form passes
    /// too, but something in it that looks like a call may be the beginning of one whose rest is
    /// unknown.
    fn unknown(&self, kind: Option<&str>, data: &str) -> Result<Reading, Unreadable> {
        let is_ours = kind.is_some_and(may_be_event);
        let may_pass = is_ours || (self.has_read_any && !stray::holds_call(data)?);
        if !may_pass {
            return Err(Unreadable::Foreign);
        }
        Ok(Reading::in_lane(LANE))
    }
}

impl Message<'_> {
    fn is(&self, kind: &str) -> bool {
        self.kind.is_some_and(|text| text.is(kind))
    }

    /// Whether it is an error instead of a message. Some gateways omit its type.
    fn is_error(&self) -> bool {
        self.is("error") || (self.kind.is_none() && self.has_error)
    }

    fn is_message(&self) -> bool {
        self.is("message") && self.content.is_some()
    }
}

impl BlockHead<'_> {
    /// The call in this block, if it is one: by its type, or because it has a name and an input.
    fn call(&self, slot: Slot, data: &str) -> Result<Option<Piece>, Unreadable> {
        let kind = self.kind.map(|kind| kind.decode()).transpose()?.unwrap_or_default();
        let by_type = kind.ends_with("tool_use") || kind.ends_with("_call");
        if !by_type && (self.name.is_none() || self.input.is_none()) {
            return Ok(None);
        }
        let host = match kind.as_ref() {
            "server_tool_use" | "mcp_tool_use" => Host::Provider,
            _ => Host::Client,
        };
        let arguments = match self.input {
            None | Some((_, Kind::Null)) => ArgumentsPiece::None,
            Some((span, _)) if is_empty_object(span.of(data)) => ArgumentsPiece::None,
            Some((span, _)) => ArgumentsPiece::Whole(span.of(data).to_owned()),
        };
        Ok(Some(Piece {
            slot,
            role: PieceRole::Open(CallKind::Identified),
            name: decode(self.name)?,
            id: decode(self.id)?,
            arguments,
            host,
            original: Some(self.span.of(data).to_owned()),
            ..Piece::default()
        }))
    }
}

/// The original block of a removed call, with its arguments in place.
pub(crate) fn with_input(block: &str, arguments: &str) -> String {
    input_edits(block, document(block), arguments).apply(block)
}

/// Puts other arguments into the block at `at`.
pub(super) fn input_edits(data: &str, at: Span, arguments: &str) -> Edits {
    // Anything but one strict document could add members.
    let arguments = match Value::parse(arguments) {
        Ok(_) => arguments,
        Err(_) => "{}",
    };
    let mut edits = Edits::default();
    match member(data, at, "input") {
        Some(span) => edits.replace(span, arguments),
        None => edits.insert(at.start + 1, format!("\"input\":{arguments},")),
    }
    edits
}

fn is_empty_object(text: &str) -> bool {
    text.strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'))
        .is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_whitespace()))
}

fn block_reading(slot: Slot, does: BlockStep, frame: &Event<'_>) -> Reading {
    Reading::of_block(LANE, slot, does, frame.index.map(|(span, _)| span))
}

/// Usage may come before the reason; only the reason ends the turn.
fn message_delta(frame: &Event<'_>, data: &str) -> Reading {
    let stop_reason = frame.delta.stop_reason;
    let reading = match stop_reason {
        Some((_, Some(_))) => message_end(stop_reason),
        _ => Reading::in_lane(LANE),
    };
    Reading { tally: tally(frame.usage, stop_reason, data), ..reading }
}

/// The token counts and the stop reason of a message or its end. In this API the input count does
/// not include cached tokens.
fn tally(
    usage: Option<Span>,
    stop_reason: Option<(Span, Option<Text<'_>>)>,
    data: &str,
) -> Option<Box<Tally>> {
    let mut tally = Tally::default();
    tally.stopped(stop_reason.and_then(|(_, reason)| reason));
    if let Some(usage) = usage {
        let within = [("output_tokens_details", "thinking_tokens")];
        let (found, [reasoning]) = counts_within(data, usage, USAGE, within);
        [tally.input, tally.cache_written, tally.cache_read, tally.output] = found;
        tally.reasoning = reasoning;
    }
    tally.boxed()
}

const USAGE: [&str; 4] =
    ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"];

fn message_end(stop_reason: Option<(Span, Option<Text<'_>>)>) -> Reading {
    let mut reading = Reading::in_lane(LANE);
    let at = stop_reason.map(|(span, _)| span).unwrap_or_default();
    reading.finish(LANE, at, announces_calls(stop_reason));
    reading
}

fn announces_calls(stop_reason: Option<(Span, Option<Text<'_>>)>) -> bool {
    matches!(stop_reason, Some((_, Some(reason))) if reason.is("tool_use"))
}

/// Whether a type may belong to this API, known or future. Other APIs use dots or hyphens in their
/// event types.
fn may_be_event(kind: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    !kind.is_empty() && kind.bytes().all(plain)
}

/// The name that a frame must have, if its own name hides it from some clients.
fn rename(event: Option<&[u8]>, kind: Option<&str>) -> Option<&'static str> {
    let is_visible =
        |name: &[u8]| name == b"completion" || EVENTS.iter().any(|event| event.as_bytes() == name);
    match event {
        Some(name) if is_visible(name) => None,
        _ => EVENTS.into_iter().find(|event| Some(*event) == kind),
    }
}

const EVENT: [&str; 5] = ["type", "index", "delta", "content_block", "message"];

fn read_event(data: &str) -> Result<Event<'_>, Error> {
    let mut json = Json::new(data);
    let mut event = Event::default();
    let mut object = Fields::new(&EVENT).enter(&mut json)?;
    while let Some((key, place)) = object.next_key(&mut json)? {
        match place {
            Some(0) => event.kind = text_or_null(&mut json)?,
            Some(1) => event.index = Some(index(&mut json, data)?),
            Some(2) => event.delta = read_delta(&mut json)?,
            Some(3) => event.block = Some(Box::new(read_block(&mut json)?)),
            Some(4) if json.kind()? == Kind::Object => {
                event.message = Some(Box::new(read_message(&mut json)?));
            }
            _ => {
                let value = json.skip()?;
                if key.is("usage") {
                    event.usage = Some(value);
                }
            }
        }
    }
    json.end()?;
    Ok(event)
}

const DELTA: [&str; 5] = ["type", "text", "partial_json", "stop_reason", "signature"];

fn read_delta<'a>(json: &mut Json<'a>) -> Result<Delta<'a>, Error> {
    let mut delta = Delta::default();
    if json.kind()? != Kind::Object {
        json.skip()?;
        return Ok(delta);
    }
    let mut object = Fields::new(&DELTA).enter(json)?;
    while let Some(place) = object.next(json)? {
        match place {
            0 => delta.kind = text_or_null(json)?,
            1 => delta.text = text_or_null(json)?,
            2 => delta.partial_json = text_or_null(json)?,
            3 => delta.stop_reason = Some(word_or_null(json)?),
            _ => delta.signature = text_or_null(json)?,
        }
    }
    Ok(delta)
}

const BLOCK: [&str; 6] = ["type", "id", "name", "input", "text", "signature"];

fn read_block<'a>(json: &mut Json<'a>) -> Result<BlockHead<'a>, Error> {
    let mut block = BlockHead::default();
    if json.kind()? != Kind::Object {
        block.span = json.skip()?;
        return Ok(block);
    }
    let mut object = Fields::new(&BLOCK).enter(json)?;
    while let Some(place) = object.next(json)? {
        match place {
            0 => block.kind = text_or_null(json)?,
            1 => block.id = text_or_null(json)?,
            2 => block.name = text_or_null(json)?,
            3 => block.input = Some(json.value()?),
            // A tool result may contain other things under these names.
            4 if json.kind()? == Kind::String => block.text = Some(json.string()?),
            5 if json.kind()? == Kind::String => block.signature = Some(json.string()?),
            _ => json.ignore()?,
        }
    }
    block.span = object.span(json);
    Ok(block)
}

const MESSAGE: [&str; 5] = ["content", "stop_reason", "model", "type", "error"];

/// A message or an error.
fn read_message<'a>(json: &mut Json<'a>) -> Result<Message<'a>, Error> {
    let mut message = Message::default();
    let mut object = Fields::new(&MESSAGE).enter(json)?;
    while let Some((key, place)) = object.next_key(json)? {
        match place {
            Some(0) if json.kind()? == Kind::Array => {
                let (span, list) = json.list(read_block)?;
                (message.content, message.blocks) = (Some(span), list);
            }
            Some(1) => message.stop_reason = Some(word_or_null(json)?),
            Some(2) => message.model = text_or_null(json)?,
            Some(3) => message.kind = text_or_null(json)?,
            Some(4) => message.has_error = is_set(json)?,
            _ => {
                let value = json.skip()?;
                if key.is("usage") {
                    message.usage = Some(value);
                }
            }
        }
    }
    Ok(message)
}
