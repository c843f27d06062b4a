//! What an error may say: everything but calls.
//!
//! A body under an error status passes, for clients need to know what went wrong. Some providers put
//! into it what the model wrote: the text of a call they refused, or whole calls. Clients have been
//! seen to run those, and nobody has judged them; so they are taken out, and the rest stays.

use callgate_call::json::{Error, Kind, Reader, Span, quote};

use crate::json::{Edits, may_hold_a_call};
use crate::vocabulary::{
    CALL_ENDS, MANY_CALLS, ONE_CALL, fold, is_call, is_input, is_input_by_type, is_name, is_result,
};
use crate::{Blame, Dialect};

/// The error body without calls; `None` if it may leave as it came.
///
/// Taken out are `failed_generation` where it may hold a call, everything under a key for calls, and
/// what makes an object a call: its name and its input, or whatever it holds if its type says that
/// it is a call. The words are those of `stray.rs`, in any spelling. JSON that stands in a
/// string is cleaned too, as gateways quote the provider behind them. A body that is not JSON
/// passes, unless it speaks of calls: what a lenient reader would find in it cannot be told, and an
/// error of our own takes its place.
pub fn clean_error(dialect: Dialect, body: &str) -> Option<String> {
    match clean(body.trim_start_matches('\u{FEFF}'), QUOTED) {
        Ok(cleaned) => cleaned,
        Err(_) if speaks_of_calls(body) => Some(dialect.error_body(Blame::Upstream, UNREADABLE)),
        Err(_) => None,
    }
}

/// How often JSON may be quoted in JSON: a gateway, the gateway behind it, the provider.
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

/// JSON in a string without calls; `None` if it may stay. What cannot be read is withheld if it
/// speaks of calls, as a whole body is.
fn clean_quoted(inner: &str, quoted: u8) -> Option<String> {
    let cleaned = quoted.checked_sub(1).map(|quoted| clean(inner, quoted));
    match cleaned {
        Some(Ok(cleaned)) => cleaned,
        Some(Err(_)) | None => speaks_of_calls(inner).then(String::new),
    }
}

/// A member of an object that may turn out to be a call.
struct Member {
    role: Role,
    value: Span,
    /// The calls inside it, if the member stays.
    inside: Edits,
}

/// What a member is to a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Name,
    Input,
    /// The input of a call that is named by its type or found by its `call_id`.
    InputByType,
    /// It says what the object is, or is for people to read.
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

    /// What it becomes if it is taken out.
    fn emptied(self) -> &'static str {
        if self == Self::Name { "\"\"" } else { "null" }
    }
}

/// An object with a name and an input is a call, whatever else it is. So is one whose type says so,
/// or that has a `call_id` and is not a result.
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

/// What stands under a key for calls.
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

/// Whether a text that is not JSON has a word of calls in it, or one in which such a word may hide.
fn speaks_of_calls(text: &str) -> bool {
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
