//! What stands in the place of texts.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use callgate_call::json::Span;
use callgate_dialect::echoes;

/// What stands in the place of texts, by where they begin. Sorted, so that thousands of texts in
/// one frame are put together in about the time it takes to read them.
#[derive(Debug, Default)]
pub(super) struct Masks(BTreeMap<usize, (Span, String)>);

impl Masks {
    /// Puts a text in the place of another. With the first, what says texts in tokens goes too.
    /// Whatever came before at that place stays.
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

    /// All of them, in the order of their places.
    pub(super) fn into_list(self) -> Vec<(Span, String)> {
        self.0.into_values().collect()
    }
}
