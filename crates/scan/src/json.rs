//! Replacing secrets in a JSON document.

use std::borrow::Cow;

use callgate_call::json::{Error, Kind, Reader, Span, Text, decode_into, quote};

use crate::redact::{mark, redact};
use crate::{name, value};

/// The kind of a string that is secret because of the name of its field.
const FIELD: &str = "secret_field";

/// The JSON document with the secrets in its strings replaced; every other byte stays.
///
/// Strings are decoded before they are searched, so an escape hides nothing. The value of a field
/// with a telling name (`password`, `api_key`, `Authorization`) is replaced whole as
/// `[REDACTED:secret_field]`, and so are the strings of a list that is such a value; numbers stay,
/// and so does what is plainly no secret (nothing, `any`, `${TOKEN}`). A key of an object changes
/// only if it holds a secret itself.
///
/// A text that is not one JSON document is redacted as plain text.
pub fn redact_json(json: &str) -> Cow<'_, str> {
    match edits(json) {
        Ok(edits) if edits.is_empty() => Cow::Borrowed(json),
        Ok(edits) => Cow::Owned(splice(json, &edits)),
        Err(_) => redact(json),
    }
}

/// A string of the document, and what stands there instead.
struct Edit {
    span: Span,
    /// Quotes included.
    text: String,
}

/// Whether the value that is read belongs to a field with a telling name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Plain,
    Secret(name::Class),
}

fn edits(json: &str) -> Result<Vec<Edit>, Error> {
    let mut reader = Reader::new(json);
    let mut edits = Vec::new();
    walk(&mut reader, Field::Plain, &mut edits)?;
    reader.end()?;
    Ok(edits)
}

/// Depth is bounded by the reader, so recursion is too.
fn walk(reader: &mut Reader<'_>, field: Field, edits: &mut Vec<Edit>) -> Result<(), Error> {
    match reader.kind()? {
        Kind::String => edits.extend(edit_value(&reader.string()?, field)),
        Kind::Array => {
            let mut elements = reader.array()?;
            while elements.next(reader)? {
                walk(reader, field, edits)?;
            }
        }
        Kind::Object => {
            let mut members = reader.object()?;
            let mut redacted = 0;
            while let Some(key) = members.next(reader)? {
                if let Some(edit) = edit_key(&key, redacted) {
                    edits.push(edit);
                    redacted += 1;
                }
                let field = name::class(&decoded(&key)).map_or(Field::Plain, Field::Secret);
                walk(reader, field, edits)?;
            }
        }
        Kind::Number | Kind::Bool | Kind::Null => {
            reader.skip()?;
        }
    }
    Ok(())
}

fn edit_value(string: &Text<'_>, field: Field) -> Option<Edit> {
    let text = decoded(string);
    let secret = match field {
        Field::Secret(class) => !value::is_harmless_field(&text, class),
        Field::Plain => false,
    };
    let replacement = if secret { mark(FIELD) } else { changed(&text)? };
    Some(Edit { span: string.span(), text: quote(&replacement) })
}

/// Two keys of one object must not become the same key: from the second on they are counted.
fn edit_key(key: &Text<'_>, redacted: usize) -> Option<Edit> {
    let mut text = changed(&decoded(key))?;
    if redacted > 0 {
        text.push_str(&format!("#{}", redacted + 1));
    }
    Some(Edit { span: key.span(), text: quote(&text) })
}

fn changed(text: &str) -> Option<String> {
    match redact(text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text),
    }
}

/// The text of a string. Half a surrogate pair stands for no text and is left out: it must not
/// keep the rest from being searched.
fn decoded<'a>(string: &Text<'a>) -> Cow<'a, str> {
    string.decode().unwrap_or_else(|_| {
        let mut text = String::new();
        decode_into(string.raw(), &mut None, &mut text);
        Cow::Owned(text)
    })
}

fn splice(json: &str, edits: &[Edit]) -> String {
    let mut out = String::with_capacity(json.len());
    let mut from = 0;
    for Edit { span, text } in edits {
        out.push_str(json.get(from..span.start).unwrap_or(""));
        out.push_str(text);
        from = span.end;
    }
    out.push_str(json.get(from..).unwrap_or(""));
    out
}

#[cfg(test)]
mod tests;
