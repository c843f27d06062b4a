//! Whole answers of one turn as one.

use super::usage_of;
use crate::json::{Edits, document, elements, member, raw_member, set};
use crate::object::{Raw, object};
use crate::usage::sum;

/// One answer: the plans and contents of all in order, the calls and the end of the last one, and
/// the usage of all.
pub(super) fn join(bodies: &[String]) -> Option<String> {
    let (first, later) = bodies.split_first()?;
    let Some(last) = later.last() else { return Some(first.clone()) };
    let message = member(first, document(first), "message")?;
    let mut usage = "{}".to_owned();
    let (mut plans, mut contents) = (Vec::new(), Vec::new());
    for body in bodies {
        usage = sum(&usage, usage_of(body, document(body)).map_or("{}", |(_, usage)| usage));
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
        set(&mut edits, first, message, "content", &format!("[{}]", contents.join(",")));
    }
    let last_message = member(last, document(last), "message")?;
    for key in ["tool_calls", "citations"] {
        if let Some(value) = member(last, last_message, key) {
            set(&mut edits, first, message, key, value.of(last));
        }
    }
    if let Some(reason) = member(last, document(last), "finish_reason") {
        set(&mut edits, first, document(first), "finish_reason", reason.of(last));
    }
    if usage != "{}" {
        set(&mut edits, first, document(first), "usage", &usage);
    }
    Some(edits.apply(first))
}
