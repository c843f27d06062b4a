//! The turn as the provider produced it, from the bytes of its answer.

use callgate_json::{Reader as Json, Span};
use callgate_wire::{Framing, Splitter};

use super::super::item::{Class, read_item};
use super::super::stored::identity;
use super::usage_of;
use crate::continued::{NotContinued, ProvidedTurn};
use crate::event::Host;
use crate::json::{document, elements, member, raw_member, string_member};
use crate::request::{ClientCall, whole_object};

const UNREADABLE: NotContinued = NotContinued("the answer cannot be read again");
const EMPTY: NotContinued = NotContinued("the answer has no items");

/// The turn in a complete answer.
pub(super) fn turn(answer: &str) -> Result<ProvidedTurn, NotContinued> {
    let mut read = Answer::default();
    read.add(answer)?;
    let items = if read.whole.is_empty() { read.done } else { read.whole };
    // The provider cannot find such thinking again.
    let is_lost = |item: &String| !read.keeps_thinking && is_open_thinking(item);
    let items = items.into_iter().filter(|item| !is_lost(item));
    let items: Vec<String> = items.collect();
    match items.is_empty() {
        true => Err(EMPTY),
        false => Ok(ProvidedTurn {
            content: items.join(","),
            usage: read.usage,
            identity: read.identity,
        }),
    }
}

/// The texts in an answer that was cut off, and those of its calls that the client has; `None` without
/// any.
pub(super) fn rest(answer: &str, calls: &[ClientCall]) -> Option<String> {
    let mut read = Answer::default();
    // What was read before a mistake is kept.
    let _ = read.add(answer);
    let is_left = |item: &String| {
        let read = read_item(&mut Json::new(item));
        read.is_ok_and(|read| match read.class() {
            Class::Call(Host::Client) => {
                read.result_id().is_ok_and(|id| calls.iter().any(|call| call.id == id))
            }
            Class::Call(Host::Provider) => false,
            Class::Other => read.kind == "message",
        })
    };
    let mut items: Vec<String> = read.done.into_iter().filter(is_left).collect();
    if let Some(open) = read.open.filter(|open| !open.text.is_empty()) {
        items.push(open.item());
    }
    (!items.is_empty()).then(|| items.join(","))
}

/// An answer so far.
#[derive(Default)]
struct Answer {
    /// The items of the event that ended it.
    whole: Vec<String>,
    /// The items that were done.
    done: Vec<String>,
    /// The message that is not done.
    open: Option<OpenMessage>,
    usage: String,
    /// The members that identify it.
    identity: Option<String>,
    /// The provider says that it stores the response, and so the thinking in it.
    keeps_thinking: bool,
}

/// A message with the text that has come, raw between its quotes.
#[derive(Debug)]
pub(in crate::responses) struct OpenMessage {
    pub(in crate::responses) id: String,
    pub(in crate::responses) text: String,
}

impl OpenMessage {
    /// The message as an item.
    pub(in crate::responses) fn item(&self) -> String {
        format!(
            "{{\"id\":{},\"type\":\"message\",\"status\":\"incomplete\",\"role\":\"assistant\",\
             \"content\":[{{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\
             \"text\":\"{}\"}}]}}",
            self.id, self.text
        )
    }
}

impl Answer {
    fn add(&mut self, answer: &str) -> Result<(), NotContinued> {
        self.usage = "{}".to_owned();
        if answer.trim_start().starts_with('{') {
            let whole = whole_object(answer).ok_or(UNREADABLE)?;
            return self.response(answer, whole);
        }
        let mut splitter = Splitter::new(Framing::Sse, answer.len() + 1);
        splitter.push(answer.as_bytes());
        while let Some(frame) = splitter.next_frame().map_err(|_| UNREADABLE)? {
            if let Some(data) = frame.data().and_then(|data| std::str::from_utf8(data).ok()) {
                self.event(data)?;
            }
        }
        Ok(())
    }

    fn event(&mut self, data: &str) -> Result<(), NotContinued> {
        let Some(event) = whole_object(data) else { return Ok(()) };
        let kind = string_member(data, event, "type").and_then(|kind| kind.decode().ok());
        match kind.as_deref() {
            Some("response.completed" | "response.incomplete") => {
                let response = member(data, event, "response").ok_or(UNREADABLE)?;
                return self.response(data, response);
            }
            Some("response.output_item.added") => {
                let item = member(data, event, "item").ok_or(UNREADABLE)?;
                let is_message =
                    string_member(data, item, "type").is_some_and(|kind| kind.is("message"));
                let id = member(data, item, "id").map_or("\"\"", |id| id.of(data)).to_owned();
                self.open = is_message.then(|| OpenMessage { id, text: String::new() });
            }
            Some("response.output_text.delta") => {
                if let Some(open) = &mut self.open {
                    open.text.push_str(raw_member(data, event, "delta"));
                }
            }
            Some("response.output_item.done") => {
                let item = member(data, event, "item").ok_or(UNREADABLE)?;
                self.done.push(item.of(data).to_owned());
                self.open = None;
            }
            Some("response.failed" | "error") => return Err(UNREADABLE),
            _ => {}
        }
        Ok(())
    }

    fn response(&mut self, data: &str, response: Span) -> Result<(), NotContinued> {
        if string_member(data, response, "status").is_some_and(|status| status.is("failed")) {
            return Err(UNREADABLE);
        }
        let output = member(data, response, "output").map(|list| elements(data, list));
        self.whole =
            output.unwrap_or_default().iter().map(|item| item.of(data).to_owned()).collect();
        if let Some((_, usage)) = usage_of(data, response) {
            usage.clone_into(&mut self.usage);
        }
        self.identity = identity(data, response);
        self.keeps_thinking =
            member(data, response, "store").is_some_and(|store| store.of(data) == "true");
        Ok(())
    }
}

/// Whether an item is thinking that only the provider may have.
fn is_open_thinking(item: &str) -> bool {
    let whole = document(item);
    string_member(item, whole, "type").is_some_and(|kind| kind.is("reasoning"))
        && raw_member(item, whole, "encrypted_content").is_empty()
}
