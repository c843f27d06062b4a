//! The turn as the model produced it, from the bytes of its answer.

use callgate_wire::Framing;

use super::super::view::{Entry, view};
use super::counts;
use crate::continued::{self, NotContinued, ProvidedTurn};
use crate::json::{list_of, member, string_member, text_member};
use crate::request::ClientCall;

const UNREADABLE: NotContinued = NotContinued::UNREADABLE;

/// An answer so far.
#[derive(Default)]
pub(super) struct Answer {
    /// The raw content of the text and of the thinking.
    text: String,
    thinking: String,
    calls: Vec<(String, ClientCall)>,
    usage: String,
}

impl continued::Answer for Answer {
    fn framing(_: &str) -> Framing {
        Framing::Lines
    }

    fn turn(self) -> Result<ProvidedTurn, NotContinued> {
        let content = self.message(|_| true).ok_or(UNREADABLE)?;
        Ok(ProvidedTurn { content, usage: self.usage, identity: None })
    }

    fn rest(mut self, calls: &[ClientCall]) -> Option<String> {
        self.thinking.clear();
        let mut calls = calls.iter().peekable();
        self.message(|call| calls.next_if(|next| *next == call).is_some())
    }

    fn event(&mut self, _: Option<&str>, data: &str) -> Result<(), NotContinued> {
        self.body(data)
    }

    fn body(&mut self, data: &str) -> Result<(), NotContinued> {
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
}

impl Answer {
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
            calls => format!(",\"tool_calls\":{}", list_of(calls)),
        };
        Some(format!("{{\"role\":\"assistant\",\"content\":\"{}\"{thinking}{calls}}}", self.text))
    }
}

fn call(data: &str, entry: &Entry<'_>) -> ClientCall {
    let id = entry.id.and_then(|id| id.decode().ok()).unwrap_or_default();
    let name = entry.name.and_then(|name| name.decode().ok()).unwrap_or_default();
    let arguments = entry.function.and_then(|function| member(data, function, "arguments"));
    let text = entry.function.and_then(|function| text_member(data, function, "arguments"));
    let arguments = text.unwrap_or(arguments.map_or("{}", |span| span.of(data)).into());
    ClientCall::new(id.into_owned(), &name, &arguments)
}
