//! The turn as the provider produced it, from the bytes of its answer.

use callgate_json::{Span, Value, decode_into};
use callgate_wire::{Framing, Splitter};

use super::super::read::with_input;
use super::{kind_of, usage_of};
use crate::continued::{NotContinued, ProvidedTurn};
use crate::json::{Edits, document, elements, member, raw_member, set, string_member};
use crate::request::{ClientCall, whole_object};
use crate::usage::overlay;

const UNREADABLE: NotContinued = NotContinued("the answer cannot be read again");
const UNKNOWN: NotContinued = NotContinued("the answer has a part of an unknown kind");
const CONTAINER: NotContinued = NotContinued("the provider keeps a container for the turn");

/// The turn in a complete answer.
pub(super) fn turn(answer: &str) -> Result<ProvidedTurn, NotContinued> {
    let answer = Answer::read(answer)?;
    let mut blocks = Vec::with_capacity(answer.blocks.len());
    for block in &answer.blocks {
        blocks.extend(block.finish()?);
    }
    let content = format!("[{}]", blocks.join(","));
    Ok(ProvidedTurn { content, usage: answer.usage, identity: None })
}

/// The texts in an answer that was cut off, and those of its calls; `None` without any.
pub(super) fn rest(answer: &str, calls: &[ClientCall]) -> Option<String> {
    let answer = Answer::read_part(answer);
    let is_known = |block: &OpenBlock| {
        let id = string_member(&block.start, document(&block.start), "id");
        let id = id.and_then(|id| id.decode().ok());
        block.is("tool_use") && id.is_some_and(|id| calls.iter().any(|call| call.id == id))
    };
    let is_left = |block: &&OpenBlock| block.is("text") || is_known(block);
    let blocks = answer.blocks.iter().filter(is_left).filter_map(|block| block.finish().ok()?);
    let blocks: Vec<String> = blocks.collect();
    (!blocks.is_empty()).then(|| format!("[{}]", blocks.join(",")))
}

/// An answer so far.
struct Answer {
    blocks: Vec<OpenBlock>,
    usage: String,
}

/// A block with what was added to it.
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

impl Answer {
    fn read(answer: &str) -> Result<Self, NotContinued> {
        let mut read = Self::new();
        read.add(answer).map(|()| read)
    }

    /// As much of it as can be read.
    fn read_part(answer: &str) -> Self {
        let mut read = Self::new();
        // What was read before a mistake is kept.
        let _ = read.add(answer);
        read
    }

    fn new() -> Self {
        Self { blocks: Vec::new(), usage: "{}".to_owned() }
    }

    fn add(&mut self, answer: &str) -> Result<(), NotContinued> {
        if answer.trim_start().starts_with('{') {
            return self.body(answer);
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

    fn body(&mut self, body: &str) -> Result<(), NotContinued> {
        let whole = whole_object(body).ok_or(UNREADABLE)?;
        no_container(body, whole)?;
        let content = member(body, whole, "content").ok_or(UNREADABLE)?;
        self.blocks
            .extend(elements(body, content).iter().map(|block| OpenBlock::new(block.of(body))));
        self.usage = usage_of(body).unwrap_or("{}").to_owned();
        Ok(())
    }

    fn event(&mut self, data: &str) -> Result<(), NotContinued> {
        let Some(event) = whole_object(data) else { return Ok(()) };
        let Some(kind) = string_member(data, event, "type").and_then(|kind| kind.decode().ok())
        else {
            return Ok(());
        };
        match kind.as_ref() {
            "message_start" => {
                let message = member(data, event, "message").ok_or(UNREADABLE)?;
                no_container(data, message)?;
                if let Some(content) = member(data, message, "content") {
                    let blocks = elements(data, content);
                    self.blocks.extend(blocks.iter().map(|block| OpenBlock::new(block.of(data))));
                }
                self.usage = usage_of(data).unwrap_or("{}").to_owned();
            }
            "content_block_start" => {
                let block = member(data, event, "content_block").ok_or(UNREADABLE)?;
                if place(data, event) != Some(self.blocks.len()) {
                    return Err(UNREADABLE);
                }
                self.blocks.push(OpenBlock::new(block.of(data)));
            }
            "content_block_delta" => {
                let place = place(data, event).ok_or(UNREADABLE)?;
                let delta = member(data, event, "delta").ok_or(UNREADABLE)?;
                self.blocks.get_mut(place).ok_or(UNREADABLE)?.add(data, delta);
            }
            "message_delta" => {
                if let Some(delta) = member(data, event, "delta") {
                    no_container(data, delta)?;
                }
                if let Some(usage) = usage_of(data) {
                    self.usage = overlay(&self.usage, usage);
                }
            }
            "error" => return Err(UNREADABLE),
            _ => {}
        }
        Ok(())
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
        Self {
            start: start.to_owned(),
            text: String::new(),
            thinking: String::new(),
            signature: None,
            input: String::new(),
            half: None,
            citations: Vec::new(),
            is_odd: false,
        }
    }

    fn is(&self, kind: &str) -> bool {
        kind_of(&self.start, document(&self.start)).is_some_and(|found| found.is(kind))
    }

    fn add(&mut self, data: &str, delta: Span) {
        let kind = string_member(data, delta, "type").and_then(|kind| kind.decode().ok());
        match kind.as_deref() {
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
            return Err(UNKNOWN);
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
            let all =
                before.iter().map(|at| at.of(start)).chain(self.citations.iter().map(|c| &**c));
            let all: Vec<&str> = all.collect();
            set(&mut edits, start, whole, "citations", &format!("[{}]", all.join(",")));
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
