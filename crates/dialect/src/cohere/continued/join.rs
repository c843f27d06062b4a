//! Whole answers of one turn as one.

use crate::continued::take_from_last;
use crate::json::{Edits, document, elements, list_of, member, raw_member, set};
use crate::object::{Raw, object};
use crate::usage::{sum, usage_in};

/// One answer: the plans and contents of all in order, the calls and the end of the last one, and
/// the usage of all.
pub(super) fn join(bodies: &[String], first: &str, last: &str) -> Option<String> {
    let message = member(first, document(first), "message")?;
    let mut usage = "{}".to_owned();
    let (mut plans, mut contents) = (Vec::new(), Vec::new());
    for body in bodies {
        usage = sum(&usage, usage_in(body, document(body)).map_or("{}", |(_, usage)| usage));
        let message = member(body, document(body), "message")?;
        plans.extend(Some(raw_member(body, message, "tool_plan")).filter(|plan| !plan.is_empty()));
        let Some(content) = member(body, message, "content") else { continue };
        match content.of(body) {
            text if text.starts_with('"') => {
                contents.push(object! { "type": "text", "text": Raw(text) });
            }
            _ => {
                contents.extend(elements(body, content).iter().map(|part| part.of(body).to_owned()))
            }
        }
    }
    let mut edits = Edits::default();
    if !plans.is_empty() {
        set(&mut edits, first, message, "tool_plan", &format!("\"{}\"", plans.join("\\n\\n")));
    }
    if !contents.is_empty() {
        set(&mut edits, first, message, "content", &list_of(&contents));
    }
    let (whole, of_last) = (document(first), document(last));
    let last_message = (last, member(last, of_last, "message")?);
    take_from_last(&mut edits, (first, message), last_message, &["tool_calls", "citations"]);
    take_from_last(&mut edits, (first, whole), (last, of_last), &["finish_reason"]);
    if usage != "{}" {
        set(&mut edits, first, whole, "usage", &usage);
    }
    Some(edits.apply(first))
}
