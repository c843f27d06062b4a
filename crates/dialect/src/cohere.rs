//! Cohere chat, version 2.
//!
//! A message has a plan, a list of calls and a list of contents; calls and contents are numbered
//! apart. Some clients go by the number of a call, others add every piece to the call that began
//! last; so what leaves is numbered anew, and one call ends before the next begins.
//!
//! The plan is a text, but a turn that has nothing else says nothing to the user. It has a lane of
//! its own, so that it is scanned and yet does not count as an answer.

mod read;
mod request;
mod view;
mod write;

use callgate_call::json::quote;
use callgate_wire::Forms;

use crate::OwnEvent;
use crate::speaker::Speaker;

/// How Cohere's messages are read, written and restored.
pub(crate) static SPEAKER: Speaker = Speaker {
    word: "cohere",
    forms: Forms::Events,
    reader: |max_calls| Box::new(read::Reader::new(max_calls)),
    writer: || Box::new(write::Writer::default()),
    notice_stands_alone: true,
    arguments_end_a_call: false,
    name_may_grow: false,
    counts_blocks: false,
    text_follows_calls: false,
    blocks_go_on: true,
    error_events: |_, message| {
        let data = format!(
            "{{\"type\":\"message-end\",\"delta\":{{\"finish_reason\":\"ERROR\",\"error\":{}}}}}",
            quote(message)
        );
        let done = OwnEvent { name: None, data: "[DONE]".to_owned() };
        vec![OwnEvent { name: Some("message-end"), data }, done]
    },
    error_body: |_, message| format!("{{\"message\":{}}}", quote(message)),
    blocked_body: |text| {
        format!(
            "{{\"id\":\"callgate\",\"finish_reason\":\"ERROR\",\"message\":{{\"role\":\"assistant\",\
             \"content\":[{{\"type\":\"text\",\"text\":{}}}]}}}}",
            quote(text)
        )
    },
    original: |_, call| write::original(call),
    restore: request::restore,
    seen: request::seen,
};

/// The lane of the message.
const LANE: u32 = 0;

/// The lane of the plan.
pub(crate) const PLAN: u32 = 1;

/// The types of events that clients act on. An event is named as its data is.
const EVENTS: [&str; 11] = [
    "message-start",
    "content-start",
    "content-delta",
    "content-end",
    "tool-plan-delta",
    "tool-call-start",
    "tool-call-delta",
    "tool-call-end",
    "citation-start",
    "citation-end",
    "message-end",
];

#[cfg(test)]
mod tests;
