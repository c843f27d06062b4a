//! The turn as the provider produced it, from the bytes of its answer.

use callgate_json::{Kind, Reader as Json, Span};
use callgate_wire::{Framing, Splitter};

use super::call::OpenCall;
use super::usage_of;
use crate::continued::{NotContinued, ProvidedTurn};
use crate::json::{
    Edits, document, elements, is_done, member, members, raw_member, set, string_member,
};
use crate::request::{ClientCall, whole_object};
use crate::usage::overlay;

const UNREADABLE: NotContinued = NotContinued("the answer cannot be read again");
const UNKNOWN: NotContinued = NotContinued("the answer has a part of an unknown kind");
const SEVERAL: NotContinued = NotContinued("the answer has several choices");

/// The turn in a complete answer.
pub(super) fn turn(answer: &str) -> Result<ProvidedTurn, NotContinued> {
    let mut read = Answer::default();
    read.add(answer)?;
    let calls = read.calls.iter().map(OpenCall::finish).collect();
    let usage = if read.usage.is_empty() { "{}".to_owned() } else { read.usage.clone() };
    Ok(ProvidedTurn { content: read.message(calls, Said::All), usage, identity: None })
}

/// The text in an answer that was cut off, and those of its calls that the client has; `None`
/// without any.
pub(super) fn rest(answer: &str, calls: &[ClientCall]) -> Option<String> {
    let mut read = Answer::default();
    // What was read before a mistake is kept.
    let _ = read.add(answer);
    let is_known =
        |call: &&OpenCall| call.id().is_some_and(|id| calls.iter().any(|known| known.id == id));
    let calls = read.calls.iter().filter(is_known).filter(|call| call.is_whole());
    let calls: Vec<String> = calls.map(OpenCall::finish).collect();
    let is_empty = calls.is_empty() && read.text.is_empty() && read.parts.is_empty();
    (!is_empty).then(|| read.message(calls, Said::TextAlone))
}

/// How much of an answer is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    All,
    /// No thinking: it is not complete.
    TextAlone,
}

/// An answer so far. Texts are the raw contents of strings.
#[derive(Default)]
struct Answer {
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

impl Answer {
    fn add(&mut self, answer: &str) -> Result<(), NotContinued> {
        if answer.trim_start().starts_with('{') {
            return self.document(answer, "message");
        }
        let mut splitter = Splitter::new(Framing::Sse, answer.len() + 1);
        splitter.push(answer.as_bytes());
        while let Some(frame) = splitter.next_frame().map_err(|_| UNREADABLE)? {
            let data = frame.data().and_then(|data| std::str::from_utf8(data).ok());
            match data {
                Some(data) if !is_done(data) => self.document(data, "delta")?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds a completion or a chunk, whose content is under `key`.
    fn document(&mut self, data: &str, key: &str) -> Result<(), NotContinued> {
        let Some(whole) = whole_object(data) else { return Ok(()) };
        if member(data, whole, "error").is_some_and(|error| error.of(data) != "null") {
            return Err(UNREADABLE);
        }
        if let Some((_, usage)) = usage_of(data) {
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
            (parts, _) => message.push_str(&format!("[{}]", parts.join(","))),
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
                add(key, format!("[{}]", list.join(",")));
            }
        }
        if !calls.is_empty() {
            add("tool_calls", format!("[{}]", calls.join(",")));
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
