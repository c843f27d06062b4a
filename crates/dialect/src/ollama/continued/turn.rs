//! The turn as the model produced it, from the bytes of its answer.

use callgate_wire::{Framing, Splitter};

use super::super::view::{Entry, view};
use super::counts;
use crate::continued::{NotContinued, ProvidedTurn};
use crate::json::{member, string_member};
use crate::request::ClientCall;

const UNREADABLE: NotContinued = NotContinued("the answer cannot be read again");

/// The turn in a complete answer.
pub(super) fn turn(answer: &str) -> Result<ProvidedTurn, NotContinued> {
    let mut read = Answer::default();
    read.add(answer)?;
    let content = read.message(|_| true).ok_or(UNREADABLE)?;
    Ok(ProvidedTurn { content, usage: read.usage, identity: None })
}

/// The text in an answer that was cut off, and those of its calls; `None` without any.
pub(super) fn rest(answer: &str, calls: &[ClientCall]) -> Option<String> {
    let mut read = Answer::default();
    // What was read before a mistake is kept.
    let _ = read.add(answer);
    read.thinking.clear();
    let mut calls = calls.iter().peekable();
    read.message(|call| calls.next_if(|next| *next == call).is_some())
}

/// An answer so far.
#[derive(Default)]
struct Answer {
    /// The raw content of the text and of the thinking.
    text: String,
    thinking: String,
    calls: Vec<(String, ClientCall)>,
    usage: String,
}

impl Answer {
    fn add(&mut self, answer: &str) -> Result<(), NotContinued> {
        let mut splitter = Splitter::new(Framing::Lines, answer.len() + 1);
        splitter.push(answer.as_bytes());
        while let Some(frame) = splitter.next_frame().map_err(|_| UNREADABLE)? {
            self.line(frame.data().unwrap_or_default())?;
        }
        match splitter.finish() {
            Some(frame) => self.line(frame.data().unwrap_or_default()),
            None => Ok(()),
        }
    }

    fn line(&mut self, data: &[u8]) -> Result<(), NotContinued> {
        let data = std::str::from_utf8(data).map_err(|_| UNREADABLE)?;
        if data.trim().is_empty() {
            return Ok(());
        }
        let line = view(data).map_err(|_| UNREADABLE)?;
        if line.has_error {
            return Err(UNREADABLE);
        }
        if line.done == Some(true) {
            self.usage = counts(data);
        }
        let Some(message) = &line.message else { return Ok(()) };
        let raw = |key| string_member(data, message.span, key).map_or("", |text| text.raw());
        self.text.push_str(raw("content"));
        self.thinking.push_str(raw("thinking"));
        for entry in &message.entries {
            self.calls.push((entry.span.of(data).to_owned(), call(data, entry)));
        }
        Ok(())
    }

    /// The message as a request has it, with those of the calls that are kept.
    fn message(&self, mut keeps: impl FnMut(&ClientCall) -> bool) -> Option<String> {
        let calls = self.calls.iter().filter(|(_, call)| keeps(call));
        let calls: Vec<&str> = calls.map(|(entry, _)| entry.as_str()).collect();
        if self.text.is_empty() && calls.is_empty() {
            return None;
        }
        let thinking = match self.thinking.as_str() {
            "" => String::new(),
            raw => format!(",\"thinking\":\"{raw}\""),
        };
        let calls = match calls.as_slice() {
            [] => String::new(),
            calls => format!(",\"tool_calls\":[{}]", calls.join(",")),
        };
        Some(format!("{{\"role\":\"assistant\",\"content\":\"{}\"{thinking}{calls}}}", self.text))
    }
}

fn call(data: &str, entry: &Entry<'_>) -> ClientCall {
    let id = entry.id.and_then(|id| id.decode().ok()).unwrap_or_default();
    let name = entry.name.and_then(|name| name.decode().ok()).unwrap_or_default();
    let arguments = entry.function.and_then(|function| member(data, function, "arguments"));
    let text = entry.function.and_then(|function| string_member(data, function, "arguments"));
    let text = text.and_then(|text| text.decode().ok());
    let arguments = text.unwrap_or(arguments.map_or("{}", |span| span.of(data)).into());
    ClientCall::new(id.into_owned(), &name, &arguments)
}
