//! The bounded queue of held frames.

use std::collections::HashMap;

use callgate_dialect::{
    After, Assembly, BlockStep, Carrier, Departure, Lane, Order, Piece, Reading, Rest, Slot, What,
};
use callgate_json::Span;
use callgate_wire::OwnedFrame;

use crate::core::{Core, TurnState};
use crate::draft::Draft;
use crate::run::FrameRun;
use crate::slot::{CallSlot, CallState};

/// A waiting frame with its content.
#[derive(Debug)]
pub(crate) struct QueuedFrame {
    pub(crate) bytes: QueuedBytes,
    pub(crate) reading: Reading,
    pub(crate) departure: Departure,
    /// What it may overtake: less than the reader found, if calls of several lanes are mixed.
    pub(crate) order: Order,
    /// The parts that are left out whatever is decided about their call.
    pub(crate) refused: Vec<usize>,
}

#[derive(Debug)]
pub(crate) enum QueuedBytes {
    Frame(OwnedFrame),
    /// Several frames that belong to the same call and mean the same, except for their arguments.
    Run(FrameRun),
    Body(String),
}

impl QueuedFrame {
    /// A frame that leaves as it came, as long as nothing else is ordered.
    pub(crate) fn new(bytes: QueuedBytes, reading: Reading) -> Self {
        let order = reading.order;
        Self { bytes, reading, departure: Departure::default(), order, refused: Vec::new() }
    }

    /// Its text, if that has not left.
    pub(crate) fn text(&self) -> Option<Span> {
        self.reading.text.filter(|_| self.departure.rest != Rest::Calls)
    }

    /// Everything but the end of the turn has left.
    pub(crate) fn into_end(self) -> Self {
        let (reading, departure) = (self.reading.into_end(), Departure::of_end());
        Self { reading, departure, refused: Vec::new(), ..self }
    }

    /// Its data, if it is text.
    pub(crate) fn data(&self) -> &str {
        match &self.bytes {
            QueuedBytes::Body(body) => body,
            QueuedBytes::Frame(frame) => frame.text().unwrap_or_default(),
            QueuedBytes::Run(run) => run.first_data(),
        }
    }

    pub(crate) fn size(&self) -> usize {
        match &self.bytes {
            QueuedBytes::Frame(frame) => frame.bytes().len(),
            QueuedBytes::Run(run) => run.size(),
            QueuedBytes::Body(body) => body.len(),
        }
    }
}

/// The waiting frames.
#[derive(Debug, Default)]
pub(crate) struct FrameQueue {
    /// In order of arrival.
    frames: Vec<QueuedFrame>,
    /// How many bytes they have.
    bytes: usize,
    /// How many frames were already checked for overtaking.
    checked: usize,
    /// What those frames block.
    blocked: Blocked,
    /// It may contain a frame that is allowed to overtake another.
    may_reorder: bool,
    /// A call was settled or has ended since it was last checked.
    dirty: bool,
}

impl FrameQueue {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// How many bytes are waiting.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether a call was settled or has ended, so that frames may be able to leave.
    #[inline]
    pub(crate) fn is_dirty(&self) -> bool {
        self.dirty
    }

    pub(crate) fn mark_dirty(&mut self) {
        self.dirty = true;
    }

    /// Frames may overtake others the next time no more input is available.
    pub(crate) fn allow_overtaking(&mut self) {
        self.may_reorder = true;
    }

    /// Drops all frames.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The run of frames at its end that belong to this block.
    pub(crate) fn last_run(&mut self, block: Option<Slot>) -> Option<&mut FrameRun> {
        let last = self.frames.last_mut()?;
        let own = last.reading.block.map(|block| block.slot);
        match &mut last.bytes {
            QueuedBytes::Run(run) if own.is_some() && own == block => Some(run),
            _ => None,
        }
    }

    /// A frame of this many bytes was added to a run in it.
    pub(crate) fn grew(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    /// Takes out the frames that came since it was last checked.
    fn split_unchecked(&mut self) -> Vec<QueuedFrame> {
        self.frames.split_off(self.checked.min(self.frames.len()))
    }
}

/// Which frames may overtake a held call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReleaseOrder {
    /// None: frames that came together leave in the order they came, byte for byte.
    InOrder,
    /// Those that the dialect allows: no more input is available, and no frame should wait without
    /// need.
    Overtake,
}

impl Core {
    /// Called when no more input is available. Frames that may overtake a held call do so now; and
    /// if a verdict is pending, text in the frame that holds the call leaves before the call.
    pub(crate) fn overtake_when_idle(&mut self, out: &mut Draft) {
        if self.queue.is_empty() || !std::mem::take(&mut self.queue.may_reorder) {
            return;
        }
        self.overtake(out);
        if self.queue.dirty {
            self.flush(ReleaseOrder::InOrder, out);
        }
        // The text of a later answer follows its notices, which leave with a frame.
        if self.is_waiting() && !self.is_later_answer() {
            self.text_ahead(out);
        }
    }

    fn text_ahead(&mut self, out: &mut Draft) {
        let mut ahead = Vec::new();
        for entry in &mut self.queue.frames {
            let QueuedBytes::Frame(frame) = &entry.bytes else { continue };
            let Some(text) = entry.text() else { continue };
            let Some(data) = frame.text() else { continue };
            // A call in an unexpected place would leave with the text.
            let has_stray = entry.reading.parts.iter().any(
                |part| matches!(&part.what, What::Piece(piece) if piece.carrier == Carrier::Stray),
            );
            if entry.reading.parts.is_empty() || has_stray || entry.reading.after == After::Failure
            {
                continue;
            }
            if let Some(chunk) = self.writer.text_ahead(&entry.departure.masked(data)) {
                frame.rewrite(None, chunk.as_bytes(), out.buffer());
                ahead.push((
                    entry.reading.text_lane,
                    entry.departure.leaving(text, data).to_owned(),
                ));
                entry.departure.sent_text(text, &entry.reading);
            }
        }
        for (lane, text) in ahead {
            self.note_text(lane, &text);
        }
    }
}

impl Core {
    pub(super) fn hold(&mut self, entry: QueuedFrame) {
        let order = entry.order;
        let first = self.queue.frames.first().map_or(order, |first| first.order);
        let begun = entry.reading.block.is_some_and(|block| self.writer.is_out(block.slot));
        self.queue.may_reorder |= order == Order::Free || order != first || begun;
        if let Some(call) = entry.reading.block.and_then(|block| self.call_mut(block.slot)) {
            call.waiting += 1;
        }
        self.queue.bytes += entry.size();
        self.queue.frames.push(entry);
    }

    /// Whether every call in the frame is settled, and the previous block has ended.
    pub(super) fn is_ready(&mut self, entry: &QueuedFrame, out: &mut Draft) -> bool {
        let settled = entry.reading.parts.iter().all(|part| match &part.what {
            What::Piece(Piece { slot, .. }) | What::End(slot) => {
                self.call(*slot).is_none_or(|call| {
                    call.is_settled() && !(call.is_behind_other_lanes() && self.a_call_streams())
                })
            }
            _ => true,
        });
        if !settled {
            return false;
        }
        let opens = entry.reading.block.is_some_and(|block| block.does == BlockStep::Open);
        !opens || self.blocks_before_have_ended(entry, out)
    }

    /// Whether a block may begin: the previous call has ended and, if this block is a call itself,
    /// so has every other block. Ends those whose own end will no longer come.
    fn blocks_before_have_ended(&mut self, entry: &QueuedFrame, out: &mut Draft) -> bool {
        let QueuedBytes::Frame(frame) = &entry.bytes else { return true };
        let call_before = self.writer.open_call();
        let waits = |call: &CallSlot| !call.has_ended() || call.waiting > 0;
        if call_before.and_then(|slot| self.call(slot)).is_some_and(waits) {
            return false;
        }
        let meets_open_block = self.writer.has_open_block() && begins_call(entry);
        if meets_open_block && self.turn == TurnState::Open {
            return false;
        }
        if call_before.is_some() {
            self.output.end_dangling(out);
            self.writer.close_call(&frame.as_frame(), out.buffer());
        }
        if meets_open_block {
            self.output.end_dangling(out);
            self.writer.close_blocks(&frame.as_frame(), out.buffer());
        }
        true
    }

    /// Releases every frame that may leave.
    pub(crate) fn flush(&mut self, pace: ReleaseOrder, out: &mut Draft) {
        self.queue.dirty = true;
        while std::mem::take(&mut self.queue.dirty) {
            let frames = std::mem::take(&mut self.queue.frames);
            self.walk(frames, pace, Blocked::default(), out);
            if self.queue.is_empty() {
                self.queue.dirty = false;
            }
        }
        (self.queue.checked, self.queue.blocked) = (0, Blocked::default());
    }

    /// Releases frames that may overtake, among those that came since the queue was last checked:
    /// all earlier ones have to wait, and nothing has changed since.
    pub(crate) fn overtake(&mut self, out: &mut Draft) {
        let blocked = std::mem::take(&mut self.queue.blocked);
        let new = self.queue.split_unchecked();
        self.queue.blocked = self.walk(new, ReleaseOrder::Overtake, blocked, out);
        self.queue.checked = self.queue.frames.len();
    }

    /// Goes through waiting frames, releases those that may leave and queues the others again.
    /// Returns what the others block.
    fn walk(
        &mut self,
        frames: Vec<QueuedFrame>,
        pace: ReleaseOrder,
        mut blocked: Blocked,
        out: &mut Draft,
    ) -> Blocked {
        let group_ends = self.group_ends(&frames);
        let mut together = FrameGroup::default();
        for (place, entry) in frames.into_iter().enumerate() {
            // A block that has begun to leave continues, whatever is waiting.
            let begun = self.has_begun(&entry.reading) && !blocked.has_part_of(&entry.reading);
            let free = begun || !blocked.holds(entry.order, pace);
            if !free || !self.is_ready(&entry, out) {
                self.wait_again(together.take(), &mut blocked);
                self.wait_again([entry], &mut blocked);
                continue;
            }
            let last = group_ends.get(place).copied().unwrap_or(0);
            if last <= place && !together.order.holds(entry.order, pace) {
                self.leave_queue(entry, out);
                continue;
            }
            together.join(entry, last);
            if place >= together.until {
                for entry in together.take() {
                    self.leave_queue(entry, out);
                }
            }
        }
        self.wait_again(together.take(), &mut blocked);
        blocked
    }

    /// Queues frames again that cannot leave yet.
    fn wait_again(&mut self, frames: impl IntoIterator<Item = QueuedFrame>, blocked: &mut Blocked) {
        for entry in frames {
            blocked.add(&entry);
            self.queue.frames.push(entry);
        }
    }

    /// For each frame the index of the last one that must leave together with it, so that an error
    /// in between leaves no client with a call that was never made. Empty if there are no such
    /// frames.
    fn group_ends(&self, frames: &[QueuedFrame]) -> Vec<usize> {
        if self.api().facts().blocks_continue || !frames.iter().any(begins_call) {
            return Vec::new();
        }
        let mut group_ends = vec![0; frames.len()];
        let mut opened: HashMap<Slot, (usize, Unit)> = HashMap::new();
        for (place, entry) in frames.iter().enumerate() {
            for (slot, piece) in calls_of(entry) {
                if opens_call(piece) {
                    opened.insert(slot, (place, self.unit(slot)));
                }
                let Some((start, unit)) = opened.get_mut(&slot) else { continue };
                if *unit == Unit::Frame {
                    continue;
                }
                if let Some(group_ends) = group_ends.get_mut(*start) {
                    *group_ends = place.max(*group_ends);
                }
                if *unit == Unit::Beginning && piece.is_some_and(Assembly::brings_arguments) {
                    *unit = Unit::Frame;
                }
            }
        }
        group_ends
    }

    /// How much of a waiting call leaves at once.
    fn unit(&self, slot: Slot) -> Unit {
        let Some(call) = self.call(slot) else { return Unit::Frame };
        match call.state() {
            CallState::Allowed if !call.leaves_whole() => Unit::Call,
            // Some clients take an interrupted call for one without arguments.
            CallState::Streaming if self.api().facts().arguments_end_a_call => Unit::Beginning,
            _ => Unit::Frame,
        }
    }

    /// Drops the calls that were allowed and have not left.
    pub(crate) fn drop_queued(&mut self, why: &'static str) {
        let opened = self.queue.frames.iter().flat_map(calls_of);
        let opened = opened.filter(|(_, piece)| opens_call(*piece)).map(|(slot, _)| slot);
        let allowed = |slot: &Slot| {
            self.call(*slot).is_some_and(|call| matches!(call.state(), CallState::Allowed))
        };
        for slot in opened.filter(allowed).collect::<Vec<_>>() {
            self.drop_call(slot, why);
        }
    }

    /// Whether the frame continues a block that has begun to leave.
    pub(super) fn has_begun(&self, reading: &Reading) -> bool {
        reading
            .block
            .is_some_and(|block| block.does != BlockStep::Open && self.writer.is_out(block.slot))
    }

    pub(super) fn leave_queue(&mut self, entry: QueuedFrame, out: &mut Draft) {
        // Another frame may be waiting for this one.
        self.queue.dirty |= closes(&entry.reading);
        self.queue.bytes -= entry.size();
        if let Some(call) = entry.reading.block.and_then(|block| self.call_mut(block.slot)) {
            call.waiting -= 1;
        }
        self.emit(entry, out);
    }
}

/// How much of a call leaves at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// One frame: the call streams, or is removed, or its first frame contains all of it.
    Frame,
    /// Its frames up to the first arguments.
    Beginning,
    /// All of its frames: it was held, and leaves as a whole or not at all.
    Call,
}

/// Frames that may leave, but only together with later ones.
#[derive(Debug, Default)]
struct FrameGroup {
    frames: Vec<QueuedFrame>,
    /// What they block.
    order: Blocked,
    /// The index of the last frame that must leave with them.
    until: usize,
}

impl FrameGroup {
    fn join(&mut self, entry: QueuedFrame, last: usize) {
        self.until = self.until.max(last);
        self.order.add(&entry);
        self.frames.push(entry);
    }

    /// Takes the frames, to release or to queue them.
    fn take(&mut self) -> Vec<QueuedFrame> {
        std::mem::take(self).frames
    }
}

/// The calls that a frame adds to, with the piece if there is one. A copy of a whole call adds
/// nothing, unless it ends the call's own block.
fn calls_of(entry: &QueuedFrame) -> impl Iterator<Item = (Slot, Option<&Piece>)> {
    let block = entry.reading.block.map(|block| block.slot);
    entry.reading.parts.iter().filter_map(move |part| match &part.what {
        What::Piece(piece) if piece.is_copy() && block != Some(piece.slot) => None,
        What::Piece(piece) => Some((piece.slot, Some(piece))),
        What::End(slot) => Some((*slot, None)),
        What::Finish(_) | What::Text | What::Signature => None,
    })
}

fn begins_call(entry: &QueuedFrame) -> bool {
    calls_of(entry).any(|(_, piece)| opens_call(piece))
}

fn opens_call(piece: Option<&Piece>) -> bool {
    piece.is_some_and(|piece| piece.opens())
}

/// Whether a frame ends a block, for which others may have waited.
fn closes(reading: &Reading) -> bool {
    reading.block.is_some_and(|block| block.does == BlockStep::Close)
}

/// The lanes in which a frame is held: later frames must wait.
#[derive(Debug, Default)]
pub(crate) struct Blocked {
    stream: bool,
    lanes: Vec<Lane>,
    /// The blocks of which a part is held.
    blocks: Vec<Slot>,
}

impl Blocked {
    pub(crate) fn holds(&self, order: Order, pace: ReleaseOrder) -> bool {
        let any = self.stream || !self.lanes.is_empty();
        match (pace, order) {
            (ReleaseOrder::InOrder, _) | (_, Order::Stream) => any,
            (ReleaseOrder::Overtake, Order::Free) => false,
            (ReleaseOrder::Overtake, Order::Lane(lane)) => {
                self.stream || self.lanes.contains(&lane)
            }
        }
    }

    /// Whether a part of the frame's block is held: then no later part of it may leave first.
    fn has_part_of(&self, reading: &Reading) -> bool {
        reading.block.is_some_and(|block| self.blocks.contains(&block.slot))
    }

    fn add(&mut self, entry: &QueuedFrame) {
        let block = entry.reading.block.map(|block| block.slot);
        self.blocks.extend(block.filter(|slot| !self.blocks.contains(slot)));
        match entry.order {
            Order::Free => {}
            Order::Lane(lane) if self.lanes.contains(&lane) => {}
            Order::Lane(lane) => self.lanes.push(lane),
            Order::Stream => self.stream = true,
        }
    }
}
