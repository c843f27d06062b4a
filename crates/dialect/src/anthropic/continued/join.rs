//! Whole answers of one turn as one message.

use super::{is_thinking, usage_of};
use crate::json::{Edits, document, elements, member, set};
use crate::usage::sum;

/// One message: the blocks of all answers in order, the end of the last one, and the usage of all.
/// Later answers lose their thinking: it is not valid after what another answer said.
pub(super) fn join(bodies: &[String]) -> Option<String> {
    let (first, later) = bodies.split_first()?;
    let Some(last) = later.last() else { return Some(first.clone()) };
    let whole = document(first);
    let mut blocks: Vec<&str> = elements(first, member(first, whole, "content")?)
        .into_iter()
        .map(|block| block.of(first))
        .collect();
    let mut usage = usage_of(first).unwrap_or("{}").to_owned();
    for body in later {
        let content = member(body, document(body), "content")?;
        let kept = elements(body, content).into_iter().filter(|block| !is_thinking(body, *block));
        blocks.extend(kept.map(|block| block.of(body)));
        usage = sum(&usage, usage_of(body).unwrap_or("{}"));
    }
    let mut edits = Edits::default();
    set(&mut edits, first, whole, "content", &format!("[{}]", blocks.join(",")));
    for key in ["stop_reason", "stop_sequence", "stop_details", "container"] {
        if let Some(value) = member(last, document(last), key) {
            set(&mut edits, first, whole, key, value.of(last));
        }
    }
    set(&mut edits, first, whole, "usage", &usage);
    Some(edits.apply(first))
}
