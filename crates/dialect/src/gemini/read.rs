//! Reads chunks of a Gemini stream, and whole responses.

use callgate_json::{Reader as Json, Span};

use super::partial::Partial;
use super::view::{Call, Candidate, Hosted, Part as Said, View, view};
use crate::event::{
    After, ArgumentsPiece, CallKind, CallSlots, FollowedBy, FrameForm, Host, Lane, Order, Part,
    Piece, PieceRole, Reading, Slot, Unreadable, What,
};
use crate::json::{decode, expect_object, inside, member};
use crate::spec::Read;
use crate::stray::{self, DocumentKind, SkippedMembers};
use crate::tally::{Tally, counts};

/// Reads the chunks of one response.
#[derive(Debug)]
pub(super) struct Reader {
    slots: CallSlots,
    /// Whether a chunk of the API was read.
    has_read_any: bool,
    /// The call whose arguments are coming in pieces.
    open: Option<Open>,
}

/// A call whose arguments come in pieces.
#[derive(Debug)]
struct Open {
    slot: Slot,
    lane: Lane,
    id: Option<String>,
    partial: Partial,
}

impl Open {
    /// The piece that completes the call.
    fn close(self) -> Piece {
        let (arguments, refuse) = self.partial.finish();
        Piece {
            slot: self.slot,
            followed_by: FollowedBy::Nothing,
            arguments: ArgumentsPiece::Whole(arguments),
            refuse,
            ..Piece::default()
        }
    }
}

/// What ends a call that has no end event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    NextCall,
    Turn,
}

impl Reader {
    /// A reader at the start of a response. It refuses more than `max_calls` calls.
    pub(super) fn new(max_calls: usize) -> Self {
        Self { slots: CallSlots::new(max_calls), has_read_any: false, open: None }
    }
}

impl Read for Reader {
    fn has_read_any(&self) -> bool {
        self.has_read_any
    }

    /// Reads one chunk.
    fn read(&mut self, event: Option<&[u8]>, data: &str) -> Result<Reading, Unreadable> {
        expect_object(data, Unreadable::Nothing)?;
        let found = view(data)?;
        let is_known = found.is_ours || found.fails;
        // Later unknown chunks pass, unless they contain a call.
        let may_pass = is_known || found.is_empty;
        if !may_pass && (!self.has_read_any || stray::holds_call(data)?) {
            return Err(Unreadable::Foreign);
        }
        self.has_read_any |= is_known;
        let mut reading = self.document(&found, data, DocumentKind::Frame)?;
        // Chunks have no names; most clients fail on one.
        if event.is_some() {
            reading.form = FrameForm::Rewrite;
        }
        Ok(reading)
    }

    /// Reads a whole response.
    fn read_body(&mut self, data: &str) -> Result<Reading, Unreadable> {
        expect_object(data, Unreadable::Ambiguous("not a response of this API"))?;
        let found = view(data)?;
        if !found.is_ours && !found.fails {
            return Err(Unreadable::Foreign);
        }
        self.has_read_any = true;
        let mut reading = self.document(&found, data, DocumentKind::Body)?;
        reading.order = Order::Stream;
        Ok(reading)
    }

    fn skipped_members(&self, _: DocumentKind) -> Option<SkippedMembers> {
        // Tool results.
        Some(&[("functionresponse", &["response"]), ("toolresponse", &["response"])])
    }

    fn stray_slot(&mut self) -> Result<Slot, Unreadable> {
        self.slots.begin()
    }

    /// The texts of a whole response.
    fn texts(&self, data: &str) -> Vec<Span> {
        let Ok(found) = view(data) else { return Vec::new() };
        let contents = found.candidates.iter().filter_map(|candidate| candidate.content.as_ref());
        let texts = contents.flat_map(|content| &content.parts).filter(|part| !part.is_thought);
        texts.filter_map(|part| part.text.as_ref()).map(inside).collect()
    }

    /// A chunk is self-contained, except for a call that comes in pieces.
    fn contain(&mut self) -> bool {
        self.open = None;
        self.has_read_any
    }
}

impl Reader {
    fn document(
        &mut self,
        found: &View<'_>,
        data: &str,
        form: DocumentKind,
    ) -> Result<Reading, Unreadable> {
        // Some clients do not distinguish candidates, so none overtakes another.
        let order = match found.candidates.is_empty() {
            false => Order::Lane(Lane::default()),
            true => Order::Stream,
        };
        let mut reading = Reading { order, ..Reading::default() };
        reading.model = found.model.as_ref().map(inside);
        reading.after = if found.fails { After::Failure } else { After::More };
        reading.tally = tally(found, data);
        for candidate in &found.candidates {
            self.candidate(candidate, data, form, &mut reading)?;
        }
        if found.fails {
            self.open = None;
            reading.order = Order::Stream;
        }
        if found.is_empty {
            reading.order = Order::Free;
        }
        Ok(reading)
    }

    fn candidate(
        &mut self,
        candidate: &Candidate<'_>,
        data: &str,
        form: DocumentKind,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        let lane = candidate.lane;
        for part in candidate.content.iter().flat_map(|content| &content.parts) {
            if let Some(text) = part.text.filter(|text| !text.is_empty() && !part.is_thought) {
                let at = inside(&text);
                // A text after a call keeps its position: a notice may come in between.
                let leads = !reading.parts.iter().any(|part| matches!(part.what, What::Piece(_)));
                match (form, reading.text) {
                    (DocumentKind::Frame, None) if leads => {
                        (reading.text, reading.text_lane) = (Some(at), lane)
                    }
                    _ => reading.parts.push(Part { lane, at, what: What::Text }),
                }
            }
            reading.add_signature(lane, part.signature.filter(|text| !text.is_empty()));
            if let Some((span, what)) = part.hosted {
                self.hosted(span, what, lane, data, reading)?;
            }
            if let Some(call) = &part.call {
                if candidate.bad_index {
                    let why = "a call in a candidate with an index that is too large";
                    return Err(Unreadable::Ambiguous(why));
                }
                self.call(part, call, lane, data, reading)?;
            }
        }
        let ends = candidate.finish.is_some() || form == DocumentKind::Body;
        if ends {
            self.close_open(lane, End::Turn, reading);
            let at = candidate.finish.map(|reason| reason.span()).unwrap_or_default();
            // There is no other reason for calls.
            let announces_calls = candidate.finish.is_some_and(|reason| reason.is("STOP"));
            reading.finish(lane, at, announces_calls);
        }
        Ok(())
    }

    fn call(
        &mut self,
        part: &Said<'_>,
        call: &Call<'_>,
        lane: Lane,
        data: &str,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        let at = call.span;
        reading.takes(at, call.name);
        let name = decode(call.name)?;
        let id = decode(call.id)?.filter(|id| !id.is_empty());
        let streams = call.partial.is_some() || call.will_continue;
        // Some clients join pieces only under the names that all of them read.
        reading.skipped_by_some_clients |= call.is_snake && streams || call.has_snake;
        let piece = match name {
            Some(_) => {
                self.close_open(lane, End::NextCall, reading);
                let mut piece = Piece {
                    slot: self.slots.begin()?,
                    role: PieceRole::Open(match streams {
                        true => CallKind::AnonymousInPieces,
                        false => CallKind::Anonymous,
                    }),
                    name,
                    id,
                    original: Some(part.span.of(data).to_owned()),
                    ..Piece::default()
                };
                match streams {
                    true => self.opens(call, lane, data, &mut piece)?,
                    false => {
                        piece.followed_by = FollowedBy::Nothing;
                        piece.arguments = whole(call, data);
                    }
                }
                piece
            }
            None => match self.open.take() {
                Some(open) if open.lane == lane && call.args.is_none() => {
                    self.adds(open, call, id, data)?
                }
                open if call.args.is_none() && call.partial.is_none() => {
                    // It ends no open call, and contains nothing.
                    self.open = open;
                    reading.form = FrameForm::Rewrite;
                    return Ok(());
                }
                open => {
                    // No rule can name it, so it is refused.
                    self.open = open;
                    Piece {
                        slot: self.slots.begin()?,
                        role: PieceRole::Open(CallKind::Anonymous),
                        followed_by: FollowedBy::Nothing,
                        arguments: whole(call, data),
                        ..Piece::default()
                    }
                }
            },
        };
        reading.add_call(lane, at, piece);
        Ok(())
    }

    /// A call that begins, with its arguments in pieces.
    fn opens(
        &mut self,
        call: &Call<'_>,
        lane: Lane,
        data: &str,
        piece: &mut Piece,
    ) -> Result<(), Unreadable> {
        let mut open =
            Open { slot: piece.slot, lane, id: piece.id.clone(), partial: Partial::default() };
        if call.args.is_some() {
            open.partial.breaks("its arguments were sent both whole and in pieces");
        }
        let continues = add(&mut open.partial, call, data)?;
        if call.will_continue || continues {
            self.open = Some(open);
            return Ok(());
        }
        // Clients that do not join pieces take it for a call without arguments.
        open.partial.breaks("its streamed arguments were sent together with its name");
        let closed = open.close();
        piece.followed_by = closed.followed_by;
        (piece.arguments, piece.refuse) = (closed.arguments, closed.refuse);
        Ok(())
    }

    /// A piece without a name, of the open call.
    fn adds(
        &mut self,
        mut open: Open,
        call: &Call<'_>,
        id: Option<String>,
        data: &str,
    ) -> Result<Piece, Unreadable> {
        if id.is_some() && id != open.id {
            open.partial.breaks("its pieces have different ids");
        }
        let continues = add(&mut open.partial, call, data)?;
        if call.will_continue || continues {
            let piece = Piece { slot: open.slot, ..Piece::default() };
            self.open = Some(open);
            return Ok(piece);
        }
        Ok(open.close())
    }

    /// Ends the open call, because another one begins or its turn ends. Some streams have no other
    /// sign of it.
    fn close_open(&mut self, lane: Lane, end: End, reading: &mut Reading) {
        let ends = |open: &mut Open| end == End::NextCall || open.lane == lane;
        let Some(mut open) = self.open.take_if(ends) else { return };
        if open.lane != lane {
            // Some clients do not distinguish candidates.
            open.partial.breaks("it is mixed with a call of another candidate");
        }
        let (lane, at) = (open.lane, Span::default());
        reading.add_call(lane, at, open.close());
    }

    /// Calls that the provider has run itself: they are reported, not held.
    fn hosted(
        &mut self,
        span: Span,
        what: Hosted,
        lane: Lane,
        data: &str,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        let text = |key| {
            let span = member(data, span, key)?;
            let text = Json::at(data, span).string().ok()?;
            text.decode().ok().map(|text| text.into_owned())
        };
        let (name, arguments) = match what {
            Hosted::Code => (Some("code_execution".to_owned()), Some(span)),
            Hosted::Tool => {
                let name = text("toolType").or_else(|| text("tool_type"));
                (name.map(|name| name.to_ascii_lowercase()), member(data, span, "args"))
            }
        };
        let arguments = arguments.map(|span| span.of(data).to_owned());
        let piece = Piece {
            slot: self.slots.take(),
            role: PieceRole::Open(CallKind::Anonymous),
            followed_by: FollowedBy::Nothing,
            name: Some(name.unwrap_or_else(|| "tool_call".to_owned())),
            id: text("id"),
            arguments: arguments.map_or(ArgumentsPiece::None, ArgumentsPiece::Whole),
            host: Host::Provider,
            ..Piece::default()
        };
        reading.add_call(lane, span, piece);
        Ok(())
    }
}

/// The arguments of a call that came whole.
fn whole(call: &Call<'_>, data: &str) -> ArgumentsPiece {
    call.args.map_or(ArgumentsPiece::None, |span| ArgumentsPiece::Whole(span.of(data).to_owned()))
}

/// Adds the pieces in a call. Returns whether one of them will continue.
fn add(partial: &mut Partial, call: &Call<'_>, data: &str) -> Result<bool, Unreadable> {
    match call.partial {
        Some(list) => Ok(partial.add(list.of(data))?),
        None => Ok(false),
    }
}

fn tally(found: &View<'_>, data: &str) -> Option<Box<Tally>> {
    let mut tally = Tally::default();
    for candidate in &found.candidates {
        tally.stopped(candidate.finish);
    }
    if let Some(usage) = found.usage {
        let keys = [
            "promptTokenCount",
            "toolUsePromptTokenCount",
            "candidatesTokenCount",
            "thoughtsTokenCount",
            "cachedContentTokenCount",
        ];
        let [prompt, tools, said, thought, cached] = counts(data, usage, keys);
        let sum = |one: Option<u64>, other: Option<u64>| {
            [one, other].into_iter().flatten().reduce(u64::saturating_add)
        };
        (tally.input, tally.output) = (sum(prompt, tools), sum(said, thought));
        (tally.cached, tally.reasoning) = (cached, thought);
    }
    tally.boxed()
}
