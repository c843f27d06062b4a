//! Reads the answer of a provider again, from its bytes.

use callgate_wire::{Framing, Splitter};

use super::{NotContinued, ProvidedTurn};
use crate::request::ClientCall;

/// An answer so far: a body, or the events of a stream.
pub(crate) trait Answer: Default {
    /// The framing of its events. An answer in lines has a body that is a line.
    fn framing(_answer: &str) -> Framing {
        Framing::Sse
    }

    /// Adds a whole body.
    fn body(&mut self, data: &str) -> Result<(), NotContinued>;

    /// Adds an event with its name, if it has one.
    fn event(&mut self, name: Option<&str>, data: &str) -> Result<(), NotContinued>;

    /// The turn that the answer is.
    fn turn(self) -> Result<ProvidedTurn, NotContinued>;

    /// Its texts, and those of its calls that the client has; `None` without any.
    fn rest(self, calls: &[ClientCall]) -> Option<String>;
}

/// The turn in a complete answer.
pub(crate) fn read_turn<A: Answer>(answer: &str) -> Result<ProvidedTurn, NotContinued> {
    let mut read = A::default();
    add(&mut read, answer)?;
    read.turn()
}

/// What the client has of an answer that was cut off.
pub(crate) fn read_rest<A: Answer>(answer: &str, calls: &[ClientCall]) -> Option<String> {
    let mut read = A::default();
    // What was read before a mistake is kept.
    let _ = add(&mut read, answer);
    read.rest(calls)
}

fn add<A: Answer>(read: &mut A, answer: &str) -> Result<(), NotContinued> {
    let framing = A::framing(answer);
    if framing != Framing::Lines && answer.trim_start().starts_with('{') {
        return read.body(answer);
    }
    let mut splitter = Splitter::new(framing, answer.len() + 1);
    splitter.push(answer.as_bytes());
    while let Some(frame) = splitter.next_frame().map_err(|_| NotContinued::UNREADABLE)? {
        if let Some(data) = frame.data().and_then(text) {
            read.event(frame.event().and_then(text), data)?;
        }
    }
    match splitter.finish().filter(|_| framing == Framing::Lines) {
        Some(last) => read.event(None, last.data().and_then(text).unwrap_or_default()),
        None => Ok(()),
    }
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}
