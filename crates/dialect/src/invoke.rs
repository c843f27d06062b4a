//! Bedrock InvokeModel and InvokeModelWithResponseStream: an envelope around a model's own API.
//!
//! Which API that is, the first chunk tells: Anthropic Messages, Nova (which is Converse with the
//! name of the event as a key), Chat Completions, or plain text of an older model. What comes later
//! in another shape is left out.

mod flavour;
mod plain;
mod read;
mod request;
mod write;

use callgate_wire::Forms;

use crate::speaker::Speaker;
use crate::{anthropic, converse};

/// How InvokeModel is read, written and restored.
pub(crate) static SPEAKER: Speaker = Speaker {
    word: "bedrock-invoke",
    forms: Forms::EventStream,
    reader: |max_calls| Box::new(read::Reader::new(max_calls)),
    writer: || Box::new(write::Writer::default()),
    // For models that say only text. How others make calls, their own API tells.
    notice_stands_alone: true,
    arguments_end_a_call: false,
    name_may_grow: false,
    counts_blocks: true,
    text_follows_calls: false,
    blocks_go_on: false,
    error_events: converse::error_events,
    error_body: converse::error_body,
    // Which model's it would have been, nothing tells. Most are of this one.
    blocked_body: anthropic::SPEAKER.blocked_body,
    original: request::original,
    restore: request::restore,
    seen: request::seen,
};
