//! Turns that the client received as one, although the provider produced several.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

use super::{ClientMessage, MergedTurn, RemovedTurn};
use crate::responses::{message_ids, shown_as, shown_message_ids};

impl MergedTurn {
    /// Whether one of the calls before the last answer is among these ids.
    pub(super) fn has_any(&self, known: &HashSet<String>) -> bool {
        let mut ids = self.earlier.iter().flat_map(|answer| &answer.ids);
        ids.any(|id| !id.is_empty() && known.contains(id))
    }
}

impl RemovedTurn {
    /// The id of the last one of several answers, if the provider stores them.
    pub(crate) fn last_stored(&self) -> Option<&str> {
        Some(self.merged.as_ref()?.stored.as_ref()?.last.as_str())
    }

    /// The ids of the messages that the client received, if there were several answers and the
    /// provider stores them. Clients may send those instead of the messages.
    pub(super) fn message_ids(&self) -> Option<Vec<String>> {
        let merged = self.merged.as_ref()?;
        let mut ids = shown_message_ids(&merged.stored.as_ref()?.shown);
        ids.extend(message_ids(&merged.last));
        ids.extend(self.calls.iter().filter_map(|call| shown_as(&call.original)));
        Some(ids)
    }

    /// Whether the client left out the thinking of the turn.
    pub(crate) fn lost_thinking_in(&self, seen: &ClientMessage<'_>) -> bool {
        let had_thinking = self.client.as_ref().is_some_and(|it| !it.signatures.is_empty());
        had_thinking && seen.client.signatures.is_empty()
    }

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
