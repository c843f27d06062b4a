//! What a frame means: the few things the gate must understand. All else passes untouched.

use std::borrow::Cow;

use callgate_call::json::{Span, Text};

use crate::aside::Aside;
use crate::json::Edits;
use crate::leave::finish_body;
use crate::tally::Tally;

/// One call of the stream, in the order the calls (for Anthropic: the blocks) began.
pub type Slot = u32;

/// One list of ordered things: a chat choice, or the one message of an Anthropic stream.
pub type Lane = u32;

/// What one frame holds. Spans are places in the frame's data.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each flag says one thing, and any of them go together"
)]
pub struct Reading {
    /// What the frame may overtake.
    pub order: Order,
    /// Everything the gate must act on, in the order the writer walks the frame.
    pub parts: Vec<Part>,
    /// The content block the frame belongs to, in dialects that number blocks.
    pub block: Option<Block>,
    /// Text the user sees, raw between its quotes.
    pub text: Option<Span>,
    /// The lane the text belongs to.
    pub text_lane: Lane,
    /// The name of the model, raw between its quotes.
    pub model: Option<Span>,
    /// The `event:` name every client reads, where the one it came under hides it from some.
    pub rename: Option<&'static str>,
    /// Clients read the frame's shape differently: it must be written anew even if all is allowed.
    pub odd: bool,
    /// Some clients skip a frame of this shape, or a part of it: calls in it leave whole, in a frame
    /// of our own.
    pub uneven: bool,
    /// Where the list of blocks stands that the frame holds whole.
    pub content: Option<Span>,
    /// No client is sure to read on behind this frame: every call has ended.
    pub done: bool,
    /// Its text has left ahead of it, while a verdict was awaited: only its calls are left to say.
    pub said: bool,
    /// It is a frame that has left once more, with another text: it leaves as a frame of our own.
    pub again: bool,
    /// It says whole texts that may have come in pieces before: see [`Reader::texts`](crate::Reader::texts).
    pub retells: bool,
    /// Texts beside the answer, where they were asked for: see [`Reader::look_beside`](crate::Reader::look_beside).
    pub asides: Vec<Aside>,
    /// What stands in the place of texts when the frame leaves, raw between their quotes, in the
    /// order of their places.
    pub masks: Vec<(Span, String)>,
    /// The upstream tells of a failure in this frame: what is unfinished will not finish.
    pub failure: bool,
    /// The calls that stand where the API has them: where the name of each stands, or the call if
    /// it has none. What else looks like a call is one in a wrong place.
    pub taken: Vec<Span>,
    /// What the frame tells of the response as a whole. Boxed, for text frames tell nothing.
    pub tally: Option<Box<Tally>>,
}

impl Reading {
    /// Notes a call that stands where the API has them.
    pub(crate) fn takes(&mut self, call: Span, name: Option<Text<'_>>) {
        let name = name.filter(|name| !name.is_empty()).map(|name| name.span());
        self.taken.push(name.unwrap_or(call));
    }

    /// Whether no block is sure to go on behind this frame.
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

    /// The texts have left: nothing takes their place any more.
    pub fn forget_texts(&mut self, text: Span) {
        let parts = self.parts.iter().filter(|part| matches!(part.what, What::Text));
        let mut said: Vec<Span> = parts.map(|part| part.at).chain([text]).collect();
        said.sort_by_key(|text| text.start);
        // Texts stand beside each other, never in each other.
        self.masks.retain(|(at, _)| {
            let before = said.partition_point(|text| text.start <= at.start).checked_sub(1);
            before.and_then(|place| said.get(place)).is_none_or(|text| at.end > text.end)
        });
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

/// A block's frame, for renumbering.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// The block.
    pub slot: Slot,
    /// What the frame does to it.
    pub does: BlockStep,
    /// Where its index stands; `None` if it is missing.
    pub index: Option<Span>,
    /// Its place among all blocks that came, in dialects whose readers count them.
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

/// One thing in a frame that the gate acts on.
#[derive(Debug)]
pub struct Part {
    /// The lane it belongs to.
    pub lane: Lane,
    /// Where it stands in the data.
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
    /// The end of the lane's turn; every call still open in the lane ends here too.
    Finish(Finish),
    /// Text the user sees, raw between its quotes (where a frame holds several).
    Text,
    /// A signature over thinking, raw between its quotes: it names the turn.
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
    /// Whether the call is whole with this piece.
    pub ends: bool,
    /// The name, or a part of it.
    pub name: Option<String>,
    /// The id.
    pub id: Option<String>,
    /// A piece of the arguments.
    pub arguments: ArgumentsPiece,
    /// Whether the part holds all of a call that came before once more.
    pub copy: bool,
    /// (First piece) Whether all of the call will be said once more.
    pub repeats: bool,
    /// Whether calls of this kind have no id.
    pub anonymous: bool,
    /// Whether nothing of the call may leave before it is whole: no client can tell when it is.
    pub waits: bool,
    /// Who runs the call.
    pub host: Host,
    /// How the call is carried.
    pub carrier: Carrier,
    /// The call as it opened, as JSON, to be restored if it is removed.
    pub original: Option<String>,
    /// Why the piece cannot be trusted, whatever a policy says.
    pub refuse: Option<&'static str>,
}

/// A piece of a call's arguments.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum ArgumentsPiece {
    /// Nothing.
    #[default]
    None,
    /// The raw inside of a JSON string that holds a part of the JSON text.
    Fragment(String),
    /// The JSON text, whole.
    Whole(String),
    /// The raw inside of a JSON string that holds a part of a custom tool's free text.
    Free(String),
    /// All of the arguments once more, as text: they must be what came in pieces, if any did.
    Again(String),
}

/// Who runs a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Host {
    /// The client: it is held and judged.
    #[default]
    Client,
    /// The provider: it has run already, and is recorded.
    Provider,
}

/// How a call is carried, which decides how it is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Carrier {
    /// In the dialect's own list of calls.
    #[default]
    Listed,
    /// In a place that is not for calls: an unknown field or event, an error's text. No notice
    /// takes its place.
    Stray,
}

/// The end of a turn.
#[derive(Debug, Clone, Copy)]
pub struct Finish {
    /// Whether the reason says that calls follow.
    pub says_calls: bool,
}

/// What becomes of a part when its frame leaves.
#[derive(Debug)]
pub enum Fate {
    /// It leaves as it came.
    Keep,
    /// It leaves in the dialect's canonical form, whole, in this place.
    Whole(Canonical),
    /// It is left out.
    Drop,
    /// It is left out, and this text stands in its place.
    Notice(String),
    /// (Finish) No call is left: the reason becomes the ordinary end. The text, if any, is said
    /// first, for the turn would otherwise be empty.
    Ordinary(Option<String>),
}

/// A whole call in the form every client reads alike.
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
    /// Whether it is a call of the kind that has no id.
    pub anonymous: bool,
}

/// A frame that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// No client can read anything in it: it is left out, and nothing else suffers.
    #[error("not a JSON object")]
    Nothing,
    /// It belongs to a block that has not begun, has ended, or was withheld: it is left out too.
    #[error("it belongs to a block that has not begun, has ended or was withheld")]
    Orphan,
    /// It is nothing of this dialect: another API's shape, or none that is known.
    #[error("it is not in the shape of this API")]
    Foreign,
    /// Some client might read something in it.
    #[error("{0}")]
    Json(#[from] callgate_call::json::Error),
    /// Not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// Two readings of one frame.
    #[error("{0}")]
    Ambiguous(&'static str),
    /// More calls open at once than the limit.
    #[error("more calls at once than the limit")]
    TooManyCalls,
}
