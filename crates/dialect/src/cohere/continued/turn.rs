//! The turn as the provider produced it, from the bytes of its answer.

use callgate_json::{Span, Value, decode_into};

use crate::continued::{self, NotContinued, ProvidedTurn};
use crate::json::{
    Edits, document, elements, list_of, member, raw_member, set, string_member, text_member,
};
use crate::object::{Raw, object};
use crate::request::{ClientCall, whole_object};
use crate::usage::usage_in;

const UNREADABLE: NotContinued = NotContinued::UNREADABLE;

/// An answer so far. Texts are the raw contents of strings.
#[derive(Default)]
pub(super) struct Answer {
    plan: String,
    /// The contents, each as it began, with what was added to its text.
    contents: Vec<(String, String)>,
    calls: Vec<OpenCall>,
    usage: String,
}

/// A call as it began, with the arguments that were added to it.
struct OpenCall {
    start: String,
    index: Option<String>,
    arguments: String,
}

impl OpenCall {
    fn new(data: &str, index: Option<String>, entry: Span) -> Self {
        Self { start: entry.of(data).to_owned(), index, arguments: String::new() }
    }

    fn id(&self) -> String {
        text_member(&self.start, document(&self.start), "id").unwrap_or_default().into_owned()
    }

    /// The raw arguments, between their quotes.
    fn arguments(&self) -> String {
        let function = member(&self.start, document(&self.start), "function");
        let begun = function.map(|at| raw_member(&self.start, at, "arguments"));
        format!("{}{}", begun.unwrap_or_default(), self.arguments)
    }

    fn is_whole(&self) -> bool {
        let (mut half, mut text) = (None, String::new());
        decode_into(&self.arguments(), &mut half, &mut text);
        Value::parse(&text).is_ok()
    }

    /// The call as a request has it.
    fn finish(&self) -> String {
        let whole = document(&self.start);
        let Some(function) = member(&self.start, whole, "function") else {
            return self.start.clone();
        };
        let is_object = member(&self.start, function, "arguments")
            .is_some_and(|at| at.of(&self.start).starts_with('{'));
        if is_object {
            return self.start.clone();
        }
        let mut edits = Edits::default();
        let arguments = format!("\"{}\"", self.arguments());
        // The API sends no arguments for a call without any, and accepts none back.
        let arguments = if arguments == "\"\"" { "\"{}\"".to_owned() } else { arguments };
        set(&mut edits, &self.start, function, "arguments", &arguments);
        edits.apply(&self.start)
    }
}

impl continued::Answer for Answer {
    fn turn(self) -> Result<ProvidedTurn, NotContinued> {
        let calls: Vec<String> = self.calls.iter().map(OpenCall::finish).collect();
        Ok(ProvidedTurn::new(self.message(&self.contents(), &calls), self.usage))
    }

    fn rest(mut self, calls: &[ClientCall]) -> Option<String> {
        let is_known = |call: &&OpenCall| calls.iter().any(|known| known.id == call.id());
        let calls = self.calls.iter().filter(is_known).filter(|call| call.is_whole());
        let calls: Vec<String> = calls.map(OpenCall::finish).collect();
        let is_text = |content: &String| {
            string_member(content, document(content), "type").is_some_and(|kind| kind.is("text"))
        };
        let contents: Vec<String> = self.contents().into_iter().filter(is_text).collect();
        if calls.is_empty() {
            // A plan needs a call.
            self.plan.clear();
        }
        let is_empty = contents.is_empty() && calls.is_empty();
        (!is_empty).then(|| self.message(&contents, &calls))
    }

    fn body(&mut self, data: &str) -> Result<(), NotContinued> {
        let whole = whole_object(data).ok_or(UNREADABLE)?;
        let message = member(data, whole, "message").ok_or(UNREADABLE)?;
        self.plan = raw_member(data, message, "tool_plan").to_owned();
        if let Some(content) = member(data, message, "content") {
            match content.of(data) {
                text if text.starts_with('"') => {
                    let content = object! { "type": "text", "text": Raw(text) };
                    self.contents.push((content, String::new()));
                }
                _ => {
                    let contents = elements(data, content);
                    let contents =
                        contents.iter().map(|it| (it.of(data).to_owned(), String::new()));
                    self.contents.extend(contents);
                }
            }
        }
        let calls = member(data, message, "tool_calls").map(|list| elements(data, list));
        let calls = calls.unwrap_or_default();
        self.calls.extend(calls.iter().map(|entry| OpenCall::new(data, None, *entry)));
        self.usage(data, whole);
        Ok(())
    }

    fn event(&mut self, _: Option<&str>, data: &str) -> Result<(), NotContinued> {
        let Some(event) = whole_object(data) else { return Ok(()) };
        let kind = text_member(data, event, "type");
        let Some(delta) = member(data, event, "delta") else { return Ok(()) };
        let message = member(data, delta, "message");
        let of_message = |key: &str| message.and_then(|message| member(data, message, key));
        let index = member(data, event, "index").map(|index| index.of(data).to_owned());
        match (kind.as_deref(), message) {
            (Some("tool-plan-delta"), Some(message)) => {
                self.plan.push_str(raw_member(data, message, "tool_plan"));
            }
            (Some("content-start"), _) => {
                let content = of_message("content").ok_or(UNREADABLE)?;
                self.contents.push((content.of(data).to_owned(), String::new()));
            }
            (Some("content-delta"), _) => {
                let content = of_message("content").ok_or(UNREADABLE)?;
                if let Some((_, more)) = self.contents.last_mut() {
                    for key in TEXTS {
                        more.push_str(raw_member(data, content, key));
                    }
                }
            }
            (Some("tool-call-start"), _) => {
                let entry = of_message("tool_calls").ok_or(UNREADABLE)?;
                self.calls.push(OpenCall::new(data, index, entry));
            }
            (Some("tool-call-delta"), _) => {
                let entry = of_message("tool_calls").ok_or(UNREADABLE)?;
                let call = self.calls.iter_mut().rev().find(|call| call.index == index);
                if let (Some(call), Some(at)) = (call, member(data, entry, "function")) {
                    call.arguments.push_str(raw_member(data, at, "arguments"));
                }
            }
            (Some("message-end"), _) => self.usage(data, delta),
            _ => {}
        }
        Ok(())
    }
}

impl Answer {
    fn usage(&mut self, data: &str, object: Span) {
        if let Some((_, usage)) = usage_in(data, object) {
            usage.clone_into(&mut self.usage);
        }
    }

    /// The contents with their whole texts. Empty ones are left out: requests may not have them.
    fn contents(&self) -> Vec<String> {
        let whole = |(start, more): &(String, String)| {
            let at = document(start);
            let key = TEXTS.into_iter().find(|key| member(start, at, key).is_some())?;
            let text = format!("\"{}{more}\"", raw_member(start, at, key));
            let mut edits = Edits::default();
            set(&mut edits, start, at, key, &text);
            (text != "\"\"").then(|| edits.apply(start))
        };
        self.contents.iter().filter_map(whole).collect()
    }

    /// The message as a request has it.
    fn message(&self, contents: &[String], calls: &[String]) -> String {
        let mut message = "{\"role\":\"assistant\"".to_owned();
        if !self.plan.is_empty() {
            message.push_str(&format!(",\"tool_plan\":\"{}\"", self.plan));
        }
        for (key, list) in [("content", contents), ("tool_calls", calls)] {
            if !list.is_empty() {
                message.push_str(&format!(",\"{key}\":{}", list_of(list)));
            }
        }
        message.push('}');
        message
    }
}

/// The members of a content that come in pieces.
const TEXTS: [&str; 2] = ["text", "thinking"];
