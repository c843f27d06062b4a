//! Puts calls that were removed from responses back into requests.
//!
//! The store keeps what the gate reports about a turn ([`RemovedTurn`]), bound to the principal,
//! the provider and the credential. A turn is found by keys that cover everything that the client
//! received of it.

use std::collections::HashSet;
use std::fmt;

use callgate_decide::{Decider, RemovedEntry, RemovedMatches, RemovedQuery, StoreUnavailable};
use callgate_dialect::Dialect;
use callgate_dialect::request::{
    self, ClientCall, ClientTurn, EarlierAnswer, MergedTurn, NotRestored, RemovedCall, RemovedTurn,
    Restored, Sent, SentTurn, StoredAnswers,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Identifies the owner of a turn. Only requests with the same binding can restore it.
pub(crate) type Binding = [u8; 32];

/// The binding of a principal, a provider and a credential.
pub(crate) fn binding(
    who: &callgate_call::Principal,
    provider: &str,
    credentials: &[&[u8]],
) -> Binding {
    let mut hash = Sha256::new();
    let parts = [&who.org, &who.team, &who.user, &who.key];
    let parts = parts.map(|part| part.as_deref().unwrap_or_default().as_bytes());
    for part in parts.iter().chain(&[provider.as_bytes()]).chain(credentials) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// Converts a turn for the store. `None` if JSON cannot express it: an empty turn would be found and
/// restore nothing.
pub(crate) fn entry(turn: &RemovedTurn, binding: &Binding) -> Option<RemovedEntry> {
    let content = serde_json::to_vec(&StoredEntry::of(turn)).ok()?;
    let mut signs = states(&turn.states());
    signs.extend(fingerprints(FingerprintKind::Trace, binding, &turn.traces()));
    Some(RemovedEntry {
        binding: *binding,
        signs,
        keys: fingerprints(FingerprintKind::Turn, binding, &turn.keys()),
        alike: turn.alike().map(|alike| fingerprint(FingerprintKind::Alike, binding, &alike)),
        content,
    })
}

/// Why calls that may have been removed from a turn of the request are not restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestProblem {
    UnreadableRequest,
    UnreadableTurn,
    UnreadableStore,
    TooManySimilar,
    Changed,
}

impl fmt::Display for RequestProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnreadableRequest => "the request cannot be read completely",
            Self::UnreadableTurn => "a stored turn that belongs to the request cannot be read",
            Self::UnreadableStore => "the stored turns cannot be read",
            Self::TooManySimilar => "too many stored turns look like one of its turns",
            Self::Changed => {
                "one of its turns matches a stored turn only in part: it belongs to another \
                 conversation, or the client changed it"
            }
        })
    }
}

/// A request with its removed calls restored.
pub(crate) struct RestoredRequest {
    pub(crate) restored: Restored,
    /// Why calls that may have been removed from its turns are not restored.
    pub(crate) problems: Vec<RequestProblem>,
    /// The answered calls, to be stored once the response is complete.
    pub(crate) answered: Option<RemovedEntry>,
}

/// Restores the calls that were removed from the turns in `body`, or from turns that it continues;
/// `None` if there were none. It reads the store and compares turns, so do not call it on a thread
/// that carries streams.
pub(crate) fn restore(
    decider: &Decider,
    binding: &Binding,
    dialect: Dialect,
    body: &str,
) -> Option<RestoredRequest> {
    let sent = match request::sent(dialect, body) {
        Ok(sent) => sent,
        Err(error) => {
            // It is forwarded unchanged: the provider will reject it.
            tracing::info!(%error, "a request cannot be read, so no call is put back into it");
            return None;
        }
    };
    let sought = RemovedQuery {
        signs: states(&sent.states),
        keys: sent
            .turns
            .iter()
            .flat_map(|turn| fingerprints(FingerprintKind::Turn, binding, &turn.keys))
            .collect(),
    };
    let mut problems = Vec::new();
    let found = decider.find_removed(binding, &sought).unwrap_or_else(|StoreUnavailable| {
        problems.push(RequestProblem::UnreadableStore);
        RemovedMatches::default()
    });
    let FoundEntries { turns, answered: earlier, unreadable } = parsed(&found.contents);
    let turns = still_open(turns, &earlier);
    let mut restored = request::restore(dialect, body, &turns).unwrap_or_else(|error| {
        tracing::error!(%error, "calls cannot be put back into a request that could be read");
        problems.push(RequestProblem::UnreadableRequest);
        Restored::default()
    });
    let answered = answered(&turns, &restored, &sent, binding);
    // Many similar turns may be stored, and most do not belong to this conversation.
    restored.skipped.retain(|skipped| skipped.why != NotRestored::NotFound);
    if unreadable + found.unreadable > 0 {
        problems.push(RequestProblem::UnreadableTurn);
    }
    if !found.crowded.is_empty() {
        problems.push(RequestProblem::TooManySimilar);
    }
    match decider.contains_removed(binding, &traces(&sent, &turns, binding)) {
        Ok(true) => problems.push(RequestProblem::Changed),
        Ok(false) => {}
        Err(StoreUnavailable) if problems.contains(&RequestProblem::UnreadableStore) => {}
        Err(StoreUnavailable) => problems.push(RequestProblem::UnreadableStore),
    }
    let is_idle = restored == Restored::default() && problems.is_empty() && answered.is_none();
    (!is_idle).then_some(RestoredRequest { restored, problems, answered })
}

/// The answers behind a response that the client knows by the id of the first of them; `None` if it
/// is one answer. It reads the store, so do not call it on a thread that carries streams.
pub(crate) fn stored_answers(
    decider: &Decider,
    binding: &Binding,
    id: &str,
) -> Option<StoredAnswers> {
    let sought = RemovedQuery { signs: states(&[id.to_owned()]), keys: Vec::new() };
    let found = decider.find_removed(binding, &sought).ok()?;
    let turns = parsed(&found.contents).turns;
    let mut stored = turns.into_iter().filter_map(|turn| turn.merged?.stored);
    stored.find(|stored| stored.ids.first().is_some_and(|first| first == id))
}

/// What the store has found.
#[derive(Default)]
struct FoundEntries {
    turns: Vec<RemovedTurn>,
    answered: Vec<AnsweredCalls>,
    /// How many others there are, which a newer version may have stored.
    unreadable: usize,
}

/// Calls that a request has answered in a conversation that the provider stores.
struct AnsweredCalls {
    conversation: Option<String>,
    ids: Vec<String>,
}

fn parsed(contents: &[Vec<u8>]) -> FoundEntries {
    let mut found = FoundEntries::default();
    for content in contents {
        match serde_json::from_slice::<StoredEntry>(content) {
            Ok(entry) if entry.answered.is_empty() => found.turns.push(RemovedTurn::from(entry)),
            Ok(StoredEntry { conversation, answered, .. }) => {
                found.answered.push(AnsweredCalls { conversation, ids: answered });
            }
            Err(error) => {
                found.unreadable += 1;
                tracing::error!(%error, "a stored turn cannot be read, so it is not restored");
            }
        }
    }
    found
}

/// The traces of turns in the request for which no stored turn was found.
fn traces(sent: &Sent, turns: &[RemovedTurn], binding: &Binding) -> Vec<[u8; 32]> {
    let known: HashSet<[u8; 32]> = turns.iter().flat_map(RemovedTurn::keys).collect();
    let is_known = |turn: &&SentTurn| turn.keys.iter().any(|key| known.contains(key));
    let found: Vec<&SentTurn> = sent.turns.iter().filter(is_known).collect();
    let is_new = |turn: &&SentTurn| {
        let mut found = found.iter().map(|found| &found.at);
        !found.any(|found| found.start < turn.at.end && turn.at.start < found.end)
    };
    let traces = sent.turns.iter().filter(is_new).flat_map(|turn| &turn.traces);
    traces
        .take(Sent::MAX)
        .map(|trace| fingerprint(FingerprintKind::Trace, binding, trace))
        .collect()
}

/// The turns whose calls the provider still waits for. Turns that the provider stores itself are
/// identified by the ids of their calls: they may have been fetched, and so stored here, several
/// times, and in a conversation each call is answered once.
fn still_open(found: Vec<RemovedTurn>, answered: &[AnsweredCalls]) -> Vec<RemovedTurn> {
    let mut done: HashSet<(Option<String>, String)> = answered
        .iter()
        .flat_map(|calls| calls.ids.iter().map(|id| (calls.conversation.clone(), id.clone())))
        .collect();
    let mut turns = Vec::new();
    for mut turn in found {
        if let Some(state) = turn.conversation.clone().or(turn.response.clone()) {
            turn.calls.retain(|call| done.insert((Some(state.clone()), call.id.clone())));
        }
        if !turn.calls.is_empty() || turn.merged.is_some() {
            turns.push(turn);
        }
    }
    turns
}

/// The calls that a request answers in a conversation that the provider stores. A stored response
/// can be continued many times, and its calls are answered each time; a conversation is only
/// continued at its end.
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
    let kept = StoredEntry { conversation, answered, ..StoredEntry::default() };
    let content = serde_json::to_vec(&kept).inspect_err(|error| {
        tracing::error!(%error, "answered calls cannot be stored, so they may be restored again");
    });
    let content = content.ok()?;
    Some(RemovedEntry { binding: *binding, signs, keys: Vec::new(), alike: None, content })
}

/// What a fingerprint is made of. Each kind is hashed differently, so that none can be mistaken for
/// another.
#[derive(Clone, Copy)]
enum FingerprintKind {
    /// The id of a response or conversation that the provider stores.
    State = 5,
    /// The key of a complete turn.
    Turn = 6,
    /// A part of a turn.
    Trace = 7,
    /// What interchangeable turns have in common.
    Alike = 8,
}

fn fingerprint(kind: FingerprintKind, binding: &Binding, value: &[u8; 32]) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix([kind as u8]);
    hash.update(binding);
    hash.update(value);
    hash.finalize().into()
}

fn fingerprints(kind: FingerprintKind, binding: &Binding, values: &[[u8; 32]]) -> Vec<[u8; 32]> {
    values.iter().map(|value| fingerprint(kind, binding, value)).collect()
}

fn states(ids: &[String]) -> Vec<[u8; 32]> {
    let sign = |id: &String| {
        let mut hash = Sha256::new_with_prefix([FingerprintKind::State as u8]);
        hash.update(id);
        hash.finalize().into()
    };
    ids.iter().map(sign).collect()
}

/// What is stored: a turn or, if `answered` is not empty, the answered calls of a conversation.
#[derive(Default, Serialize, Deserialize)]
struct StoredEntry {
    calls: Vec<StoredCall>,
    // Absent in turns that earlier versions stored. Such a turn is found only by the provider's id,
    // because it is unknown what the client received of it.
    #[serde(default)]
    client: Option<StoredClientView>,
    #[serde(default)]
    removed: [u8; 32],
    #[serde(default)]
    response: Option<String>,
    #[serde(default)]
    conversation: Option<String>,
    #[serde(default)]
    answered: Vec<String>,
    #[serde(default)]
    merged: Option<StoredMerged>,
}

/// The answers of a turn, if there were several.
#[derive(Serialize, Deserialize)]
struct StoredMerged {
    /// Content, results and ids of the calls.
    earlier: Vec<(String, String, Vec<String>)>,
    last: String,
    // Absent in turns that earlier versions stored.
    #[serde(default)]
    stored: Option<StoredIds>,
}

/// Answers that the provider stores.
#[derive(Serialize, Deserialize)]
struct StoredIds {
    ids: Vec<String>,
    last: String,
    behind: String,
    shown: String,
}

impl From<&StoredAnswers> for StoredIds {
    fn from(answers: &StoredAnswers) -> Self {
        let StoredAnswers { ids, last, behind, shown } = answers.clone();
        Self { ids, last, behind, shown }
    }
}

impl From<StoredIds> for StoredAnswers {
    fn from(stored: StoredIds) -> Self {
        let StoredIds { ids, last, behind, shown } = stored;
        Self { ids, last, behind, shown }
    }
}

impl From<&MergedTurn> for StoredMerged {
    fn from(merged: &MergedTurn) -> Self {
        let answer = |answer: &EarlierAnswer| {
            (answer.content.clone(), answer.results.clone(), answer.ids.clone())
        };
        Self {
            earlier: merged.earlier.iter().map(answer).collect(),
            last: merged.last.clone(),
            stored: merged.stored.as_ref().map(StoredIds::from),
        }
    }
}

impl From<StoredMerged> for MergedTurn {
    fn from(stored: StoredMerged) -> Self {
        let answer = |(content, results, ids)| EarlierAnswer { content, results, ids };
        Self {
            earlier: stored.earlier.into_iter().map(answer).collect(),
            last: stored.last,
            stored: stored.stored.map(StoredAnswers::from),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct StoredCall {
    id: String,
    original: String,
    place: usize,
    notice: Option<String>,
    why: String,
}

/// What the client received of the turn.
#[derive(Serialize, Deserialize)]
struct StoredClientView {
    text: Option<[u8; 32]>,
    plan: Option<[u8; 32]>,
    /// The id and digest of each call.
    calls: Vec<(String, [u8; 32])>,
    signatures: Vec<[u8; 32]>,
}

impl StoredEntry {
    fn of(turn: &RemovedTurn) -> Self {
        let call = |call: &RemovedCall| StoredCall {
            id: call.id.clone(),
            original: call.original.clone(),
            place: call.place,
            notice: call.notice.clone(),
            why: call.why.clone(),
        };
        let client = |client: &ClientTurn| StoredClientView {
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
            merged: turn.merged.as_ref().map(StoredMerged::from),
        }
    }
}

impl From<StoredEntry> for RemovedTurn {
    fn from(kept: StoredEntry) -> Self {
        let call = |call: StoredCall| RemovedCall {
            id: call.id,
            original: call.original,
            place: call.place,
            notice: call.notice,
            why: call.why,
        };
        let client = |kept: StoredClientView| ClientTurn {
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
            merged: kept.merged.map(MergedTurn::from),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on must stop")]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_stored_completely() {
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
            merged: None,
        };
        let earlier =
            EarlierAnswer { content: "[1]".into(), results: "[2]".into(), ids: vec!["i".into()] };
        let stored = StoredAnswers {
            ids: vec!["resp".into(), "resp_2".into()],
            last: "resp_2".into(),
            behind: "{}".into(),
            shown: "[]".into(),
        };
        let turn = turn.merged(MergedTurn {
            earlier: vec![earlier],
            last: "[3]".into(),
            stored: Some(stored),
        });
        let text = serde_json::to_string(&StoredEntry::of(&turn)).unwrap();
        assert_eq!(RemovedTurn::from(serde_json::from_str::<StoredEntry>(&text).unwrap()), turn);
    }

    #[test]
    fn a_stored_turn_that_cannot_be_read_is_counted() {
        let turn = serde_json::to_vec(&StoredEntry::of(&RemovedTurn::default())).unwrap();
        let found = parsed(&[b"{\"calls\":7}".to_vec(), turn]);
        assert_eq!((found.turns.len(), found.unreadable), (1, 1));
    }

    /// Turns stored by an earlier version do not contain what the client received.
    #[test]
    fn a_turn_of_an_earlier_version_is_found_by_the_provider_s_id_alone() {
        let old = r#"{"siblings":["a"],"signatures":["s"],"left":null,"calls":[{"id":"c",
            "original":"{}","place":0,"notice":"no","why":"why"}],"response":"resp"}"#;
        let turn = RemovedTurn::from(serde_json::from_str::<StoredEntry>(old).unwrap());
        assert_eq!((turn.calls.len(), turn.states()), (1, vec!["resp".to_owned()]));
        let entry = entry(&turn, &[0; 32]).unwrap();
        assert!(entry.keys.is_empty() && entry.alike.is_none());
    }
}
