//! Matches assistant messages with turns.

use std::borrow::Cow;
use std::collections::HashMap;

use callgate_json::{Reader as Json, Span, Text};

use super::sent::reference_key;
use super::{
    ClientCall, ClientTurn, Decoded, RemovedCall, RemovedTurn, TextDigest, shown, signature_hash,
};
use crate::json::member;
use crate::responses::shown_as;

/// One assistant message, as the client sent it.
#[derive(Default)]
pub(crate) struct ClientMessage<'a> {
    /// Its index among the messages.
    pub(crate) message: usize,
    /// One past its index.
    pub(crate) end: usize,
    /// Its texts, each with its index in the content.
    pub(crate) texts: Vec<(usize, Decoded<'a>)>,
    /// What the client has of the turn.
    pub(crate) client: ClientTurn,
    /// Ids of items that the provider stores, sent instead of the items.
    pub(crate) references: Vec<String>,
}

impl<'a> ClientMessage<'a> {
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
        let id = call.id.as_ref().map(Text::decode_lossy).unwrap_or_default();
        let name = call.name.as_ref().map(Text::decode_lossy).unwrap_or_default();
        let arguments = call.arguments.map(|span| arguments_at(request, span));
        let arguments = arguments.unwrap_or_default();
        self.client.calls.push(ClientCall::new(id.into_owned(), &name, &arguments));
    }

    /// Adds the signature of thinking.
    pub(crate) fn add_signature(&mut self, signature: Option<Text<'_>>) {
        let signature = signature.filter(|text| !text.is_empty());
        let signature = signature.map(|text| signature_hash(&text.decode_lossy()));
        self.client.signatures.extend(signature);
    }

    /// The keys of the turns that it may be.
    pub(super) fn keys(&self) -> Vec<[u8; 32]> {
        match self.references.is_empty() {
            true => self.client.sought(),
            false => self.references.iter().map(|id| reference_key(&signature_hash(id))).collect(),
        }
    }

    /// Whether the two share a message.
    fn overlaps(&self, other: &Self) -> bool {
        self.message < other.end && other.message < self.end
    }

    /// Whether the message has a call with that id.
    pub(crate) fn has_id(&self, id: &str) -> bool {
        !id.is_empty() && self.client.calls.iter().any(|call| call.id == id)
    }
}

/// The compared parts of a call in a message.
#[derive(Default, Clone, Copy)]
pub(crate) struct SentCall<'a> {
    pub(crate) id: Option<Text<'a>>,
    pub(crate) name: Option<Text<'a>>,
    pub(crate) arguments: Option<Span>,
}

impl<'a> SentCall<'a> {
    /// Reads the call object at `span`, with its arguments under `arguments`.
    pub(crate) fn read(request: &'a str, span: Span, arguments: &str) -> Self {
        let at = |key: &str| member(request, span, key);
        let text = |key: &str| at(key).and_then(|span| Json::at(request, span).string().ok());
        Self { id: text("id"), name: text("name"), arguments: at(arguments) }
    }
}

/// The arguments at `span`: the content of a string, or the value itself.
fn arguments_at(request: &str, span: Span) -> Cow<'_, str> {
    match Json::at(request, span).string() {
        Ok(text) => text.decode_lossy(),
        Err(_) => Cow::Borrowed(span.of(request)),
    }
}

/// Where a turn was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnMatch {
    /// In this one of the messages.
    At(usize),
    /// A message may be this turn or another one that lost other calls.
    Unclear,
    /// In no message.
    Nowhere,
}

/// Finds the message of each turn; no message matches two turns. A message matches a turn only if
/// everything that the client has of it agrees. Equal turns that lost the same calls are assigned
/// in order, the oldest first: so a message keeps its turn when the conversation grows, and the
/// provider finds it in its cache. If matching turns lost different calls, none is assigned.
pub(crate) fn recognise(seen: &[ClientMessage<'_>], turns: &[RemovedTurn]) -> Vec<TurnMatch> {
    let mut by_key: HashMap<[u8; 32], Vec<usize>> = HashMap::new();
    for (number, turn) in turns.iter().enumerate() {
        for key in turn.keys() {
            by_key.entry(key).or_default().push(number);
        }
    }
    let mut found = vec![TurnMatch::Nowhere; turns.len()];
    let mut taken: Vec<&ClientMessage<'_>> = Vec::new();
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
                Some(found @ TurnMatch::Nowhere) if !is_clear => *found = TurnMatch::Unclear,
                Some(found @ (TurnMatch::Nowhere | TurnMatch::Unclear)) if is_clear => {
                    *found = TurnMatch::At(place);
                    taken.push(seen);
                    break;
                }
                _ => {}
            }
        }
    }
    found
}

/// The turns that the message may be, in order.
fn matching(
    seen: &ClientMessage<'_>,
    turns: &[RemovedTurn],
    by_key: &HashMap<[u8; 32], Vec<usize>>,
) -> Vec<usize> {
    let is_it = |number: &usize| {
        turns.get(*number).is_some_and(|turn| match seen.references.is_empty() {
            true => {
                // The text of several answers is replaced as a whole.
                let replaced = turn.merged.is_some() || seen.client.drops_text();
                is_whole(seen, turn) && (replaced || shows_notices(seen, turn))
            }
            false => is_referred_to(seen, turn),
        })
    };
    let keys = seen.keys();
    let numbers = keys.iter().filter_map(|key| by_key.get(key)).flatten();
    let mut matching: Vec<usize> = numbers.copied().filter(is_it).collect();
    // A turn may be stored under several of the keys.
    matching.sort_unstable();
    matching.dedup();
    matching
}

/// Whether the message is the turn, comparing all of it.
fn is_whole(seen: &ClientMessage<'_>, turn: &RemovedTurn) -> bool {
    turn.client.as_ref().is_some_and(|client| client.is_sent_as(&seen.client))
}

/// Whether the message refers to items that the provider stores, and matches this turn as far as
/// that shows: every item belongs to the turn, all calls are there, and so is the text.
fn is_referred_to(seen: &ClientMessage<'_>, turn: &RemovedTurn) -> bool {
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
                let replaced = turn.merged.is_some() || shows_notices(seen, turn);
                sent.text == client.text && referred.has_no_messages() && replaced
            }
            None => match turn.message_ids() {
                // Some providers give two messages the same id.
                Some(all) => all.len() == referred.notices + referred.messages,
                None => referred.covers_all_texts(client, turn),
            },
        }
}

/// What references are for, by the prefixes of their ids.
#[derive(Default)]
struct References {
    /// Messages that replaced calls.
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
    fn has_no_messages(&self) -> bool {
        self.notices + self.messages == 0
    }

    /// Whether they cover all texts of the turn: its notices, and other text if it has any.
    fn covers_all_texts(&self, client: &ClientTurn, turn: &RemovedTurn) -> bool {
        let mut notices = TextDigest::new();
        let shown = turn.calls.iter().filter_map(|call| call.notice.as_deref());
        let count = shown.inspect(|notice| notices.add(notice)).count();
        self.notices == count && (client.text != notices.finish()) == (self.messages > 0)
    }
}

/// Whether the message contains every notice of the turn exactly as shown, so that it can be
/// removed.
pub(super) fn shows_notices(seen: &ClientMessage<'_>, turn: &RemovedTurn) -> bool {
    let calls: Vec<&RemovedCall> = turn.calls.iter().filter(|call| call.notice.is_some()).collect();
    calls.is_empty()
        || shown(&seen.texts, &calls).iter().map(Vec::len).sum::<usize>() == calls.len()
}
