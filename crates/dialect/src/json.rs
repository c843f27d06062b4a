//! Reads the few relevant fields strictly, and edits by splicing.

use std::borrow::Cow;

use callgate_json::{Error, Kind, Reader, Span, Text, quote};

use crate::event::Unreadable;

pub(crate) use callgate_json::{Edits, Fields, Member, document, elements, member, members};

/// A string, or `None` for `null`. Any other type is an error: clients disagree about those.
pub(crate) fn text_or_null<'a>(reader: &mut Reader<'a>) -> Result<Option<Text<'a>>, Error> {
    match reader.kind()? {
        Kind::Null => reader.skip().map(|_| None),
        _ => reader.string().map(Some),
    }
}

/// A string; any other value is skipped.
pub(crate) fn text_or_skip<'a>(reader: &mut Reader<'a>) -> Result<Option<Text<'a>>, Error> {
    match reader.kind()? {
        Kind::String => reader.string().map(Some),
        _ => reader.skip().map(|_| None),
    }
}

/// A string with its span, or the span of a `null`.
pub(crate) fn word_or_null<'a>(reader: &mut Reader<'a>) -> Result<(Span, Option<Text<'a>>), Error> {
    match reader.kind()? {
        Kind::Null => reader.skip().map(|span| (span, None)),
        _ => reader.string().map(|text| (text.span(), Some(text))),
    }
}

/// Skips a value, and returns whether it is anything but `null`.
pub(crate) fn is_set(reader: &mut Reader<'_>) -> Result<bool, Error> {
    Ok(reader.value()?.1 != Kind::Null)
}

/// The only guarded text of an object; `None` if the value is not an object.
pub(crate) fn text_in<'a>(
    reader: &mut Reader<'a>,
    key: Fields<1>,
) -> Result<Option<Text<'a>>, Error> {
    if reader.kind()? != Kind::Object {
        return reader.skip().map(|_| None);
    }
    let (mut object, mut text) = (key.enter(reader)?, None);
    while object.next(reader)?.is_some() {
        text = text_or_skip(reader)?;
    }
    Ok(text)
}

/// Reads a whole document.
pub(crate) fn whole<'a, T, E: From<Error>>(
    data: &'a str,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, E>,
) -> Result<T, E> {
    let mut reader = Reader::new(data);
    let found = read(&mut reader)?;
    reader.end()?;
    Ok(found)
}

/// The text of a string that may be missing.
pub(crate) fn decode(text: Option<Text<'_>>) -> Result<Option<String>, Error> {
    Ok(text.map(|text| text.decode()).transpose()?.map(|text| text.into_owned()))
}

/// The text of a string; empty if it is missing.
pub(crate) fn decode_or_empty(text: Option<Text<'_>>) -> Result<String, Error> {
    Ok(decode(text)?.unwrap_or_default())
}

/// The span of a string without its quotes.
pub(crate) fn inside(text: &Text<'_>) -> Span {
    Span { start: text.span().start + 1, end: text.span().end - 1 }
}

/// An index as clients read it: an integer, a number that is one (`0.0`), or its text (`"0"`).
pub(crate) fn index(reader: &mut Reader<'_>, data: &str) -> Result<(Span, Option<i64>), Error> {
    let kind = reader.kind()?;
    let span = reader.skip()?;
    let text = span.of(data);
    let number = match kind {
        Kind::String => text.trim_matches('"').trim().parse().ok(),
        Kind::Number => text.parse().ok().or_else(|| whole_number(text)),
        _ => None,
    };
    Ok((span, number))
}

fn whole_number(text: &str) -> Option<i64> {
    let number: f64 = text.parse().ok()?;
    (number.fract() == 0.0 && number.abs() < 1e9).then_some(number as i64)
}

/// Fails unless the data begins like an object.
pub(crate) fn expect_object(data: &str, otherwise: Unreadable) -> Result<(), Unreadable> {
    if data.trim_start().starts_with('{') { Ok(()) } else { Err(otherwise) }
}

/// Whether the data is the sentinel after the last chunk. Clients compare its beginning; the rest
/// must not contain anything that another client could read.
pub(crate) fn is_done(data: &str) -> bool {
    data.trim_start()
        .strip_prefix("[DONE]")
        .is_some_and(|rest| rest.bytes().all(|byte| matches!(byte, b' '..=b'z')))
}

/// Whether a text may contain a call: every syntax for calls has brackets, a plain sentence has
/// none.
pub(crate) fn may_hold_a_call(text: &str) -> bool {
    text.contains(['{', '[', '<', '('])
}

/// The text of one member of an object, if it is a string.
pub(crate) fn string_member<'a>(data: &'a str, object: Span, key: &str) -> Option<Text<'a>> {
    let found = members(data, object).into_iter().find(|member| member.key.is(key))?;
    Reader::at(data, found.value).string().ok()
}

/// The decoded text of such a member.
pub(crate) fn text_member<'a>(data: &'a str, object: Span, key: &str) -> Option<Cow<'a, str>> {
    string_member(data, object, key)?.decode().ok()
}

/// The value at a path of keys.
pub(crate) fn at_path(data: &str, object: Span, path: &[&str]) -> Option<Span> {
    path.iter().try_fold(object, |object, key| member(data, object, key))
}

/// A list with these items.
pub(crate) fn list_of<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    format!("[{}]", items.join(","))
}

/// The raw content of a string member; empty if there is none.
pub(crate) fn raw_member<'a>(data: &'a str, object: Span, key: &str) -> &'a str {
    let text = member(data, object, key).and_then(|span| Reader::at(data, span).string().ok());
    text.map_or("", |text| text.raw())
}

/// Adds an item behind the others of a list, if it has others.
pub(crate) fn append_to(edits: &mut Edits, list: Span, has_others: bool, item: &str) {
    let comma = if has_others { "," } else { "" };
    edits.insert(list.end - 1, format!("{comma}{item}"));
}

/// Adds a member or an item in front of the others of an object or a list, if it has others.
pub(crate) fn prepend_to(edits: &mut Edits, at: Span, has_others: bool, item: &str) {
    let comma = if has_others { "," } else { "" };
    edits.insert(at.start + 1, format!("{item}{comma}"));
}

/// Removes the members for which `is_gone` holds. Returns how many are left.
pub(crate) fn remove_members(
    edits: &mut Edits,
    data: &str,
    object: Span,
    is_gone: impl Fn(&Member<'_>) -> bool,
) -> usize {
    let all = members(data, object);
    let spans: Vec<Span> = all.iter().map(|member| member.span).collect();
    edits.remove(&spans, |place| all.get(place).is_some_and(&is_gone));
    all.iter().filter(|member| !is_gone(member)).count()
}

/// Sets a member of an object, whether it has one or not.
pub(crate) fn set(edits: &mut Edits, data: &str, object: Span, key: &str, value: &str) {
    match member(data, object, key) {
        Some(span) => edits.replace(span, value),
        None => {
            let comma = if members(data, object).is_empty() { "" } else { "," };
            edits.insert(object.end - 1, format!("{comma}{}:{value}", quote(key)));
        }
    }
}
