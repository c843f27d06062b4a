//! Calls that were taken out of responses, put back into requests.
//!
//! Kept is what the gate tells of a turn ([`RemovedTurn`]), bound to who asked, which provider and
//! with which credential, under every sign the turn can be known again by.

use std::collections::HashSet;

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

/// A request with everything put back.
pub(crate) struct PutBack {
    pub(crate) restored: Restored,
    /// What is to be kept once the provider has taken the request.
    pub(crate) answered: Option<RemovedEntry>,
}

/// Puts back what was taken out of the turns that `body` carries, or goes on from; `None` if
/// nothing was.
pub(crate) fn restore(
    decider: &Decider,
    binding: &Binding,
    dialect: Dialect,
    body: &str,
) -> Option<PutBack> {
    // A request that cannot be read goes up as it is: the provider will say what it thinks of it.
    let signs = request::signs(dialect, body).ok()?;
    let kept = decider.find_removed(binding, &hashes(&signs));
    let kept = kept.iter().filter_map(|content| serde_json::from_slice::<Kept>(content).ok());
    let turns = still_open(kept.collect());
    if turns.is_empty() {
        return None;
    }
    let restored = request::restore(dialect, body, &turns).ok()?;
    let answered = answered(&turns, &restored, &signs, binding);
    Some(PutBack { restored, answered })
}

/// The turns whose calls the provider still waits for. What it keeps itself is known by the ids of
/// its calls: it may have been read, and so kept here, several times, and in a conversation each
/// call is answered once.
fn still_open(kept: Vec<Kept>) -> Vec<RemovedTurn> {
    let mut done: HashSet<(Option<String>, String)> = kept
        .iter()
        .flat_map(|kept| kept.answered.iter().map(|id| (kept.conversation.clone(), id.clone())))
        .collect();
    let mut turns = Vec::new();
    for kept in kept {
        let mut turn = RemovedTurn::from(kept);
        if let Some(state) = turn.conversation.clone().or(turn.response.clone()) {
            turn.calls.retain(|call| done.insert((Some(state.clone()), call.id.clone())));
        }
        if !turn.calls.is_empty() {
            turns.push(turn);
        }
    }
    turns
}

/// What a request answers in a conversation that the provider keeps. A response that is kept can be
/// gone on from many times, and its calls are answered each time; a conversation goes on from its
/// end.
fn answered(
    turns: &[RemovedTurn],
    restored: &Restored,
    signs: &Signs,
    binding: &Binding,
) -> Option<RemovedEntry> {
    let named = |turn: &&RemovedTurn| {
        turn.conversation.as_ref().is_some_and(|conversation| signs.states.contains(conversation))
    };
    let turns: Vec<&RemovedTurn> = turns.iter().filter(named).collect();
    let ids = turns.iter().flat_map(|turn| turn.calls.iter().map(|call| &call.id));
    let answered: Vec<String> = ids.filter(|id| restored.restored.contains(id)).cloned().collect();
    let conversation = turns.first()?.conversation.clone();
    if answered.is_empty() {
        return None;
    }
    let signs = Signs { states: conversation.iter().cloned().collect(), ..Signs::default() };
    let kept = Kept { conversation, answered, ..Kept::default() };
    let content = serde_json::to_vec(&kept).ok()?;
    Some(RemovedEntry { binding: *binding, signs: hashes(&signs), content })
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
    let states = signs.states.iter().map(|text| hash(5, text.as_bytes()));
    ids.chain(signatures).chain(records).chain(digests).chain(states).collect()
}

/// A turn as it is kept, or which calls of a conversation are answered.
#[derive(Default, Serialize, Deserialize)]
struct Kept {
    siblings: Vec<String>,
    signatures: Vec<String>,
    left: Option<[u8; 32]>,
    calls: Vec<KeptCall>,
    // Those that earlier versions did not keep.
    #[serde(default)]
    response: Option<String>,
    #[serde(default)]
    conversation: Option<String>,
    #[serde(default)]
    answered: Vec<String>,
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
            response: turn.response.clone(),
            conversation: turn.conversation.clone(),
            answered: Vec::new(),
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
            response: kept.response,
            conversation: kept.conversation,
        }
    }
}
