//! The texts of a request: what users, tools and the model itself said, and what the operator of
//! the agent told the model.
//!
//! They are found by the names of members, which are few and the same for all APIs. Never among
//! them: thinking and its signatures, encrypted content, data of images and files, ids, calls and
//! the definitions of tools. A provider may refuse a request in which one of those was changed.

use std::borrow::Cow;

use callgate_call::json::{Error, Kind, Reader, Span, decode_into, escape_into};

use crate::json::{Edits, Member, document, elements, inside, members};

/// The texts of a request, raw between their quotes, in the order they stand.
///
/// A request that is not one JSON document is an error: nobody can say what it holds.
pub fn texts(body: &str) -> Result<Vec<Span>, Error> {
    let mut json = Reader::new(body);
    json.skip()?;
    json.end()?;
    let mut found = Vec::new();
    conversation(body, document(body), &mut found);
    Ok(found)
}

/// The text that stands raw between quotes.
pub fn decoded(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let mut text = String::with_capacity(raw.len());
    decode_into(raw, &mut None, &mut text);
    Cow::Owned(text)
}

/// A text as it stands between quotes.
pub fn encoded(text: &str) -> String {
    let mut raw = String::with_capacity(text.len());
    escape_into(text, &mut raw);
    raw
}

/// The request with other texts in the places of some.
pub fn with_texts(body: &str, changes: Vec<(Span, String)>) -> String {
    let mut edits = Edits::default();
    changes.into_iter().for_each(|(span, raw)| edits.replace(span, raw));
    edits.apply(body)
}

/// Where the conversation stands in a request: for each API its own names.
const CONVERSATION: [&str; 16] = [
    "system",
    "messages",
    "instructions",
    "input",
    "contents",
    "systeminstruction",
    "prompt",
    "suffix",
    "message",
    "chathistory",
    "preamble",
    "documents",
    "inputtext",
    "items",
    "inputs",
    "prediction",
];

/// Members that hold a request of their own: Code Assist, and counting tokens.
const ENVELOPES: [&str; 2] = ["request", "generatecontentrequest"];

/// Members of a message, an item, a block or a part that are text, or hold some.
const TEXTS: [&str; 14] = [
    "text",
    "content",
    "parts",
    "refusal",
    "output",
    "stdout",
    "stderr",
    "document",
    "toolresult",
    "toolresults",
    "outputs",
    "guardcontent",
    "searchresult",
    "message",
];

/// Members all of whose strings are the result of a tool.
const RESULTS: [&str; 4] = ["functionresponse", "json", "data", "result"];

fn conversation(body: &str, object: Span, found: &mut Vec<Span>) {
    for member in members(body, object) {
        let key = folded(&member);
        if CONVERSATION.contains(&key.as_str()) {
            said(body, member.value, found);
        } else if ENVELOPES.contains(&key.as_str()) {
            conversation(body, member.value, found);
        }
    }
}

/// What a value says: a text, or a list of things that say something.
fn said(body: &str, value: Span, found: &mut Vec<Span>) {
    match Reader::at(body, value).kind() {
        Ok(Kind::String) => text(body, value, found),
        Ok(Kind::Array) => {
            elements(body, value).into_iter().for_each(|it| said(body, it, found));
        }
        Ok(Kind::Object) => thing(body, value, found),
        _ => {}
    }
}

/// A message, an item, a block or a part.
fn thing(body: &str, object: Span, found: &mut Vec<Span>) {
    let all = members(body, object);
    let kind = all.iter().find(|member| folded(member) == "type");
    let kind = kind.and_then(|member| Reader::at(body, member.value).string().ok());
    let kind = kind.and_then(|kind| kind.decode().ok()).unwrap_or_default();
    let thought =
        |member: &Member<'_>| folded(member) == "thought" && member.value.of(body) == "true";
    if is_untouchable(&kind) || all.iter().any(thought) {
        return;
    }
    let described = matches!(kind.as_ref(), "document" | "search_result");
    for member in &all {
        let key = folded(member);
        match key.as_str() {
            // A document: its data is text, or encoded.
            "source" if described => source(body, member.value, found),
            "title" | "context" if described => text(body, member.value, found),
            key if TEXTS.contains(&key) => said(body, member.value, found),
            key if RESULTS.contains(&key) => result(body, member.value, found),
            _ => {}
        }
    }
}

/// What a document is made from.
fn source(body: &str, object: Span, found: &mut Vec<Span>) {
    let all = members(body, object);
    let is_text = all.iter().any(|member| {
        folded(member) == "type"
            && Reader::at(body, member.value).string().is_ok_and(|kind| kind.is("text"))
    });
    for member in &all {
        match folded(member).as_str() {
            "data" if is_text => text(body, member.value, found),
            "content" => said(body, member.value, found),
            _ => {}
        }
    }
}

/// Every string of a result, however deep.
fn result(body: &str, value: Span, found: &mut Vec<Span>) {
    match Reader::at(body, value).kind() {
        Ok(Kind::String) => text(body, value, found),
        Ok(Kind::Array) => {
            elements(body, value).into_iter().for_each(|it| result(body, it, found));
        }
        Ok(Kind::Object) => {
            for member in members(body, value) {
                if !matches!(folded(&member).as_str(), "id" | "name" | "inlinedata" | "filedata") {
                    result(body, member.value, found);
                }
            }
        }
        _ => {}
    }
}

fn text(body: &str, value: Span, found: &mut Vec<Span>) {
    if let Ok(text) = Reader::at(body, value).string()
        && !text.is_empty()
    {
        found.push(inside(&text));
    }
}

/// What must come back as the provider sent it, is no text, or is a call.
fn is_untouchable(kind: &str) -> bool {
    let provider_ran = kind.ends_with("_tool_result");
    provider_ran
        || kind.ends_with("tool_use")
        || kind.ends_with("_call")
        || kind.contains("image")
        || kind.contains("audio")
        || matches!(
            kind,
            "thinking" | "redacted_thinking" | "reasoning" | "compaction" | "encrypted_content"
        )
}

/// A member's name without case and underscores: Gemini takes two spellings, others are lenient.
fn folded(member: &Member<'_>) -> String {
    let key = member.key.decode().unwrap_or_default();
    key.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests;
