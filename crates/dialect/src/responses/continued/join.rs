//! Whole answers of one turn as one response.

use crate::continued::take_from_last;
use crate::json::{Edits, document, elements, list_of, member, set};
use crate::usage::{sum, usage_in};

/// One response: the items of all answers in order, the end of the last one, and the usage of all.
pub(super) fn join(bodies: &[String], first: &str, last: &str) -> Option<String> {
    let whole = document(first);
    let (mut items, mut usage) = (Vec::new(), "{}".to_owned());
    for body in bodies {
        let output = elements(body, member(body, document(body), "output")?);
        items.extend(output.iter().map(|item| item.of(body)));
        usage = sum(&usage, usage_in(body, document(body)).map_or("{}", |(_, usage)| usage));
    }
    let mut edits = Edits::default();
    set(&mut edits, first, whole, "output", &list_of(&items));
    let keys = ["status", "incomplete_details", "error", "completed_at"];
    take_from_last(&mut edits, (first, whole), (last, document(last)), &keys);
    if usage != "{}" {
        set(&mut edits, first, whole, "usage", &usage);
    }
    Some(edits.apply(first))
}
