//! Bedrock InvokeModel and InvokeModelWithResponseStream: an envelope around a model's own API.
//!
//! The first chunk shows which API that is: Anthropic Messages, Nova (which is Converse with the
//! name of the event as a key), Chat Completions, or plain text of an older model. Later chunks in
//! another form are left out.

mod flavour;
mod plain;
mod read;
mod request;
mod write;

use callgate_wire::Framings;

use crate::request::{FeatureGroup, ToolPlaces, ToolWalk};
use crate::spec::{Comments, DialectSpec, TurnFacts, no_states};
use crate::{anthropic, converse};

/// The spec of the InvokeModel API.
pub(crate) static SPEC: DialectSpec = DialectSpec {
    word: "bedrock-invoke",
    framings: Framings::EventStream,
    reader: |max_calls| Box::new(read::Reader::new(max_calls)),
    writer: || Box::new(write::Writer::default()),
    // For models that only write text. The spec of their own API applies to the others.
    facts: TurnFacts { blocks_continue: false, ..TurnFacts::OF_BLOCKS },
    comments: Comments::Fail,
    lines: None,
    error_events: converse::error_events,
    error_body: converse::error_body,
    // The model is unknown here. Most are of this API.
    blocked_body: anthropic::SPEC.blocked_body,
    original: request::original,
    continues: None,
    restore: request::restore,
    seen: request::seen,
    states: no_states,
    tools: ToolPlaces {
        // Whichever model's format the request has.
        walks: &[ToolWalk::LISTS, ToolWalk::LEGACY, ToolWalk::Converse, ToolWalk::Messages],
        features: &[FeatureGroup::Extensions, FeatureGroup::Models],
        calls_need_tools: true,
    },
    http: converse::HTTP,
};
