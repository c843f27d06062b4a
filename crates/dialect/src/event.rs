//! The meaning of a frame: the few things that the gate must understand. Everything else passes
//! unchanged.

use callgate_json::{Kind, Span, Text};

use crate::json::inside;
use crate::side_text::SideText;
use crate::tally::Tally;

/// Identifies one call of the stream. Slots are in the order in which the calls began; in APIs of
/// numbered blocks, every block has one, and so has a call in an unexpected place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Slot(pub u32);

/// Identifies one ordered list: a chat choice, or the one message of an Anthropic stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Lane(pub u32);

impl Slot {
    /// Takes this slot, and moves on to the next.
    pub(crate) fn take(&mut self) -> Self {
        let taken = *self;
        self.0 += 1;
        taken
    }
}

/// The slots of the calls of one response, up to a limit.
#[derive(Debug)]
pub(crate) struct CallSlots {
    next: Slot,
    remaining: usize,
}

impl CallSlots {
    pub(crate) fn new(max_calls: usize) -> Self {
        Self { next: Slot::default(), remaining: max_calls }
    }

    /// The slot of a call.
    pub(crate) fn begin(&mut self) -> Result<Slot, Unreadable> {
        self.remaining = self.remaining.checked_sub(1).ok_or(Unreadable::TooManyCalls)?;
        Ok(self.next.take())
    }

    /// How many calls may still come.
    pub(crate) fn remaining(&self) -> usize {
        self.remaining
    }

    /// The slot of something that does not count as a call.
    pub(crate) fn take(&mut self) -> Slot {
        self.next.take()
    }
}

impl std::fmt::Display for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::fmt::Display for Lane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Lane {
    /// The lane of a choice with this number.
    pub(crate) fn of(number: impl TryInto<u32>) -> Self {
        Self(number.try_into().unwrap_or(u32::MAX))
    }
}

/// What a reader found in one frame. Spans are offsets in the frame's data. What the gate orders for
/// its departure is a [`Departure`](crate::Departure).
#[derive(Debug, Default)]
pub struct Reading {
    /// What the frame may overtake.
    pub order: Order,
    /// Everything that the gate must act on, in the order in which the writer goes through the
    /// frame.
    pub parts: Vec<Part>,
    /// The content block that the frame belongs to, in dialects that number blocks.
    pub block: Option<Block>,
    /// Text that the user sees, raw between its quotes.
    pub text: Option<Span>,
    /// The lane the text belongs to.
    pub text_lane: Lane,
    /// The name of the model, raw between its quotes.
    pub model: Option<Span>,
    /// The `event:` name to write instead, if some clients would skip the frame by its own.
    pub rename: Option<&'static str>,
    /// Whether the frame may leave in the form in which it came.
    pub form: FrameForm,
    /// Some clients skip a frame of this form, or a part of it: calls in it leave whole, in a frame
    /// that the gate adds.
    pub skipped_by_some_clients: bool,
    /// The span of the list of blocks, if the frame contains it whole.
    pub content: Option<Span>,
    /// Whether it ends the response.
    pub after: After,
    /// It contains whole texts that may have arrived in pieces before: see
    /// [`Reader::texts`](crate::Reader::texts).
    pub repeats_texts: bool,
    /// Texts that are not part of the answer, if they are wanted: see
    /// [`Reader::include_side_texts`](crate::Reader::include_side_texts).
    pub side_texts: Vec<SideText>,
    /// The calls in their regular places: the span of each name, or of the call if it has none.
    /// Anything else that looks like a call is in an unexpected place.
    pub taken: Vec<Span>,
    /// The metadata of the response in the frame. Boxed, because text frames have none.
    pub tally: Option<Box<Tally>>,
}

impl Reading {
    /// A frame that keeps its place in its lane.
    pub(crate) fn in_lane(lane: Lane) -> Self {
        Self { order: Order::Lane(lane), ..Self::default() }
    }

    /// A frame that keeps its place among all frames.
    pub(crate) fn in_stream() -> Self {
        Self { order: Order::Stream, ..Self::default() }
    }

    /// A frame in which the upstream reports a failure.
    pub(crate) fn failure() -> Self {
        Self { after: After::Failure, ..Self::in_stream() }
    }

    /// A frame after which clients may stop reading.
    pub(crate) fn done() -> Self {
        Self { after: After::Done, ..Self::in_stream() }
    }

    /// A frame of a block, with the span of its index.
    pub(crate) fn of_block(lane: Lane, slot: Slot, does: BlockStep, index: Option<Span>) -> Self {
        Self { block: Some(Block { slot, does, index, place: None }), ..Self::in_lane(lane) }
    }

    /// A frame that ends something that has not begun.
    pub(crate) fn left_out(lane: Lane) -> Self {
        Self { form: FrameForm::LeaveOut, ..Self::in_lane(lane) }
    }

    /// Adds a piece of a call.
    pub(crate) fn add_call(&mut self, lane: Lane, at: Span, piece: Piece) {
        self.parts.push(Part { lane, at, what: What::Piece(piece) });
    }

    /// Adds the end of a call.
    pub(crate) fn add_end(&mut self, lane: Lane, slot: Slot) {
        self.parts.push(Part { lane, at: Span::default(), what: What::End(slot) });
    }

    /// Adds the end of a turn, with the place of its reason.
    pub(crate) fn finish(&mut self, lane: Lane, at: Span, announces_calls: bool) {
        self.parts.push(Part { lane, at, what: What::Finish(Finish { announces_calls }) });
    }

    /// Adds a text that the user sees, unless it is empty.
    pub(crate) fn add_text(&mut self, lane: Lane, text: Option<Text<'_>>) {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.parts.push(Part { lane, at: inside(&text), what: What::Text });
        }
    }

    /// Adds a signature over thinking.
    pub(crate) fn add_signature(&mut self, lane: Lane, signature: Option<Text<'_>>) {
        if let Some(text) = signature {
            self.parts.push(Part { lane, at: inside(&text), what: What::Signature });
        }
    }

    /// Adds a call in a regular place.
    pub(crate) fn takes(&mut self, call: Span, name: Option<Text<'_>>) {
        let name = name.filter(|name| !name.is_empty()).map(|name| name.span());
        self.taken.push(name.unwrap_or(call));
    }

    /// Whether there is nothing to do about the frame but for its parts: it leaves in its own form,
    /// under its own name, and neither is a whole list of blocks nor ends the response.
    #[inline]
    pub fn is_plain(&self) -> bool {
        // Complete, so that a new field must be considered.
        let Self {
            rename,
            form,
            content,
            after,
            order: _,
            parts: _,
            block: _,
            text: _,
            text_lane: _,
            model: _,
            skipped_by_some_clients: _,
            repeats_texts: _,
            side_texts: _,
            taken: _,
            tally: _,
        } = self;
        rename.is_none()
            && *form == FrameForm::Regular
            && content.is_none()
            && *after == After::More
    }

    /// Whether blocks may not continue after this frame.
    pub fn ends_turn(&self) -> bool {
        let finishes = || self.parts.iter().any(|part| matches!(part.what, What::Finish(_)));
        self.after != After::More || finishes()
    }

    /// Whether some client may take this frame for a piece or the end of a call that has begun.
    pub fn may_end_call(&self) -> bool {
        self.block.is_some() || !self.parts.is_empty()
    }

    /// The reading without everything but the end of the turn.
    #[must_use]
    pub fn into_end(mut self) -> Self {
        self.parts.retain(|part| matches!(part.what, What::Finish(_)));
        self.text = None;
        self
    }
}

/// In which form a frame leaves if everything in it is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FrameForm {
    /// As it came.
    #[default]
    Regular,
    /// Rewritten: clients read its form differently.
    Rewrite,
    /// Not at all: it ends something that has not begun, and only some clients would notice.
    LeaveOut,
}

/// What may follow a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum After {
    /// More of the response.
    #[default]
    More,
    /// Nothing: clients may stop reading after this frame, and every call has ended.
    Done,
    /// Nothing: the upstream reports a failure in this frame. Unfinished calls will not finish.
    Failure,
}

/// What a frame may overtake while a call is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Anything: keep-alives, text of a chat choice.
    #[default]
    Free,
    /// Nothing in its lane.
    Lane(Lane),
    /// Nothing at all.
    Stream,
}

/// The block of a frame, for renumbering.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// The block.
    pub slot: Slot,
    /// What the frame does to it.
    pub does: BlockStep,
    /// The span of its index; `None` if it is missing.
    pub index: Option<Span>,
    /// Its position among all blocks, in dialects whose readers count them.
    pub place: Option<i64>,
}

/// What a block's frame does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockStep {
    /// Begins the block.
    Open,
    /// Adds to it.
    Add,
    /// Ends it.
    Close,
}

/// One part of a frame that the gate acts on.
#[derive(Debug)]
pub struct Part {
    /// The lane it belongs to.
    pub lane: Lane,
    /// Its span in the data.
    pub at: Span,
    /// What it is.
    pub what: What,
}

/// What the gate acts on.
#[derive(Debug)]
pub enum What {
    /// A piece of a call.
    Piece(Piece),
    /// The call's own end.
    End(Slot),
    /// The end of the lane's turn; every open call of the lane ends here too.
    Finish(Finish),
    /// Text that the user sees, raw between its quotes (if a frame has several).
    Text,
    /// A signature over thinking, raw between its quotes: it identifies the turn.
    Signature,
}

/// A piece of a call.
#[derive(Debug, Default)]
pub struct Piece {
    /// The call.
    pub slot: Slot,
    /// What it is to its call.
    pub role: PieceRole,
    /// Whether more of the call may follow.
    pub followed_by: FollowedBy,
    /// The name, or a part of it.
    pub name: Option<String>,
    /// The id.
    pub id: Option<String>,
    /// A piece of the arguments.
    pub arguments: ArgumentsPiece,
    /// Who runs the call.
    pub host: Host,
    /// Where the call is in the frame.
    pub carrier: Carrier,
    /// The call as it opened, as JSON, to be restored if it is removed.
    pub original: Option<String>,
    /// Why the piece is refused regardless of the policy.
    pub refuse: Option<&'static str>,
}

impl Piece {
    /// Whether the call begins with this piece.
    pub fn opens(&self) -> bool {
        matches!(self.role, PieceRole::Open(_))
    }

    /// Whether it repeats a whole call that came before.
    pub fn is_copy(&self) -> bool {
        self.role == PieceRole::Copy
    }

    /// Whether the call is complete with this piece.
    pub fn ends(&self) -> bool {
        self.followed_by == FollowedBy::Nothing
    }
}

/// What a piece is to its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PieceRole {
    /// The first piece: a call of this kind begins.
    Open(CallKind),
    /// A later piece.
    #[default]
    More,
    /// A repetition of the whole call, which came before.
    Copy,
}

/// What follows a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FollowedBy {
    /// More pieces of the call, or its end.
    #[default]
    More,
    /// Nothing: the call is complete with this piece.
    Nothing,
}

/// What is known about a call when it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CallKind {
    /// It has an id, and comes once.
    #[default]
    Identified,
    /// It has an id, and the whole call will be repeated.
    Repeated,
    /// Calls of this kind have no id.
    Anonymous,
    /// It has no id, and nothing of it may leave before it is complete, because clients cannot see when
    /// it is.
    AnonymousInPieces,
}

impl CallKind {
    /// Whether calls of this kind have no id.
    pub fn is_anonymous(self) -> bool {
        matches!(self, Self::Anonymous | Self::AnonymousInPieces)
    }
}

/// A piece of a call's arguments.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum ArgumentsPiece {
    /// No arguments.
    #[default]
    None,
    /// The raw content of a JSON string that contains a part of the JSON text.
    Fragment(String),
    /// The complete JSON text.
    Whole(String),
    /// The raw content of a JSON string that contains a part of a custom tool's free text.
    Free(String),
    /// A custom tool's free text, if the item that opens a call contains it: no more may follow. Some clients append
    /// later pieces to it, and others replace it.
    WholeFree(String),
    /// A repetition of all arguments, as text: they must equal the pieces, if there were any.
    Again(String),
}

impl ArgumentsPiece {
    /// Arguments as a call has them: a piece of text, or, from some servers, the value itself.
    pub(crate) fn of_value((span, kind): (Span, Kind), data: &str) -> Self {
        match kind {
            Kind::Null => Self::None,
            Kind::String => {
                let inside = Span { start: span.start + 1, end: span.end - 1 };
                Self::Fragment(inside.of(data).to_owned())
            }
            _ => Self::Whole(span.of(data).to_owned()),
        }
    }
}

/// Who runs a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Host {
    /// The client: it is held and judged.
    #[default]
    Client,
    /// The provider: it has already run, and is recorded.
    Provider,
}

/// Where a call is in its frame, which decides how it is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Carrier {
    /// In the dialect's own list of calls.
    #[default]
    Listed,
    /// In an unexpected place: an unknown field or event, the text of an error. It is removed
    /// without a notice.
    Stray,
}

/// The end of a turn.
#[derive(Debug, Clone, Copy)]
pub struct Finish {
    /// Whether the reason announces calls, or is the one that turns with calls have too.
    pub announces_calls: bool,
}

/// What happens to a part when its frame leaves.
#[derive(Debug)]
pub enum Fate {
    /// It leaves unchanged.
    Keep,
    /// It leaves whole in the dialect's canonical form, in this place.
    Whole(Canonical),
    /// It is left out.
    Drop,
    /// It is left out, and this text replaces it.
    Notice(String),
    /// (Finish) No call is left: the reason becomes the ordinary end. The text, if any, is written
    /// first, because the turn would otherwise be empty.
    Ordinary(Option<String>),
    /// (Finish) It may be sent later. Only the rest of the frame is sent now.
    Later,
}

/// A whole call in the form that every client reads the same way.
#[derive(Debug, Clone)]
pub struct Canonical {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its arguments, as text.
    pub arguments: String,
    /// Whether the arguments are free text.
    pub free_text: bool,
    /// Whether calls of this kind have no id.
    pub anonymous: bool,
}

/// An unreadable frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// No client can read anything in it: it is left out, with no other effect.
    #[error("not a JSON object")]
    Nothing,
    /// It belongs to a block that has not begun, has ended, or was withheld: it is left out too.
    #[error("it belongs to a block that has not begun, has ended or was withheld")]
    Orphan,
    /// It does not belong to this dialect: it has the form of another API, or an unknown one.
    #[error("it does not have the form of this API")]
    Foreign,
    /// Some client might read something in it.
    #[error("{0}")]
    Json(#[from] callgate_json::Error),
    /// Not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// One frame with two readings.
    #[error("{0}")]
    Ambiguous(&'static str),
    /// More open calls than the limit.
    #[error("more calls are open at once than the limit")]
    TooManyCalls,
}
