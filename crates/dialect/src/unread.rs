//! Dialects that have a name and are not read yet: nothing of theirs passes.

use callgate_wire::{Forms, Frame};

use crate::event::{Fate, Reading, Unreadable};
use crate::openai_chat;
use crate::request::Restored;
use crate::speaker::{Read, Speaker, Write};

pub(crate) static INTERACTIONS: Speaker = unread("gemini-interactions");
pub(crate) static OLLAMA: Speaker = unread("ollama");

const fn unread(word: &'static str) -> Speaker {
    Speaker {
        word,
        forms: Forms::Events,
        reader: |_| Box::new(Unread),
        writer: || Box::new(Unread),
        notice_stands_alone: true,
        arguments_end_a_call: false,
        name_may_grow: false,
        counts_blocks: false,
        error_events: openai_chat::SPEAKER.error_events,
        error_body: openai_chat::SPEAKER.error_body,
        blocked_body: openai_chat::SPEAKER.blocked_body,
        original: openai_chat::SPEAKER.original,
        restore: |_, _| Ok(Restored::default()),
        seen: |_| Ok(Vec::new()),
    }
}

#[derive(Debug)]
struct Unread;

impl Read for Unread {
    fn read(&mut self, _: Option<&[u8]>, _: &str) -> Result<Reading, Unreadable> {
        Err(Unreadable::Foreign)
    }

    fn read_body(&mut self, _: &str) -> Result<Reading, Unreadable> {
        Err(Unreadable::Foreign)
    }

    fn has_spoken(&self) -> bool {
        false
    }
}

impl Write for Unread {
    fn write(&mut self, _: &Frame<'_>, _: &str, _: &Reading, _: &[Fate], _: &mut Vec<u8>) {}

    fn write_body(&mut self, _: &str, _: &Reading, _: &[Fate]) -> Option<String> {
        None
    }
}
