//! Puts removed calls back into a request of the model's own API.

use callgate_json::Error;

use crate::event::Canonical;
use crate::json::{document, member, members};
use crate::request::{ClientMessage, RemovedTurn, Restored};
use crate::spec::DialectSpec;
use crate::{anthropic, converse, openai_chat};

/// Puts the removed calls of `turns` back into `request`.
pub(super) fn restore(request: &str, turns: &[RemovedTurn]) -> Result<Restored, Error> {
    (spec_of(request).restore)(request, turns)
}

/// The recognisable traits of each of the assistant's messages.
pub(super) fn seen(request: &str) -> Result<Vec<ClientMessage<'_>>, Error> {
    (spec_of(request).seen)(request)
}

/// The API of a request: by one key that only it has.
fn spec_of(request: &str) -> &'static DialectSpec {
    let keys = members(request, document(request));
    let has = |name: &str| keys.iter().any(|member| member.key.is(name));
    if has("anthropic_version") {
        &anthropic::SPEC
    } else if has("schemaVersion") || has("inferenceConfig") || has("toolConfig") {
        &converse::SPEC
    } else {
        &openai_chat::SPEC
    }
}

/// A removed call in the form of its API, detected from how it opened.
pub(super) fn original(opened: Option<&str>, call: &Canonical) -> String {
    let has = |opened: &str, key: &str| member(opened, document(opened), key).is_some();
    let spec_of = match opened {
        Some(opened) if has(opened, "toolUseId") => &converse::SPEC,
        Some(opened) if !CHAT.iter().any(|key| has(opened, key)) => &anthropic::SPEC,
        _ => &openai_chat::SPEC,
    };
    (spec_of.original)(opened, call)
}

/// Keys that only a call of Chat Completions has.
const CHAT: [&str; 3] = ["function", "custom", "arguments"];
