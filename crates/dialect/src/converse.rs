//! Bedrock Converse and ConverseStream.
//!
//! A message is one list of content blocks. In a stream every event names its block by an index; a
//! block of text has no start, so its first piece begins it. The reader counts blocks itself and
//! the writer numbers what leaves, so that indices have no gaps when blocks are removed.
//!
//! Nova uses the same events inside InvokeModel, with the event's name as the key of its data: see
//! [`read::EventNames`].

mod continued;
pub(crate) mod read;
pub(crate) mod request;
mod view;
pub(crate) mod write;

use callgate_wire::Framings;

use crate::object::{Raw, object};
use crate::request::{FeatureGroup, ToolPlaces, ToolWalk, block_lists};
use crate::spec::{Comments, DialectSpec, ErrorHeader, HttpSpec, Signing, TurnFacts, no_states};
use crate::{AddedEvent, Blame};

/// The spec of the Converse API.
pub(crate) static SPEC: DialectSpec = DialectSpec {
    word: "bedrock-converse",
    framings: Framings::EventStream,
    reader: |max_calls| Box::new(read::Reader::new(read::EventNames::OfEvents, max_calls)),
    writer: || Box::new(write::writer(read::EventNames::OfEvents)),
    facts: TurnFacts::OF_BLOCKS,
    comments: Comments::Fail,
    lines: None,
    error_events,
    error_body,
    blocked_body: write::blocked_body,
    original: write::original,
    continues: Some(&continued::CONTINUES),
    restore: |request, turns| block_lists::restore::<request::Message<'_>>(request, turns),
    seen: |request| block_lists::seen::<request::Message<'_>>(request),
    states: no_states,
    tools: ToolPlaces {
        walks: &[ToolWalk::Converse],
        features: &[FeatureGroup::Extensions, FeatureGroup::Models],
        calls_need_tools: true,
    },
    http: HTTP,
};

/// The HTTP side of both Bedrock APIs.
pub(crate) const HTTP: HttpSpec = HttpSpec {
    error_header: Some(ErrorHeader { name: "x-amzn-errortype", kind: error_type }),
    signing: Signing::Amazon,
    ..HttpSpec::bearer(|error| error_body(Blame::Refused, error.message))
};

/// The kind of an error, by its status.
fn error_type(status: u16) -> &'static str {
    match status {
        401 | 403 => "AccessDeniedException",
        404 => "ResourceNotFoundException",
        408 => "RequestTimeoutException",
        500 => "InternalServerException",
        502 | 504 => "ServiceUnavailableException",
        _ => "ValidationException",
    }
}

/// The exception that ends a stream. Clients decide by its name whether to retry: not after a
/// refusal.
pub(crate) fn error_events(blame: Blame, message: &str) -> Vec<AddedEvent> {
    let name = match blame {
        Blame::Upstream => "internalServerException",
        Blame::Refused => "validationException",
    };
    vec![AddedEvent { name: Some(name), data: error_body(blame, message) }]
}

/// The error body. The status tells the kind of error.
pub(crate) fn error_body(_: Blame, message: &str) -> String {
    object! { "message": Raw(&callgate_json::quote(message)) }
}
