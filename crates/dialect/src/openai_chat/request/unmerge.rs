//! The turns that a client received as one, as the provider produced them.

use callgate_json::Span;

use super::super::continued::THINKING;
use super::{Message, error_result};
use crate::json::{Edits, document, member, members};
use crate::request::{MergedTurn, RemovedCall};

/// The messages that replace a merged one, with the results of the calls that the last answer lost.
/// A client that has left out the thinking of the turn gets back none of it.
pub(super) fn unmerge(
    request: &str,
    message: &Message<'_>,
    merged: &MergedTurn,
    calls: &[&RemovedCall],
) -> String {
    let first = merged.earlier.first().map_or("{}", |answer| answer.content.as_str());
    let drops_thinking = thinks(first, document(first)) && !thinks(request, message.span);
    let turn = |content: &str| match drops_thinking {
        true => without_thinking(content),
        false => content.to_owned(),
    };
    let mut messages = Vec::with_capacity(2 * merged.earlier.len() + 1 + calls.len());
    for answer in &merged.earlier {
        messages.push(turn(&answer.content));
        messages.push(answer.results.clone());
    }
    messages.push(turn(&merged.last));
    messages.extend(calls.iter().map(|call| error_result(call)));
    messages.join(",")
}

/// Whether the message has any thinking.
fn thinks(data: &str, message: Span) -> bool {
    let mut thoughts = THINKING.iter().filter_map(|key| member(data, message, key));
    thoughts.any(|at| !matches!(at.of(data), "null" | "[]" | "\"\""))
}

fn without_thinking(message: &str) -> String {
    let all = members(message, document(message));
    let spans: Vec<Span> = all.iter().map(|member| member.span).collect();
    let is_thinking = |place: usize| {
        all.get(place).is_some_and(|member| THINKING.iter().any(|key| member.key.is(key)))
    };
    let mut edits = Edits::default();
    edits.remove(&spans, is_thinking);
    edits.apply(message)
}
