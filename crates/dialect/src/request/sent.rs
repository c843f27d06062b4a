//! The lookup keys of a stored turn: what the turn and a later request have in common.

use std::ops::Range;

use callgate_json::Error;
use sha2::{Digest, Sha256};

use super::text::records;
use super::{ClientTurn, RemovedTurn, signature_hash};
use crate::Dialect;
use crate::responses::shown_as;

/// The earlier turns in a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sent {
    /// The assistant's turns, the newest first. Other messages are ignored.
    pub turns: Vec<SentTurn>,
    /// Ids of responses and conversations that the provider stores.
    pub states: Vec<String>,
}

/// A turn that the client sent back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentTurn {
    /// The keys of the stored turns that it may be, see [`RemovedTurn::keys`].
    pub keys: Vec<[u8; 32]>,
    /// What it has in common with a stored turn that the client has changed: enough to report that,
    /// and never enough to restore it.
    pub traces: Vec<[u8; 32]>,
    /// The messages that contain it. The same messages may count as several turns.
    pub at: Range<usize>,
}

impl Sent {
    /// The most turns that are read. In a longer conversation the oldest are left out.
    pub const MAX: usize = 4096;
}

/// The most traces of one turn.
const MAX_TRACES: usize = 64;

/// Reads the earlier turns in `request`.
pub fn sent(dialect: Dialect, request: &str) -> Result<Sent, Error> {
    let seen = (dialect.spec().seen)(request)?;
    let turns = seen.iter().rev().take(Sent::MAX).map(|seen| {
        let texts = seen.texts.iter().map(|(_, text)| text.text.as_ref());
        let at = seen.message..seen.end;
        SentTurn { keys: seen.keys(), traces: traces(&seen.client, texts), at }
    });
    Ok(Sent { turns: turns.collect(), states: (dialect.spec().states)(request)? })
}

impl RemovedTurn {
    /// The keys under which it is found if the client sends it back unchanged.
    pub fn keys(&self) -> Vec<[u8; 32]> {
        let mut keys = self.client.as_ref().map(ClientTurn::keys).unwrap_or_default();
        keys.extend(self.reference_keys());
        keys
    }

    /// The keys of items for which a client may send only the ids.
    pub(super) fn reference_keys(&self) -> Vec<[u8; 32]> {
        let Some(client) = self.client.as_ref().filter(|_| self.response.is_some()) else {
            return Vec::new();
        };
        let notices = || self.calls.iter().filter_map(|call| shown_as(&call.original)).collect();
        let shown = self.message_ids().unwrap_or_else(notices);
        let shown = shown.iter().map(|id| signature_hash(id));
        client.signatures.iter().copied().chain(shown).map(|id| reference_key(&id)).collect()
    }

    /// What is left of it if the client changed it.
    pub fn traces(&self) -> Vec<[u8; 32]> {
        let Some(client) = &self.client else { return Vec::new() };
        traces(client, self.calls.iter().filter_map(|call| call.notice.as_deref()))
    }

    /// The ids under which the provider stores it.
    pub fn states(&self) -> Vec<String> {
        let states = self.response.iter().chain(&self.conversation).map(String::as_str);
        let states = states.chain(self.last_stored());
        states.filter(|state| !state.is_empty()).map(str::to_owned).collect()
    }

    /// A digest that is equal for turns that look the same to the client and lost the same calls:
    /// they are interchangeable.
    pub fn alike(&self) -> Option<[u8; 32]> {
        let mut hash = Sha256::new_with_prefix(self.removed);
        hash.update(self.client.as_ref()?.key_without_thinking());
        Some(hash.finalize().into())
    }
}

/// The key of an item by the hash of its id.
pub(super) fn reference_key(id: &[u8; 32]) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix("item");
    hash.update(id);
    hash.finalize().into()
}

/// The records that notices name, the signatures, and the ids of all calls together: a single id
/// may be from another conversation, if a provider numbers its calls from zero in each.
fn traces<'a>(client: &ClientTurn, texts: impl Iterator<Item = &'a str>) -> Vec<[u8; 32]> {
    let tagged = |tag: u8, bytes: &[u8]| -> [u8; 32] {
        let mut hash = Sha256::new_with_prefix([tag]);
        hash.update(bytes);
        hash.finalize().into()
    };
    let records = texts.flat_map(records).map(|record| tagged(1, record.as_bytes()));
    let signatures = client.signatures.iter().map(|signature| tagged(2, signature));
    let ids: Vec<&str> = client.calls.iter().map(|call| call.id.as_str()).collect();
    let ids = ids.iter().any(|id| !id.is_empty()).then(|| tagged(3, ids.join("\0").as_bytes()));
    ids.into_iter().chain(records).chain(signatures).take(MAX_TRACES).collect()
}

#[cfg(test)]
mod tests;
