//! Whole answers of one turn as one completion.

use callgate_json::Span;

use crate::continued::take_from_last;
use crate::json::{Edits, document, elements, list_of, member, raw_member, set};
use crate::object::{Raw, object};
use crate::usage::{sum, usage_in};

/// One completion: the texts of all answers in order, the calls and the end of the last one, and
/// the usage of all.
pub(super) fn join(bodies: &[String], first: &str, last: &str) -> Option<String> {
    let (choice, message) = said(first)?;
    let usage = bodies.iter().fold("{}".to_owned(), |all, body| {
        sum(&all, usage_in(body, document(body)).map_or("{}", |(_, usage)| usage))
    });
    let mut edits = Edits::default();
    set(&mut edits, first, message, "content", &content(bodies)?);
    for key in ["reasoning_content", "reasoning"] {
        let texts: Vec<&str> = texts(bodies, key)?;
        if !texts.is_empty() {
            set(&mut edits, first, message, key, &format!("\"{}\"", texts.join("\\n\\n")));
        }
    }
    let (last_choice, last_message) = said(last)?;
    let keys = ["tool_calls", "function_call", "refusal"];
    take_from_last(&mut edits, (first, message), (last, last_message), &keys);
    let finish = member(last, last_choice, "finish_reason").map_or("null", |at| at.of(last));
    set(&mut edits, first, choice, "finish_reason", finish);
    if member(first, choice, "logprobs").is_some() {
        set(&mut edits, first, choice, "logprobs", "null");
    }
    if usage != "{}" {
        set(&mut edits, first, document(first), "usage", &usage);
    }
    Some(edits.apply(first))
}

/// The only choice of a completion, and its message.
fn said(body: &str) -> Option<(Span, Span)> {
    let choices = elements(body, member(body, document(body), "choices")?);
    let [choice] = choices.as_slice() else { return None };
    Some((*choice, member(body, *choice, "message")?))
}

/// The texts under a key, raw between their quotes.
fn texts<'a>(bodies: &'a [String], key: &str) -> Option<Vec<&'a str>> {
    let texts = bodies.iter().map(|body| Some(raw_member(body, said(body)?.1, key)));
    let texts: Vec<&str> = texts.collect::<Option<_>>()?;
    Some(texts.into_iter().filter(|text| !text.is_empty()).collect())
}

/// The contents as one: a text, or a list if one of them is.
fn content(bodies: &[String]) -> Option<String> {
    let mut parts = Vec::new();
    let mut is_list = false;
    for body in bodies {
        let Some(content) = member(body, said(body)?.1, "content") else { continue };
        let text = content.of(body);
        if text.starts_with('[') {
            is_list = true;
            parts.extend(elements(body, content).iter().map(|part| part.of(body).to_owned()));
        } else if text.starts_with('"') && text != "\"\"" {
            parts.push(object! { "type": "text", "text": Raw(text) });
        }
    }
    if is_list {
        return Some(list_of(&parts));
    }
    let texts = texts(bodies, "content")?;
    Some(match texts.is_empty() {
        true => "null".to_owned(),
        false => format!("\"{}\"", texts.join("\\n\\n")),
    })
}
