//! Whole answers of one turn as one response.

use super::is_thinking;
use crate::continued::take_from_last;
use crate::json::{Edits, at_path, document, elements, list_of, set};
use crate::usage::{sum, usage_in};

/// One response: the blocks of all answers in order, the end of the last one, and the usage of all.
/// Later answers lose their thinking: it is not valid after what another answer said.
pub(super) fn join(bodies: &[String], first: &str, last: &str) -> Option<String> {
    let content_of = |body| at_path(body, document(body), &["output", "message", "content"]);
    let (mut blocks, mut usage) = (Vec::new(), "{}".to_owned());
    for (place, body) in bodies.iter().enumerate() {
        let said = elements(body, content_of(body)?).into_iter();
        let kept = said.filter(|block| place == 0 || !is_thinking(body, *block));
        blocks.extend(kept.map(|block| block.of(body)));
        usage = sum(&usage, usage_in(body, document(body)).map_or("{}", |(_, usage)| usage));
    }
    let mut edits = Edits::default();
    edits.replace(content_of(first)?, list_of(&blocks));
    let whole = document(first);
    take_from_last(&mut edits, (first, whole), (last, document(last)), &["stopReason"]);
    if usage != "{}" {
        set(&mut edits, first, whole, "usage", &usage);
    }
    Some(edits.apply(first))
}
