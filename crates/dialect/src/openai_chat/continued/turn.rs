//! The turn as the provider produced it, from the bytes of its answer.

use callgate_json::{Kind, Reader as Json, Span};

use super::call::OpenCall;
use crate::continued::{self, NotContinued, ProvidedTurn};
use crate::json::{
    Edits, document, elements, list_of, member, members, raw_member, set, string_member,
};
use crate::request::{ClientCall, whole_object};
use crate::usage::{overlay, usage_in};

const UNREADABLE: NotContinued = NotContinued::UNREADABLE;
const UNKNOWN: NotContinued = NotContinued::UNKNOWN;
const SEVERAL: NotContinued = NotContinued("the answer has several choices");

/// How much of an answer is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    All,
    /// No thinking: it is not complete.
    TextAlone,
}

/// An answer so far. Texts are the raw contents of strings.
#[derive(Default)]
pub(super) struct Answer {
    text: String,
    /// The parts of a content that is a list.
    parts: Vec<String>,
    refusal: String,
    reasoning_content: String,
    reasoning: String,
    reasoning_details: Vec<String>,
    thinking_blocks: Vec<String>,
    calls: Vec<OpenCall>,
    legacy: Option<OpenCall>,
    usage: String,
}

impl continued::Answer for Answer {
    fn turn(self) -> Result<ProvidedTurn, NotContinued> {
        let calls = self.calls.iter().map(OpenCall::finish).collect();
        Ok(ProvidedTurn::new(self.message(calls, Said::All), self.usage))
    }

    fn rest(self, calls: &[ClientCall]) -> Option<String> {
        let is_known =
            |call: &&OpenCall| call.id().is_some_and(|id| calls.iter().any(|known| known.id == id));
        let calls = self.calls.iter().filter(is_known).filter(|call| call.is_whole());
        let calls: Vec<String> = calls.map(OpenCall::finish).collect();
        let is_empty = calls.is_empty() && self.text.is_empty() && self.parts.is_empty();
        (!is_empty).then(|| self.message(calls, Said::TextAlone))
    }

    fn body(&mut self, data: &str) -> Result<(), NotContinued> {
        self.document(data, "message")
    }

    fn event(&mut self, _: Option<&str>, data: &str) -> Result<(), NotContinued> {
        self.document(data, "delta")
    }
}

impl Answer {
    /// Adds a completion or a chunk, whose content is under `key`.
    fn document(&mut self, data: &str, key: &str) -> Result<(), NotContinued> {
        let Some(whole) = whole_object(data) else { return Ok(()) };
        if member(data, whole, "error").is_some_and(|error| error.of(data) != "null") {
            return Err(UNREADABLE);
        }
        if let Some((_, usage)) = usage_in(data, whole) {
            self.usage = overlay(&self.usage, usage);
        }
        let choices = member(data, whole, "choices").map(|list| elements(data, list));
        for choice in choices.unwrap_or_default() {
            if member(data, choice, "index").is_some_and(|at| !matches!(at.of(data), "0" | "null"))
            {
                return Err(SEVERAL);
            }
            if let Some(said) = member(data, choice, key) {
                self.said(data, said)?;
            }
        }
        Ok(())
    }

    fn said(&mut self, data: &str, said: Span) -> Result<(), NotContinued> {
        for member in members(data, said) {
            let value = member.value;
            let Ok(key) = member.key.decode() else { return Err(UNREADABLE) };
            let is_nothing = matches!(value.of(data), "null" | "[]" | "\"\"");
            match key.as_ref() {
                _ if is_nothing => {}
                "content" => self.content(data, value)?,
                "refusal" => self.refusal.push_str(raw_member(data, said, "refusal")),
                "reasoning" => self.reasoning.push_str(raw_member(data, said, "reasoning")),
                "reasoning_content" => {
                    self.reasoning_content.push_str(raw_member(data, said, "reasoning_content"));
                }
                "reasoning_details" => add_pieces(data, value, &mut self.reasoning_details),
                "thinking_blocks" => add_pieces(data, value, &mut self.thinking_blocks),
                "tool_calls" => elements(data, value).iter().for_each(|at| self.call(data, *at)),
                "function_call" => match &mut self.legacy {
                    Some(call) => call.add(data, value),
                    None => self.legacy = Some(OpenCall::new(data, value)),
                },
                "audio" => return Err(UNKNOWN),
                // What requests do not have: the role is known, and tools have been run.
                _ => {}
            }
        }
        Ok(())
    }

    fn content(&mut self, data: &str, value: Span) -> Result<(), NotContinued> {
        match Json::at(data, value).kind() {
            Ok(Kind::String) if self.parts.is_empty() => {
                let text = Json::at(data, value).string().map_err(|_| UNREADABLE)?;
                self.text.push_str(text.raw());
            }
            // One provider sends its thinking in a list, and then plain text.
            Ok(Kind::String) => {
                let part = format!("{{\"type\":\"text\",\"text\":{}}}", value.of(data));
                self.parts.push(part);
            }
            Ok(Kind::Array) if self.text.is_empty() => {
                let parts = elements(data, value);
                self.parts.extend(parts.iter().map(|part| part.of(data).to_owned()));
            }
            _ => return Err(UNKNOWN),
        }
        Ok(())
    }

    fn call(&mut self, data: &str, entry: Span) {
        match self.calls.iter_mut().rev().find(|call| call.takes(data, entry)) {
            Some(call) => call.add(data, entry),
            None => self.calls.push(OpenCall::new(data, entry)),
        }
    }

    /// The message with these calls, as a request has it.
    fn message(&self, calls: Vec<String>, said: Said) -> String {
        let mut message = "{\"role\":\"assistant\",\"content\":".to_owned();
        match (self.parts.as_slice(), self.text.as_str()) {
            ([], "") => message.push_str("null"),
            ([], text) => message.push_str(&format!("\"{text}\"")),
            (parts, _) => message.push_str(&list_of(parts)),
        }
        let mut add = |key: &str, value: String| message.push_str(&format!(",\"{key}\":{value}"));
        if said == Said::All {
            let texts = [
                ("refusal", &self.refusal),
                ("reasoning_content", &self.reasoning_content),
                ("reasoning", &self.reasoning),
            ];
            for (key, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
                add(key, format!("\"{text}\""));
            }
            let lists = [
                ("reasoning_details", &self.reasoning_details),
                ("thinking_blocks", &self.thinking_blocks),
            ];
            for (key, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
                add(key, list_of(list));
            }
        }
        if !calls.is_empty() {
            add("tool_calls", list_of(&calls));
        }
        if let (Some(legacy), Said::All) = (&self.legacy, said) {
            add("function_call", legacy.finish());
        }
        message.push('}');
        message
    }
}

/// Adds the entries of a list of thoughts. A thought that comes in pieces has the same type and
/// index in each.
fn add_pieces(data: &str, list: Span, pieces: &mut Vec<String>) {
    for entry in elements(data, list) {
        let same = |last: &String, key: &str| {
            let before = member(last, document(last), key).map(|span| span.of(last));
            before == member(data, entry, key).map(|span| span.of(data))
        };
        match pieces.last_mut().filter(|last| same(last, "type") && same(last, "index")) {
            Some(last) => *last = longer(last, data, entry),
            None => pieces.push(entry.of(data).to_owned()),
        }
    }
}

/// The thought with the next piece of it.
fn longer(thought: &str, data: &str, piece: Span) -> String {
    let whole = document(thought);
    let mut edits = Edits::default();
    for member in members(data, piece).iter().filter(|it| it.value.of(data) != "null") {
        let Ok(key) = member.key.decode() else { continue };
        let before = string_member(thought, whole, &key);
        let value = match (before, Json::at(data, member.value).string()) {
            (Some(before), Ok(more)) if GROWING.contains(&key.as_ref()) => {
                format!("\"{}{}\"", before.raw(), more.raw())
            }
            _ => member.value.of(data).to_owned(),
        };
        set(&mut edits, thought, whole, &key, &value);
    }
    edits.apply(thought)
}

/// The members of a thought that come in pieces.
const GROWING: [&str; 4] = ["text", "summary", "data", "thinking"];
