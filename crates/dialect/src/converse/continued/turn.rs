//! The turn as the provider produced it, from its answer: a body, or its events as text.

use callgate_json::{Span, Value, decode_into, quote};

use crate::continued::{self, NotContinued, ProvidedTurn};
use crate::json::{at_path, document, elements, list_of, member, members, raw_member, text_member};
use crate::object::{EscapedText, Raw, object};
use crate::request::{ClientCall, whole_object};
use crate::usage::usage_in;

const UNREADABLE: NotContinued = NotContinued::UNREADABLE;
const UNKNOWN: NotContinued = NotContinued::UNKNOWN;

/// An answer so far.
#[derive(Default)]
pub(super) struct Answer {
    blocks: Vec<Block>,
    usage: String,
}

/// A block with what was added to it. Texts are the raw contents of strings.
enum Block {
    /// From a body.
    Whole(String),
    Text {
        index: String,
        text: String,
    },
    Thinking {
        index: String,
        text: String,
        signature: String,
        redacted: String,
    },
    Call {
        index: String,
        start: String,
        /// The text of the input, and the half of a surrogate pair that ended its last piece.
        input: String,
        half: Option<u16>,
    },
    /// Something that is not known here.
    Odd {
        index: String,
    },
}

impl continued::Answer for Answer {
    fn turn(self) -> Result<ProvidedTurn, NotContinued> {
        let blocks: Result<Vec<_>, _> = self.blocks.iter().map(Block::finish).collect();
        let blocks: Vec<String> = blocks?.into_iter().flatten().collect();
        Ok(ProvidedTurn::new(list_of(&blocks), self.usage))
    }

    fn rest(self, calls: &[ClientCall]) -> Option<String> {
        let is_left = |block: &&Block| match block {
            Block::Whole(block) => member(block, document(block), "text").is_some(),
            Block::Text { .. } => true,
            Block::Call { start, .. } => {
                let id = text_member(start, document(start), "toolUseId");
                id.is_some_and(|id| calls.iter().any(|call| call.id == id))
            }
            Block::Thinking { .. } | Block::Odd { .. } => false,
        };
        let blocks = self.blocks.iter().filter(is_left).filter_map(|block| block.finish().ok()?);
        let blocks: Vec<String> = blocks.collect();
        (!blocks.is_empty()).then(|| list_of(&blocks))
    }

    fn body(&mut self, body: &str) -> Result<(), NotContinued> {
        let whole = whole_object(body).ok_or(UNREADABLE)?;
        let content = at_path(body, whole, &["output", "message", "content"]);
        let blocks = elements(body, content.ok_or(UNREADABLE)?);
        self.blocks.extend(blocks.iter().map(|block| Block::Whole(block.of(body).to_owned())));
        self.usage(body);
        Ok(())
    }

    fn event(&mut self, name: Option<&str>, data: &str) -> Result<(), NotContinued> {
        let Some(name) = name else { return Ok(()) };
        let event = whole_object(data).ok_or(UNREADABLE)?;
        let index = member(data, event, "contentBlockIndex").map(|at| at.of(data).to_owned());
        match name {
            "contentBlockStart" => {
                let index = index.ok_or(UNREADABLE)?;
                let start = member(data, event, "start").ok_or(UNREADABLE)?;
                self.blocks.push(match member(data, start, "toolUse") {
                    Some(call) => {
                        let (start, input) = (call.of(data).to_owned(), String::new());
                        Block::Call { index, start, input, half: None }
                    }
                    None => Block::Odd { index },
                });
            }
            "contentBlockDelta" => {
                let index = index.ok_or(UNREADABLE)?;
                let delta = member(data, event, "delta").ok_or(UNREADABLE)?;
                self.delta(data, delta, index);
            }
            "metadata" => self.usage(data),
            name if name.ends_with("Exception") => return Err(UNREADABLE),
            _ => {}
        }
        Ok(())
    }
}

impl Answer {
    /// Adds a piece. The first piece of a text or of thinking begins its block.
    fn delta(&mut self, data: &str, delta: Span, index: String) {
        let is_open = |block: &&mut Block| block.index() == Some(index.as_str());
        let block = match self.blocks.iter_mut().rev().find(is_open) {
            Some(block) => block,
            None => {
                self.blocks.push(Block::begun(data, delta, index));
                let Some(block) = self.blocks.last_mut() else { return };
                block
            }
        };
        block.add(data, delta);
    }

    fn usage(&mut self, data: &str) {
        if let Some((_, usage)) = usage_in(data, document(data)) {
            usage.clone_into(&mut self.usage);
        }
    }
}

impl Block {
    fn begun(data: &str, delta: Span, index: String) -> Self {
        let has = |key: &str| member(data, delta, key).is_some();
        if has("text") {
            return Self::Text { index, text: String::new() };
        }
        match has("reasoningContent") {
            true => Self::Thinking {
                index,
                text: String::new(),
                signature: String::new(),
                redacted: String::new(),
            },
            false => Self::Odd { index },
        }
    }

    fn index(&self) -> Option<&str> {
        match self {
            Self::Whole(_) => None,
            Self::Text { index, .. }
            | Self::Thinking { index, .. }
            | Self::Call { index, .. }
            | Self::Odd { index } => Some(index),
        }
    }

    fn add(&mut self, data: &str, delta: Span) {
        for part in members(data, delta) {
            let value = part.value;
            match self {
                Self::Text { text, .. } if part.key.is("text") => {
                    text.push_str(raw_member(data, delta, "text"));
                }
                Self::Call { input, half, .. } if part.key.is("toolUse") => {
                    decode_into(raw_member(data, value, "input"), half, input);
                }
                Self::Thinking { text, signature, redacted, .. }
                    if part.key.is("reasoningContent") =>
                {
                    text.push_str(raw_member(data, value, "text"));
                    signature.push_str(raw_member(data, value, "signature"));
                    redacted.push_str(raw_member(data, value, "redactedContent"));
                }
                _ => {
                    let index = self.index().unwrap_or_default().to_owned();
                    *self = Self::Odd { index };
                }
            }
        }
    }

    /// The block as a request has it; `None` for an empty text, which requests may not have.
    fn finish(&self) -> Result<Option<String>, NotContinued> {
        Ok(match self {
            Self::Whole(block) => Some(block.clone()),
            Self::Text { text, .. } => {
                (!text.is_empty()).then(|| object! { "text": EscapedText(text) })
            }
            Self::Thinking { redacted, .. } if !redacted.is_empty() => {
                Some(object! { "reasoningContent": { "redactedContent": EscapedText(redacted) } })
            }
            Self::Thinking { text, signature, .. } => {
                let signed = match signature.is_empty() {
                    true => String::new(),
                    false => format!(",\"signature\":\"{signature}\""),
                };
                let text = format!("{{\"text\":\"{text}\"{signed}}}");
                Some(object! { "reasoningContent": { "reasoningText": Raw(&text) } })
            }
            Self::Call { start, input, .. } => Some(call(start, input)?),
            Self::Odd { .. } => return Err(UNKNOWN),
        })
    }
}

/// A call with its input. Its type is left out: requests have none, and the service's own calls do
/// not continue.
fn call(start: &str, input: &str) -> Result<String, NotContinued> {
    let whole = document(start);
    if member(start, whole, "type").is_some() {
        return Err(UNKNOWN);
    }
    let text =
        |key: &str| text_member(start, whole, key).map(|text| quote(&text)).ok_or(UNREADABLE);
    let input = match (input.trim().is_empty(), Value::parse(input)) {
        (true, _) => "{}",
        (false, Ok(Value::Object(_))) => input,
        _ => return Err(UNREADABLE),
    };
    let (id, name) = (text("toolUseId")?, text("name")?);
    Ok(object! { "toolUse": { "toolUseId": Raw(&id), "name": Raw(&name), "input": Raw(input) } })
}
