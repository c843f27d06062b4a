//! What may reach a client.
//!
//! Everything that a step writes goes into a [`Draft`]: frames as they came, edited frames, events
//! of the gate itself. Some of its text may not be decided yet. A draft becomes bytes in one place,
//! [`Core::hand_out`], and only with the proof that the text rules have seen all of it. They see what
//! was read: a frame that `malformed: pass` lets through is not read, so no rule sees its text.

use callgate_wire::{Frame, Framing, Style};

use crate::core::Core;
use crate::text::Scanned;

/// The output of one step, which may not leave yet. It continues the driver's buffer.
#[derive(Debug)]
pub(crate) struct Draft {
    bytes: Vec<u8>,
    /// Where the output of this step begins.
    start: usize,
}

impl Draft {
    /// Takes over the driver's buffer. [`Core::hand_out`] returns it.
    pub(crate) fn continuing(out: &mut Vec<u8>) -> Self {
        Self { start: out.len(), bytes: std::mem::take(out) }
    }

    /// The buffer to write to. What is written stays in the draft.
    #[inline]
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Adds bytes, without a copy if they are the first.
    pub(crate) fn append(&mut self, mut bytes: Vec<u8>) {
        match self.bytes.is_empty() {
            true => self.bytes = bytes,
            false => self.bytes.append(&mut bytes),
        }
    }

    /// Takes back everything from this offset on, or all of this step.
    pub(crate) fn take_back(&mut self, from: Option<usize>) {
        self.bytes.truncate(from.unwrap_or(self.start).max(self.start));
    }

    /// Joins it to what has left before, and returns it.
    fn into_bytes(mut self, _: Scanned, style: &mut Style) -> Vec<u8> {
        style.join(self.start, &mut self.bytes);
        self.bytes
    }
}

/// What has left.
#[derive(Debug)]
pub(crate) struct Output {
    /// How the upstream formats its events, for the events that the gate adds.
    style: Style,
    last_event: LastEvent,
    extent: Emitted,
    /// Some bytes have left that no reader has read.
    passed_any: bool,
}

/// How much has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Emitted {
    Nothing,
    /// One error in JSON, and nothing else.
    OnlyAnError,
    More,
}

/// The last event that has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastEvent {
    Ended,
    /// It lacks the blank line that ends it.
    Dangling,
}

impl Output {
    pub(crate) fn new(framing: Framing) -> Self {
        let style = Style::default_of(framing);
        Self { style, last_event: LastEvent::Ended, extent: Emitted::Nothing, passed_any: false }
    }

    /// Formats added events as this framing does.
    pub(crate) fn use_framing(&mut self, framing: Framing) {
        self.style = Style::default_of(framing);
    }

    pub(crate) fn style(&self) -> &Style {
        &self.style
    }

    pub(crate) fn has_passed_any(&self) -> bool {
        self.passed_any
    }

    /// An error in JSON is written next, at the end of this draft.
    pub(crate) fn writes_error(&mut self, before: &Draft) {
        if self.extent == Emitted::Nothing && before.bytes.is_empty() {
            self.extent = Emitted::OnlyAnError;
        }
    }

    /// Whether one error in JSON is all that has left.
    pub(crate) fn is_only_an_error(&self) -> bool {
        self.extent == Emitted::OnlyAnError
    }

    /// Bytes leave that no reader has read.
    pub(crate) fn note_unread(&mut self) {
        self.passed_any = true;
    }

    /// Formats added events as this frame is.
    #[inline]
    pub(crate) fn follow(&mut self, frame: &Frame<'_>) {
        self.style.follow(frame.style());
    }

    /// Writes a frame as it came.
    #[inline]
    pub(crate) fn write_as_it_came(&mut self, frame: &Frame<'_>, out: &mut Draft) {
        let ended = frame.terminated();
        self.note_written(if ended { LastEvent::Ended } else { LastEvent::Dangling });
        frame.keep(out.buffer());
    }

    /// An event was written.
    #[inline]
    pub(crate) fn note_written(&mut self, event: LastEvent) {
        self.last_event = event;
    }

    /// Ends the event that left without its blank line, before anything follows it.
    #[inline]
    pub(crate) fn end_dangling(&mut self, out: &mut Draft) {
        if self.last_event == LastEvent::Dangling {
            self.last_event = LastEvent::Ended;
            self.style.end_event(out.buffer());
        }
    }
}

impl Core {
    /// Turns a draft into bytes that may leave. There is no other way.
    #[inline]
    pub(crate) fn hand_out(&mut self, mut draft: Draft) -> Vec<u8> {
        let scanned = self.scan_all(&mut draft);
        if self.output.extent == Emitted::Nothing && !draft.bytes.is_empty() {
            self.output.extent = Emitted::More;
        }
        draft.into_bytes(scanned, &mut self.output.style)
    }
}
