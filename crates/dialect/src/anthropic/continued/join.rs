//! Whole answers of one turn as one message.

use super::{is_thinking, usage_of};
use crate::continued::take_from_last;
use crate::json::{Edits, document, elements, list_of, member, set};
use crate::usage::sum;

/// One message: the blocks of all answers in order, the end of the last one, and the usage of all.
/// Later answers lose their thinking: it is not valid after what another answer said.
pub(super) fn join(bodies: &[String], first: &str, last: &str) -> Option<String> {
    let whole = document(first);
    let (mut blocks, mut usage) = (Vec::new(), "{}".to_owned());
    for (place, body) in bodies.iter().enumerate() {
        let said = elements(body, member(body, document(body), "content")?).into_iter();
        let kept = said.filter(|block| place == 0 || !is_thinking(body, *block));
        blocks.extend(kept.map(|block| block.of(body)));
        usage = sum(&usage, usage_of(body).unwrap_or("{}"));
    }
    let mut edits = Edits::default();
    set(&mut edits, first, whole, "content", &list_of(&blocks));
    let keys = ["stop_reason", "stop_sequence", "stop_details", "container"];
    take_from_last(&mut edits, (first, whole), (last, document(last)), &keys);
    set(&mut edits, first, whole, "usage", &usage);
    Some(edits.apply(first))
}
