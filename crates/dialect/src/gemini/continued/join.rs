//! Whole answers of one turn as one response.

use callgate_json::{Reader as Json, Span};

use super::super::view::{Candidate, View, part as part_of, view};
use super::super::write::text_part;
use crate::json::{Edits, members, prepend_to};
use crate::object::{Raw, object};
use crate::usage::sum;

/// One response: the parts of all answers in order, the rest of the last one's candidate, and the
/// usage of all.
pub(super) fn join(bodies: &[String], first: &str, last: &str) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut usage = "{}".to_owned();
    for body in bodies {
        let found = view(body).ok()?;
        let mut more = parts_of(body, &found)?;
        let said = parts.iter().any(|part| is_said(part));
        // Clients join texts.
        if let (true, Some(at)) = (said, more.iter().position(|part| is_said(part))) {
            more.insert(at, text_part("\n\n", None));
        }
        parts.extend(more);
        usage = sum(&usage, found.usage.map_or("{}", |usage| usage.of(body)));
    }
    let ours = view(first).ok()?;
    let theirs = view(last).ok()?;
    let (candidate, end) = (ours.candidates.first()?, theirs.candidates.first()?);
    let mut edits = Edits::default();
    edits.replace(candidate.span, with_parts(last, end, &parts.join(","))?);
    // A response that counted nothing still does not.
    if let Some(before) = ours.usage {
        edits.replace(before, usage);
    }
    Some(edits.apply(first))
}

/// The parts of the only candidate, except for empty texts.
fn parts_of(body: &str, found: &View<'_>) -> Option<Vec<String>> {
    let [candidate] = found.candidates.as_slice() else { return None };
    let parts = candidate.content.iter().flat_map(|content| &content.parts);
    let parts = parts.filter(|part| {
        let is_empty = part.text.is_some_and(|text| text.is_empty());
        !(is_empty && part.call.is_none() && part.signature.is_none() && !part.has_more)
    });
    Some(parts.map(|part| part.span.of(body).to_owned()).collect())
}

/// Whether the part is a text that the user sees.
fn is_said(part: &str) -> bool {
    let part = part_of(&mut Json::new(part), part);
    part.is_ok_and(|part| part.text.is_some_and(|text| !text.is_empty()) && !part.is_thought)
}

/// The candidate with other parts.
fn with_parts(body: &str, candidate: &Candidate<'_>, parts: &str) -> Option<String> {
    let Span { start, .. } = candidate.span;
    let content = object! { "role": "model", "parts": [Raw(parts)] };
    let own = candidate.span.of(body);
    let mut edits = Edits::default();
    let whole = Span { start: 0, end: own.len() };
    let list = candidate.content.as_ref().and_then(|content| content.list);
    match (list, candidate.content.as_ref()) {
        (Some(list), _) => {
            let list = Span { start: list.start - start, end: list.end - start };
            edits.replace(list, format!("[{parts}]"));
        }
        (None, Some(before)) => {
            let span = Span { start: before.span.start - start, end: before.span.end - start };
            edits.replace(span, content);
        }
        (None, None) if candidate.no_content.is_some() => return None,
        (None, None) => {
            let has_others = !members(own, whole).is_empty();
            prepend_to(&mut edits, whole, has_others, &format!("\"content\":{content}"));
        }
    }
    Some(edits.apply(own))
}
