//! The turn as the provider produced it, from the bytes of its answer.

use callgate_json::{Span, Value, decode_into};

use super::super::read::with_input;
use super::usage_of;
use crate::continued::{self, NotContinued, ProvidedTurn};
use crate::json::{
    Edits, document, elements, list_of, member, raw_member, set, string_member, text_member,
};
use crate::request::{ClientCall, whole_object};
use crate::usage::overlay;

const UNREADABLE: NotContinued = NotContinued::UNREADABLE;
const CONTAINER: NotContinued = NotContinued("the provider keeps a container for the turn");

/// An answer so far.
#[derive(Default)]
pub(super) struct Answer {
    blocks: Vec<OpenBlock>,
    usage: String,
}

/// A block with what was added to it.
#[derive(Default)]
struct OpenBlock {
    start: String,
    /// The raw contents of string members that came in pieces.
    text: String,
    thinking: String,
    signature: Option<String>,
    /// The text of the input, and the half of a surrogate pair that ended its last piece.
    input: String,
    half: Option<u16>,
    citations: Vec<String>,
    /// Something was added that is not known here.
    is_odd: bool,
}

impl continued::Answer for Answer {
    fn turn(self) -> Result<ProvidedTurn, NotContinued> {
        let blocks: Result<Vec<_>, _> = self.blocks.iter().map(OpenBlock::finish).collect();
        let blocks: Vec<String> = blocks?.into_iter().flatten().collect();
        Ok(ProvidedTurn::new(list_of(&blocks), self.usage))
    }

    fn rest(self, calls: &[ClientCall]) -> Option<String> {
        let is_known = |block: &OpenBlock| {
            let id = text_member(&block.start, document(&block.start), "id");
            block.is("tool_use") && id.is_some_and(|id| calls.iter().any(|call| call.id == id))
        };
        let is_left = |block: &&OpenBlock| block.is("text") || is_known(block);
        let blocks = self.blocks.iter().filter(is_left).filter_map(|block| block.finish().ok()?);
        let blocks: Vec<String> = blocks.collect();
        (!blocks.is_empty()).then(|| list_of(&blocks))
    }

    fn body(&mut self, body: &str) -> Result<(), NotContinued> {
        let whole = whole_object(body).ok_or(UNREADABLE)?;
        no_container(body, whole)?;
        let content = member(body, whole, "content").ok_or(UNREADABLE)?;
        self.begin_all(body, content);
        self.usage = usage_of(body).unwrap_or_default().to_owned();
        Ok(())
    }

    fn event(&mut self, _: Option<&str>, data: &str) -> Result<(), NotContinued> {
        let Some(event) = whole_object(data) else { return Ok(()) };
        match text_member(data, event, "type").as_deref() {
            Some("message_start") => {
                let message = member(data, event, "message").ok_or(UNREADABLE)?;
                no_container(data, message)?;
                if let Some(content) = member(data, message, "content") {
                    self.begin_all(data, content);
                }
                self.usage = usage_of(data).unwrap_or_default().to_owned();
            }
            Some("content_block_start") => {
                let block = member(data, event, "content_block").ok_or(UNREADABLE)?;
                if place(data, event) != Some(self.blocks.len()) {
                    return Err(UNREADABLE);
                }
                self.blocks.push(OpenBlock::new(block.of(data)));
            }
            Some("content_block_delta") => {
                let place = place(data, event).ok_or(UNREADABLE)?;
                let delta = member(data, event, "delta").ok_or(UNREADABLE)?;
                self.blocks.get_mut(place).ok_or(UNREADABLE)?.add(data, delta);
            }
            Some("message_delta") => {
                if let Some(delta) = member(data, event, "delta") {
                    no_container(data, delta)?;
                }
                if let Some(usage) = usage_of(data) {
                    self.usage = overlay(&self.usage, usage);
                }
            }
            Some("error") => return Err(UNREADABLE),
            _ => {}
        }
        Ok(())
    }
}

impl Answer {
    /// Begins the blocks of a list.
    fn begin_all(&mut self, data: &str, list: Span) {
        let blocks = elements(data, list);
        self.blocks.extend(blocks.iter().map(|block| OpenBlock::new(block.of(data))));
    }
}

/// The index of a block.
fn place(data: &str, event: Span) -> Option<usize> {
    member(data, event, "index")?.of(data).parse().ok()
}

/// A container is named by the next request, and only the client could.
fn no_container(data: &str, object: Span) -> Result<(), NotContinued> {
    match member(data, object, "container") {
        Some(container) if container.of(data) != "null" => Err(CONTAINER),
        _ => Ok(()),
    }
}

impl OpenBlock {
    fn new(start: &str) -> Self {
        Self { start: start.to_owned(), ..Self::default() }
    }

    fn is(&self, kind: &str) -> bool {
        string_member(&self.start, document(&self.start), "type").is_some_and(|it| it.is(kind))
    }

    fn add(&mut self, data: &str, delta: Span) {
        match text_member(data, delta, "type").as_deref() {
            Some("text_delta") => self.text.push_str(raw_member(data, delta, "text")),
            Some("thinking_delta") => self.thinking.push_str(raw_member(data, delta, "thinking")),
            Some("signature_delta") => {
                let signature = self.signature.get_or_insert_default();
                signature.push_str(raw_member(data, delta, "signature"));
            }
            Some("input_json_delta") => {
                let raw = raw_member(data, delta, "partial_json");
                decode_into(raw, &mut self.half, &mut self.input);
            }
            Some("citations_delta") => match member(data, delta, "citation") {
                Some(citation) => self.citations.push(citation.of(data).to_owned()),
                None => self.is_odd = true,
            },
            _ => self.is_odd = true,
        }
    }

    /// The block as a request has it; `None` for an empty text, which requests may not have.
    fn finish(&self) -> Result<Option<String>, NotContinued> {
        if self.is_odd {
            return Err(NotContinued::UNKNOWN);
        }
        let (start, whole) = (self.start.as_str(), document(&self.start));
        let mut edits = Edits::default();
        let longer = |key: &str, more: &str| format!("\"{}{more}\"", raw_member(start, whole, key));
        if self.is("text") && raw_member(start, whole, "text").is_empty() && self.text.is_empty() {
            return Ok(None);
        }
        if !self.text.is_empty() {
            set(&mut edits, start, whole, "text", &longer("text", &self.text));
        }
        if !self.thinking.is_empty() {
            set(&mut edits, start, whole, "thinking", &longer("thinking", &self.thinking));
        }
        if let Some(signature) = &self.signature {
            set(&mut edits, start, whole, "signature", &format!("\"{signature}\""));
        }
        if !self.citations.is_empty() {
            let before = member(start, whole, "citations").map(|list| elements(start, list));
            let before = before.unwrap_or_default();
            let all = before.iter().map(|at| at.of(start));
            let all: Vec<&str> = all.chain(self.citations.iter().map(String::as_str)).collect();
            set(&mut edits, start, whole, "citations", &list_of(&all));
        }
        let block = edits.apply(start);
        if self.input.is_empty() {
            return Ok(Some(block));
        }
        match Value::parse(&self.input) {
            Ok(Value::Object(_)) => Ok(Some(with_input(&block, &self.input))),
            _ => Err(UNREADABLE),
        }
    }
}
