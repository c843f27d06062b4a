//! Whole answers of one turn as one response.

use callgate_json::Span;

use super::{is_thinking, usage_of};
use crate::json::{Edits, document, elements, member, set};
use crate::usage::sum;

/// One response: the blocks of all answers in order, the end of the last one, and the usage of all.
/// Later answers lose their thinking: it is not valid after what another answer said.
pub(super) fn join(bodies: &[String]) -> Option<String> {
    let (first, later) = bodies.split_first()?;
    let Some(last) = later.last() else { return Some(first.clone()) };
    let content = content_of(first)?;
    let mut blocks: Vec<&str> =
        elements(first, content).into_iter().map(|block| block.of(first)).collect();
    let mut usage = usage_of(first).map_or("{}", |(_, usage)| usage).to_owned();
    for body in later {
        let said = elements(body, content_of(body)?).into_iter();
        let kept = said.filter(|block| !is_thinking(body, *block));
        blocks.extend(kept.map(|block| block.of(body)));
        usage = sum(&usage, usage_of(body).map_or("{}", |(_, usage)| usage));
    }
    let mut edits = Edits::default();
    edits.replace(content, format!("[{}]", blocks.join(",")));
    if let Some(reason) = member(last, document(last), "stopReason") {
        set(&mut edits, first, document(first), "stopReason", reason.of(last));
    }
    if usage != "{}" {
        set(&mut edits, first, document(first), "usage", &usage);
    }
    Some(edits.apply(first))
}

/// The blocks of a response.
fn content_of(body: &str) -> Option<Span> {
    let message = member(body, member(body, document(body), "output")?, "message")?;
    member(body, message, "content")
}
