//! Ollama's own chat: a JSON document a line, or one document.
//!
//! A call comes whole, in any line, the last one too. It seldom has an id: what sets it off is its
//! place. The reason for the end is the same with calls and without.

mod read;
mod request;
mod view;
mod write;

use callgate_call::json::quote;
use callgate_wire::Forms;

use crate::OwnEvent;
use crate::speaker::Speaker;

/// How Ollama's lines are read, written and restored.
pub(crate) static SPEAKER: Speaker = Speaker {
    word: "ollama",
    forms: Forms::Lines,
    reader: |max_calls| Box::new(read::Reader::new(max_calls)),
    writer: || Box::new(write::Writer::default()),
    notice_stands_alone: false,
    arguments_end_a_call: true,
    name_may_grow: false,
    counts_blocks: false,
    text_follows_calls: true,
    blocks_go_on: false,
    error_events: |_, message| vec![OwnEvent { name: None, data: error_body(message) }],
    error_body: |_, message| error_body(message),
    blocked_body: |text| write::last_line("\"model\":\"callgate\",", "message", text),
    original: |_, call| write::original(call),
    restore: request::restore,
    seen: request::seen,
};

fn error_body(message: &str) -> String {
    format!("{{\"error\":{}}}", quote(message))
}

#[cfg(test)]
mod tests;
