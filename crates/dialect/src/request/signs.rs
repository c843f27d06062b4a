//! By what a turn is looked up: signs that the turn and a later request have in common.

use callgate_call::json::Error;

use super::recognise::digest;
use super::text::records;
use super::{RemovedTurn, Seen};
use crate::Dialect;
use crate::responses::{shown_as, states};

/// What names a turn. A kept turn is worth looking at if it has any sign in common with a request;
/// whether it really is in there is for [`restore`](super::restore) to say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signs {
    /// Ids of calls the client got.
    pub ids: Vec<String>,
    /// Signatures of thinking.
    pub signatures: Vec<String>,
    /// Ids of the records that notices name, in lines that begin with `Record: `.
    pub records: Vec<String>,
    /// The [`TextDigest`](super::TextDigest) of all text of a message.
    pub digests: Vec<[u8; 32]>,
    /// Ids of responses and conversations that the provider keeps.
    pub states: Vec<String>,
}

impl Signs {
    /// The most that is kept of each kind. A conversation of more turns has its oldest ones left
    /// out: those were sent many times, and nothing new hangs on them.
    pub const MAX: usize = 4096;

    /// Whether there is nothing to look up.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
            && self.signatures.is_empty()
            && self.records.is_empty()
            && self.digests.is_empty()
            && self.states.is_empty()
    }

    fn add(&mut self, seen: &Seen<'_>) {
        fill(&mut self.ids, seen.ids.iter().cloned());
        fill(&mut self.signatures, seen.signatures.iter().cloned());
        for (_, text) in &seen.texts {
            fill(&mut self.records, records(&text.text).map(str::to_owned));
        }
        if self.digests.len() < Self::MAX {
            self.digests.extend(digest(seen));
        }
    }
}

/// Adds the words that name something, as far as there is room.
fn fill(list: &mut Vec<String>, words: impl Iterator<Item = String>) {
    let room = Signs::MAX.saturating_sub(list.len());
    list.extend(words.filter(|word| !word.is_empty()).take(room));
}

/// The signs in the assistant's messages of `request`, the newest message first. What stands in any
/// other message is no sign.
pub fn signs(dialect: Dialect, request: &str) -> Result<Signs, Error> {
    let seen = (dialect.speaker().seen)(request)?;
    let mut signs = Signs::default();
    seen.iter().rev().for_each(|seen| signs.add(seen));
    signs.states = match dialect {
        Dialect::Responses => states(request)?,
        Dialect::Interactions => crate::interactions::states(request)?,
        _ => Vec::new(),
    };
    Ok(signs)
}

impl RemovedTurn {
    /// The signs the client's next request may show of this turn.
    pub fn signs(&self) -> Signs {
        let mut signs = Signs::default();
        fill(&mut signs.ids, self.siblings.iter().cloned());
        fill(&mut signs.signatures, self.signatures.iter().cloned());
        for notice in self.calls.iter().filter_map(|call| call.notice.as_deref()) {
            fill(&mut signs.records, records(notice).map(str::to_owned));
        }
        signs.digests.extend(self.left);
        signs.states.extend(self.response.iter().chain(&self.conversation).cloned());
        if self.response.is_some() {
            // A client may send only the id of the message that it saw.
            let shown = self.calls.iter().filter_map(|call| shown_as(&call.original));
            fill(&mut signs.states, shown);
        }
        signs
    }
}

#[cfg(test)]
mod tests;
