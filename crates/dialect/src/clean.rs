//! What an error may say: everything but calls.
//!
//! A body under an error status passes, for clients need to know what went wrong. Some providers put
//! into it what the model wrote: the text of a call they refused, or whole calls. Clients have been
//! seen to run those, and nobody has judged them; so they are taken out, and the rest stays.

use callgate_call::json::{Error, Kind, Reader, Span, quote};

use crate::json::{Edits, is_input_key, is_name_key, may_hold_a_call};
use crate::{Blame, Dialect};

/// The error body without calls; `None` if it may leave as it came.
///
/// Taken out are `failed_generation` where it may hold a call, lists of `tool_calls`, every
/// `function_call`, and the name and the input of every object that looks like a call; also in JSON
/// that stands in a string, as gateways quote the provider behind them. A body that is no JSON
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
            let inner =
                string.decode().ok().filter(|inner| inner.trim_start().starts_with(['{', '[']));
            if let (Some(inner), Some(quoted)) = (inner, quoted.checked_sub(1))
                && let Ok(Some(cleaned)) = clean(&inner, quoted)
            {
                edits.replace(string.span(), quote(&cleaned));
            }
            Ok(string.span())
        }
        Kind::Number | Kind::Bool | Kind::Null => json.skip(),
    }
}

/// An object with a name and an input is a call, whatever else it is.
fn object(json: &mut Reader<'_>, text: &str, quoted: u8, edits: &mut Edits) -> Result<Span, Error> {
    let start = json.position();
    let (mut names, mut inputs, mut by_type) = (Vec::new(), Vec::new(), false);
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        let kind = json.kind()?;
        if key.is("failed_generation") {
            failed_generation(json, kind, text, edits)?;
        } else if key.is("tool_calls") && kind != Kind::Null {
            let list = json.skip()?;
            if list
                .of(text)
                .bytes()
                .any(|byte| !matches!(byte, b'[' | b']') && !byte.is_ascii_whitespace())
            {
                edits.replace(list, "[]");
            }
        } else if (key.is("function_call") || key.is("functionCall")) && kind != Kind::Null {
            edits.replace(json.skip()?, "null");
        } else if is_input_key(&key) {
            let mut inside = Edits::default();
            inputs.push((value(json, text, quoted, &mut inside)?, inside));
        } else if is_name_key(&key) && kind == Kind::String {
            let name = json.string()?;
            names.extend((!name.is_empty()).then_some(name.span()));
        } else if key.is("type") && kind == Kind::String {
            by_type = json.string()?.decode().is_ok_and(|kind| kind.ends_with("tool_use"));
        } else {
            value(json, text, quoted, edits)?;
        }
    }
    let is_call = !names.is_empty() && (by_type || !inputs.is_empty());
    for (input, inside) in inputs {
        match is_call {
            true => edits.replace(input, "null"),
            false => edits.append(inside),
        }
    }
    for name in names.into_iter().filter(|_| is_call) {
        edits.replace(name, "\"\"");
    }
    Ok(Span { start, end: json.position() })
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

/// Whether a text that is no JSON has a word of calls in it, or one in which such a word may hide.
fn speaks_of_calls(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["tool_calls", "tool_use", "function_call", "functioncall", "failed_generation", "\\u00"]
        .iter()
        .any(|word| text.contains(word))
}

#[cfg(test)]
mod tests;
