//! A turn that continues after all of its calls were denied: the gateway asks the provider again,
//! and the client receives all answers as one.
//!
//! The next request is the last one with two messages more: the turn exactly as the provider
//! produced it, and an error result for each of its calls. Nothing else of it changes.

use std::fmt;

use crate::request::{ClientCall, RemovedCall};
use crate::{AddedEvent, Dialect};

/// Why a turn cannot continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotContinued(pub &'static str);

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

/// How a dialect continues a turn.
pub(crate) struct ContinueSpec {
    /// The turn in a complete answer.
    pub(crate) turn: fn(&str) -> Result<ProvidedTurn, NotContinued>,
    /// The texts in an answer that was cut off, and those of its calls that the client has.
    pub(crate) rest: fn(&str, &[ClientCall]) -> Option<String>,
    /// The usage of two answers together.
    pub(crate) sum: fn(&str, &str) -> String,
    /// The error results of denied calls, in the form that a request has them.
    pub(crate) results: fn(&[RemovedCall]) -> String,
    /// The request for the next answer, from the last request.
    pub(crate) request: fn(&str, &DeniedTurn<'_>) -> Result<String, NotContinued>,
    /// Whole answers as one.
    pub(crate) join: fn(&[String]) -> Option<String>,
    /// The event that keeps a stream alive, in APIs whose clients accept one.
    pub(crate) keep_alive: fn() -> Option<AddedEvent>,
    /// Whether the answer must be a JSON document.
    pub(crate) wants_json: fn(&str) -> bool,
    /// See [`Continuing::end_has_content`].
    pub(crate) end_has_content: bool,
    /// See [`Continuing::keeps_thinking`].
    pub(crate) keeps_thinking: bool,
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

impl Continuing {
    /// The turn in a complete answer: a stream of events or a body.
    pub fn turn(self, answer: &str) -> Result<ProvidedTurn, NotContinued> {
        (self.0.turn)(answer)
    }

    /// What a client has of an answer that was cut off, as the content of a turn: its texts, and
    /// these calls. `None` if it has nothing.
    pub fn rest(self, answer: &str, calls: &[ClientCall]) -> Option<String> {
        (self.0.rest)(answer, calls)
    }

    /// The usage of two answers together.
    pub fn sum(self, one: &str, other: &str) -> String {
        (self.0.sum)(one, other)
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
        (self.0.join)(bodies)
    }

    /// The event that keeps a stream alive.
    pub fn keep_alive(self) -> Option<AddedEvent> {
        (self.0.keep_alive)()
    }

    /// Whether the answer must be a JSON document, which a notice would break.
    pub fn wants_json(self, request: &str) -> bool {
        (self.0.wants_json)(request)
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
