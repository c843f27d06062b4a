//! A text that comes in pieces.

use std::sync::Arc;

use crate::replace::replace;
use crate::set::{Hit, Inner};

/// A text in pieces, and what of it may pass now.
#[derive(Debug)]
pub struct Flow {
    set: Arc<Inner>,
    held: String,
}

/// What became of a piece.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flowed {
    /// What may leave now; `None` if that is the very piece.
    pub text: Option<String>,
    /// What was found. Spans count from the beginning of the flow.
    pub hits: Vec<Hit>,
}

impl Flow {
    pub(crate) fn new(set: Arc<Inner>) -> Self {
        Self { set, held: String::new() }
    }

    /// The next piece.
    pub fn push(&mut self, piece: &str) -> Flowed {
        self.held.push_str(piece);
        Flowed { text: Some(String::new()), hits: Vec::new() }
    }

    /// The text is over: what was held back leaves.
    pub fn finish(&mut self) -> Flowed {
        let text = std::mem::take(&mut self.held);
        let hits = self.set.find(&text, 0);
        let mut out = String::new();
        replace(&text, 0..text.len(), &hits, &self.set, &mut out);
        Flowed { text: Some(out), hits }
    }
}
