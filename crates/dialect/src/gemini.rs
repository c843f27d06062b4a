//! Gemini `generateContent`, streamed or not, and its Code Assist envelope.
//!
//! A response has candidates, each with one list of parts. A call is a part like a text, and mostly
//! whole; only if a client requests it does it come in pieces, which some clients join and others
//! pass on. Every chunk is a separate document, so nothing is numbered; but a call may carry the
//! signature of the thinking before it, which must not be lost with it.
//!
//! An event leaves as `data: `, one line, and a blank line. Some clients fail on anything else:
//! comments, names, several data lines, separators that only Python takes for line ends.

mod continued;
mod form;
mod partial;
mod read;
mod request;
mod view;
mod write;

use callgate_wire::Framings;

use crate::event::Lane;
use crate::request::{ToolPlaces, ToolWalk};
use crate::spec::{Comments, DialectSpec, HttpSpec, LineRules, TurnFacts, no_states};
use crate::{AddedEvent, Blame};

/// The spec of the Gemini API.
pub(crate) static SPEC: DialectSpec = DialectSpec {
    word: "gemini",
    framings: Framings::EventsOrArray,
    reader: |max_calls| Box::new(read::Reader::new(max_calls)),
    writer: || Box::new(write::Writer::default()),
    // Clients join the texts of a turn.
    facts: TurnFacts { text_follows_calls: true, ..TurnFacts::OF_LISTS },
    comments: Comments::Fail,
    lines: Some(LineRules { reads_alike: form::reads_alike, is_bare_error: form::is_bare_error }),
    error_events: |blame, message| {
        vec![AddedEvent { name: None, data: write::error_body(blame, message) }]
    },
    error_body: write::error_body,
    blocked_body: |text| write::blocked(text, Lane::default()),
    original: |part, call| write::original(part, call),
    continues: Some(&continued::CONTINUES),
    restore: request::restore,
    seen: request::seen,
    states: no_states,
    tools: ToolPlaces { walks: &[ToolWalk::Gemini], features: &[], calls_need_tools: false },
    http: HttpSpec { key_header: "x-goog-api-key", ..HttpSpec::bearer(write::refusal) },
};

/// The code and the status of an error. Clients decide by them whether to retry.
fn error_kind(blame: Blame) -> (u16, &'static str) {
    match blame {
        Blame::Upstream => (502, "UNAVAILABLE"),
        Blame::Refused => (400, "INVALID_ARGUMENT"),
    }
}
