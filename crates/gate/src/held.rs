//! Frames kept back, in order, bounded.

use callgate_dialect::{Carrier, Lane, Order, Reading, What};
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
            if let Some(chunk) = self.writer.text_ahead(data) {
                frame.rewrite(None, chunk.as_bytes(), out);
                entry.reading.said = true;
                entry.reading.text = None;
                ahead.push((entry.reading.text_lane, text.of(data).to_owned()));
            }
        }
        for (lane, text) in ahead {
            self.say(lane, Some(&text));
        }
    }
}

/// The lanes in which something is held: what comes behind must wait.
#[derive(Debug, Default)]
pub(crate) struct Blocked {
    stream: bool,
    lanes: Vec<Lane>,
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

    pub(crate) fn add(&mut self, order: Order) {
        match order {
            Order::Free => {}
            Order::Lane(lane) if self.lanes.contains(&lane) => {}
            Order::Lane(lane) => self.lanes.push(lane),
            Order::Stream => self.stream = true,
        }
    }
}
