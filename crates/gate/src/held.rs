//! Frames kept back, in order, bounded.

use callgate_dialect::{BlockStep, Carrier, Lane, Order, Piece, Reading, Slot, What};
use callgate_wire::OwnedFrame;

use crate::core::Core;

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
        match self.writer.open_call() {
            Some(before) if opens => {
                let ended = self.call(before).is_none_or(|call| call.ended && call.waiting == 0);
                if let (true, Held::Frame(frame)) = (ended, &entry.bytes) {
                    self.end_dangling(out);
                    self.writer.close_call(&frame.as_frame(), out);
                }
                ended
            }
            _ => true,
        }
    }

    /// Lets go what may leave.
    pub(crate) fn flush(&mut self, pace: Pace, out: &mut Vec<u8>) {
        self.moved = true;
        while std::mem::take(&mut self.moved) {
            let mut blocked = Blocked::default();
            for entry in std::mem::take(&mut self.queue) {
                // A block that has begun to leave goes on, whatever waits behind it.
                let begun = self.has_begun(&entry.reading) && !blocked.has_part_of(&entry.reading);
                let free = begun || !blocked.holds(entry.reading.order, pace);
                if free && self.is_ready(&entry, out) {
                    // What leaves may be what another frame waits for.
                    self.moved |= closes(&entry.reading);
                    self.leave_queue(entry, out);
                } else {
                    blocked.add(&entry.reading);
                    self.queue.push(entry);
                }
            }
            if self.queue.is_empty() {
                self.moved = false;
            }
        }
        (self.looked_at, self.blocked) = (0, Blocked::default());
    }

    /// Lets go what may overtake, among what came since the queue was last looked through: all
    /// before it was found to wait, and nothing has moved since.
    pub(crate) fn overtake(&mut self, out: &mut Vec<u8>) {
        let mut blocked = std::mem::take(&mut self.blocked);
        for entry in self.queue.split_off(self.looked_at.min(self.queue.len())) {
            let begun = self.has_begun(&entry.reading) && !blocked.has_part_of(&entry.reading);
            let free = begun || !blocked.holds(entry.reading.order, Pace::Overtake);
            if free && self.is_ready(&entry, out) {
                self.moved |= closes(&entry.reading);
                self.leave_queue(entry, out);
            } else {
                blocked.add(&entry.reading);
                self.queue.push(entry);
            }
        }
        self.looked_at = self.queue.len();
        self.blocked = blocked;
    }

    /// Whether the frame goes on with a block that has begun to leave.
    pub(super) fn has_begun(&self, reading: &Reading) -> bool {
        reading
            .block
            .is_some_and(|block| block.does != BlockStep::Open && self.writer.is_out(block.slot))
    }

    pub(super) fn leave_queue(&mut self, entry: Entry, out: &mut Vec<u8>) {
        self.queued -= entry.size();
        if let Some(call) = entry.reading.block.and_then(|block| self.call_mut(block.slot)) {
            call.waiting -= 1;
        }
        self.emit(entry, out);
    }
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
