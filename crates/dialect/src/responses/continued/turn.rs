//! The turn as the provider produced it, from the bytes of its answer.

use callgate_json::{Reader as Json, Span};

use super::super::item::{Class, read_item};
use super::super::stored::identity;
use crate::continued::{self, NotContinued, ProvidedTurn};
use crate::event::Host;
use crate::json::{document, elements, member, raw_member, string_member, text_member};
use crate::request::{ClientCall, whole_object};
use crate::usage::usage_in;

const UNREADABLE: NotContinued = NotContinued::UNREADABLE;
const EMPTY: NotContinued = NotContinued("the answer has no items");

/// An answer so far.
#[derive(Default)]
pub(super) struct Answer {
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

impl continued::Answer for Answer {
    fn turn(self) -> Result<ProvidedTurn, NotContinued> {
        let items = if self.whole.is_empty() { self.done } else { self.whole };
        // The provider cannot find such thinking again.
        let is_lost = |item: &String| !self.keeps_thinking && is_open_thinking(item);
        let items: Vec<String> = items.into_iter().filter(|item| !is_lost(item)).collect();
        match items.is_empty() {
            true => Err(EMPTY),
            false => Ok(ProvidedTurn {
                identity: self.identity,
                ..ProvidedTurn::new(items.join(","), self.usage)
            }),
        }
    }

    fn rest(self, calls: &[ClientCall]) -> Option<String> {
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
        let mut items: Vec<String> = self.done.into_iter().filter(is_left).collect();
        if let Some(open) = self.open.filter(|open| !open.text.is_empty()) {
            items.push(open.item());
        }
        (!items.is_empty()).then(|| items.join(","))
    }

    fn body(&mut self, data: &str) -> Result<(), NotContinued> {
        let whole = whole_object(data).ok_or(UNREADABLE)?;
        self.response(data, whole)
    }

    fn event(&mut self, _: Option<&str>, data: &str) -> Result<(), NotContinued> {
        let Some(event) = whole_object(data) else { return Ok(()) };
        match text_member(data, event, "type").as_deref() {
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
}

impl Answer {
    fn response(&mut self, data: &str, response: Span) -> Result<(), NotContinued> {
        if string_member(data, response, "status").is_some_and(|status| status.is("failed")) {
            return Err(UNREADABLE);
        }
        let output = member(data, response, "output").map(|list| elements(data, list));
        self.whole =
            output.unwrap_or_default().iter().map(|item| item.of(data).to_owned()).collect();
        if let Some((_, usage)) = usage_in(data, response) {
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
