//! Detects which model's API a document belongs to.

use callgate_json::{Kind, Reader as Json};

use crate::converse;
use crate::event::Unreadable;
use crate::spec::{Read, Write};
use crate::{Dialect, anthropic, openai_chat};

/// A model's own API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavour {
    /// Anthropic Messages.
    Anthropic,
    /// Converse, with the event name as a key.
    Nova,
    /// Chat Completions.
    Chat,
    /// Text, and nothing that could be a call.
    Plain,
}

impl Flavour {
    /// The API of a chunk or a whole body. An ambiguous document belongs to none.
    pub(super) fn of(data: &str) -> Result<Self, Unreadable> {
        if !data.trim_start().starts_with('{') {
            return Err(Unreadable::Nothing);
        }
        let mut json = Json::new(data);
        let mut found = None;
        let mut object = json.object()?;
        while let Some(key) = object.next(&mut json)? {
            let kind = json.kind()?;
            json.skip()?;
            let key = key.decode()?;
            let is = |word: &str| same_to_some(&key, word);
            // Clients read blocks even if the message has no type.
            let blocks = is("content") && kind == Kind::Array;
            let flavour = if blocks || (is("type") && kind == Kind::String) {
                Self::Anthropic
            } else if is("choices") {
                Self::Chat
            } else if is("output") || converse::read::EVENTS.iter().any(|event| is(event)) {
                Self::Nova
            } else {
                continue;
            };
            if found.replace(flavour).is_some_and(|before| before != flavour) {
                return Err(Unreadable::Ambiguous("it is in the shape of two APIs"));
            }
        }
        json.end()?;
        Ok(found.unwrap_or(Self::Plain))
    }

    /// The dialect whose rules for calls apply.
    pub(super) fn dialect(self) -> Option<Dialect> {
        match self {
            Self::Anthropic => Some(Dialect::Anthropic),
            Self::Nova => Some(Dialect::Converse),
            Self::Chat => Some(Dialect::OpenAiChat),
            Self::Plain => None,
        }
    }

    pub(super) fn reader(self, max_calls: usize) -> Box<dyn Read> {
        match self {
            Self::Anthropic => (anthropic::SPEC.reader)(max_calls),
            Self::Nova => {
                Box::new(converse::read::Reader::new(converse::read::EventNames::OfKeys, max_calls))
            }
            Self::Chat => (openai_chat::SPEC.reader)(max_calls),
            Self::Plain => Box::new(super::plain::Reader::default()),
        }
    }

    pub(super) fn writer(self) -> Box<dyn Write> {
        match self {
            Self::Anthropic => (anthropic::SPEC.writer)(),
            Self::Nova => Box::new(converse::write::writer(converse::read::EventNames::OfKeys)),
            Self::Chat => (openai_chat::SPEC.writer)(),
            Self::Plain => Box::new(super::plain::Writer),
        }
    }
}

/// Whether some program takes the key for this word: some ignore case.
pub(super) fn same_to_some(key: &str, word: &str) -> bool {
    key == word || key.to_uppercase().to_lowercase() == word.to_lowercase()
}
