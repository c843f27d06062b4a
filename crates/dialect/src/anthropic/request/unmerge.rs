//! The turns that a client received as one, as the provider produced them.

use super::super::continued::is_thinking;
use super::{Content, Message};
use crate::json::{Edits, document, elements};
use crate::object::{Raw, object};
use crate::request::{ClientMessage, MergedTurn, RemovedTurn};

/// The messages that replace a merged one. A client that has left out the thinking of the turn
/// gets back none of it.
pub(super) fn unmerge(
    request: &str,
    message: &Message<'_>,
    seen: &ClientMessage<'_>,
    turn: &RemovedTurn,
    merged: &MergedTurn,
) -> String {
    let had_thinking = turn.client.as_ref().is_some_and(|client| !client.signatures.is_empty());
    let drops_thinking = had_thinking && seen.client.signatures.is_empty();
    let content = |content: &str| match drops_thinking {
        true => without_thinking(content),
        false => content.to_owned(),
    };
    let mut messages = Vec::with_capacity(2 * merged.earlier.len() + 1);
    for answer in &merged.earlier {
        messages.push(assistant(&content(&answer.content)));
        messages.push(format!("{{\"role\":\"user\",\"content\":{}}}", answer.results));
    }
    let last = with_cache_control(content(&merged.last), cache_control(request, message));
    messages.push(assistant(&last));
    messages.join(",")
}

fn assistant(content: &str) -> String {
    object! { "role": "assistant", "content": Raw(content) }
}

fn without_thinking(content: &str) -> String {
    let blocks = elements(content, document(content));
    let mut edits = Edits::default();
    edits.remove(&blocks, |place| blocks.get(place).is_some_and(|at| is_thinking(content, *at)));
    edits.apply(content)
}

/// What the client wants to be cached up to this turn.
fn cache_control<'a>(request: &'a str, message: &Message<'_>) -> Option<&'a str> {
    let Content::Blocks(_, blocks) = &message.content else { return None };
    blocks.iter().rev().find_map(|block| block.cache_control).map(|span| span.of(request))
}

/// Moves a `cache_control` to the last block, unless that is thinking, which cannot have one.
fn with_cache_control(content: String, cache: Option<&str>) -> String {
    let last = elements(&content, document(&content)).last().copied();
    match (last, cache) {
        (Some(last), Some(cache)) if !is_thinking(&content, last) => {
            let mut edits = Edits::default();
            edits.insert(last.end - 1, format!(",\"cache_control\":{cache}"));
            edits.apply(&content)
        }
        _ => content,
    }
}
