//! Anthropic Messages.
//!
//! A message is one list of content blocks. Clients append a block when it starts and address it
//! by its place from then on, whatever index the start claims; so the reader counts places itself
//! and the writer numbers what leaves, and the two agree with the wire as long as it is honest.

mod read;
mod request;
mod write;

use callgate_wire::Forms;

use crate::speaker::Speaker;
use crate::{Blame, OwnEvent};

/// How Messages are read, written and restored.
pub(crate) static SPEAKER: Speaker = Speaker {
    word: "anthropic",
    forms: Forms::Events,
    reader: |max_calls| Box::new(read::Reader::new(max_calls)),
    writer: || Box::new(write::Writer::default()),
    notice_stands_alone: true,
    arguments_end_a_call: false,
    name_may_grow: false,
    counts_blocks: true,
    text_follows_calls: false,
    blocks_go_on: true,
    error_events: |blame, message| {
        let data = write::error_body(error_kind(blame), message);
        vec![OwnEvent { name: Some("error"), data }]
    },
    error_body: |blame, message| write::error_body(error_kind(blame), message),
    blocked_body: write::blocked_body,
    original: |block, call| write::original(block.unwrap_or("{}"), &call.arguments),
    restore: request::restore,
    seen: request::seen,
};

/// The word for an error. Clients ask again by it.
fn error_kind(blame: Blame) -> &'static str {
    match blame {
        Blame::Upstream => "api_error",
        Blame::Refused => "invalid_request_error",
    }
}

/// The names of events that carry data in every client. `ping` and `error` are not among them:
/// some clients drop the one and stop at the other, whatever the data says.
const EVENTS: [&str; 6] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
];
