//! OpenAI Chat Completions, and the many compatible APIs.
//!
//! A response has choices, each with one list of calls. Clients disagree about nearly every
//! irregular form of a call: which index a piece belongs to, what two pieces of a name mean,
//! whether a second id is a second call. So the reader settles each question once, and the writer
//! sends everything that is not plainly canonical in the one form that all of them read the same
//! way.

mod continued;
mod later;
mod read;
mod request;
mod view;
mod write;

use callgate_wire::Framings;

pub(crate) use write::refusal;

use crate::request::{FeatureGroup, ToolPlaces, ToolWalk};
use crate::spec::{Comments, DialectSpec, HttpSpec, TurnFacts, no_states};
use crate::{AddedEvent, Blame};

/// The spec of the Chat Completions API.
pub(crate) static SPEC: DialectSpec = DialectSpec {
    word: "openai-chat",
    framings: Framings::Events,
    reader: |max_calls| Box::new(read::Reader::new(max_calls)),
    writer: || Box::new(write::Writer::default()),
    facts: TurnFacts {
        arguments_end_a_call: true,
        name_may_grow: true,
        mixes_lanes: true,
        ..TurnFacts::OF_LISTS
    },
    comments: Comments::Skipped,
    lines: None,
    error_events: |blame, message| {
        let data = write::error_body(error_kind(blame), message);
        let done = AddedEvent { name: None, data: "[DONE]".to_owned() };
        vec![AddedEvent { name: None, data }, done]
    },
    error_body: |blame, message| write::error_body(error_kind(blame), message),
    blocked_body: write::blocked_body,
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
    http: HttpSpec::bearer(write::refusal),
};

/// The type of an error. Clients decide by it whether to retry.
fn error_kind(blame: Blame) -> &'static str {
    match blame {
        Blame::Upstream => "server_error",
        Blame::Refused => "invalid_request_error",
    }
}
