//! The chunks of an answer after the first one of a turn.

use crate::json::{Edits, document, member};
use crate::usage::{TurnUsage, usage_in};

/// What only the first answer of a turn may have: clients add up the roles, signed thinking is not
/// valid after what another answer said, and annotations count from the start of their answer.
pub(super) const FIRST_ONLY: [&str; 4] =
    ["role", "reasoning_details", "thinking_blocks", "annotations"];

/// An answer after the first one. Its chunks belong to the first response, and its usage counts
/// the tokens of all.
#[derive(Debug)]
pub(super) struct LaterAnswer {
    /// The members that are the same in all chunks of a response, as the first answer had them.
    first: Vec<(&'static str, String)>,
    usage: TurnUsage,
}

impl LaterAnswer {
    /// An answer after one that ended with the chunk `end`.
    pub(super) fn behind(end: &str) -> Self {
        let of_end = |key| Some((key, member(end, document(end), key)?.of(end).to_owned()));
        let first = ["id", "created"].into_iter().filter_map(of_end).collect();
        Self { first, usage: TurnUsage::after("{}") }
    }

    /// It is read from its start. `spent` is the usage of the answers before it.
    pub(super) fn begin(&mut self, spent: &str) {
        self.usage = TurnUsage::after(spent);
    }

    pub(super) fn give_up(&mut self) {
        self.usage.give_up();
    }

    /// Makes a chunk one of the first response.
    pub(super) fn edit(&mut self, data: &str, edits: &mut Edits) {
        self.edit_head(data, edits);
        let Some((span, usage)) = usage_in(data, document(data)) else { return };
        self.usage.note(usage);
        edits.replace(span, self.usage.total());
    }

    fn edit_head(&self, data: &str, edits: &mut Edits) {
        for (key, value) in &self.first {
            if let Some(at) = member(data, document(data), key).filter(|at| at.of(data) != value) {
                edits.replace(at, value);
            }
        }
    }

    /// An added chunk as one of the first response.
    pub(super) fn as_first(&self, chunk: &str) -> String {
        let mut edits = Edits::default();
        self.edit_head(chunk, &mut edits);
        edits.apply(chunk)
    }
}
