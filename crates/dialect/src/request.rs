//! Puts removed calls back into a later request.
//!
//! The gate removes a denied call from a response; the provider made it nevertheless, and binds
//! thinking and signatures to it. When a later request contains the turn, [`restore`] inserts the
//! call again, with an error result that states why it was not run. A turn is recognised only in an
//! assistant message, and only if all of it is what the client received: its text including the
//! notices, its calls with their arguments, and no thinking of another turn. If that fails or is
//! ambiguous, the request stays as the client sent it. The store of removed turns finds the ones
//! that a request may contain by the keys in [`Sent`].
//!
//! | word | meaning |
//! |---|---|
//! | turn | an answer of the model, with its calls; several answers are one turn if callgate continued it |
//! | [`RemovedTurn`] | what is stored of a turn that lost calls: how the client has it, and its calls |
//! | [`ClientTurn`] | how the client has it: digests of its text, its calls, its thinking |
//! | `ClientMessage` | an assistant message of the request, read so that it can be compared with that; `seen` are all of them |
//! | [`Sent`], [`SentTurn`] | the turns in the request, as the client sends them back |
//! | key | covers all of a turn as the client has it: it is found by this |
//! | trace | covers a part of it: found by this alone, the client has changed it |
//! | state | the id of a response or conversation that the provider stores |
//! | sign | what the store looks up besides keys: states and traces, hashed |
//! | alike | what turns have in common that the client cannot distinguish |
//!
//! ```
//! use callgate_dialect::{Dialect, request::{
//!     ClientTurn, RemovedCall, RemovedTurn, TextDigest, restore,
//! }};
//!
//! let mut text = TextDigest::new();
//! text.add("blocked: rm");
//! let turn = RemovedTurn {
//!     client: Some(ClientTurn { text: text.finish(), ..ClientTurn::default() }),
//!     calls: vec![RemovedCall {
//!         id: "call_1".into(),
//!         original: r#"{"id":"call_1","function":{"name":"rm","arguments":"{}"}}"#.into(),
//!         place: 0,
//!         notice: Some("blocked: rm".into()),
//!         why: "not allowed".into(),
//!     }],
//!     ..RemovedTurn::default()
//! };
//! let assistant = r#"{"role":"assistant","content":"blocked: rm"}"#;
//! let request = format!(r#"{{"messages":[{assistant},{{"role":"user","content":"Why?"}}]}}"#);
//! let restored = restore(Dialect::OpenAiChat, &request, &[turn]).unwrap();
//! assert_eq!(restored.restored, ["call_1"]);
//! ```

pub(crate) mod block_lists;
mod canonical;
mod client_turn;
pub(crate) mod listed;
mod merged;
mod passages;
mod places;
mod recognise;
mod sent;
mod text;
mod texts;
mod tools;

use std::collections::HashSet;
use std::fmt;

use callgate_json::{Error, Kind, Reader, Span, Text};

pub use canonical::{call_digest, calls_digest};
pub use client_turn::{ClientCall, ClientTurn, signature_hash};
pub use passages::passages;
pub use sent::{Sent, SentTurn, sent};
pub use text::TextDigest;
pub use texts::{RequestText, TextKind, plain_texts, texts, with_texts};
pub use tools::{Advertised, CannotRemove, Tool, advertised};

pub(crate) use places::{CallPlaces, NoticePlaces, PlacedBlock, fill_gaps, put_back_blocks};
pub(crate) use recognise::{ClientMessage, SentCall, TurnMatch, recognise};
pub(crate) use text::{Decoded, ShownNotice, rest, shown};
pub(crate) use tools::{FeatureGroup, SERVERS, ToolPlaces, ToolWalk};

use crate::Dialect;
use crate::json::{Fields, at_path};

/// The calls that were removed from one turn, and how to recognise that turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemovedTurn {
    /// The turn as the client received it. `None` if that is unknown: then no message matches this
    /// turn.
    pub client: Option<ClientTurn>,
    /// The digest of the names, arguments and positions of the removed calls.
    pub removed: [u8; 32],
    /// The removed calls.
    pub calls: Vec<RemovedCall>,
    /// The id under which the provider stores the response, including the calls. A request that
    /// continues it must answer them.
    pub response: Option<String>,
    /// The id of the conversation in which the provider stores it, for the same reason.
    pub conversation: Option<String>,
    /// The answers that the client received as one turn, if there were several.
    pub merged: Option<MergedTurn>,
}

/// Several answers that the client received as one turn. They are restored as the turns that the
/// provider produced; the removed calls of a [`RemovedTurn`] are those of the last answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MergedTurn {
    /// The answers before the last one.
    pub earlier: Vec<EarlierAnswer>,
    /// The content of the last answer, in the form that a request has it.
    pub last: String,
    /// What the provider stores of it, if the client may refer to the turn by an id.
    pub stored: Option<StoredAnswers>,
}

/// Several answers that the provider stores, each under an id of its own. The client knows the id
/// of the first one, and takes it for that of the whole turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredAnswers {
    /// The ids of all of them, in order.
    pub ids: Vec<String>,
    /// The id of the one that a request continues.
    pub last: String,
    /// Items that the client has and the provider has not, because the answer behind `last` was cut
    /// off.
    pub behind: String,
    /// The answers before `last` as the client received them, as one response.
    pub shown: String,
}

/// An answer of which every call was denied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EarlierAnswer {
    /// Its content, in the form that a request has it.
    pub content: String,
    /// The error results of its calls, in that form.
    pub results: String,
    /// The ids of its calls.
    pub ids: Vec<String>,
}

/// A removed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedCall {
    /// Its id; empty for a legacy `function_call` of Chat.
    pub id: String,
    /// The call as JSON. Anthropic: a `tool_use` block. Chat: an entry of `tool_calls` without its
    /// index, or a legacy `function_call`.
    pub original: String,
    /// Its position in the original turn. Anthropic: among all content blocks. Chat: among the
    /// calls.
    pub place: usize,
    /// The exact text of its notice, without the separator.
    pub notice: Option<String>,
    /// The text of the error result.
    pub why: String,
}

impl RemovedCall {
    /// The value at a path of keys in the call, as JSON; an empty text if there is none.
    pub(crate) fn at(&self, path: &[&str]) -> &str {
        let found = whole_object(&self.original).and_then(|it| at_path(&self.original, it, path));
        found.map_or("\"\"", |found| found.of(&self.original))
    }

    /// Whether code that the provider runs made the call, and waits for its result.
    pub(crate) fn is_programmatic(&self) -> bool {
        let kind = self.at(&["caller", "type"]);
        Reader::new(kind).string().is_ok_and(|kind| !kind.is_empty() && !kind.is("direct"))
    }
}

/// The result of restoring a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// The request to send; `None` if it is to be sent unchanged.
    pub body: Option<String>,
    /// Ids of the restored calls.
    pub restored: Vec<String>,
    /// The calls that were not restored.
    pub skipped: Vec<SkippedCall>,
}

/// A call that was not restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedCall {
    /// Its id; empty for a legacy `function_call` of Chat.
    pub id: String,
    /// Why.
    pub why: NotRestored,
}

/// Why a call was not restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotRestored {
    /// No assistant message matches the call's turn: another conversation, or changed by the
    /// client.
    NotFound,
    /// Turns that lost different calls look the same to the client.
    Ambiguous,
    /// The client itself sent a call or a result with that id.
    Present,
    /// No later message can contain the result.
    Unanswered,
    /// A result cannot name a call without an id.
    NoId,
    /// A message contains either one legacy call or a list.
    Occupied,
    /// The result of this kind of call cannot be made up.
    NoResult,
    /// A part of a turn of several answers cannot be restored alone.
    AnotherCall,
    /// Its message has no content into which calls can be put.
    NoPlace,
    /// The stored call is not a call.
    Unreadable,
}

impl fmt::Display for NotRestored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFound => "its turn is not in the request",
            Self::Ambiguous => "several turns with different removed calls look like this one",
            Self::Present => "the request already has a call of that id",
            Self::Unanswered => "no later message can contain its result",
            Self::NoId => "it has no id",
            Self::Occupied => "the message already contains another call",
            Self::NoResult => "a result of its kind cannot be written",
            Self::AnotherCall => "another call of its turn cannot be put back",
            Self::NoPlace => "its message has no place for it",
            Self::Unreadable => "its stored copy cannot be read",
        })
    }
}

impl fmt::Display for SkippedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id.as_str() {
            "" => self.why.fmt(f),
            id => write!(f, "{id}: {}", self.why),
        }
    }
}

impl Restored {
    pub(crate) fn skip(&mut self, call: &RemovedCall, why: NotRestored) {
        self.skipped.push(SkippedCall { id: call.id.clone(), why });
    }
}

/// Puts the removed calls of `turns` back into `request`.
///
/// Everything else stays byte for byte. A request that cannot be parsed is an error: it can only be
/// sent unchanged.
pub fn restore(dialect: Dialect, request: &str, turns: &[RemovedTurn]) -> Result<Restored, Error> {
    if turns.is_empty() {
        return Ok(Restored::default());
    }
    (dialect.spec().restore)(request, turns)
}

/// The calls to put back into one message.
pub(crate) struct Plan<'t> {
    /// The message's index in the list of `ClientMessage`.
    pub(crate) seen: usize,
    pub(crate) turn: &'t RemovedTurn,
    /// Those of the turn's calls that can be put back, in their original order. Empty only for a
    /// turn of several answers.
    pub(crate) calls: Vec<&'t RemovedCall>,
}

/// Whether the calls of a plan went into their message.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placed {
    Yes,
    /// The message has no place for them, and nothing was edited.
    No,
}

impl Plan<'_> {
    /// Reports what happened to the calls.
    pub(crate) fn report(&self, placed: Placed, out: &mut Restored) {
        match placed {
            Placed::Yes => {
                let earlier = self.turn.merged.iter().flat_map(|merged| &merged.earlier);
                out.restored.extend(earlier.flat_map(|answer| answer.ids.iter().cloned()));
                out.restored.extend(self.calls.iter().map(|call| call.id.clone()));
            }
            Placed::No => self.calls.iter().for_each(|call| out.skip(call, NotRestored::NoPlace)),
        }
    }
}

/// Decides which calls go into which message. `known` are the ids in the request; `refuse` returns
/// why a call cannot go into a message.
pub(crate) fn plan<'t>(
    seen: &[ClientMessage<'_>],
    turns: &'t [RemovedTurn],
    mut known: HashSet<String>,
    refuse: impl Fn(usize, &RemovedTurn, &RemovedCall) -> Option<NotRestored>,
    out: &mut Restored,
) -> Vec<Plan<'t>> {
    let mut plans = Vec::new();
    for (turn, found) in turns.iter().zip(recognise(seen, turns)) {
        let skipped = out.skipped.len();
        let is_present = turn.merged.as_ref().is_some_and(|merged| merged.has_any(&known));
        let mut calls: Vec<&RemovedCall> = Vec::new();
        for call in &turn.calls {
            let is_twin = |other: &&RemovedCall| other.id == call.id;
            let is_known = known.contains(&call.id) || calls.iter().any(is_twin);
            if !call.id.is_empty() && is_known {
                out.skip(call, NotRestored::Present);
                continue;
            }
            match found {
                TurnMatch::Nowhere => out.skip(call, NotRestored::NotFound),
                TurnMatch::Unclear => out.skip(call, NotRestored::Ambiguous),
                TurnMatch::At(place) => match refuse(place, turn, call) {
                    Some(why) => out.skip(call, why),
                    None => calls.push(call),
                },
            }
        }
        calls.sort_by_key(|call| call.place);
        if is_present {
            calls.iter().for_each(|call| out.skip(call, NotRestored::Present));
            continue;
        }
        if turn.merged.is_some() && out.skipped.len() > skipped {
            calls.iter().for_each(|call| out.skip(call, NotRestored::AnotherCall));
            continue;
        }
        let is_idle = calls.is_empty() && turn.merged.is_none();
        if let (TurnMatch::At(seen), false) = (found, is_idle) {
            known.extend(calls.iter().map(|call| call.id.clone()));
            plans.push(Plan { seen, turn, calls });
        }
    }
    plans
}

/// Consecutive items of the model in a history.
pub(crate) struct ModelTurn<'r, T> {
    /// The index of the first.
    pub(crate) first: usize,
    pub(crate) items: Vec<&'r T>,
    /// The item that answers them.
    pub(crate) answer: Option<&'r T>,
}

/// The turns of the model among these items.
pub(crate) fn model_turns<T>(
    items: &[T],
    is_of_model: impl Fn(&T) -> bool,
) -> Vec<ModelTurn<'_, T>> {
    let mut turns: Vec<ModelTurn<'_, T>> = Vec::new();
    let mut goes_on = false;
    for (place, item) in items.iter().enumerate() {
        let is_own = is_of_model(item);
        match turns.last_mut().filter(|_| goes_on) {
            Some(turn) if is_own => turn.items.push(item),
            Some(turn) => turn.answer = Some(item),
            None if is_own => {
                turns.push(ModelTurn { first: place, items: vec![item], answer: None });
            }
            None => {}
        }
        goes_on = is_own;
    }
    turns
}

/// Why a call cannot be put back with a result that names it.
pub(crate) fn refusal(call: &RemovedCall) -> Option<NotRestored> {
    if call.id.is_empty() {
        return Some(NotRestored::NoId);
    }
    whole_object(&call.original).is_none().then_some(NotRestored::Unreadable)
}

/// The results of calls that the provider still has. `known` are the ids in the request; `refuse`
/// returns why a call cannot be answered.
pub(crate) fn results_of_kept(
    turns: &[&RemovedTurn],
    known: &mut HashSet<String>,
    refuse: impl Fn(&RemovedCall) -> Option<NotRestored>,
    result: impl Fn(&RemovedCall) -> Option<String>,
    out: &mut Restored,
) -> Vec<String> {
    let mut results = Vec::new();
    for call in turns.iter().flat_map(|turn| &turn.calls) {
        let is_present = known.contains(&call.id).then_some(NotRestored::Present);
        match is_present.or_else(|| refuse(call)) {
            Some(why) => out.skip(call, why),
            None => {
                results.extend(result(call));
                known.insert(call.id.clone());
                out.restored.push(call.id.clone());
            }
        }
    }
    results
}

/// The messages of a request, each as parsed by `read`. The reader is positioned before a message.
pub(crate) fn messages<'a, M>(
    request: &'a str,
    mut read: impl FnMut(&mut Reader<'a>) -> Result<M, Error>,
) -> Result<Vec<M>, Error> {
    let mut reader = Reader::new(request);
    let mut messages = Vec::new();
    let mut object = Fields::new(&["messages"]).enter(&mut reader)?;
    while object.next(&mut reader)?.is_some() {
        (_, messages) = reader.list(&mut read)?;
    }
    reader.end()?;
    Ok(messages)
}

/// The stored call, if it is one JSON object.
pub(crate) fn whole_object(original: &str) -> Option<Span> {
    let mut reader = Reader::new(original);
    if reader.kind().ok()? != Kind::Object {
        return None;
    }
    let span = reader.skip().ok()?;
    reader.end().ok()?;
    Some(span)
}

/// The decoded text of a string, if it is one.
pub(crate) fn meaning(text: Option<Text<'_>>) -> Option<String> {
    text.and_then(|text| text.decode().ok()).map(|text| text.into_owned())
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
