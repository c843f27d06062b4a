//! The blocks of a turn on their way out, for APIs that number them.

use crate::event::{Block, BlockStep, Carrier, Part, Reading, Slot, What};

/// Blocks that have left and not ended, each with the index that it left with.
#[derive(Debug, Default)]
pub(crate) struct OpenBlocks {
    list: Vec<(Slot, u64)>,
    /// The open block that is a call. Some clients add every piece of arguments to the call that
    /// began last, so the next block waits until this one has ended.
    call: Option<Slot>,
}

impl OpenBlocks {
    /// Whether the start of this block has left and its end has not.
    pub(crate) fn is_out(&self, slot: Slot) -> bool {
        self.list.iter().any(|(open, _)| *open == slot)
    }

    /// The call whose start has left and whose end has not.
    pub(crate) fn call(&self) -> Option<Slot> {
        self.call
    }

    /// Whether a frame that adds to a block has the index that the block left with.
    #[inline]
    pub(crate) fn has_index_of(&self, block: &Block, data: &str) -> bool {
        let out = self.list.iter().find(|(slot, _)| *slot == block.slot);
        match (block.does, out, block.index) {
            (BlockStep::Add, Some((_, number)), Some(index)) => is_number(index.of(data), *number),
            _ => false,
        }
    }

    /// The index with which a frame of a block leaves. `claim` gives that of a block that begins.
    pub(crate) fn number(
        &mut self,
        block: &Block,
        is_call: bool,
        claim: impl FnOnce() -> u64,
    ) -> Option<u64> {
        let place = self.list.iter().position(|(open, _)| *open == block.slot);
        match block.does {
            BlockStep::Open => {
                let number = claim();
                self.list.push((block.slot, number));
                if is_call {
                    self.call = Some(block.slot);
                }
                Some(number)
            }
            BlockStep::Add => self.list.get(place?).map(|(_, number)| *number),
            BlockStep::Close => {
                if self.call == Some(block.slot) {
                    self.call = None;
                }
                Some(self.list.swap_remove(place?).1)
            }
        }
    }

    /// Ends the open call, and gives its index.
    pub(crate) fn end_call(&mut self) -> Option<u64> {
        let slot = self.call.take()?;
        let place = self.list.iter().position(|(open, _)| *open == slot)?;
        Some(self.list.swap_remove(place).1)
    }

    /// Whether a block that is not a call is open.
    pub(crate) fn has_others(&self) -> bool {
        self.list.iter().any(|(slot, _)| Some(*slot) != self.call)
    }

    /// Ends all blocks except the call, and gives their indices.
    pub(crate) fn end_others(&mut self) -> Vec<u64> {
        let call = self.call;
        let others = self.list.extract_if(.., |(slot, _)| Some(*slot) != call);
        others.map(|(_, number)| number).collect()
    }

    /// Ends all blocks. Gives the index of each, and whether it is the call.
    pub(crate) fn end_all(&mut self) -> Vec<(u64, bool)> {
        let call = self.call.take();
        let all = std::mem::take(&mut self.list).into_iter();
        all.map(|(slot, number)| (number, Some(slot) == call)).collect()
    }
}

/// The frame's part of a call in a regular place.
pub(crate) fn call_of(reading: &Reading) -> Option<usize> {
    reading.parts.iter().position(is_call)
}

/// Whether the part is a call in a regular place.
pub(crate) fn is_call(part: &Part) -> bool {
    match &part.what {
        What::Piece(piece) => piece.carrier == Carrier::Listed,
        What::End(_) => true,
        _ => false,
    }
}

/// Whether every client reads the index as `number`: as an integer, or as `1.0`.
pub(crate) fn is_number(text: &str, number: u64) -> bool {
    text.parse() == Ok(number) || text.parse() == Ok(number as f64)
}
