//! A turn that continues after all of its calls were denied: the gateway asks the provider again,
//! and the client receives all answers as one.
//!
//! The next request is the last one with two messages more: the turn exactly as the provider
//! produced it, and an error result for each of its calls. Nothing else of it changes.

mod answer;
mod last_request;

use std::borrow::Cow;
use std::fmt;

use callgate_json::Span;
use callgate_wire::{Framing, Splitter};

pub(crate) use answer::Answer;
use answer::{read_rest, read_turn};
pub(crate) use last_request::{DENIED_TOOL, LastRequest, NO_ID, refuse_if, wants_format};

use crate::json::{Edits, member, set};
use crate::request::{ClientCall, RemovedCall, StoredAnswers};
use crate::usage;
use crate::{AddedEvent, Dialect};

/// Why a turn cannot continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotContinued(pub &'static str);

impl NotContinued {
    pub(crate) const UNREADABLE: Self = Self("the answer cannot be read again");
    pub(crate) const UNKNOWN: Self = Self("the answer has a part of an unknown kind");
}

impl fmt::Display for NotContinued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A turn as the provider produced it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvidedTurn {
    /// Its content, in the form that a request has it.
    pub content: String,
    /// Its usage, as a JSON object.
    pub usage: String,
    /// The members that identify it, as a JSON object, if the provider may store it under an id.
    pub identity: Option<String>,
}

impl ProvidedTurn {
    /// A turn that has no id. An empty usage means that none was reported.
    pub(crate) fn new(content: String, usage: String) -> Self {
        let usage = if usage.is_empty() { "{}".to_owned() } else { usage };
        Self { content, usage, identity: None }
    }
}

/// A turn of which every call was denied.
#[derive(Debug, Clone, Copy)]
pub struct DeniedTurn<'a> {
    /// Its content, in the form that a request has it.
    pub content: &'a str,
    /// Its calls, with the texts of their error results.
    pub calls: &'a [RemovedCall],
    /// The names of the tools.
    pub names: &'a [&'a str],
}

/// A turn of several answers that the provider may store.
#[derive(Debug, Clone, Copy)]
pub struct StoredTurn<'a> {
    /// What identifies each answer, see [`ProvidedTurn::identity`]. Later requests continue the
    /// last one.
    pub identities: &'a [&'a str],
    /// The answers before the last one, as the client received them.
    pub shown: &'a [String],
    /// The usage of those together.
    pub usage: &'a str,
    /// What the client has behind the last answer, in the form that a request has it.
    pub behind: &'a str,
}

/// How a dialect continues a turn.
pub(crate) struct ContinueSpec {
    /// The turn in a complete answer.
    pub(crate) turn: fn(&str) -> Result<ProvidedTurn, NotContinued>,
    /// The texts in an answer that was cut off, and those of its calls that the client has.
    pub(crate) rest: fn(&str, &[ClientCall]) -> Option<String>,
    /// The error results of denied calls, in the form that a request has them.
    pub(crate) results: fn(&[RemovedCall]) -> String,
    /// The request for the next answer, from the last request.
    pub(crate) request: fn(&str, &DeniedTurn<'_>) -> Result<String, NotContinued>,
    /// Several whole answers as one. The first and the last of them are given once more.
    pub(crate) join: fn(&[String], &str, &str) -> Option<String>,
    /// The name and the data of the event that keeps a stream alive, in APIs whose clients accept
    /// one.
    pub(crate) keep_alive: Option<(Option<&'static str>, &'static str)>,
    /// Whether the answer must be a JSON document.
    pub(crate) wants_json: fn(&str) -> bool,
    /// What the provider stores of a turn, in APIs whose clients continue a turn by its id.
    pub(crate) stored: Option<fn(StoredTurn<'_>) -> Option<StoredAnswers>>,
    /// See [`Continuing::end_has_content`].
    pub(crate) end_has_content: bool,
    /// See [`Continuing::keeps_thinking`].
    pub(crate) keeps_thinking: bool,
}

impl ContinueSpec {
    /// A turn whose answers are read as `A`, in an API without anything special.
    pub(crate) const fn of<A: Answer>(
        results: fn(&[RemovedCall]) -> String,
        request: fn(&str, &DeniedTurn<'_>) -> Result<String, NotContinued>,
        join: fn(&[String], &str, &str) -> Option<String>,
        wants_json: fn(&str) -> bool,
    ) -> Self {
        Self {
            turn: read_turn::<A>,
            rest: read_rest::<A>,
            results,
            request,
            join,
            keep_alive: None,
            wants_json,
            stored: None,
            end_has_content: false,
            keeps_thinking: false,
        }
    }
}

/// The results of calls as messages or items in a row.
pub(crate) fn in_row(calls: &[RemovedCall], result: impl Fn(&RemovedCall) -> String) -> String {
    calls.iter().map(result).collect::<Vec<_>>().join(",")
}

/// The results of calls as the content of a message.
pub(crate) fn in_list(calls: &[RemovedCall], result: impl Fn(&RemovedCall) -> String) -> String {
    format!("[{}]", in_row(calls, result))
}

/// How to continue turns in one dialect.
#[derive(Clone, Copy)]
pub struct Continuing(&'static ContinueSpec);

impl fmt::Debug for Continuing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Continuing")
    }
}

impl Dialect {
    /// How turns of this dialect continue; `None` if they cannot.
    pub fn continuing(self) -> Option<Continuing> {
        self.spec().continues.map(Continuing)
    }
}

/// An answer as text. Binary frames become server-sent events; what is left of the last one, if it
/// was cut off, is dropped.
fn as_text(answer: &[u8]) -> Option<Cow<'_, str>> {
    // The length of the first frame, of which the highest byte is always zero.
    if answer.first() != Some(&0) {
        return std::str::from_utf8(answer).ok().map(Cow::Borrowed);
    }
    let mut splitter = Splitter::new(Framing::EventStream, answer.len() + 1);
    splitter.push(answer);
    let mut text = String::with_capacity(answer.len());
    while let Ok(Some(frame)) = splitter.next_frame() {
        let name = frame.event().and_then(|name| std::str::from_utf8(name).ok());
        let (Some(name), Some(data)) = (name, frame.text()) else { continue };
        // In JSON, a line end is never a part of a string.
        let data = data.replace(['\n', '\r'], " ");
        text.push_str(&format!("event: {name}\ndata: {data}\n\n"));
    }
    Some(Cow::Owned(text))
}

impl Continuing {
    /// The turn in a complete answer: a stream of events or a body.
    pub fn turn(self, answer: impl AsRef<[u8]>) -> Result<ProvidedTurn, NotContinued> {
        let answer = as_text(answer.as_ref()).ok_or(NotContinued("the answer is not text"))?;
        (self.0.turn)(&answer)
    }

    /// What a client has of an answer that was cut off, as the content of a turn: its texts, and
    /// these calls. `None` if it has nothing.
    pub fn rest(self, answer: impl AsRef<[u8]>, calls: &[ClientCall]) -> Option<String> {
        (self.0.rest)(&as_text(answer.as_ref())?, calls)
    }

    /// The usage of two answers together.
    pub fn sum(self, one: &str, other: &str) -> String {
        usage::sum(one, other)
    }

    /// The error results of denied calls, as the content of a message.
    pub fn results(self, calls: &[RemovedCall]) -> String {
        (self.0.results)(calls)
    }

    /// The request for the next answer, from the last request.
    pub fn request(self, request: &str, turn: &DeniedTurn<'_>) -> Result<String, NotContinued> {
        (self.0.request)(request, turn)
    }

    /// Whole answers as one; `None` if one of them is not an answer.
    pub fn join(self, bodies: &[String]) -> Option<String> {
        match bodies {
            [] => None,
            [only] => Some(only.clone()),
            [first, .., last] => (self.0.join)(bodies, first, last),
        }
    }

    /// The event that keeps a stream alive.
    pub fn keep_alive(self) -> Option<AddedEvent> {
        self.0.keep_alive.map(|(name, data)| AddedEvent { name, data: data.to_owned() })
    }

    /// Whether the answer must be a JSON document, which a notice would break.
    pub fn wants_json(self, request: &str) -> bool {
        (self.0.wants_json)(request)
    }

    /// What the provider stores of a turn of several answers; `None` if it stores nothing.
    pub fn stored(self, turn: StoredTurn<'_>) -> Option<StoredAnswers> {
        (self.0.stored?)(turn)
    }

    /// Whether the frame that ends a turn may have content as well. It leaves before the end.
    pub fn end_has_content(self) -> bool {
        self.0.end_has_content
    }

    /// Whether the thinking of later answers is valid after that of others, so that it leaves.
    pub fn keeps_thinking(self) -> bool {
        self.0.keeps_thinking
    }
}

/// Gives the object at `object` of `first` the values that the one at `of_last` of `last` has under
/// these keys.
pub(crate) fn take_from_last(
    edits: &mut Edits,
    (first, object): (&str, Span),
    (last, of_last): (&str, Span),
    keys: &[&str],
) {
    for key in keys {
        if let Some(value) = member(last, of_last, key) {
            set(edits, first, object, key, value.of(last));
        }
    }
}
