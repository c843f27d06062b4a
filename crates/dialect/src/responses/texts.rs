//! The whole texts that a user sees in an event or a body.

use callgate_json::{Error, Kind, Reader as Json, Span, Text};

use super::item::Item;
use crate::json::{document, elements, inside, members};

/// Every such text, raw between its quotes.
pub(super) fn find(data: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let whole = document(data);
    let kind = string(data, whole, "type").map(|span| span.of(data)).unwrap_or_default();
    if kind.ends_with("output_text.done") {
        found.extend(string(data, whole, "text"));
    }
    if kind.ends_with("refusal.done") {
        found.extend(string(data, whole, "refusal"));
    }
    for member in members(data, whole) {
        if member.key.is("part") {
            found.extend(of_part(data, member.value));
        } else if member.key.is("item") {
            found.extend(of_item(data, member.value));
        } else if member.key.is("response") {
            found.extend(of_response(data, member.value));
        }
    }
    found.extend(of_response(data, whole));
    found
}

fn of_response(data: &str, response: Span) -> Vec<Span> {
    let mut found = Vec::new();
    for member in members(data, response) {
        if member.key.is("output") || member.key.is("data") {
            let items = elements(data, member.value);
            found.extend(items.into_iter().flat_map(|item| of_item(data, item)));
        } else if member.key.is("output_text") {
            found.extend(text(data, member.value));
        }
    }
    found
}

/// The texts of an item, if it is a message of the assistant.
pub(super) fn of_item(data: &str, item: Span) -> Vec<Span> {
    let is = |key: &str, word: &str| {
        string(data, item, key).is_some_and(|span| {
            let quoted = Span { start: span.start - 1, end: span.end + 1 };
            Json::at(data, quoted).string().is_ok_and(|text| text.is(word))
        })
    };
    if !is("type", "message") || is("role", "user") || is("role", "system") {
        return Vec::new();
    }
    let content = members(data, item).into_iter().find(|member| member.key.is("content"));
    let Some(content) = content else { return Vec::new() };
    elements(data, content.value).into_iter().flat_map(|part| of_part(data, part)).collect()
}

fn of_part(data: &str, part: Span) -> Option<Span> {
    string(data, part, "text").or_else(|| string(data, part, "refusal"))
}

/// The string under `key`, if it is not empty.
fn string(data: &str, object: Span, key: &str) -> Option<Span> {
    let member = members(data, object).into_iter().find(|member| member.key.is(key))?;
    text(data, member.value)
}

fn text(data: &str, value: Span) -> Option<Span> {
    let mut json = Json::at(data, value);
    if json.kind().ok()? != Kind::String {
        return None;
    }
    let text = json.string().ok()?;
    (!text.is_empty()).then(|| inside(&text))
}

/// The lists that repeat a text token by token.
pub(super) fn words(data: &str) -> Vec<Span> {
    let mut found = Vec::new();
    // The caller has parsed the frame before.
    let _ = collect(&mut Json::new(data), &mut found);
    found
}

fn collect(json: &mut Json<'_>, found: &mut Vec<Span>) -> Result<(), Error> {
    match json.kind()? {
        Kind::Object => {
            let mut object = json.object()?;
            while let Some(key) = object.next(json)? {
                match key.is("logprobs") && json.kind()? == Kind::Array {
                    true => found.push(json.skip()?),
                    false => collect(json, found)?,
                }
            }
        }
        Kind::Array => {
            let mut array = json.array()?;
            while array.next(json)? {
                collect(json, found)?;
            }
        }
        _ => {
            json.skip()?;
        }
    }
    Ok(())
}

/// The parts of an item that identify its turn: its id, and the encrypted content of reasoning. A
/// client may send back either.
pub(super) fn signatures<'a>(item: &Item<'a>) -> impl Iterator<Item = Text<'a>> {
    let encrypted = item.encrypted_content.filter(|_| item.kind == "reasoning");
    let names = [encrypted, item.id].into_iter().flatten();
    names.filter(|text| !text.is_empty())
}
