//! Frames that only add to a call's arguments: most frames of a call, and all alike.
//!
//! A frame that differs from the one before only in its piece of the arguments is not read and
//! queued by itself. Its piece goes to the call, and its bytes to the run of the frames before it,
//! which share one reading. A run that may leave as it came leaves as one slice.

use callgate_dialect::{Added, Blame, Fate, PieceFrame, Reading};
use callgate_wire::{Frame, Outline};

use crate::core::{Core, TurnState};
use crate::draft::Draft;
use crate::queue::{QueuedBytes, QueuedFrame};
use crate::rounds::Shown;
use crate::slot::{CallSlot, CallState};

/// Frames in a row that differ only in their piece of one call's arguments.
#[derive(Debug, Default)]
pub(crate) struct FrameRun {
    /// The bytes of all frames.
    bytes: Vec<u8>,
    /// Where each frame ends, and what is known about it. A run that leaves changed is written
    /// frame by frame.
    frames: Vec<(usize, Outline)>,
}

impl FrameRun {
    fn push(&mut self, frame: &Frame<'_>, outline: Outline) {
        self.bytes.extend_from_slice(frame.bytes());
        self.frames.push((self.bytes.len(), outline));
    }

    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The data of its first frame.
    pub(crate) fn first_data(&self) -> &str {
        self.frames().next().and_then(|frame| frame.text()).unwrap_or_default()
    }

    fn frames(&self) -> impl Iterator<Item = Frame<'_>> {
        let starts = std::iter::once(0).chain(self.frames.iter().map(|(end, _)| *end));
        starts.zip(&self.frames).map(|(start, (end, outline))| {
            outline.over(self.bytes.get(start..*end).unwrap_or_default())
        })
    }
}

impl Core {
    /// Takes a frame that adds to a call's arguments and differs from the frame before only in
    /// that. Returns `false`, and has done nothing, if that is not all there is to the frame.
    #[inline]
    pub(crate) fn took_piece(&mut self, frame: &Frame<'_>, data: &str, out: &mut Draft) -> bool {
        match self.reader.read_piece(frame.event(), data) {
            Some(piece) => self.take_piece(frame, data, &piece, out),
            None => false,
        }
    }

    fn take_piece(
        &mut self,
        frame: &Frame<'_>,
        data: &str,
        piece: &PieceFrame<'_>,
        out: &mut Draft,
    ) -> bool {
        let slot = piece.slot;
        let plain = frame.is_plain() && self.dialect.reads_alike(frame);
        let usual = self.texts.are_absent()
            && !self.calls.are_in_several_lanes()
            && self.turn != TurnState::FailedInsideCall;
        let Some(outline) = frame.outline().filter(|_| plain && usual) else { return false };
        let Some(call) = self.call(slot) else { return false };
        if call.has_ended() || !call.assembly.takes_fragments() {
            return false;
        }
        match call.state() {
            CallState::Streaming if !self.streams_as_it_came(piece, data) => return false,
            CallState::Streaming | CallState::Held => {}
            _ => return false,
        }
        if !self.add_fragment(piece) {
            self.output.end_dangling(out);
            frame.keep(out.buffer());
            return true;
        }
        self.queue_piece(frame, data, outline, piece);
        if self.queue.bytes() > self.limits().held {
            self.fail(Blame::Refused, "more bytes are held than the limit");
        }
        true
    }

    /// Whether a piece of a call that streams would leave unchanged, and nothing is before it.
    fn streams_as_it_came(&self, piece: &PieceFrame<'_>, data: &str) -> bool {
        let reading = Reading { order: piece.order, block: piece.block, ..Reading::default() };
        self.queue.is_empty()
            && self.rounds.is_none()
            && self.writer.leaves_as_it_came(&reading, data)
    }

    /// Adds a piece to its call. Returns whether its frame has to wait: the call is held, or is
    /// complete with this piece.
    fn add_fragment(&mut self, piece: &PieceFrame<'_>) -> bool {
        let limit = self.limits().arguments;
        let by_arguments = self.api().facts().arguments_end_a_call;
        let add = |call: &mut CallSlot| call.assembly.add_fragment(piece.raw, limit);
        let complete = self.calls.change(piece.slot, add) == Some(Added::Completes);
        let Some(call) = self.call(piece.slot) else { return true };
        let streams = matches!(call.state(), CallState::Streaming);
        // A call that leaves in another form needs all of its frames.
        if complete && (streams || by_arguments || !call.leaves_whole()) {
            self.ask(piece.slot);
        }
        self.check_stored();
        complete || !streams
    }

    /// Queues a frame: in the run before it, or as the first of a new one.
    fn queue_piece(
        &mut self,
        frame: &Frame<'_>,
        data: &str,
        outline: Outline,
        piece: &PieceFrame<'_>,
    ) {
        if let Some(run) = self.queue.last_run(piece.block.map(|block| block.slot)) {
            // Whatever the run waits for, this frame waits for too, so nothing needs to be checked
            // again.
            run.push(frame, outline);
            self.queue.grew(frame.bytes().len());
            return;
        }
        let mut run = FrameRun::default();
        run.push(frame, outline);
        match self.reader.read(frame.event(), data) {
            Ok(reading) => {
                self.hold(QueuedFrame::new(QueuedBytes::Run(run), reading));
            }
            // It was read a moment ago. If that is not so, nothing of the call may leave.
            Err(why) => self.fail(Blame::Refused, &why.to_string()),
        }
    }

    /// Writes the frames of a run. They are parts of the same call, so all have the same fate.
    pub(crate) fn write_run(
        &mut self,
        run: &FrameRun,
        entry: &QueuedFrame,
        shown: Shown,
        out: &mut Draft,
    ) {
        let Some(first) = run.frames().next() else { return };
        let data = first.text().unwrap_or_default();
        let fates = self.fates(entry, data, shown);
        self.write_announced(out);
        // The frames are equal up to the piece, and the number of the block comes before it.
        let as_it_came = self.writer.leaves_as_it_came(&entry.reading, data);
        if as_it_came && matches!(fates.as_slice(), [Fate::Keep]) {
            return out.buffer().extend_from_slice(&run.bytes);
        }
        for frame in run.frames() {
            self.write_parts(&frame, frame.text().unwrap_or_default(), entry, &fates, out);
        }
    }
}
