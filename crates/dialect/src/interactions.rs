//! Gemini Interactions.
//!
//! An interaction is one list of steps, which the provider stores. In a stream a step starts, grows
//! and stops under its index. Resumed streams begin with a later one, so steps leave with their
//! original numbers, minus the number of removed steps.

mod event;
mod read;
mod request;
mod step;
mod write;

use callgate_wire::Framings;

use crate::block_writer::BlockWriter;
use crate::gemini;
use crate::request::{FeatureGroup, ToolPlaces, ToolWalk};
use crate::spec::{Comments, DialectSpec, HttpSpec, TurnFacts};
use crate::{AddedEvent, Blame};

/// The spec of the Interactions API.
pub(crate) static SPEC: DialectSpec = DialectSpec {
    word: "gemini-interactions",
    framings: Framings::Events,
    reader: |max_calls| Box::new(read::Reader::new(max_calls)),
    writer: || Box::new(BlockWriter::<write::Steps>::default()),
    facts: TurnFacts::OF_BLOCKS,
    comments: Comments::Fail,
    lines: None,
    error_events: |blame, message| {
        let data = write::error_event(error_code(blame), message);
        vec![AddedEvent { name: Some("error"), data }]
    },
    error_body: gemini::SPEC.error_body,
    blocked_body: write::blocked_body,
    original: |step, call| write::original(step.unwrap_or("{}"), call),
    continues: None,
    restore: request::restore,
    seen: request::seen,
    states: request::states,
    tools: ToolPlaces {
        walks: &[ToolWalk::Lists(&["tools"], &["tool_choice"]), ToolWalk::GenerationConfig],
        features: &[FeatureGroup::StoredAgent],
        calls_need_tools: false,
    },
    http: HttpSpec { key_header: "x-goog-api-key", ..HttpSpec::bearer(gemini::SPEC.http.refusal) },
};

/// The code of an error in a stream.
fn error_code(blame: Blame) -> &'static str {
    match blame {
        Blame::Upstream => "unavailable",
        Blame::Refused => "firewall_blocked",
    }
}
