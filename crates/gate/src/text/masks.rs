//! The replacements of texts.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use callgate_dialect::{Departure, echoes};
use callgate_json::Span;

/// The replacements of texts, by where the texts begin. Sorted, so that thousands of texts in one
/// frame are replaced in about the time it takes to read them.
#[derive(Debug, Default)]
pub(super) struct Masks(BTreeMap<usize, (Span, String)>);

impl Masks {
    /// Adds the replacement of a text. The first one also removes fields that repeat the text as
    /// tokens. An earlier replacement at the same place stays.
    pub(super) fn add(&mut self, data: &str, span: Span, raw: String) {
        if self.0.is_empty() {
            self.0.extend(echoes(data).into_iter().map(|(at, new)| (at.start, (at, new))));
        }
        let before = self.0.range(..span.end).next_back();
        if before.is_some_and(|(_, (at, _))| at.end > span.start) {
            return;
        }
        if let Entry::Vacant(place) = self.0.entry(span.start) {
            place.insert((span, raw));
        }
    }

    /// The departure of a frame with these replacements.
    pub(super) fn into_departure(self) -> Departure {
        Departure { masks: self.0.into_values().collect(), ..Departure::default() }
    }
}
