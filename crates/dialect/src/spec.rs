//! The spec of a dialect: its reader, its writer, and every fact about the API that another part of
//! callgate needs.

mod http;

use std::fmt::Debug;

use callgate_json::{Error, Span};
use callgate_wire::{Frame, Framings};

use crate::continued::ContinueSpec;
use crate::departure::{Leaving, Orders};
use crate::event::{Canonical, Lane, Reading, Slot, Unreadable};
use crate::leave::stray_is_denied;
use crate::request::{ClientMessage, RemovedTurn, Restored, ToolPlaces};
use crate::side_text::TextNames;
use crate::stray::{DocumentKind, SkippedMembers};
use crate::template::Pieces;
use crate::{AddedEvent, Blame, Dialect};

pub use http::{ApiError, ErrorHeader, HttpSpec, Signing};

/// One dialect.
pub(crate) struct DialectSpec {
    /// The word used on the command line and in records.
    pub(crate) word: &'static str,
    /// The framings that responses may have.
    pub(crate) framings: Framings,
    /// A reader at the start of a response with at most this many calls.
    pub(crate) reader: fn(usize) -> Box<dyn Read>,
    /// A writer at the start of a response.
    pub(crate) writer: fn() -> Box<dyn Write>,
    /// How its turns are built.
    pub(crate) facts: TurnFacts,
    /// What clients do with comments in a stream.
    pub(crate) comments: Comments,
    /// How clients read the lines of its streams, if it is not as usual.
    pub(crate) lines: Option<LineRules>,
    /// The events that end a stream with an error.
    pub(crate) error_events: fn(Blame, &str) -> Vec<AddedEvent>,
    /// The error body.
    pub(crate) error_body: fn(Blame, &str) -> String,
    /// The body, with this text, that replaces one that a text rule stopped.
    pub(crate) blocked_body: fn(&str) -> String,
    /// A removed call in the provider's own form.
    pub(crate) original: fn(Option<&str>, &Canonical) -> String,
    /// How a turn continues after all of its calls were denied; `None` if it cannot.
    pub(crate) continues: Option<&'static ContinueSpec>,
    /// Puts removed calls back into a request.
    pub(crate) restore: fn(&str, &[RemovedTurn]) -> Result<Restored, Error>,
    /// The assistant's messages of a request.
    pub(crate) seen: for<'a> fn(&'a str) -> Result<Vec<ClientMessage<'a>>, Error>,
    /// The ids of stored responses and conversations that a request continues.
    pub(crate) states: fn(&str) -> Result<Vec<String>, Error>,
    /// Where requests have tools.
    pub(crate) tools: ToolPlaces,
    /// The HTTP side.
    pub(crate) http: HttpSpec,
}

/// How the turns of an API are built.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "facts about an API, each true or not")]
pub struct TurnFacts {
    /// A notice is a separate block. If not, a blank line separates it from the text before it.
    pub notice_is_separate: bool,
    /// A call is complete as soon as its arguments are, without an event that ends it.
    pub arguments_end_a_call: bool,
    /// A call's name may come in pieces.
    pub name_may_grow: bool,
    /// Every block of the turn has a slot, and not only calls: but for calls in unexpected places,
    /// a call's slot is its position among the blocks.
    pub counts_blocks: bool,
    /// The API accepts a turn in which a text follows a call, so that a notice may do so. The
    /// official clients show it: `crates/cli/tests/gateway/conversations.rs`.
    pub text_follows_calls: bool,
    /// The frames of a block that has begun to leave may overtake held frames, so that a call that
    /// has begun to leave is never interrupted by another.
    pub blocks_continue: bool,
    /// Some clients take the calls of all lanes for one list.
    pub mixes_lanes: bool,
    /// The lane of the model's plan for the calls of a turn, in APIs that separate it from the text.
    pub plan_lane: Option<Lane>,
}

impl TurnFacts {
    /// A turn is one list of blocks.
    pub(crate) const OF_BLOCKS: Self = Self {
        notice_is_separate: true,
        counts_blocks: true,
        blocks_continue: true,
        ..Self::OF_LISTS
    };

    /// A turn has a text, and a list of calls.
    pub(crate) const OF_LISTS: Self = Self {
        notice_is_separate: false,
        arguments_end_a_call: false,
        name_may_grow: false,
        counts_blocks: false,
        text_follows_calls: false,
        blocks_continue: false,
        mixes_lanes: false,
        plan_lane: None,
    };
}

/// What clients do with comments in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comments {
    /// Some fail on them.
    Fail,
    /// They keep a stream alive, but some clients fail on those with text.
    KeepAlive,
    /// All clients skip them.
    Skipped,
}

/// How clients read the lines of a stream, where they differ in more than the usual points.
pub(crate) struct LineRules {
    /// See [`Dialect::reads_alike`](crate::Dialect::reads_alike).
    pub(crate) reads_alike: fn(&Frame<'_>) -> bool,
    /// See [`Dialect::is_bare_error`](crate::Dialect::is_bare_error).
    pub(crate) is_bare_error: fn(&[u8]) -> bool,
}

/// For APIs in which nothing is stored.
pub(crate) fn no_states(_request: &str) -> Result<Vec<String>, Error> {
    Ok(Vec::new())
}

/// Reads the frames of one response.
pub(crate) trait Read: Debug + Send {
    /// Reads the data of one event.
    fn read(&mut self, event: Option<&[u8]>, data: &str) -> Result<Reading, Unreadable>;

    /// Reads a whole body.
    fn read_body(&mut self, data: &str) -> Result<Reading, Unreadable>;

    /// Whether anything of this dialect was read.
    fn has_read_any(&self) -> bool;

    /// See [`Reader::api`](crate::Reader::api).
    fn api(&self) -> Option<Dialect> {
        None
    }

    /// The places of a frame or a body that are not searched for calls that the reader did not
    /// take. `None` if it searches itself.
    fn skipped_members(&self, _form: DocumentKind) -> Option<SkippedMembers> {
        None
    }

    /// Whether reading a frame that adds to a call changes the reader.
    fn pieces(&self) -> Pieces {
        Pieces::Counted
    }

    /// The slot of a call in an unexpected place.
    fn stray_slot(&mut self) -> Result<Slot, Unreadable> {
        Err(Unreadable::TooManyCalls)
    }

    /// See [`Reader::texts`](crate::Reader::texts).
    fn texts(&self, _data: &str) -> Vec<Span> {
        Vec::new()
    }

    /// The member names of its texts that are not part of the answer.
    fn names(&self) -> TextNames {
        TextNames::Usual
    }

    /// See [`Reader::contain`](crate::Reader::contain).
    fn contain(&mut self) -> bool {
        false
    }
}

/// Writes the frames of one response.
pub trait Write: Debug + Send {
    /// Whether this text frame leaves unchanged.
    fn leaves_as_it_came(&self, _reading: &Reading, _data: &str) -> bool {
        true
    }

    /// Whether the block's start has left and its end has not: then its frames may overtake held
    /// frames.
    fn is_out(&self, _slot: Slot) -> bool {
        false
    }

    /// The call that must end before another block may begin.
    fn open_call(&self) -> Option<Slot> {
        None
    }

    /// Ends that call.
    fn close_call(&mut self, _frame: &Frame<'_>, _out: &mut Vec<u8>) {}

    /// Whether a block that is not a call has left and has not ended, and a call must wait for
    /// that: some clients take the end of any block for the end of the block that began last.
    fn has_open_block(&self) -> bool {
        false
    }

    /// Ends the blocks that a call would have to wait for.
    fn close_blocks(&mut self, _frame: &Frame<'_>, _out: &mut Vec<u8>) {}

    /// Whether a frame or a body with a denied call in an unexpected place is left out. If not, the
    /// dialect itself removes that call.
    fn leaves_out(&mut self, _data: &str, _reading: &Reading) -> bool {
        true
    }

    /// Writes one frame, each part according to its fate.
    fn write(&mut self, leaving: &Leaving<'_>, out: &mut Vec<u8>) {
        let Leaving { frame, data, reading, orders } = *leaving;
        if stray_is_denied(reading, orders.fates) && self.leaves_out(data, reading) {
            return frame.leave_out(out);
        }
        self.write_frame(leaving, out);
    }

    /// Like [`Self::write`], for a frame from which no call in an unexpected place has to be removed.
    fn write_frame(&mut self, leaving: &Leaving<'_>, out: &mut Vec<u8>);

    /// The text of a frame that also contains calls, to leave before them; `None` if a frame is
    /// either text or a call.
    fn text_ahead(&self, _data: &str) -> Option<String> {
        None
    }

    /// The replacements for other content that must not be repeated, when a text frame is repeated
    /// with another text.
    fn text_alone(&self, _data: &str) -> Vec<(Span, String)> {
        Vec::new()
    }

    /// Stops the response at this frame because of a text rule: ends open blocks, writes `text`,
    /// and ends the turn as the API does when a filter stops it. A dialect without such an ending
    /// writes nothing, and the response ends with its error instead.
    fn stop_early(&mut self, _frame: &Frame<'_>, _text: &str, _out: &mut Vec<u8>) {}

    /// Adds a text to the turn, in a frame of its own in front of this one. Only dialects whose
    /// turns continue need it.
    fn add_text(&mut self, _frame: &Frame<'_>, _text: &str, _out: &mut Vec<u8>) {}

    /// The next frames are those of another answer to the same turn. `spent` is the usage of the
    /// answers before it, as JSON, and `end` is the data of the frame that ended the last of them.
    fn next_answer(&mut self, _spent: &str, _end: &str) {}

    /// Each answer before the current one as it left, in APIs whose provider stores it.
    fn shown_answers(&self) -> Vec<String> {
        Vec::new()
    }

    /// The answer was cut off. The end of an earlier one ends the turn.
    fn give_up_answer(&mut self) {}

    /// Writes a whole body; `None` if no part of it may leave.
    fn write_body(&mut self, data: &str, reading: &Reading, orders: Orders<'_>) -> Option<String> {
        if stray_is_denied(reading, orders.fates) && self.leaves_out(data, reading) {
            return None;
        }
        self.whole_body(data, reading, orders)
    }

    /// Like [`Self::write_body`], for a body from which no call in an unexpected place has to be removed.
    fn whole_body(&mut self, data: &str, reading: &Reading, orders: Orders<'_>) -> Option<String>;
}
