//! Reading the few fields that matter, strictly, and editing by splice.

use callgate_call::json::{Error, Kind, Problem, Reader, Span, Text};

/// The fields of one object that the gate acts on. Clients keep the last of two equal keys, other
/// readers the first, and Go programs match keys without regard to case; so a guarded key that
/// stands twice, or in another case, makes the object ambiguous.
pub(crate) struct Fields<const N: usize> {
    names: &'static [&'static str; N],
    seen: u32,
}

impl<const N: usize> Fields<N> {
    pub(crate) fn new(names: &'static [&'static str; N]) -> Self {
        Self { names, seen: 0 }
    }

    /// The place of `key` among the names, or `None` for a key the gate does not act on.
    #[inline]
    pub(crate) fn find(&mut self, key: &Text<'_>) -> Result<Option<usize>, Error> {
        let raw = key.bytes();
        if !key.is_escaped() {
            if let Some(place) = self.names.iter().position(|name| name.as_bytes() == raw) {
                return self.mark(place, key).map(Some);
            }
            if is_plain_lower(raw) {
                return Ok(None);
            }
        }
        self.find_odd(key)
    }

    #[inline]
    fn mark(&mut self, place: usize, key: &Text<'_>) -> Result<usize, Error> {
        let bit = 1 << place;
        if self.seen & bit != 0 {
            return Err(ambiguous(key));
        }
        self.seen |= bit;
        Ok(place)
    }

    #[cold]
    fn find_odd(&mut self, key: &Text<'_>) -> Result<Option<usize>, Error> {
        let text = key.decode()?;
        if let Some(place) = self.names.iter().position(|name| *name == text) {
            return self.mark(place, key).map(Some);
        }
        let folded = text.to_uppercase().to_lowercase();
        match self.names.iter().any(|name| *name == folded) {
            true => Err(ambiguous(key)),
            false => Ok(None),
        }
    }
}

/// Whether the key has neither capitals nor anything beyond ASCII, so that it is no other spelling
/// of a guarded one.
fn is_plain_lower(raw: &[u8]) -> bool {
    raw.iter().fold(true, |plain, byte| plain & byte.is_ascii() & !byte.is_ascii_uppercase())
}

#[cold]
fn ambiguous(key: &Text<'_>) -> Error {
    Error::new(Problem::DuplicateKey, key.span().start)
}

/// A string, or `None` for `null`. Any other type is an error: clients disagree about those.
pub(crate) fn text_or_null<'a>(reader: &mut Reader<'a>) -> Result<Option<Text<'a>>, Error> {
    match reader.kind()? {
        Kind::Null => reader.skip().map(|_| None),
        _ => reader.string().map(Some),
    }
}

/// The text of a string that may be missing.
pub(crate) fn decode(text: Option<Text<'_>>) -> Result<Option<String>, Error> {
    Ok(text.map(|text| text.decode()).transpose()?.map(|text| text.into_owned()))
}

/// The place of a string without its quotes.
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

/// One member of an object, for edits: from its key to the end of its value.
pub(crate) struct Member<'a> {
    pub(crate) key: Text<'a>,
    pub(crate) span: Span,
    pub(crate) value: Span,
}

/// All members of the object at `object`.
pub(crate) fn members(data: &str, object: Span) -> Vec<Member<'_>> {
    let mut reader = Reader::at(data, object);
    let mut list = Vec::new();
    let Ok(mut object) = reader.object() else { return list };
    while let Ok(Some(key)) = object.next(&mut reader) {
        let Ok(value) = reader.skip() else { break };
        list.push(Member { key, span: key.span().to(value), value });
    }
    list
}

/// The value of `key` in the object at `object`.
pub(crate) fn member(data: &str, object: Span, key: &str) -> Option<Span> {
    members(data, object).into_iter().find(|member| member.key.is(key)).map(|member| member.value)
}

/// The spans of all elements of the array at `array`.
pub(crate) fn elements(data: &str, array: Span) -> Vec<Span> {
    let mut reader = Reader::at(data, array);
    let mut list = Vec::new();
    let Ok(mut array) = reader.array() else { return list };
    while let Ok(true) = array.next(&mut reader) {
        let Ok(value) = reader.skip() else { break };
        list.push(value);
    }
    list
}

/// Whether the data is the sentinel behind the last chunk. Clients compare its beginning; what may
/// stand behind it must not hold anything that another client could read.
pub(crate) fn is_done(data: &str) -> bool {
    data.trim_start()
        .strip_prefix("[DONE]")
        .is_some_and(|rest| rest.bytes().all(|byte| matches!(byte, b' '..=b'z')))
}

/// The whole document, without the white space around it.
pub(crate) fn document(data: &str) -> Span {
    let start = data.len() - data.trim_start().len();
    Span { start, end: data.trim_end().len().max(start) }
}

/// Splices to be made in one text. What is not named stays byte for byte.
#[derive(Default)]
pub(crate) struct Edits {
    list: Vec<(Span, String)>,
}

impl Edits {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn replace(&mut self, at: Span, text: impl Into<String>) {
        self.list.push((at, text.into()));
    }

    pub(crate) fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(Span { start: at, end: at }, text);
    }

    pub(crate) fn append(&mut self, mut others: Self) {
        self.list.append(&mut others.list);
    }

    /// Removes those of the `items` (members or elements, in order) that `gone` names, with the
    /// commas that go with them.
    pub(crate) fn remove(&mut self, items: &[Span], gone: impl Fn(usize) -> bool) {
        let mut first = 0;
        while first < items.len() {
            if !gone(first) {
                first += 1;
                continue;
            }
            let mut last = first;
            while last + 1 < items.len() && gone(last + 1) {
                last += 1;
            }
            let (Some(from), Some(to)) = (items.get(first), items.get(last)) else { return };
            let before = first.checked_sub(1).and_then(|i| items.get(i));
            let cut = match (items.get(last + 1), before) {
                (Some(next), _) => Span { start: from.start, end: next.start },
                (None, Some(before)) => Span { start: before.end, end: to.end },
                (None, None) => from.to(*to),
            };
            self.replace(cut, "");
            first = last + 1;
        }
    }

    /// The text with all splices made.
    pub(crate) fn apply(mut self, text: &str) -> String {
        self.list.sort_by_key(|(span, _)| (span.start, span.end));
        let grown: usize = self.list.iter().map(|(_, new)| new.len()).sum();
        let mut out = String::with_capacity(text.len() + grown);
        let mut at = 0;
        for (span, new) in &self.list {
            // What stands in something that was replaced is gone with it.
            if span.start < at && span.end > span.start {
                continue;
            }
            out.push_str(text.get(at..span.start).unwrap_or(""));
            out.push_str(new);
            at = at.max(span.end);
        }
        out.push_str(text.get(at..).unwrap_or(""));
        out
    }
}

/// A call found in a shape the dialect does not know: an object with a name and an input.
pub(crate) struct Stray {
    pub(crate) name: Span,
    pub(crate) input: Span,
}

/// Whether a text may be that of a call: every syntax of calls has brackets, a plain sentence has
/// none.
pub(crate) fn may_hold_a_call(text: &str) -> bool {
    text.contains(['{', '[', '<', '('])
}

/// Whether the name of a call may stand under this key.
pub(crate) fn is_name_key(key: &Text<'_>) -> bool {
    key.is("name") || key.is("tool_name")
}

/// Whether the arguments of a call may stand under this key.
pub(crate) fn is_input_key(key: &Text<'_>) -> bool {
    ["input", "arguments", "parameters", "args"].iter().any(|name| key.is(name))
}

/// Reads any value, as `skip` does, and reports an object inside it that looks like a call: one
/// with a string `name` and an `input`, `arguments` or `parameters`.
pub(crate) fn skip_looking_for_calls(
    reader: &mut Reader<'_>,
    found: &mut Vec<Stray>,
) -> Result<Span, Error> {
    match reader.kind()? {
        Kind::Object => {
            let start = reader.position();
            let (mut name, mut input) = (None, None);
            let mut object = reader.object()?;
            while let Some(key) = object.next(reader)? {
                let is_string = reader.kind()? == Kind::String;
                let value = skip_looking_for_calls(reader, found)?;
                if is_string && is_name_key(&key) {
                    name = Some(value);
                } else if is_input_key(&key) {
                    input = Some(value);
                }
            }
            if let (Some(name), Some(input)) = (name, input) {
                found.push(Stray { name, input });
            }
            Ok(Span { start, end: reader.position() })
        }
        Kind::Array => {
            let start = reader.position();
            let mut array = reader.array()?;
            while array.next(reader)? {
                skip_looking_for_calls(reader, found)?;
            }
            Ok(Span { start, end: reader.position() })
        }
        _ => reader.skip(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(text: &str, gone: &[usize]) -> String {
        let mut edits = Edits::default();
        edits.remove(&elements(text, document(text)), |i| gone.contains(&i));
        edits.apply(text)
    }

    #[test]
    fn removal_takes_the_right_commas() {
        let text = "[1, 2 ,3 , 4]";
        assert_eq!(without(text, &[0]), "[2 ,3 , 4]");
        assert_eq!(without(text, &[3]), "[1, 2 ,3]");
        assert_eq!(without(text, &[1, 2]), "[1, 4]");
        assert_eq!(without(text, &[0, 1, 2, 3]), "[]");
        assert_eq!(without(text, &[0, 2]), "[2 ,4]");
        for mask in 0..16_u32 {
            let gone: Vec<usize> = (0..4).filter(|i| mask & (1 << i) != 0).collect();
            let left: Vec<u32> = serde_json::from_str(&without(text, &gone)).unwrap();
            let want: Vec<u32> = (1..=4).filter(|n| !gone.contains(&(*n as usize - 1))).collect();
            assert_eq!(left, want);
        }
    }

    #[test]
    fn guarded_keys_stand_once_and_in_one_case() {
        let names = &["name", "input"];
        let keys = |text: &str| -> Result<Vec<Option<usize>>, Error> {
            let mut reader = Reader::new(text);
            let mut object = reader.object()?;
            let (mut fields, mut found) = (Fields::new(names), Vec::new());
            while let Some(key) = object.next(&mut reader)? {
                found.push(fields.find(&key)?);
                reader.skip()?;
            }
            Ok(found)
        };
        assert_eq!(keys(r#"{"x":1,"n\u0061me":2,"x":3}"#).unwrap(), [None, Some(0), None]);
        for text in [
            r#"{"name":1,"name":2}"#,
            r#"{"name":1,"n\u0061me":2}"#,
            r#"{"Name":1}"#,
            r#"{"NAME":1}"#,
            "{\"\u{4e}ame\":1}",
        ] {
            assert_eq!(keys(text).unwrap_err().what, Problem::DuplicateKey, "{text}");
        }
    }
}
