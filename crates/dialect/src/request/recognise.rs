//! Which assistant message is which turn.

use std::collections::HashMap;
use std::hash::Hash;

use super::{Decoded, RemovedTurn, TextDigest};

/// What can be told of one assistant message.
pub(crate) struct Seen<'a> {
    /// Its place among the messages.
    pub(crate) message: usize,
    /// Its texts, each with its place in the content.
    pub(crate) texts: Vec<(usize, Decoded<'a>)>,
    /// Ids of its calls.
    pub(crate) ids: Vec<String>,
    /// Signatures of its thinking.
    pub(crate) signatures: Vec<String>,
}

/// Where a turn was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// In this one of the messages seen.
    At(usize),
    /// There is a trace of it, but it cannot be told where it belongs.
    Unclear,
    /// In none.
    Nowhere,
}

/// Finds the message of each turn; no message is two turns. The surest sign goes first: a notice
/// names its record, a signature is the provider's, ids start anew with some providers, and a
/// digest may be that of a common text.
pub(crate) fn recognise(seen: &[Seen<'_>], turns: &[RemovedTurn]) -> Vec<Found> {
    let mut search = Search {
        seen,
        turns,
        taken: vec![false; seen.len()],
        found: vec![Found::Nowhere; turns.len()],
    };
    search.by_notice();
    let signatures: Vec<_> = seen.iter().map(|seen| words(&seen.signatures)).collect();
    search.by_key(&signatures, |turn| words(&turn.signatures), |_, _| true);
    let ids: Vec<_> = seen.iter().map(|seen| words(&seen.ids)).collect();
    search.by_key(&ids, |turn| words(&turn.siblings), |_, _| true);
    if turns.iter().any(|turn| turn.left.is_some()) {
        let digests: Vec<_> = seen.iter().map(|seen| digest(seen).into_iter().collect()).collect();
        search.by_key(&digests, |turn| turn.left.into_iter().collect(), agrees);
    }
    search.found
}

struct Search<'a> {
    seen: &'a [Seen<'a>],
    turns: &'a [RemovedTurn],
    taken: Vec<bool>,
    found: Vec<Found>,
}

impl<'a> Search<'a> {
    /// In order, each turn once.
    fn by_notice(&mut self) {
        for (place, seen) in self.seen.iter().enumerate() {
            let turn = self
                .turns
                .iter()
                .zip(&self.found)
                .position(|(turn, found)| *found == Found::Nowhere && shows_notice(seen, turn));
            if let Some(turn) = turn {
                self.assign(turn, place);
            }
        }
    }

    /// By a key that messages and turns have in common. A key proves a turn only if as many
    /// messages as turns have it: then they belong together in order.
    fn by_key<K: Hash + Eq>(
        &mut self,
        of_messages: &[Vec<K>],
        of_turn: impl Fn(&'a RemovedTurn) -> Vec<K>,
        fits: impl Fn(&Seen<'_>, &RemovedTurn) -> bool,
    ) {
        let (seen, turns) = (self.seen, self.turns);
        let mut with_key: HashMap<&K, Vec<usize>> = HashMap::new();
        for (place, keys) in of_messages.iter().enumerate() {
            for key in keys {
                with_key.entry(key).or_default().push(place);
            }
        }
        let of_turns: Vec<Vec<K>> = turns.iter().map(of_turn).collect();
        for (number, (turn, keys)) in turns.iter().zip(&of_turns).enumerate() {
            for key in keys {
                if self.is_settled(number) {
                    break;
                }
                let Some(places) = with_key.get(key) else { continue };
                let open = |place: &usize| {
                    let fits = seen.get(*place).is_some_and(|seen| fits(seen, turn));
                    fits && self.taken.get(*place) == Some(&false)
                };
                let mut messages: Vec<usize> = places.iter().copied().filter(open).collect();
                messages.dedup();
                let rivals = |rival: &usize| {
                    !self.is_settled(*rival)
                        && of_turns.get(*rival).is_some_and(|keys| keys.contains(key))
                        && turns.get(*rival).is_some_and(|rival| {
                            messages.iter().any(|m| seen.get(*m).is_some_and(|m| fits(m, rival)))
                        })
                };
                let rivals: Vec<usize> = (0..turns.len()).filter(rivals).collect();
                if messages.is_empty() {
                    continue;
                }
                if messages.len() == rivals.len() {
                    for (rival, place) in rivals.into_iter().zip(messages) {
                        self.assign(rival, place);
                    }
                } else if let Some(found) = self.found.get_mut(number) {
                    *found = Found::Unclear;
                }
            }
        }
    }

    fn is_settled(&self, turn: usize) -> bool {
        matches!(self.found.get(turn), Some(Found::At(_)) | None)
    }

    fn assign(&mut self, turn: usize, place: usize) {
        if let (Some(found), Some(taken)) = (self.found.get_mut(turn), self.taken.get_mut(place)) {
            *found = Found::At(place);
            *taken = true;
        }
    }
}

fn shows_notice(seen: &Seen<'_>, turn: &RemovedTurn) -> bool {
    let notices = || turn.calls.iter().filter_map(|call| call.notice.as_deref());
    turn.left.is_none()
        && seen.texts.iter().any(|(_, text)| notices().any(|notice| text.says(notice)))
}

/// Whether nothing in the message speaks against the turn: it has exactly the calls the client
/// got, and no thinking of another turn. Clients may leave thinking out.
fn agrees(seen: &Seen<'_>, turn: &RemovedTurn) -> bool {
    seen.ids.iter().all(|id| turn.siblings.contains(id))
        && turn.siblings.iter().all(|id| seen.ids.contains(id))
        && seen.signatures.iter().all(|signature| turn.signatures.contains(signature))
}

/// The digest of all text of a message. No text is no sign.
pub(super) fn digest(seen: &Seen<'_>) -> Option<[u8; 32]> {
    let mut digest = TextDigest::new();
    for (_, text) in &seen.texts {
        digest.add(&text.text);
    }
    seen.texts.iter().any(|(_, text)| !text.text.is_empty()).then(|| digest.finish())
}

fn words(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).filter(|word| !word.is_empty()).collect()
}
