//! Replaces secrets in a JSON document.

use std::borrow::Cow;

use callgate_json::{Error, Kind, Reader, Span, Text, decode_into, quote};

use crate::redact::{mark, redact};
use crate::{name, value};

/// The kind of a string that is secret because of the name of its field.
pub(crate) const FIELD: &str = "secret_field";

/// The JSON document with the secrets in its strings replaced; every other byte stays.
///
/// Strings are decoded before they are searched, so escapes hide nothing. The value of a field with
/// a telling name (`password`, `api_key`, `Authorization`) is replaced whole with
/// `[REDACTED:secret_field]`, and so are the strings of a list in such a field; numbers stay, and
/// so do values that are plainly not secrets (empty, `any`, `${TOKEN}`). A key of an object changes
/// only if it contains a secret itself.
///
/// A text that is not one JSON document is redacted as plain text.
pub fn redact_json(json: &str) -> Cow<'_, str> {
    match edits(json, &mut Redactor) {
        Ok(edits) if edits.is_empty() => Cow::Borrowed(json),
        Ok(edits) => Cow::Owned(splice(json, &edits)),
        Err(_) => redact(json),
    }
}

/// Replaces the strings and numbers of a document.
pub(crate) trait Cleaner {
    /// The replacement of a string, if any.
    fn string(&mut self, text: &str, field: FieldSecrecy, span: Span) -> Option<String>;

    /// The replacement of a number, a string, if any.
    fn number(&mut self, _text: &str, _span: Span) -> Option<String> {
        None
    }
}

/// Replaces what must never be written or shown.
struct Redactor;

impl Cleaner for Redactor {
    fn string(&mut self, text: &str, field: FieldSecrecy, _: Span) -> Option<String> {
        if field.hides(text) { Some(mark(FIELD)) } else { changed(text) }
    }
}

/// A replaced string of the document.
pub(crate) struct Edit {
    span: Span,
    /// Includes the quotes.
    text: String,
}

/// Whether the current value belongs to a field with a telling name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldSecrecy {
    Plain,
    /// A key of an object.
    Key,
    Secret(name::ValueKind),
}

impl FieldSecrecy {
    /// Whether the text is secret because of the name of its field.
    pub(crate) fn hides(self, text: &str) -> bool {
        match self {
            Self::Secret(class) => !value::is_harmless_field(text, class),
            Self::Plain | Self::Key => false,
        }
    }
}

pub(crate) fn edits(json: &str, cleaner: &mut dyn Cleaner) -> Result<Vec<Edit>, Error> {
    let mut reader = Reader::new(json);
    let mut walk = ReplacingWalk { json, cleaner, edits: Vec::new() };
    walk.value(&mut reader, FieldSecrecy::Plain)?;
    reader.end()?;
    Ok(walk.edits)
}

struct ReplacingWalk<'w> {
    json: &'w str,
    cleaner: &'w mut dyn Cleaner,
    edits: Vec<Edit>,
}

impl ReplacingWalk<'_> {
    /// The reader limits the depth, and so the recursion.
    fn value(&mut self, reader: &mut Reader<'_>, field: FieldSecrecy) -> Result<(), Error> {
        match reader.kind()? {
            Kind::String => {
                let string = reader.string()?;
                let text = self.cleaner.string(&decoded(&string), field, string.span());
                self.put(string.span(), text);
            }
            Kind::Number => {
                let span = reader.skip()?;
                let number = self.json.get(span.start..span.end).unwrap_or("");
                let text = self.cleaner.number(number, span);
                self.put(span, text);
            }
            Kind::Array => {
                let mut elements = reader.array()?;
                while elements.next(reader)? {
                    self.value(reader, field)?;
                }
            }
            Kind::Object => self.object(reader)?,
            Kind::Bool | Kind::Null => {
                reader.skip()?;
            }
        }
        Ok(())
    }

    /// Two keys of one object must not become equal: from the second on they are numbered.
    fn object(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        let mut members = reader.object()?;
        let mut changed = 0;
        while let Some(key) = members.next(reader)? {
            let name = decoded(&key);
            if let Some(mut text) = self.cleaner.string(&name, FieldSecrecy::Key, key.span()) {
                changed += 1;
                if changed > 1 {
                    text.push_str(&format!("#{changed}"));
                }
                self.put(key.span(), Some(text));
            }
            let field = name::class(&name).map_or(FieldSecrecy::Plain, FieldSecrecy::Secret);
            self.value(reader, field)?;
        }
        Ok(())
    }

    fn put(&mut self, span: Span, text: Option<String>) {
        self.edits.extend(text.map(|text| Edit { span, text: quote(&text) }));
    }
}

fn changed(text: &str) -> Option<String> {
    match redact(text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text),
    }
}

/// The decoded text of a string. Half a surrogate pair is omitted: it must not keep the rest from
/// being searched.
fn decoded<'a>(string: &Text<'a>) -> Cow<'a, str> {
    string.decode().unwrap_or_else(|_| {
        let mut text = String::new();
        decode_into(string.raw(), &mut None, &mut text);
        Cow::Owned(text)
    })
}

pub(crate) fn splice(json: &str, edits: &[Edit]) -> String {
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
