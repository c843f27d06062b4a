//! Frames kept back, in order, bounded.

use callgate_dialect::{Lane, Order, Reading};
use callgate_wire::OwnedFrame;

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

/// The lanes in which something is held: what comes behind must wait.
#[derive(Debug, Default)]
pub(crate) struct Blocked {
    stream: bool,
    lanes: Vec<Lane>,
}

impl Blocked {
    pub(crate) fn holds(&self, order: Order) -> bool {
        match order {
            Order::Free => false,
            Order::Lane(lane) => self.stream || self.lanes.contains(&lane),
            Order::Stream => self.stream || !self.lanes.is_empty(),
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
