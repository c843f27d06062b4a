//! Which assistant message is which turn.

use std::borrow::Cow;
use std::collections::HashMap;

use callgate_call::json::{Reader as Json, Span, Text};

use super::sent::reference_key;
use super::text::decode_lossy;
use super::{
    ClientCall, ClientTurn, Decoded, RemovedCall, RemovedTurn, TextDigest, shown, signature_hash,
};
use crate::json::member;
use crate::responses::shown_as;

/// One assistant message, as the client sent it.
#[derive(Default)]
pub(crate) struct Seen<'a> {
    /// Its place among the messages.
    pub(crate) message: usize,
    /// The place behind it.
    pub(crate) end: usize,
    /// Its texts, each with its place in the content.
    pub(crate) texts: Vec<(usize, Decoded<'a>)>,
    /// What the client has of the turn.
    pub(crate) client: ClientTurn,
    /// Ids of items that the provider keeps, sent in their place.
    pub(crate) references: Vec<String>,
}

impl<'a> Seen<'a> {
    /// A message with these texts; calls and signatures are added by the caller.
    pub(crate) fn new(message: usize, texts: Vec<(usize, Decoded<'a>)>) -> Self {
        let mut seen = Self { message, end: message + 1, texts, ..Self::default() };
        let mut digest = TextDigest::new();
        seen.texts.iter().for_each(|(_, text)| digest.add(&text.text));
        seen.client.text = digest.finish();
        seen
    }

    /// Adds a call of `request` that the client runs. Its arguments are a value or the text of one.
    pub(crate) fn add_call(&mut self, request: &str, call: SentCall<'_>) {
        let id = call.id.as_ref().map(decode_lossy).unwrap_or_default();
        let name = call.name.as_ref().map(decode_lossy).unwrap_or_default();
        let arguments = call.arguments.map(|span| arguments_at(request, span));
        let arguments = arguments.unwrap_or_default();
        self.client.calls.push(ClientCall::new(id.into_owned(), &name, &arguments));
    }

    /// Adds the signature of a thought.
    pub(crate) fn add_signature(&mut self, signature: Option<Text<'_>>) {
        let signature = signature.filter(|text| !text.is_empty());
        let signature = signature.map(|text| signature_hash(&decode_lossy(&text)));
        self.client.signatures.extend(signature);
    }

    /// The keys of the turn it may be.
    pub(super) fn keys(&self) -> Vec<[u8; 32]> {
        match self.references.is_empty() {
            true => self.client.sought(),
            false => self.references.iter().map(|id| reference_key(&signature_hash(id))).collect(),
        }
    }

    /// Whether a message is of both.
    fn overlaps(&self, other: &Self) -> bool {
        self.message < other.end && other.message < self.end
    }

    /// Whether the message has a call of that id.
    pub(crate) fn has_id(&self, id: &str) -> bool {
        !id.is_empty() && self.client.calls.iter().any(|call| call.id == id)
    }
}

/// A call of a message, as far as it is compared.
#[derive(Default, Clone, Copy)]
pub(crate) struct SentCall<'a> {
    pub(crate) id: Option<Text<'a>>,
    pub(crate) name: Option<Text<'a>>,
    pub(crate) arguments: Option<Span>,
}

impl<'a> SentCall<'a> {
    /// The call that the object at `span` is, with its arguments under `arguments`.
    pub(crate) fn read(request: &'a str, span: Span, arguments: &str) -> Self {
        let at = |key: &str| member(request, span, key);
        let text = |key: &str| at(key).and_then(|span| Json::at(request, span).string().ok());
        Self { id: text("id"), name: text("name"), arguments: at(arguments) }
    }
}

/// The arguments at `span`: what a string says, or the value itself.
fn arguments_at(request: &str, span: Span) -> Cow<'_, str> {
    match Json::at(request, span).string() {
        Ok(text) => decode_lossy(&text),
        Err(_) => Cow::Borrowed(span.of(request)),
    }
}

/// Where a turn was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// In this one of the messages seen.
    At(usize),
    /// A message may be this turn or another one that lost other calls.
    Unclear,
    /// In none.
    Nowhere,
}

/// Finds the message of each turn; no message is two turns. A message is a turn only if all that
/// the client has of it agrees. Turns that are alike and lost the same calls are given out in their
/// order, the oldest first: so a message keeps its turn when the conversation grows, and the
/// provider finds it in its cache. Where turns match that lost different calls, none is.
pub(crate) fn recognise(seen: &[Seen<'_>], turns: &[RemovedTurn]) -> Vec<Found> {
    let mut by_key: HashMap<[u8; 32], Vec<usize>> = HashMap::new();
    for (number, turn) in turns.iter().enumerate() {
        for key in turn.keys() {
            by_key.entry(key).or_default().push(number);
        }
    }
    let mut found = vec![Found::Nowhere; turns.len()];
    let mut taken: Vec<&Seen<'_>> = Vec::new();
    for (place, seen) in seen.iter().enumerate() {
        if taken.iter().any(|other| other.overlaps(seen)) {
            continue;
        }
        let matching = matching(seen, turns, &by_key);
        let removed = |number: &usize| turns.get(*number).map(|turn| turn.removed);
        let first = matching.first().and_then(removed);
        let is_clear = matching.iter().all(|number| removed(number) == first);
        for number in matching {
            match found.get_mut(number) {
                Some(found @ Found::Nowhere) if !is_clear => *found = Found::Unclear,
                Some(found @ (Found::Nowhere | Found::Unclear)) if is_clear => {
                    *found = Found::At(place);
                    taken.push(seen);
                    break;
                }
                _ => {}
            }
        }
    }
    found
}

/// The turns that the message may be, in their order.
fn matching(
    seen: &Seen<'_>,
    turns: &[RemovedTurn],
    by_key: &HashMap<[u8; 32], Vec<usize>>,
) -> Vec<usize> {
    let is_it = |number: &usize| {
        turns.get(*number).is_some_and(|turn| match seen.references.is_empty() {
            true => is_whole(seen, turn) && (shows_notices(seen, turn) || seen.client.drops_text()),
            false => is_referred_to(seen, turn),
        })
    };
    let keys = seen.keys();
    let numbers = keys.iter().filter_map(|key| by_key.get(key)).flatten();
    let mut matching: Vec<usize> = numbers.copied().filter(is_it).collect();
    // A turn may be kept under several of the keys.
    matching.sort_unstable();
    matching.dedup();
    matching
}

/// Whether the message is the turn, all of it compared.
fn is_whole(seen: &Seen<'_>, turn: &RemovedTurn) -> bool {
    turn.client.as_ref().is_some_and(|client| client.is_sent_as(&seen.client))
}

/// Whether the turn refers to items that the provider keeps, and is this turn as far as can be told:
/// every item is one of the turn, all calls are there, and so is the text.
fn is_referred_to(seen: &Seen<'_>, turn: &RemovedTurn) -> bool {
    let Some(client) = &turn.client else { return false };
    let own = turn.reference_keys();
    let sent = &seen.client;
    let referred = References::sort(&seen.references, turn);
    seen.references.iter().all(|id| own.contains(&reference_key(&signature_hash(id))))
        && sent.calls.len() + referred.others == client.calls.len()
        && sent.calls.iter().all(|call| client.calls.contains(call))
        && sent.signatures.iter().all(|signature| client.signatures.contains(signature))
        && match sent.text {
            Some(_) => {
                sent.text == client.text && referred.is_wordless() && shows_notices(seen, turn)
            }
            None => referred.says_all(client, turn),
        }
}

/// What references stand for, by the beginnings that the API gives to ids.
#[derive(Default)]
struct References {
    /// Messages that were shown in the place of calls.
    notices: usize,
    messages: usize,
    /// Neither messages nor reasoning.
    others: usize,
}

impl References {
    fn sort(ids: &[String], turn: &RemovedTurn) -> Self {
        let shown: Vec<String> =
            turn.calls.iter().filter_map(|call| shown_as(&call.original)).collect();
        let mut sorted = Self::default();
        for id in ids {
            match id.split_once('_') {
                _ if shown.contains(id) => sorted.notices += 1,
                Some(("msg", _)) => sorted.messages += 1,
                Some(("rs", _)) => {}
                _ => sorted.others += 1,
            }
        }
        sorted
    }

    /// Whether no message is referred to.
    fn is_wordless(&self) -> bool {
        self.notices + self.messages == 0
    }

    /// Whether they stand for all that the turn says: its notices, and other text if it has any.
    fn says_all(&self, client: &ClientTurn, turn: &RemovedTurn) -> bool {
        let mut notices = TextDigest::new();
        let shown = turn.calls.iter().filter_map(|call| call.notice.as_deref());
        let count = shown.inspect(|notice| notices.add(notice)).count();
        self.notices == count && (client.text != notices.finish()) == (self.messages > 0)
    }
}

/// Whether every notice of the turn stands in the message as it was shown, so that it can be cut out.
pub(super) fn shows_notices(seen: &Seen<'_>, turn: &RemovedTurn) -> bool {
    let calls: Vec<&RemovedCall> = turn.calls.iter().filter(|call| call.notice.is_some()).collect();
    calls.is_empty()
        || shown(&seen.texts, &calls).iter().map(Vec::len).sum::<usize>() == calls.len()
}
