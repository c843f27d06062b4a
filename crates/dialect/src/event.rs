//! The meaning of a frame: the few things that the gate must understand. Everything else passes
//! unchanged.

use std::borrow::Cow;

use callgate_call::json::{Span, Text};

use crate::json::Edits;
use crate::leave::finish_body;
use crate::side_text::SideText;
use crate::tally::Tally;

/// Identifies one call of the stream. Slots are in the order in which the calls (for Anthropic: the
/// blocks) began.
pub type Slot = u32;

/// Identifies one ordered list: a chat choice, or the one message of an Anthropic stream.
pub type Lane = u32;

/// The content of one frame. Spans are offsets in the frame's data.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each flag says one thing, and any of them go together"
)]
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
    /// Clients read the frame's form differently: it must be rewritten even if everything is
    /// allowed.
    pub irregular: bool,
    /// Some clients skip a frame of this form, or a part of it: calls in it leave whole, in a frame
    /// that the gate adds.
    pub skipped_by_some_clients: bool,
    /// The span of the list of blocks, if the frame contains it whole.
    pub content: Option<Span>,
    /// Clients may stop reading after this frame: every call has ended.
    pub done: bool,
    /// Its text was already sent while a verdict was pending: only its calls are left to write.
    pub text_left: bool,
    /// Everything else in it has left: only the end of the turn is left to write.
    pub ends_only: bool,
    /// It repeats a frame that was already sent, with another text: it is sent as an added frame.
    pub is_repeat: bool,
    /// It contains whole texts that may have arrived in pieces before: see
    /// [`Reader::texts`](crate::Reader::texts).
    pub repeats_texts: bool,
    /// Texts that are not part of the answer, if they are wanted: see
    /// [`Reader::include_side_texts`](crate::Reader::include_side_texts).
    pub side_texts: Vec<SideText>,
    /// The replacements of texts when the frame leaves, raw between their quotes, sorted by place.
    pub masks: Vec<(Span, String)>,
    /// The upstream reports a failure in this frame: unfinished calls will not finish.
    pub failure: bool,
    /// The calls in their regular places: the span of each name, or of the call if it has none.
    /// Anything else that looks like a call is in an unexpected place.
    pub taken: Vec<Span>,
    /// The metadata of the response in the frame. Boxed, because text frames have none.
    pub tally: Option<Box<Tally>>,
}

impl Reading {
    /// Adds a call in a regular place.
    pub(crate) fn takes(&mut self, call: Span, name: Option<Text<'_>>) {
        let name = name.filter(|name| !name.is_empty()).map(|name| name.span());
        self.taken.push(name.unwrap_or(call));
    }

    /// Whether blocks may not continue after this frame.
    pub fn ends_turn(&self) -> bool {
        let finishes = || self.parts.iter().any(|part| matches!(part.what, What::Finish(_)));
        self.done || self.failure || finishes()
    }

    /// Whether some client may take this frame for a piece or the end of a call that has begun.
    pub fn may_end_call(&self) -> bool {
        self.block.is_some() || !self.parts.is_empty()
    }

    /// The text at `span` as it leaves, raw between its quotes.
    pub fn leaving<'a>(&'a self, span: Span, data: &'a str) -> &'a str {
        let mask = self.masks.binary_search_by_key(&span.start, |(at, _)| at.start);
        let mask = mask.ok().and_then(|at| self.masks.get(at)).filter(|(at, _)| *at == span);
        mask.map_or_else(|| span.of(data), |(_, text)| text.as_str())
    }

    /// Drops the replacements of texts that have left.
    pub fn forget_texts(&mut self, text: Span) {
        let parts = self.parts.iter().filter(|part| matches!(part.what, What::Text));
        let mut said: Vec<Span> = parts.map(|part| part.at).chain([text]).collect();
        said.sort_by_key(|text| text.start);
        // Texts are next to each other, never nested.
        self.masks.retain(|(at, _)| {
            let before = said.partition_point(|text| text.start <= at.start).checked_sub(1);
            before.and_then(|place| said.get(place)).is_none_or(|text| at.end > text.end)
        });
    }

    /// Everything but the end of the turn has left.
    pub fn keep_only_end(&mut self) {
        self.parts.retain(|part| matches!(part.what, What::Finish(_)));
        (self.text, self.ends_only) = (None, true);
        self.masks.clear();
    }

    /// The data with its texts masked.
    pub fn masked<'a>(&self, data: &'a str) -> Cow<'a, str> {
        match self.masks.is_empty() {
            true => Cow::Borrowed(data),
            false => Cow::Owned(finish_body(data, self, Edits::default())),
        }
    }
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
#[expect(
    clippy::struct_excessive_bools,
    reason = "each flag says one thing, and any of them go together"
)]
pub struct Piece {
    /// The call.
    pub slot: Slot,
    /// Whether this is the first piece.
    pub opens: bool,
    /// Whether the call is complete with this piece.
    pub ends: bool,
    /// The name, or a part of it.
    pub name: Option<String>,
    /// The id.
    pub id: Option<String>,
    /// A piece of the arguments.
    pub arguments: ArgumentsPiece,
    /// Whether the part repeats a whole call that came before.
    pub copy: bool,
    /// (First piece) Whether the whole call will be repeated.
    pub repeats: bool,
    /// Whether calls of this kind have no id.
    pub anonymous: bool,
    /// Whether nothing of the call may leave before it is complete, because clients cannot see when
    /// it is.
    pub waits: bool,
    /// Who runs the call.
    pub host: Host,
    /// Where the call is in the frame.
    pub carrier: Carrier,
    /// The call as it opened, as JSON, to be restored if it is removed.
    pub original: Option<String>,
    /// Why the piece is refused regardless of the policy.
    pub refuse: Option<&'static str>,
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
    /// The same, if the item that opens a call contains it: no more may follow. Some clients append
    /// later pieces to it, and others replace it.
    WholeFree(String),
    /// A repetition of all arguments, as text: they must equal the pieces, if there were any.
    Again(String),
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
    /// (Finish) It leaves later, if at all: only the rest of the frame leaves now.
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
    Json(#[from] callgate_call::json::Error),
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
