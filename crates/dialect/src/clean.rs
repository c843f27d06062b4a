//! Removes calls from error bodies.
//!
//! A body with an error status passes, because clients need to know what went wrong. Some providers
//! include the model's output in it: the text of a call that they rejected, or whole calls. Some
//! clients run those, and they were never judged; so they are removed, and the rest stays.

use callgate_json::{Error, Kind, Reader, Span, quote};

use crate::json::{Edits, may_hold_a_call};
use crate::vocabulary::{
    CALL_ENDS, MANY_CALLS, ONE_CALL, fold, is_call, is_input, is_input_by_type, is_name, is_result,
};
use crate::{Blame, Dialect};

/// The error body without calls; `None` if it may leave unchanged.
///
/// Removes `failed_generation` if it may contain a call, everything under a key for calls, and the
/// parts that make an object a call: its name and its input, or everything in it if its type is
/// that of a call. The words are those of `stray.rs`, in any spelling. JSON inside a string is
/// cleaned too, because gateways quote their provider. A body that is not JSON passes, unless it
/// mentions calls: it is unknown what a lenient parser would find in it, so an error of the gate
/// replaces it.
pub fn clean_error(dialect: Dialect, body: &str) -> Option<String> {
    match clean(body.trim_start_matches('\u{FEFF}'), QUOTED) {
        Ok(cleaned) => cleaned,
        Err(_) if mentions_calls(body) => Some(dialect.error_body(Blame::Upstream, UNREADABLE)),
        Err(_) => None,
    }
}

/// How deep JSON may be quoted in JSON: a gateway, the next gateway, the provider.
const QUOTED: u8 = 3;

const UNREADABLE: &str = "the upstream failed, and its error cannot be read";

fn clean(text: &str, quoted: u8) -> Result<Option<String>, Error> {
    let mut json = Reader::new(text);
    let mut edits = Edits::default();
    value(&mut json, text, quoted, &mut edits)?;
    json.end()?;
    Ok((!edits.is_empty()).then(|| edits.apply(text)))
}

fn value(json: &mut Reader<'_>, text: &str, quoted: u8, edits: &mut Edits) -> Result<Span, Error> {
    match json.kind()? {
        Kind::Object => object(json, text, quoted, edits),
        Kind::Array => {
            let start = json.position();
            let mut array = json.array()?;
            while array.next(json)? {
                value(json, text, quoted, edits)?;
            }
            Ok(Span { start, end: json.position() })
        }
        Kind::String => {
            let string = json.string()?;
            if let Ok(inner) = string.decode()
                && inner.trim_start().starts_with(['{', '['])
                && let Some(cleaned) = clean_quoted(&inner, quoted)
            {
                edits.replace(string.span(), quote(&cleaned));
            }
            Ok(string.span())
        }
        Kind::Number | Kind::Bool | Kind::Null => json.skip(),
    }
}

/// The JSON in a string without calls; `None` if it may stay. Unparsable text is withheld if it
/// mentions calls, like a whole body.
fn clean_quoted(inner: &str, quoted: u8) -> Option<String> {
    let cleaned = quoted.checked_sub(1).map(|quoted| clean(inner, quoted));
    match cleaned {
        Some(Ok(cleaned)) => cleaned,
        Some(Err(_)) | None => mentions_calls(inner).then(String::new),
    }
}

/// A member of an object that may turn out to be a call.
struct Member {
    role: Role,
    value: Span,
    /// The edits inside it, if the member stays.
    inside: Edits,
}

/// The role of a member in a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Name,
    Input,
    /// The input of a call that is identified by its type or its `call_id`.
    InputByType,
    /// It names the kind of the object, or is text for people.
    Label,
    Other,
}

impl Role {
    fn of(key: &str, kind: Kind) -> Self {
        match key {
            key if is_name(key) && kind == Kind::String => Self::Name,
            key if is_input(key) => Self::Input,
            key if is_input_by_type(key) => Self::InputByType,
            "type" | "id" | "callid" | "status" | "object" | "index" | "message" | "param" => {
                Self::Label
            }
            _ => Self::Other,
        }
    }

    /// Its replacement if it is removed.
    fn emptied(self) -> &'static str {
        if self == Self::Name { "\"\"" } else { "null" }
    }
}

/// An object with a name and an input is a call, whatever else it is. So is one whose type is that
/// of a call, or that has a `call_id` and is not a result.
fn object(json: &mut Reader<'_>, text: &str, quoted: u8, edits: &mut Edits) -> Result<Span, Error> {
    let start = json.position();
    let (mut members, mut kinds, mut has_call_id) = (Vec::new(), Vec::new(), false);
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        let kind = json.kind()?;
        let key = key.decode().unwrap_or_default();
        let key = fold(&key);
        if key == "failedgeneration" {
            failed_generation(json, kind, text, edits)?;
            continue;
        } else if ONE_CALL.contains(&&*key) || MANY_CALLS.contains(&&*key) {
            calls(json, kind, &key, text, edits)?;
            continue;
        } else if kind == Kind::String && matches!(&*key, "type" | "callid") {
            let word = json.clone().string()?.decode().unwrap_or_default();
            match &*key {
                "type" => kinds.push(fold(&word).into_owned()),
                _ => has_call_id |= !word.is_empty(),
            }
        }
        let (role, mut inside) = (Role::of(&key, kind), Edits::default());
        let value = value(json, text, quoted, &mut inside)?;
        members.push(Member { role, value, inside });
    }
    let by_type = kinds.iter().any(|kind| is_call(kind));
    let by_id = has_call_id && !kinds.iter().any(|kind| is_result(kind));
    let is_named = members.iter().any(|it| it.role == Role::Name && !is_nothing(it.value.of(text)));
    let has_input = members.iter().any(|it| it.role == Role::Input);
    for Member { role, value, inside } in members {
        let leaves = match role {
            Role::Name | Role::Input => by_type || by_id || (is_named && has_input),
            Role::InputByType => by_type || by_id,
            Role::Other => by_type,
            Role::Label => false,
        };
        match leaves && !is_nothing(value.of(text)) {
            true => edits.replace(value, role.emptied()),
            false => edits.append(inside),
        }
    }
    Ok(Span { start, end: json.position() })
}

/// Cleans the value of a key for calls.
fn calls(
    json: &mut Reader<'_>,
    kind: Kind,
    key: &str,
    text: &str,
    edits: &mut Edits,
) -> Result<(), Error> {
    let span = json.skip()?;
    let is_empty = |byte| matches!(byte, b'[' | b']') || u8::is_ascii_whitespace(&byte);
    let is_empty = kind == Kind::Null || span.of(text).bytes().all(is_empty);
    if !is_empty {
        edits.replace(span, if MANY_CALLS.contains(&key) { "[]" } else { "null" });
    }
    Ok(())
}

fn is_nothing(value: &str) -> bool {
    matches!(value, "null" | "\"\"")
}

fn failed_generation(
    json: &mut Reader<'_>,
    kind: Kind,
    text: &str,
    edits: &mut Edits,
) -> Result<(), Error> {
    let holds_call = match kind {
        Kind::Null => false,
        Kind::String => {
            let text = json.clone().string()?;
            text.decode().map_or(true, |text| may_hold_a_call(&text))
        }
        _ => true,
    };
    let span = json.skip()?;
    if holds_call && !span.of(text).is_empty() {
        edits.replace(span, "\"\"");
    }
    Ok(())
}

/// Whether a text that is not JSON contains a word for calls, or escapes that may hide one.
fn mentions_calls(text: &str) -> bool {
    let text = fold(text);
    let has = |word: &str| text.contains(word);
    let ends_word = |end: &&str| has(&format!("{end}\"")) || has(&format!("{end}\\\""));
    let named = has("\"name\"") || has("\"toolname\"");
    let inputs = ["\"input\"", "\"arguments\"", "\"parameters\"", "\"args\""];
    ["failedgeneration", "callid", "\\u00"].into_iter().chain(ONE_CALL).any(has)
        || CALL_ENDS.iter().any(ends_word)
        || (named && inputs.into_iter().any(has))
}

#[cfg(test)]
mod tests;
