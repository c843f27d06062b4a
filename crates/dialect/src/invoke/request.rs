//! Removed calls, put back into a request of the model's own API.

use callgate_call::json::Error;

use crate::event::Canonical;
use crate::json::{document, member, members};
use crate::request::{RemovedTurn, Restored, Seen};
use crate::speaker::Speaker;
use crate::{anthropic, converse, openai_chat};

/// Puts the removed calls of `turns` back into `request`.
pub(super) fn restore(request: &str, turns: &[RemovedTurn]) -> Result<Restored, Error> {
    (speaker(request).restore)(request, turns)
}

/// What can be told of each of the assistant's messages.
pub(super) fn seen(request: &str) -> Result<Vec<Seen<'_>>, Error> {
    (speaker(request).seen)(request)
}

/// The API of a request: one key that only it has.
fn speaker(request: &str) -> &'static Speaker {
    let keys = members(request, document(request));
    let has = |name: &str| keys.iter().any(|member| member.key.is(name));
    if has("anthropic_version") {
        &anthropic::SPEAKER
    } else if has("schemaVersion") || has("inferenceConfig") || has("toolConfig") {
        &converse::SPEAKER
    } else {
        &openai_chat::SPEAKER
    }
}

/// A removed call in its API's own words, told by how it opened.
pub(super) fn original(opened: Option<&str>, call: &Canonical) -> String {
    let has = |opened: &str, key: &str| member(opened, document(opened), key).is_some();
    let speaker = match opened {
        Some(opened) if has(opened, "toolUseId") => &converse::SPEAKER,
        Some(opened) if !CHAT.iter().any(|key| has(opened, key)) => &anthropic::SPEAKER,
        _ => &openai_chat::SPEAKER,
    };
    (speaker.original)(opened, call)
}

/// What only a call of Chat Completions has.
const CHAT: [&str; 3] = ["function", "custom", "arguments"];
