//! Gemini Interactions.
//!
//! An interaction is one list of steps, which the provider keeps. In a stream a step starts, grows
//! and stops under its index. Streams that are resumed begin with a later one, so what leaves keeps
//! the numbers it came with, less the steps that were taken out.

mod event;
mod read;
mod request;
mod step;
mod write;

use callgate_wire::Forms;

pub(crate) use request::states;

use crate::gemini;
use crate::speaker::Speaker;
use crate::{Blame, OwnEvent};

/// How Interactions are read, written and restored.
pub(crate) static SPEAKER: Speaker = Speaker {
    word: "gemini-interactions",
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
        let data = write::error_event(error_code(blame), message);
        vec![OwnEvent { name: Some("error"), data }]
    },
    error_body: gemini::SPEAKER.error_body,
    blocked_body: write::blocked_body,
    original: |step, call| write::original(step.unwrap_or("{}"), call),
    restore: request::restore,
    seen: request::seen,
};

/// The code of an error in a stream.
fn error_code(blame: Blame) -> &'static str {
    match blame {
        Blame::Upstream => "unavailable",
        Blame::Refused => "firewall_blocked",
    }
}
