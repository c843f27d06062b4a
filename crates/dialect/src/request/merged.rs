//! Turns that the client received as one, although the provider produced several.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

use super::{MergedTurn, RemovedTurn};

impl MergedTurn {
    /// Whether one of the calls before the last answer is among these ids.
    pub(super) fn has_any(&self, known: &HashSet<String>) -> bool {
        let mut ids = self.earlier.iter().flat_map(|answer| &answer.ids);
        ids.any(|id| !id.is_empty() && known.contains(id))
    }
}

impl RemovedTurn {
    /// The turn as one of several answers. Turns that lost different answers are different.
    #[must_use]
    pub fn merged(mut self, merged: MergedTurn) -> Self {
        let mut hash = Sha256::new_with_prefix(self.removed);
        let answers = merged.earlier.iter().flat_map(|answer| [&answer.content, &answer.results]);
        for part in answers.chain([&merged.last]) {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        self.removed = hash.finalize().into();
        self.merged = Some(merged);
        self
    }
}
