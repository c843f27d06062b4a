//! Calls that were taken out of responses, put back into requests.
//!
//! Kept is what the gate tells of a turn ([`RemovedTurn`]), bound to who asked, which provider and
//! with which credential, under every sign the turn can be known again by.

use callgate_decide::{Decider, RemovedEntry};
use callgate_dialect::Dialect;
use callgate_dialect::request::{self, RemovedCall, RemovedTurn, Restored, Signs};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Whom a turn belongs to: nobody else's requests are looked through for it.
pub(crate) type Binding = [u8; 32];

/// Binds turns to a principal, a provider and the credential its provider knows it by.
pub(crate) fn binding(who: &callgate_call::Who, provider: &str, credentials: &[&[u8]]) -> Binding {
    let mut hash = Sha256::new();
    let parts = [&who.org, &who.team, &who.user, &who.key];
    let parts = parts.map(|part| part.as_deref().unwrap_or_default().as_bytes());
    for part in parts.iter().chain(&[provider.as_bytes()]).chain(credentials) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// What is kept of a turn.
pub(crate) fn entry(turn: &RemovedTurn, binding: &Binding) -> RemovedEntry {
    let content = serde_json::to_vec(&Kept::of(turn)).unwrap_or_default();
    RemovedEntry { binding: *binding, signs: hashes(&turn.signs()), content }
}

/// Puts back what was taken out of the turns that `body` carries; `None` if nothing was.
pub(crate) fn restore(
    decider: &Decider,
    binding: &Binding,
    dialect: Dialect,
    body: &str,
) -> Option<Restored> {
    // A request that cannot be read goes up as it is: the provider will say what it thinks of it.
    let signs = request::signs(dialect, body).ok()?;
    let kept = decider.find_removed(binding, &hashes(&signs));
    let turns: Vec<RemovedTurn> = kept
        .iter()
        .filter_map(|content| serde_json::from_slice::<Kept>(content).ok())
        .map(RemovedTurn::from)
        .collect();
    if turns.is_empty() {
        return None;
    }
    request::restore(dialect, body, &turns).ok()
}

/// Each kind of sign apart, so that a text can never pass for an id.
fn hashes(signs: &Signs) -> Vec<[u8; 32]> {
    let hash = |kind: u8, text: &[u8]| -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update([kind]);
        hash.update(text);
        hash.finalize().into()
    };
    let ids = signs.ids.iter().map(|text| hash(1, text.as_bytes()));
    let signatures = signs.signatures.iter().map(|text| hash(2, text.as_bytes()));
    let records = signs.records.iter().map(|text| hash(3, text.as_bytes()));
    let digests = signs.digests.iter().map(|digest| hash(4, digest));
    ids.chain(signatures).chain(records).chain(digests).collect()
}

/// A turn as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    siblings: Vec<String>,
    signatures: Vec<String>,
    left: Option<[u8; 32]>,
    calls: Vec<KeptCall>,
}

#[derive(Serialize, Deserialize)]
struct KeptCall {
    id: String,
    original: String,
    place: usize,
    notice: Option<String>,
    why: String,
}

impl Kept {
    fn of(turn: &RemovedTurn) -> Self {
        let call = |call: &RemovedCall| KeptCall {
            id: call.id.clone(),
            original: call.original.clone(),
            place: call.place,
            notice: call.notice.clone(),
            why: call.why.clone(),
        };
        Self {
            siblings: turn.siblings.clone(),
            signatures: turn.signatures.clone(),
            left: turn.left,
            calls: turn.calls.iter().map(call).collect(),
        }
    }
}

impl From<Kept> for RemovedTurn {
    fn from(kept: Kept) -> Self {
        let call = |call: KeptCall| RemovedCall {
            id: call.id,
            original: call.original,
            place: call.place,
            notice: call.notice,
            why: call.why,
        };
        Self {
            siblings: kept.siblings,
            signatures: kept.signatures,
            left: kept.left,
            calls: kept.calls.into_iter().map(call).collect(),
            ..Self::default()
        }
    }
}
