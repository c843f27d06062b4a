//! Ollama's own chat: one JSON document per line, or one document.
//!
//! A call comes whole, in any line, even the last one. It rarely has an id: its position identifies
//! it. The reason for the end is the same with and without calls.

mod continued;
mod read;
mod request;
mod view;
mod write;

use callgate_wire::Framings;

use crate::AddedEvent;
use crate::object::object;
use crate::request::{FeatureGroup, ToolPlaces, ToolWalk};
use crate::spec::{Comments, DialectSpec, HttpSpec, TurnFacts, no_states};

/// The spec of the Ollama API.
pub(crate) static SPEC: DialectSpec = DialectSpec {
    word: "ollama",
    framings: Framings::Lines,
    reader: |max_calls| Box::new(read::Reader::new(max_calls)),
    writer: || Box::new(write::Writer::default()),
    facts: TurnFacts {
        arguments_end_a_call: true,
        text_follows_calls: true,
        ..TurnFacts::OF_LISTS
    },
    comments: Comments::Fail,
    lines: None,
    error_events: |_, message| vec![AddedEvent { name: None, data: error_body(message) }],
    error_body: |_, message| error_body(message),
    blocked_body: |text| write::last_line("\"model\":\"callgate\",", "message", text),
    original: |_, call| write::original(call),
    continues: Some(&continued::CONTINUES),
    restore: |request, turns| request::LISTED.restore(request, turns),
    seen: |request| request::LISTED.seen(request),
    states: no_states,
    tools: ToolPlaces {
        walks: &[ToolWalk::STRICT_LISTS, ToolWalk::LEGACY],
        features: &[FeatureGroup::Extensions],
        calls_need_tools: false,
    },
    http: HttpSpec::bearer(|error| error_body(error.message)),
};

fn error_body(message: &str) -> String {
    object! { "error": message }
}

#[cfg(test)]
mod tests;
