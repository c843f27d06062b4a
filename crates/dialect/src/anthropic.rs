//! Anthropic Messages.
//!
//! A message is one list of content blocks. Clients append a block when it starts and then address
//! it by its position, whatever index the start claims; so the reader counts positions itself and
//! the writer numbers what leaves, and both agree with an honest stream.

mod continued;
mod read;
mod request;
mod write;

use callgate_wire::Framings;

use crate::block_writer::BlockWriter;
use crate::request::{FeatureGroup, ToolPlaces, ToolWalk, block_lists};
use crate::spec::{Comments, DialectSpec, HttpSpec, TurnFacts, no_states};
use crate::{AddedEvent, Blame};

/// The spec of the Messages API.
pub(crate) static SPEC: DialectSpec = DialectSpec {
    word: "anthropic",
    framings: Framings::Events,
    reader: |max_calls| Box::new(read::Reader::new(max_calls)),
    writer: || Box::new(BlockWriter::<write::Blocks>::default()),
    facts: TurnFacts::OF_BLOCKS,
    comments: Comments::Skipped,
    lines: None,
    error_events: |blame, message| {
        let data = write::error_body(error_kind(blame), message);
        vec![AddedEvent { name: Some("error"), data }]
    },
    error_body: |blame, message| write::error_body(error_kind(blame), message),
    blocked_body: write::blocked_body,
    original: |block, call| read::with_input(block.unwrap_or("{}"), &call.arguments),
    continues: Some(&continued::CONTINUES),
    restore: |request, turns| block_lists::restore::<request::Message<'_>>(request, turns),
    seen: |request| block_lists::seen::<request::Message<'_>>(request),
    states: no_states,
    tools: ToolPlaces {
        walks: &[ToolWalk::LISTS, ToolWalk::LEGACY, ToolWalk::Messages],
        features: &[FeatureGroup::Extensions, FeatureGroup::Models],
        calls_need_tools: true,
    },
    http: HttpSpec {
        key_header: "x-api-key",
        compatible_key_header: "x-api-key",
        ..HttpSpec::bearer(|error| write::error_body(error.kind, error.message))
    },
};

/// The type of an error. Clients decide by it whether to retry.
fn error_kind(blame: Blame) -> &'static str {
    match blame {
        Blame::Upstream => "api_error",
        Blame::Refused => "invalid_request_error",
    }
}

/// The names of events that carry data in every client. `ping` and `error` are not among them: some
/// clients drop the one and stop at the other, whatever the data is.
const EVENTS: [&str; 6] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
];
