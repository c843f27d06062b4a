//! The turn as the provider produced it, from the bytes of its answer.

use callgate_json::{Span, Text};
use callgate_wire::{Framing, Splitter};

use super::super::view::{Part, view};
use crate::continued::{NotContinued, ProvidedTurn};
use crate::json::{inside, members};
use crate::object::{EscapedText, object};
use crate::request::ClientCall;
use crate::usage::overlay;

const UNREADABLE: NotContinued = NotContinued("the answer cannot be read again");
const SEVERAL: NotContinued = NotContinued("the answer has several candidates");
const PIECES: NotContinued = NotContinued("the arguments of a call came in pieces");

/// The turn in a complete answer.
pub(super) fn turn(answer: &str) -> Result<ProvidedTurn, NotContinued> {
    let mut read = Answer::new();
    read.add(answer)?;
    let parts: Vec<String> = read.parts.iter().map(Said::written).collect();
    let content = format!("[{}]", parts.join(","));
    Ok(ProvidedTurn { content, usage: read.usage, identity: None })
}

/// The texts in an answer that was cut off, and those of its calls; `None` without any.
pub(super) fn rest(answer: &str, calls: &[ClientCall]) -> Option<String> {
    let mut read = Answer::new();
    // What was read before a mistake is kept.
    let _ = read.add(answer);
    let mut calls = calls.iter().peekable();
    let mut parts = read.parts;
    parts.retain(|said| match said {
        Said::Text { is_thought, .. } => !is_thought,
        Said::Call { call, .. } => calls.next_if(|next| *next == call).is_some(),
        Said::Other(_) => false,
    });
    let parts: Vec<String> = parts.iter().map(Said::written).collect();
    (!parts.is_empty()).then(|| format!("[{}]", parts.join(",")))
}

/// An answer so far.
struct Answer {
    parts: Vec<Said>,
    usage: String,
}

/// A part of an answer.
enum Said {
    /// The raw content of texts in a row, which came in pieces.
    Text { raw: String, is_thought: bool },
    /// A call, with all that its part has.
    Call { part: String, call: ClientCall },
    /// Anything else.
    Other(String),
}

impl Said {
    fn written(&self) -> String {
        match self {
            Self::Text { raw, is_thought: false } => object! { "text": EscapedText(raw) },
            Self::Text { raw, is_thought: true } => {
                object! { "text": EscapedText(raw), "thought": true }
            }
            Self::Call { part, .. } | Self::Other(part) => part.clone(),
        }
    }
}

impl Answer {
    fn new() -> Self {
        Self { parts: Vec::new(), usage: "{}".to_owned() }
    }

    fn add(&mut self, answer: &str) -> Result<(), NotContinued> {
        let framing = match answer.trim_start().as_bytes().first() {
            Some(b'{') => return self.document(answer),
            Some(b'[') => Framing::Array,
            _ => Framing::Sse,
        };
        let mut splitter = Splitter::new(framing, answer.len() + 1);
        splitter.push(answer.as_bytes());
        while let Some(frame) = splitter.next_frame().map_err(|_| UNREADABLE)? {
            if let Some(data) = frame.data().and_then(|data| std::str::from_utf8(data).ok()) {
                self.document(data)?;
            }
        }
        Ok(())
    }

    fn document(&mut self, data: &str) -> Result<(), NotContinued> {
        let found = view(data).map_err(|_| UNREADABLE)?;
        if found.fails {
            return Err(UNREADABLE);
        }
        if let Some(usage) = found.usage {
            self.usage = overlay(&self.usage, usage.of(data));
        }
        for candidate in &found.candidates {
            if candidate.lane.0 != 0 || candidate.bad_index {
                return Err(SEVERAL);
            }
            for part in candidate.content.iter().flat_map(|content| &content.parts) {
                self.part(data, part)?;
            }
        }
        Ok(())
    }

    fn part(&mut self, data: &str, part: &Part<'_>) -> Result<(), NotContinued> {
        if let Some(call) = &part.call {
            if call.partial.is_some() || call.will_continue || call.name.is_none() {
                return Err(PIECES);
            }
            let text = |text: Option<Text<'_>>| {
                text.and_then(|text| text.decode().ok()).unwrap_or_default().into_owned()
            };
            let arguments = call.args.map_or("{}", |span| span.of(data));
            let call = ClientCall::new(text(call.id), &text(call.name), arguments);
            self.parts.push(Said::Call { part: part.span.of(data).to_owned(), call });
            return Ok(());
        }
        let Some(text) = part.text.filter(|_| is_plain(data, part.span)) else {
            self.parts.push(Said::Other(part.span.of(data).to_owned()));
            return Ok(());
        };
        let raw = inside(&text).of(data);
        match self.parts.last_mut() {
            // The provider rejects an empty part.
            _ if raw.is_empty() => {}
            Some(Said::Text { raw: before, is_thought }) if *is_thought == part.is_thought => {
                before.push_str(raw);
            }
            _ => {
                let (raw, is_thought) = (raw.to_owned(), part.is_thought);
                self.parts.push(Said::Text { raw, is_thought });
            }
        }
        Ok(())
    }
}

/// Whether the part is a text or a thought, and nothing else.
fn is_plain(data: &str, part: Span) -> bool {
    members(data, part).iter().all(|member| member.key.is("text") || member.key.is("thought"))
}
