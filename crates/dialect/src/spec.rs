//! What every dialect brings: how it is read, how it is written, and the few facts the gate asks.

use std::fmt::Debug;

use callgate_call::json::{Error, Span};
use callgate_wire::{Forms, Frame};

use crate::aside::Names;
use crate::event::{Canonical, Fate, Reading, Slot, Unreadable};
use crate::request::{RemovedTurn, Restored, Seen};
use crate::stray::{Form, Quiet};
use crate::{Blame, Dialect, OwnEvent};

/// One dialect.
#[expect(clippy::struct_excessive_bools, reason = "facts about an API, each true or not")]
pub(crate) struct Speaker {
    /// The word used on the command line and in records.
    pub(crate) word: &'static str,
    /// The forms in which responses come.
    pub(crate) forms: Forms,
    /// A reader at the start of a response of at most so many calls.
    pub(crate) reader: fn(usize) -> Box<dyn Read>,
    /// A writer at the start of a response.
    pub(crate) writer: fn() -> Box<dyn Write>,
    /// See [`Dialect::notice_stands_alone`](crate::Dialect::notice_stands_alone).
    pub(crate) notice_stands_alone: bool,
    /// See [`Dialect::arguments_end_a_call`](crate::Dialect::arguments_end_a_call).
    pub(crate) arguments_end_a_call: bool,
    /// See [`Dialect::name_may_grow`](crate::Dialect::name_may_grow).
    pub(crate) name_may_grow: bool,
    /// See [`Dialect::counts_blocks`](crate::Dialect::counts_blocks).
    pub(crate) counts_blocks: bool,
    /// See [`Dialect::text_follows_calls`](crate::Dialect::text_follows_calls).
    pub(crate) text_follows_calls: bool,
    /// See [`Dialect::blocks_go_on`](crate::Dialect::blocks_go_on).
    pub(crate) blocks_go_on: bool,
    /// The events that end a stream with an error.
    pub(crate) error_events: fn(Blame, &str) -> Vec<OwnEvent>,
    /// The body that answers with an error.
    pub(crate) error_body: fn(Blame, &str) -> String,
    /// The body that answers instead of one a guardrail stopped, with this text.
    pub(crate) blocked_body: fn(&str) -> String,
    /// A removed call in the provider's own words.
    pub(crate) original: fn(Option<&str>, &Canonical) -> String,
    /// Puts removed calls back into a request.
    pub(crate) restore: fn(&str, &[RemovedTurn]) -> Result<Restored, Error>,
    /// The assistant's messages of a request.
    pub(crate) seen: for<'a> fn(&'a str) -> Result<Vec<Seen<'a>>, Error>,
}

/// Reads the frames of one response.
pub(crate) trait Read: Debug + Send {
    /// Reads the data of one event.
    fn read(&mut self, event: Option<&[u8]>, data: &str) -> Result<Reading, Unreadable>;

    /// Reads a whole body.
    fn read_body(&mut self, data: &str) -> Result<Reading, Unreadable>;

    /// Whether anything was read that is of this dialect.
    fn has_spoken(&self) -> bool;

    /// See [`Reader::api`](crate::Reader::api).
    fn api(&self) -> Option<Dialect> {
        None
    }

    /// The places of a frame or a body that are not looked through for calls the reader did not
    /// take. `None` where it looks for them itself.
    fn quiet(&self, _form: Form) -> Option<Quiet> {
        None
    }

    /// The slot of a call in a place that is not for calls.
    fn stray_slot(&mut self) -> Result<Slot, Unreadable> {
        Err(Unreadable::TooManyCalls)
    }

    /// See [`Reader::texts`](crate::Reader::texts).
    fn texts(&self, _data: &str) -> Vec<Span> {
        Vec::new()
    }

    /// Which names its responses have for texts beside the answer.
    fn names(&self) -> Names {
        Names::Usual
    }

    /// See [`Reader::contain`](crate::Reader::contain).
    fn contain(&mut self) -> bool {
        false
    }
}

/// Writes the frames of one response.
pub(crate) trait Write: Debug + Send {
    /// Whether this text frame leaves exactly as it came.
    fn leaves_as_it_came(&self, _reading: &Reading, _data: &str) -> bool {
        true
    }

    /// Whether the block's start has left and its end has not.
    fn is_out(&self, _slot: Slot) -> bool {
        false
    }

    /// The call that must end before another block may begin.
    fn open_call(&self) -> Option<Slot> {
        None
    }

    /// Ends that call.
    fn close_call(&mut self, _frame: &Frame<'_>, _out: &mut Vec<u8>) {}

    /// Whether a block that is no call has left and has not ended. A call begins behind its end:
    /// some clients take the end of any block for the end of the block that began last.
    fn has_open_block(&self) -> bool {
        false
    }

    /// Ends those blocks.
    fn close_blocks(&mut self, _frame: &Frame<'_>, _out: &mut Vec<u8>) {}

    /// Writes one frame, each part by its fate.
    fn write(
        &mut self,
        frame: &Frame<'_>,
        data: &str,
        reading: &Reading,
        fates: &[Fate],
        out: &mut Vec<u8>,
    );

    /// The text of a frame that also holds calls, to leave ahead of them; where a frame is text or
    /// a call and never both, there is none.
    fn text_ahead(&self, _data: &str) -> Option<String> {
        None
    }

    /// Where other things stand in a frame of text that must not be said twice: what takes their
    /// place when the frame leaves once more with another text.
    fn text_alone(&self, _data: &str) -> Vec<(Span, String)> {
        Vec::new()
    }

    /// A guardrail stops the response at this frame: ends what is open, says `text`, and ends the
    /// turn as the API does where a filter stopped it. A dialect that has no such ending writes
    /// nothing, and the response ends with its error instead.
    fn cut_short(&mut self, _frame: &Frame<'_>, _text: &str, _out: &mut Vec<u8>) {}

    /// Writes a whole body; `None` if nothing of it may leave.
    fn write_body(&mut self, data: &str, reading: &Reading, fates: &[Fate]) -> Option<String>;
}
