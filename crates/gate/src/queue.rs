//! Frames kept back, in order, bounded.

use std::collections::HashMap;

use callgate_dialect::{Assembly, BlockStep, Carrier, Lane, Order, Piece, Reading, Slot, What};
use callgate_wire::OwnedFrame;

use crate::core::Core;
use crate::slot::{CallSlot, State};

/// A frame that waits, with what it holds.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) bytes: Held,
    pub(crate) reading: Reading,
    /// The parts that are left out whatever becomes of their call.
    pub(crate) refused: Vec<usize>,
}

#[derive(Debug)]
pub(crate) enum Held {
    Frame(OwnedFrame),
    Body(String),
}

impl Entry {
    pub(crate) fn size(&self) -> usize {
        match &self.bytes {
            Held::Frame(frame) => frame.bytes().len(),
            Held::Body(body) => body.len(),
        }
    }
}

/// Who may overtake a held call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Nobody: what came in one go leaves in the order it came, to the byte.
    InOrder,
    /// What the dialect lets: the input has run dry, and nobody must wait who need not.
    Overtake,
}

impl Core {
    /// Nothing more has come. What may overtake a held call does so now; and where a verdict is
    /// awaited, text in the very frame that holds the call leaves ahead of it.
    pub(crate) fn relax(&mut self, out: &mut Vec<u8>) {
        if self.queue.is_empty() || !std::mem::take(&mut self.restless) {
            return;
        }
        self.overtake(out);
        if self.moved {
            self.flush(Pace::InOrder, out);
        }
        if self.is_waiting() {
            self.text_ahead(out);
        }
    }

    fn text_ahead(&mut self, out: &mut Vec<u8>) {
        let mut ahead = Vec::new();
        for entry in &mut self.queue {
            let Held::Frame(frame) = &entry.bytes else { continue };
            let (Some(text), false) = (entry.reading.text, entry.reading.said) else { continue };
            let data = frame.data().and_then(|data| std::str::from_utf8(data).ok());
            let Some(data) = data else { continue };
            // A call in a place that is not for calls would leave with the text.
            let has_stray = entry.reading.parts.iter().any(
                |part| matches!(&part.what, What::Piece(piece) if piece.carrier == Carrier::Stray),
            );
            if entry.reading.parts.is_empty() || has_stray || entry.reading.failure {
                continue;
            }
            if let Some(chunk) = self.writer.text_ahead(&entry.reading.masked(data)) {
                frame.rewrite(None, chunk.as_bytes(), out);
                ahead.push((entry.reading.text_lane, entry.reading.leaving(text, data).to_owned()));
                entry.reading.said = true;
                entry.reading.text = None;
                entry.reading.forget_texts(text);
            }
        }
        for (lane, text) in ahead {
            self.say(lane, &text);
        }
    }
}

impl Core {
    pub(super) fn hold(&mut self, entry: Entry) {
        let order = entry.reading.order;
        let first = self.queue.first().map_or(order, |first| first.reading.order);
        let begun = entry.reading.block.is_some_and(|block| self.writer.is_out(block.slot));
        self.restless |= order == Order::Free || order != first || begun;
        if let Some(call) = entry.reading.block.and_then(|block| self.call_mut(block.slot)) {
            call.waiting += 1;
        }
        self.queued += entry.size();
        self.queue.push(entry);
    }

    /// Whether every call in the frame is settled, and the block before it has ended.
    pub(super) fn is_ready(&mut self, entry: &Entry, out: &mut Vec<u8>) -> bool {
        let settled = entry.reading.parts.iter().all(|part| match &part.what {
            What::Piece(Piece { slot, .. }) | What::End(slot) => {
                self.call(*slot).is_none_or(|call| {
                    call.is_settled() && !(call.second_lane && self.a_call_streams())
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

    /// Whether a block may begin: the call before it has ended and, where it is a call itself, so
    /// has every other block. Those whose own end will not come any more are ended here.
    fn blocks_before_have_ended(&mut self, entry: &Entry, out: &mut Vec<u8>) -> bool {
        let Held::Frame(frame) = &entry.bytes else { return true };
        let call_before = self.writer.open_call();
        let waits = |call: &CallSlot| !call.ended || call.waiting > 0;
        if call_before.and_then(|slot| self.call(slot)).is_some_and(waits) {
            return false;
        }
        let meets_open_block = self.writer.has_open_block() && begins_call(entry);
        if meets_open_block && !self.turn_over {
            return false;
        }
        if call_before.is_some() {
            self.end_dangling(out);
            self.writer.close_call(&frame.as_frame(), out);
        }
        if meets_open_block {
            self.end_dangling(out);
            self.writer.close_blocks(&frame.as_frame(), out);
        }
        true
    }

    /// Lets go what may leave.
    pub(crate) fn flush(&mut self, pace: Pace, out: &mut Vec<u8>) {
        self.moved = true;
        while std::mem::take(&mut self.moved) {
            let queue = std::mem::take(&mut self.queue);
            self.walk(queue, pace, Blocked::default(), out);
            if self.queue.is_empty() {
                self.moved = false;
            }
        }
        (self.looked_at, self.blocked) = (0, Blocked::default());
    }

    /// Lets go what may overtake, among what came since the queue was last looked through: all
    /// before it was found to wait, and nothing has moved since.
    pub(crate) fn overtake(&mut self, out: &mut Vec<u8>) {
        let blocked = std::mem::take(&mut self.blocked);
        let new = self.queue.split_off(self.looked_at.min(self.queue.len()));
        self.blocked = self.walk(new, Pace::Overtake, blocked, out);
        self.looked_at = self.queue.len();
    }

    /// Looks through frames that wait, lets go those that may leave and queues the others again.
    /// Answers what must wait behind them.
    fn walk(
        &mut self,
        frames: Vec<Entry>,
        pace: Pace,
        mut blocked: Blocked,
        out: &mut Vec<u8>,
    ) -> Blocked {
        let reach = self.reach(&frames);
        let mut together = Together::default();
        for (place, entry) in frames.into_iter().enumerate() {
            // A block that has begun to leave goes on, whatever waits behind it.
            let begun = self.has_begun(&entry.reading) && !blocked.has_part_of(&entry.reading);
            let free = begun || !blocked.holds(entry.reading.order, pace);
            if !free || !self.is_ready(&entry, out) {
                self.wait_again(together.take(), &mut blocked);
                self.wait_again(vec![entry], &mut blocked);
                continue;
            }
            let last = reach.get(place).copied().unwrap_or(0);
            if last <= place && !together.order.holds(entry.reading.order, pace) {
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

    /// Queues frames again that were looked at, and cannot leave yet.
    fn wait_again(&mut self, frames: Vec<Entry>, blocked: &mut Blocked) {
        for entry in frames {
            blocked.add(&entry.reading);
            self.queue.push(entry);
        }
    }

    /// For each frame the place of the last one that must leave together with it, so that an error
    /// in between leaves no client with a call that was never made. Empty where nothing has to.
    fn reach(&self, frames: &[Entry]) -> Vec<usize> {
        if self.api().blocks_go_on() || !frames.iter().any(begins_call) {
            return Vec::new();
        }
        let mut reach = vec![0; frames.len()];
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
                if let Some(reach) = reach.get_mut(*start) {
                    *reach = place.max(*reach);
                }
                if *unit == Unit::Beginning && piece.is_some_and(Assembly::brings_arguments) {
                    *unit = Unit::Frame;
                }
            }
        }
        reach
    }

    /// How much of a call that waits leaves at once.
    fn unit(&self, slot: Slot) -> Unit {
        let Some(call) = self.call(slot) else { return Unit::Frame };
        match call.state {
            State::Allowed if !call.leaves_whole() => Unit::Call,
            // Some clients take a call that is cut off for one without arguments.
            State::Live if self.api().arguments_end_a_call() => Unit::Beginning,
            _ => Unit::Frame,
        }
    }

    /// Takes out the calls that were allowed and have not left.
    pub(crate) fn drop_queued(&mut self, why: &'static str) {
        let opened = self.queue.iter().flat_map(calls_of);
        let opened = opened.filter(|(_, piece)| opens_call(*piece)).map(|(slot, _)| slot);
        let allowed =
            |slot: &Slot| self.call(*slot).is_some_and(|call| matches!(call.state, State::Allowed));
        for slot in opened.filter(allowed).collect::<Vec<_>>() {
            self.drop_call(slot, why);
        }
    }

    /// Whether the frame goes on with a block that has begun to leave.
    pub(super) fn has_begun(&self, reading: &Reading) -> bool {
        reading
            .block
            .is_some_and(|block| block.does != BlockStep::Open && self.writer.is_out(block.slot))
    }

    pub(super) fn leave_queue(&mut self, entry: Entry, out: &mut Vec<u8>) {
        // What leaves may be what another frame waits for.
        self.moved |= closes(&entry.reading);
        self.queued -= entry.size();
        if let Some(call) = entry.reading.block.and_then(|block| self.call_mut(block.slot)) {
            call.waiting -= 1;
        }
        self.emit(entry, out);
    }
}

/// How much of a call leaves at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// A frame: it streams, it is taken out, or its first frame says all of it.
    Frame,
    /// Its frames up to the first arguments.
    Beginning,
    /// All of its frames: it was held, and leaves whole or not at all.
    Call,
}

/// Frames that may leave, but only with others that come behind them.
#[derive(Debug, Default)]
struct Together {
    frames: Vec<Entry>,
    /// What waits behind them.
    order: Blocked,
    /// The place of the last frame that must leave with them.
    until: usize,
}

impl Together {
    fn join(&mut self, entry: Entry, last: usize) {
        self.until = self.until.max(last);
        self.order.add(&entry.reading);
        self.frames.push(entry);
    }

    /// Hands the frames out, to leave or to wait.
    fn take(&mut self) -> Vec<Entry> {
        std::mem::take(self).frames
    }
}

/// The calls a frame adds to, with the piece if there is one. A copy of a whole call adds nothing,
/// unless it is what ends the call's own block.
fn calls_of(entry: &Entry) -> impl Iterator<Item = (Slot, Option<&Piece>)> {
    let block = entry.reading.block.map(|block| block.slot);
    entry.reading.parts.iter().filter_map(move |part| match &part.what {
        What::Piece(piece) if piece.copy && block != Some(piece.slot) => None,
        What::Piece(piece) => Some((piece.slot, Some(piece))),
        What::End(slot) => Some((*slot, None)),
        What::Finish(_) | What::Text | What::Signature => None,
    })
}

fn begins_call(entry: &Entry) -> bool {
    calls_of(entry).any(|(_, piece)| opens_call(piece))
}

fn opens_call(piece: Option<&Piece>) -> bool {
    piece.is_some_and(|piece| piece.opens)
}

/// Whether a frame ends a block, for which others may have waited.
fn closes(reading: &Reading) -> bool {
    reading.block.is_some_and(|block| block.does == BlockStep::Close)
}

/// The lanes in which something is held: what comes behind must wait.
#[derive(Debug, Default)]
pub(crate) struct Blocked {
    stream: bool,
    lanes: Vec<Lane>,
    /// The blocks of which something is held.
    blocks: Vec<Slot>,
}

impl Blocked {
    pub(crate) fn holds(&self, order: Order, pace: Pace) -> bool {
        let any = self.stream || !self.lanes.is_empty();
        match (pace, order) {
            (Pace::InOrder, _) | (_, Order::Stream) => any,
            (Pace::Overtake, Order::Free) => false,
            (Pace::Overtake, Order::Lane(lane)) => self.stream || self.lanes.contains(&lane),
        }
    }

    /// Whether something of the frame's block is held: then no more of it may go on before.
    fn has_part_of(&self, reading: &Reading) -> bool {
        reading.block.is_some_and(|block| self.blocks.contains(&block.slot))
    }

    fn add(&mut self, reading: &Reading) {
        let block = reading.block.map(|block| block.slot);
        self.blocks.extend(block.filter(|slot| !self.blocks.contains(slot)));
        match reading.order {
            Order::Free => {}
            Order::Lane(lane) if self.lanes.contains(&lane) => {}
            Order::Lane(lane) => self.lanes.push(lane),
            Order::Stream => self.stream = true,
        }
    }
}
