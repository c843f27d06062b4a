//! Calls that were taken out of responses, put back into requests.
//!
//! The store keeps what the gate reports of a turn ([`RemovedTurn`]), bound to the principal, the
//! provider and the credential. It is found by keys that cover all that the client has of the turn.

use std::collections::HashSet;

use callgate_decide::{Decider, RemovedEntry, RemovedQuery};
use callgate_dialect::Dialect;
use callgate_dialect::request::{
    self, ClientCall, ClientTurn, RemovedCall, RemovedTurn, Restored, Sent, SentTurn,
};
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
    let mut signs = states(&turn.states());
    signs.extend(signs_of(Sign::Trace, binding, &turn.traces()));
    RemovedEntry {
        binding: *binding,
        signs,
        keys: signs_of(Sign::Turn, binding, &turn.keys()),
        alike: turn.alike().map(|alike| sign(Sign::Alike, binding, &alike)),
        content,
    }
}

/// A request with everything put back.
pub(crate) struct PutBack {
    pub(crate) restored: Restored,
    /// What is to be kept once the provider has taken the request.
    pub(crate) answered: Option<RemovedEntry>,
}

/// Puts back what was taken out of the turns that `body` carries, or goes on from; `None` if
/// nothing was. It reads the store and compares turns, so it is not for a thread that others wait for.
pub(crate) fn restore(
    decider: &Decider,
    binding: &Binding,
    dialect: Dialect,
    body: &str,
) -> Option<PutBack> {
    // A request that cannot be read goes up as it is: the provider will say what it thinks of it.
    let sent = request::sent(dialect, body).ok()?;
    let sought = RemovedQuery {
        signs: states(&sent.states),
        keys: sent
            .turns
            .iter()
            .flat_map(|turn| signs_of(Sign::Turn, binding, &turn.keys))
            .collect(),
    };
    let found = decider.find_removed(binding, &sought);
    let kept = found.contents.iter().filter_map(|content| serde_json::from_slice(content).ok());
    let turns = still_open(kept.collect());
    let mut restored = match turns.is_empty() {
        true => Restored::default(),
        false => request::restore(dialect, body, &turns).ok()?,
    };
    let answered = answered(&turns, &restored, &sent, binding);
    // Turns that are alike are kept in numbers, and most are not of this conversation.
    restored.skipped.retain(|(_, why)| *why != Restored::NOT_FOUND);
    if !found.crowded.is_empty() {
        restored.skipped.push((String::new(), CROWDED));
    }
    if decider.contains_removed(binding, &traces(&sent, &turns, binding)) {
        restored.skipped.push((String::new(), CHANGED));
    }
    let is_idle = restored == Restored::default() && answered.is_none();
    (!is_idle).then_some(PutBack { restored, answered })
}

/// Why calls are not restored that may have been taken out of a turn of the request.
const CROWDED: &str = "more kept turns look like one of its turns than are compared";
const CHANGED: &str = "one of its turns has something of a kept turn and is not the same: another \
                       conversation, or changed by the client";

/// The traces in those turns of the request that no kept turn was found for.
fn traces(sent: &Sent, turns: &[RemovedTurn], binding: &Binding) -> Vec<[u8; 32]> {
    let known: HashSet<[u8; 32]> = turns.iter().flat_map(RemovedTurn::keys).collect();
    let is_known = |turn: &&SentTurn| turn.keys.iter().any(|key| known.contains(key));
    let found: Vec<&SentTurn> = sent.turns.iter().filter(is_known).collect();
    let is_new = |turn: &&SentTurn| {
        let mut found = found.iter().map(|found| &found.at);
        !found.any(|found| found.start < turn.at.end && turn.at.start < found.end)
    };
    let traces = sent.turns.iter().filter(is_new).flat_map(|turn| &turn.traces);
    traces.take(Sent::MAX).map(|trace| sign(Sign::Trace, binding, trace)).collect()
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
    sent: &Sent,
    binding: &Binding,
) -> Option<RemovedEntry> {
    let named = |turn: &&RemovedTurn| {
        turn.conversation.as_ref().is_some_and(|conversation| sent.states.contains(conversation))
    };
    let turns: Vec<&RemovedTurn> = turns.iter().filter(named).collect();
    let ids = turns.iter().flat_map(|turn| turn.calls.iter().map(|call| &call.id));
    let answered: Vec<String> = ids.filter(|id| restored.restored.contains(id)).cloned().collect();
    let conversation = turns.first()?.conversation.clone();
    if answered.is_empty() {
        return None;
    }
    let signs = states(conversation.as_slice());
    let kept = Kept { conversation, answered, ..Kept::default() };
    let content = serde_json::to_vec(&kept).ok()?;
    Some(RemovedEntry { binding: *binding, signs, keys: Vec::new(), alike: None, content })
}

/// What a sign is made of: each kind apart, so that none can pass for another.
#[derive(Clone, Copy)]
enum Sign {
    /// The id of a response or a conversation that the provider keeps.
    State = 5,
    /// The key of a whole turn.
    Turn = 6,
    /// Something of a turn.
    Trace = 7,
    /// What turns have in common that can take each other's place.
    Alike = 8,
}

fn sign(kind: Sign, binding: &Binding, value: &[u8; 32]) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix([kind as u8]);
    hash.update(binding);
    hash.update(value);
    hash.finalize().into()
}

fn signs_of(kind: Sign, binding: &Binding, values: &[[u8; 32]]) -> Vec<[u8; 32]> {
    values.iter().map(|value| sign(kind, binding, value)).collect()
}

fn states(ids: &[String]) -> Vec<[u8; 32]> {
    let sign = |id: &String| {
        let mut hash = Sha256::new_with_prefix([Sign::State as u8]);
        hash.update(id);
        hash.finalize().into()
    };
    ids.iter().map(sign).collect()
}

/// A turn as it is kept, or which calls of a conversation are answered.
#[derive(Default, Serialize, Deserialize)]
struct Kept {
    calls: Vec<KeptCall>,
    // Those that earlier versions did not keep. A turn of theirs is found only by the provider's id
    // of it: what the client got of it is not known.
    #[serde(default)]
    client: Option<KeptClient>,
    #[serde(default)]
    removed: [u8; 32],
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

/// What the client got of the turn.
#[derive(Serialize, Deserialize)]
struct KeptClient {
    text: Option<[u8; 32]>,
    plan: Option<[u8; 32]>,
    /// Each call's id and digest.
    calls: Vec<(String, [u8; 32])>,
    signatures: Vec<[u8; 32]>,
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
        let client = |client: &ClientTurn| KeptClient {
            text: client.text,
            plan: client.plan,
            calls: client.calls.iter().map(|call| (call.id.clone(), call.digest)).collect(),
            signatures: client.signatures.clone(),
        };
        Self {
            calls: turn.calls.iter().map(call).collect(),
            client: turn.client.as_ref().map(client),
            removed: turn.removed,
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
        let client = |kept: KeptClient| ClientTurn {
            text: kept.text,
            plan: kept.plan,
            calls: kept.calls.into_iter().map(|(id, digest)| ClientCall { id, digest }).collect(),
            signatures: kept.signatures,
        };
        Self {
            client: kept.client.map(client),
            removed: kept.removed,
            calls: kept.calls.into_iter().map(call).collect(),
            response: kept.response,
            conversation: kept.conversation,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on must stop")]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_kept_whole() {
        let call = RemovedCall {
            id: "c".into(),
            original: "{}".into(),
            place: 1,
            notice: Some("no".into()),
            why: "why".into(),
        };
        let client = ClientTurn {
            text: Some([1; 32]),
            plan: Some([2; 32]),
            calls: vec![ClientCall { id: "a".into(), digest: [3; 32] }],
            signatures: vec![[4; 32]],
        };
        let turn = RemovedTurn {
            client: Some(client),
            removed: [5; 32],
            calls: vec![call],
            response: Some("resp".into()),
            conversation: Some("conv".into()),
        };
        let text = serde_json::to_string(&Kept::of(&turn)).unwrap();
        assert_eq!(RemovedTurn::from(serde_json::from_str::<Kept>(&text).unwrap()), turn);
    }

    /// What an earlier version kept does not say what the client got.
    #[test]
    fn a_turn_of_an_earlier_version_is_found_by_the_provider_s_id_alone() {
        let old = r#"{"siblings":["a"],"signatures":["s"],"left":null,"calls":[{"id":"c",
            "original":"{}","place":0,"notice":"no","why":"why"}],"response":"resp"}"#;
        let turn = RemovedTurn::from(serde_json::from_str::<Kept>(old).unwrap());
        assert_eq!((turn.calls.len(), turn.states()), (1, vec!["resp".to_owned()]));
        let entry = entry(&turn, &[0; 32]);
        assert!(entry.keys.is_empty() && entry.alike.is_none());
    }
}
