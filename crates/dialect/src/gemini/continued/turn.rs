//! The turn as the provider produced it, from the bytes of its answer.

use callgate_json::{Span, Text};
use callgate_wire::Framing;

use super::super::view::{Part, view};
use crate::continued::{self, NotContinued, ProvidedTurn};
use crate::json::{inside, list_of, members};
use crate::object::{EscapedText, object};
use crate::request::ClientCall;
use crate::usage::overlay;

const UNREADABLE: NotContinued = NotContinued::UNREADABLE;
const SEVERAL: NotContinued = NotContinued("the answer has several candidates");
const PIECES: NotContinued = NotContinued("the arguments of a call came in pieces");

/// An answer so far.
#[derive(Default)]
pub(super) struct Answer {
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

impl continued::Answer for Answer {
    fn framing(answer: &str) -> Framing {
        if answer.trim_start().starts_with('[') { Framing::Array } else { Framing::Sse }
    }

    fn turn(self) -> Result<ProvidedTurn, NotContinued> {
        let parts: Vec<String> = self.parts.iter().map(Said::written).collect();
        Ok(ProvidedTurn::new(list_of(&parts), self.usage))
    }

    fn rest(mut self, calls: &[ClientCall]) -> Option<String> {
        let mut calls = calls.iter().peekable();
        self.parts.retain(|said| match said {
            Said::Text { is_thought, .. } => !is_thought,
            Said::Call { call, .. } => calls.next_if(|next| *next == call).is_some(),
            Said::Other(_) => false,
        });
        let parts: Vec<String> = self.parts.iter().map(Said::written).collect();
        (!parts.is_empty()).then(|| list_of(&parts))
    }

    fn event(&mut self, _: Option<&str>, data: &str) -> Result<(), NotContinued> {
        self.body(data)
    }

    fn body(&mut self, data: &str) -> Result<(), NotContinued> {
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
}

impl Answer {
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
