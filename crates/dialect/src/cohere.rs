//! Cohere chat, version 2.
//!
//! A message has a plan, a list of calls and a list of contents; calls and contents are numbered
//! separately. Some clients go by the number of a call, others add every piece to the call that
//! began last; so everything is renumbered on the way out, and one call ends before the next
//! begins.
//!
//! The plan is a text, but a turn with only a plan shows the user nothing. It has its own lane, so
//! that it is scanned and yet does not count as an answer.

mod continued;
mod read;
mod request;
mod view;
mod write;

use callgate_wire::Framings;

use crate::AddedEvent;
use crate::block_writer::BlockWriter;
use crate::event::Lane;
use crate::object::object;
use crate::request::{FeatureGroup, ToolPlaces, ToolWalk};
use crate::spec::{Comments, DialectSpec, HttpSpec, TurnFacts, no_states};

/// The spec of the Cohere API.
pub(crate) static SPEC: DialectSpec = DialectSpec {
    word: "cohere",
    framings: Framings::Events,
    reader: |max_calls| Box::new(read::Reader::new(max_calls)),
    writer: || Box::new(BlockWriter::<write::Blocks>::default()),
    facts: TurnFacts { counts_blocks: false, plan_lane: Some(PLAN), ..TurnFacts::OF_BLOCKS },
    comments: Comments::KeepAlive,
    lines: None,
    error_events: |_, message| {
        let data = object! {
            "type": "message-end", "delta": { "finish_reason": "ERROR", "error": message },
        };
        let done = AddedEvent { name: None, data: "[DONE]".to_owned() };
        vec![AddedEvent { name: Some("message-end"), data }, done]
    },
    error_body: |_, message| error_body(message),
    blocked_body: |text| {
        object! {
            "id": "callgate", "finish_reason": "ERROR",
            "message": { "role": "assistant", "content": [{ "type": "text", "text": text }] },
        }
    },
    original: |_, call| write::original(call),
    continues: Some(&continued::CONTINUES),
    restore: |request, turns| request::LISTED.restore(request, turns),
    seen: |request| request::LISTED.seen(request),
    states: no_states,
    tools: ToolPlaces {
        walks: &[ToolWalk::STRICT_LISTS, ToolWalk::LEGACY],
        features: &[FeatureGroup::Extensions, FeatureGroup::Models],
        calls_need_tools: false,
    },
    http: HttpSpec::bearer(|error| error_body(error.message)),
};

fn error_body(message: &str) -> String {
    object! { "message": message }
}

/// The lane of the message.
const LANE: Lane = Lane(0);

/// The lane of the plan.
const PLAN: Lane = Lane(1);

/// The types of events that clients act on. The name of an event equals the type in its data.
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
