//! The turns that a client received as one, as the provider produced them.

use callgate_json::Span;

use super::super::continued::{contents, model};
use super::{Content, Turn};
use crate::json::Edits;
use crate::request::{MergedTurn, Plan, RemovedCall};

/// Replaces a merged turn, with the thinking that a client may have left out: calls are not valid
/// without their signatures. Returns how many of the client's calls come before each removed one.
pub(super) fn unmerge<'t>(
    all: &[Content<'_>],
    turn: &Turn<'_, '_>,
    plan: &Plan<'t>,
    merged: &MergedTurn,
    edits: &mut Edits,
) -> Vec<(usize, &'t RemovedCall)> {
    let earlier = merged.earlier.iter().map(|answer| contents(&answer.content, &answer.results));
    let turns: Vec<String> = earlier.chain([model(&merged.last)]).collect();
    if let Some(first) = all.get(turn.first) {
        edits.replace(first.span, turns.join(","));
    }
    let spans: Vec<Span> = all.iter().map(|content| content.span).collect();
    let others = turn.first + 1..turn.first + turn.counts.len();
    edits.remove(&spans, |place| others.contains(&place));
    let calls = plan.calls.iter().enumerate();
    calls.map(|(removed, call)| (call.place.saturating_sub(removed), *call)).collect()
}
