//! Whole answers of one turn as one response.

use super::usage_of;
use crate::json::{Edits, document, elements, member, set};
use crate::usage::sum;

/// One response: the items of all answers in order, the end of the last one, and the usage of all.
pub(super) fn join(bodies: &[String]) -> Option<String> {
    let (first, later) = bodies.split_first()?;
    let Some(last) = later.last() else { return Some(first.clone()) };
    let whole = document(first);
    let mut items = Vec::new();
    let mut usage = "{}".to_owned();
    for body in bodies {
        let output = elements(body, member(body, document(body), "output")?);
        items.extend(output.iter().map(|item| item.of(body)));
        usage = sum(&usage, usage_of(body, document(body)).map_or("{}", |(_, usage)| usage));
    }
    let mut edits = Edits::default();
    set(&mut edits, first, whole, "output", &format!("[{}]", items.join(",")));
    for key in ["status", "incomplete_details", "error", "completed_at"] {
        if let Some(value) = member(last, document(last), key) {
            set(&mut edits, first, whole, key, value.of(last));
        }
    }
    if usage != "{}" {
        set(&mut edits, first, whole, "usage", &usage);
    }
    Some(edits.apply(first))
}
