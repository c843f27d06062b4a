//! Removed calls, put back into a later request.
//!
//! The gate takes a denied call out of a response; the provider made it nevertheless, and binds
//! thinking and signatures to it. When a later request carries the turn back, [`restore`] splices
//! the call in again, with an error result that says why it was not run. A turn is recognised
//! only in an assistant message, and only if all of it is what the client got: its text with the
//! notices in it, its calls with their arguments, and no thinking of another turn. Where that fails
//! or could mean two things, the request stays as the client sent it. The store of removed turns
//! finds those a request may hold by the keys in [`Sent`].
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
//!         original: r#"{"id":"call_1","type":"function","function":{"name":"rm","arguments":"{}"}}"#
//!             .into(),
//!         place: 0,
//!         notice: Some("blocked: rm".into()),
//!         why: "not allowed".into(),
//!     }],
//!     ..RemovedTurn::default()
//! };
//! let request = r#"{"messages":[{"role":"assistant","content":"blocked: rm"},
//!     {"role":"user","content":"Why?"}]}"#;
//! let restored = restore(Dialect::OpenAiChat, request, &[turn]).unwrap();
//! assert_eq!(restored.restored, ["call_1"]);
//! ```

mod canonical;
mod client_turn;
pub(crate) mod listed;
mod places;
mod recognise;
mod sent;
mod text;
mod texts;
mod tools;

use std::collections::HashSet;

use callgate_call::json::{Error, Kind, Reader, Span, Text};

pub use canonical::{call_digest, calls_digest};
pub use client_turn::{ClientCall, ClientTurn, signature_hash};
pub use sent::{Sent, SentTurn, sent};
pub use text::TextDigest;
pub use texts::{Form, Said, plain_texts, texts, with_texts};
pub use tools::{Advertised, Tool, Unclean, advertised};

pub(crate) use places::{Places, Standing, put_back_blocks};
pub(crate) use recognise::{Found, Seen, SentCall, recognise};
pub(crate) use text::{Decoded, Shown, rest, shown};

use crate::Dialect;
use crate::json::Fields;

/// What was taken out of one turn, and how to know that turn again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemovedTurn {
    /// The turn as the client got it. `None` if that is not known: then no message is this turn.
    pub client: Option<ClientTurn>,
    /// The digest of the names, arguments and places of the calls that were taken out.
    pub removed: [u8; 32],
    /// The calls that were taken out.
    pub calls: Vec<RemovedCall>,
    /// The id under which the provider keeps the response, calls and all. A request that goes on
    /// from it must answer them.
    pub response: Option<String>,
    /// The id of the conversation the provider keeps it in, likewise.
    pub conversation: Option<String>,
}

/// A call that was taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedCall {
    /// Its id; empty for a legacy `function_call` of Chat.
    pub id: String,
    /// The call as JSON. Anthropic: a `tool_use` block. Chat: an entry of `tool_calls` without its
    /// index, or a legacy `function_call`.
    pub original: String,
    /// Its place in the original turn. Anthropic: among all content blocks. Chat: among the calls.
    pub place: usize,
    /// The exact text that was shown in its place, without what sets it off.
    pub notice: Option<String>,
    /// The text of the error result.
    pub why: String,
}

/// What became of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// The request to send; `None` if it is to be sent as it came.
    pub body: Option<String>,
    /// Ids of the calls that were put back.
    pub restored: Vec<String>,
    /// Ids of the calls that were not, each with the reason.
    pub skipped: Vec<(String, &'static str)>,
}

impl Restored {
    /// No assistant message is the call's turn: another conversation, or changed by the client.
    pub const NOT_FOUND: &'static str = "its turn is not in the request";
    /// Turns that lost different calls look alike to the client.
    pub const AMBIGUOUS: &'static str = "turns that lost different calls look like this one";
    /// The client sent a call or a result of that id itself.
    pub const PRESENT: &'static str = "the request already has a call of that id";
    /// Nothing follows that could carry or stand behind the result.
    pub const UNANSWERED: &'static str = "no message follows that can hold its result";
    /// No result can name a call without an id.
    pub const NO_ID: &'static str = "it has no id";
    /// A message holds either one legacy call or a list.
    pub const OCCUPIED: &'static str = "the message holds another call already";
    /// A call of a kind whose result cannot be made up.
    pub const NO_RESULT: &'static str = "no result of its kind can be made";
    /// What was kept of the call is not a call.
    pub const UNREADABLE: &'static str = "what was kept of it cannot be read";

    fn skip(&mut self, call: &RemovedCall, why: &'static str) {
        self.skipped.push((call.id.clone(), why));
    }
}

/// Puts the removed calls of `turns` back into `request`.
///
/// What is not spliced stays byte for byte. A request that cannot be read is an error: it can only
/// be sent as it came.
pub fn restore(dialect: Dialect, request: &str, turns: &[RemovedTurn]) -> Result<Restored, Error> {
    if turns.is_empty() {
        return Ok(Restored::default());
    }
    (dialect.speaker().restore)(request, turns)
}

/// The calls to put back into one message.
pub(crate) struct Plan<'t> {
    /// The message's place among those seen.
    pub(crate) seen: usize,
    pub(crate) turn: &'t RemovedTurn,
    /// Those of the turn's calls that can be put back, in their original order. Never empty.
    pub(crate) calls: Vec<&'t RemovedCall>,
}

/// Settles which calls go into which message. `known` are the ids the request has; `refuse` says
/// what stands against a call in a message.
pub(crate) fn plan<'t>(
    seen: &[Seen<'_>],
    turns: &'t [RemovedTurn],
    mut known: HashSet<String>,
    refuse: impl Fn(usize, &RemovedTurn, &RemovedCall) -> Option<&'static str>,
    out: &mut Restored,
) -> Vec<Plan<'t>> {
    let mut plans = Vec::new();
    for (turn, found) in turns.iter().zip(recognise(seen, turns)) {
        let mut calls = Vec::new();
        for call in &turn.calls {
            if !call.id.is_empty() && known.contains(&call.id) {
                out.skip(call, Restored::PRESENT);
                continue;
            }
            match found {
                Found::Nowhere => out.skip(call, Restored::NOT_FOUND),
                Found::Unclear => out.skip(call, Restored::AMBIGUOUS),
                Found::At(place) => match refuse(place, turn, call) {
                    Some(why) => out.skip(call, why),
                    None => {
                        known.insert(call.id.clone());
                        calls.push(call);
                    }
                },
            }
        }
        calls.sort_by_key(|call| call.place);
        if let (Found::At(seen), false) = (found, calls.is_empty()) {
            out.restored.extend(calls.iter().map(|call| call.id.clone()));
            plans.push(Plan { seen, turn, calls });
        }
    }
    plans
}

/// The messages of a request, each as `read` reads it. The reader stands before a message.
pub(crate) fn messages<'a, M>(
    request: &'a str,
    mut read: impl FnMut(&mut Reader<'a>) -> Result<M, Error>,
) -> Result<Vec<M>, Error> {
    let mut reader = Reader::new(request);
    let mut fields = Fields::new(&["messages"]);
    let mut messages = Vec::new();
    let mut object = reader.object()?;
    while let Some(key) = object.next(&mut reader)? {
        if fields.find(&key)?.is_none() {
            reader.skip()?;
            continue;
        }
        let mut array = reader.array()?;
        while array.next(&mut reader)? {
            messages.push(read(&mut reader)?);
        }
    }
    reader.end()?;
    Ok(messages)
}

/// The kept call, if it is one JSON object.
pub(crate) fn whole_object(original: &str) -> Option<Span> {
    let mut reader = Reader::new(original);
    if reader.kind().ok()? != Kind::Object {
        return None;
    }
    let span = reader.skip().ok()?;
    reader.end().ok()?;
    Some(span)
}

/// Reads a string; any other value is skipped.
pub(crate) fn text_or_skip<'a>(reader: &mut Reader<'a>) -> Result<Option<Text<'a>>, Error> {
    match reader.kind()? {
        Kind::String => reader.string().map(Some),
        _ => reader.skip().map(|_| None),
    }
}

/// What a string stands for, if it stands for a text.
pub(crate) fn meaning(text: Option<Text<'_>>) -> Option<String> {
    text.and_then(|text| text.decode().ok()).map(|text| text.into_owned())
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
