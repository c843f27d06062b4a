//! Bedrock Converse and ConverseStream.
//!
//! A message is one list of content blocks. In a stream every event names its block by an index;
//! a block of text has no start, so its first piece begins it. The reader counts blocks itself and
//! the writer numbers what leaves, so that indices stay whole whatever is taken out.
//!
//! Nova speaks the same inside InvokeModel, with the event's name as the key of its data: see
//! [`read::Names`].

pub(crate) mod read;
pub(crate) mod request;
mod view;
pub(crate) mod write;

use callgate_wire::Forms;

use crate::speaker::Speaker;
use crate::{Blame, OwnEvent};

/// How Converse is read, written and restored.
pub(crate) static SPEAKER: Speaker = Speaker {
    word: "bedrock-converse",
    forms: Forms::EventStream,
    reader: |max_calls| Box::new(read::Reader::new(read::Names::OfEvents, max_calls)),
    writer: || Box::new(write::Writer::new(read::Names::OfEvents)),
    notice_stands_alone: true,
    arguments_end_a_call: false,
    name_may_grow: false,
    counts_blocks: true,
    text_follows_calls: false,
    blocks_go_on: true,
    error_events,
    error_body,
    blocked_body: write::blocked_body,
    original: write::original,
    restore: request::restore,
    seen: request::seen,
};

/// The exception that ends a stream. Clients ask again by its name: not after a refusal.
pub(crate) fn error_events(blame: Blame, message: &str) -> Vec<OwnEvent> {
    let name = match blame {
        Blame::Upstream => "internalServerException",
        Blame::Refused => "validationException",
    };
    vec![OwnEvent { name: Some(name), data: error_body(blame, message) }]
}

/// The body that answers with an error. What kind it is, the status says.
pub(crate) fn error_body(_: Blame, message: &str) -> String {
    format!("{{\"message\":{}}}", callgate_call::json::quote(message))
}
