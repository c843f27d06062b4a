//! Finds the few keys of an object that matter, and rejects ambiguous ones.

use super::{Error, Members, Problem, Reader, Span, Text, equal_ignoring_case};

/// The guarded keys of one object: those that change what a client does. Some clients keep the last
/// of two equal keys, others the first, and Go programs ignore case. So an object is ambiguous if a
/// guarded key occurs twice or in another case.
#[derive(Debug)]
pub struct Fields<const N: usize> {
    names: &'static [&'static str; N],
    spelling: KeySpelling,
    seen: u32,
}

/// How the guarded keys are spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeySpelling {
    /// Without capitals.
    Lower,
    /// With capitals.
    Mixed,
    /// In camel case, or in snake case for some clients.
    CamelOrSnake,
}

impl<const N: usize> Fields<N> {
    /// Guards these keys, none of which was seen yet. They have no capitals.
    pub fn new(names: &'static [&'static str; N]) -> Self {
        Self { names, spelling: KeySpelling::Lower, seen: 0 }
    }

    /// The same for keys with capitals.
    pub fn mixed(names: &'static [&'static str; N]) -> Self {
        Self { names, spelling: KeySpelling::Mixed, seen: 0 }
    }

    /// The same for keys in camel case that some clients also read in snake case.
    pub fn camel_or_snake(names: &'static [&'static str; N]) -> Self {
        Self { names, spelling: KeySpelling::CamelOrSnake, seen: 0 }
    }

    /// Enters the next value, which must be an object, with these keys guarded.
    #[inline]
    pub fn enter(self, reader: &mut Reader<'_>) -> Result<Object<N>, Error> {
        let members = reader.object()?;
        Ok(Object { fields: self, members, start: reader.position() - 1 })
    }

    /// The position of `key` among the guarded keys; `None` for any other key.
    #[inline]
    pub fn find(&mut self, key: &Text<'_>) -> Result<Option<usize>, Error> {
        let raw = key.bytes();
        if !key.is_escaped() {
            if let Some(place) = self.names.iter().position(|name| name.as_bytes() == raw) {
                return self.mark(place, key).map(Some);
            }
            match self.spelling {
                KeySpelling::Lower if is_plain_lower(raw) => return Ok(None),
                KeySpelling::CamelOrSnake if raw.is_ascii() => {
                    return self.find_alike(raw, raw, key);
                }
                _ => {}
            }
        }
        self.find_odd(key)
    }

    /// Whether a key that was found is spelled as only some clients read it.
    pub fn is_snake(&self, place: usize, key: &Text<'_>) -> bool {
        self.names.get(place).is_some_and(|name| !key.is(name))
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
        if self.spelling == KeySpelling::CamelOrSnake {
            // Letters beyond ASCII may become ASCII in lower case.
            let folded = text.to_uppercase().to_lowercase();
            return self.find_alike(text.as_bytes(), folded.as_bytes(), key);
        }
        if let Some(place) = self.names.iter().position(|name| *name == text) {
            return self.mark(place, key).map(Some);
        }
        match self.names.iter().any(|name| equal_ignoring_case(name, &text)) {
            true => Err(ambiguous(key)),
            false => Ok(None),
        }
    }
}

impl<const N: usize> Fields<N> {
    /// The key that is alike except for case and underscores, if it is in camel or snake case.
    fn find_alike(
        &mut self,
        raw: &[u8],
        folded: &[u8],
        key: &Text<'_>,
    ) -> Result<Option<usize>, Error> {
        let alike = self.names.iter().enumerate().find(|(_, camel)| is_alike(folded, camel));
        let Some((place, camel)) = alike else { return Ok(None) };
        if raw != camel.as_bytes() && !snake(camel).eq(raw.iter().copied()) {
            return Err(ambiguous(key));
        }
        self.mark(place, key).map(Some)
    }
}

/// A position inside an object of which only the guarded keys matter: read one value after each key.
#[derive(Debug)]
pub struct Object<const N: usize> {
    fields: Fields<N>,
    members: Members,
    start: usize,
}

impl<const N: usize> Object<N> {
    /// The position of the next guarded key, or `None` after the closing brace. Skips the members
    /// with other keys.
    #[inline]
    pub fn next(&mut self, reader: &mut Reader<'_>) -> Result<Option<usize>, Error> {
        while let Some((_, place)) = self.next_key(reader)? {
            if place.is_some() {
                return Ok(place);
            }
            reader.ignore()?;
        }
        Ok(None)
    }

    /// The next key, guarded or not, with its position among the guarded ones.
    #[inline]
    pub fn next_key<'a>(
        &mut self,
        reader: &mut Reader<'a>,
    ) -> Result<Option<(Text<'a>, Option<usize>)>, Error> {
        match self.members.next(reader)? {
            Some(key) => Ok(Some((key, self.fields.find(&key)?))),
            None => Ok(None),
        }
    }

    /// Whether a key that was found is spelled as only some clients read it.
    pub fn is_snake(&self, place: usize, key: &Text<'_>) -> bool {
        self.fields.is_snake(place, key)
    }

    /// The span of the object, once all of it was read.
    pub fn span(&self, reader: &Reader<'_>) -> Span {
        Span { start: self.start, end: reader.position() }
    }
}

/// Whether a key equals the name except for case and underscores.
fn is_alike(key: &[u8], name: &str) -> bool {
    let letters = |text: &[u8]| text.first().map(u8::to_ascii_lowercase);
    // Most keys differ in their first letter.
    if letters(key) != letters(name.as_bytes()) && key.first() != Some(&b'_') {
        return false;
    }
    let fold = |byte: &u8| (*byte != b'_').then(|| byte.to_ascii_lowercase());
    key.iter().filter_map(fold).eq(name.as_bytes().iter().filter_map(fold))
}

/// A name in snake case, from camel case.
fn snake(camel: &str) -> impl Iterator<Item = u8> {
    camel.bytes().flat_map(|byte| {
        let underscore = byte.is_ascii_uppercase().then_some(b'_');
        underscore.into_iter().chain([byte.to_ascii_lowercase()])
    })
}

/// Whether the key is ASCII without capitals, so that it cannot be another spelling of a guarded
/// key.
fn is_plain_lower(raw: &[u8]) -> bool {
    raw.iter().fold(true, |plain, byte| plain & byte.is_ascii() & !byte.is_ascii_uppercase())
}

#[cold]
fn ambiguous(key: &Text<'_>) -> Error {
    Error::new(Problem::DuplicateKey, key.span().start)
}

#[cfg(test)]
mod tests {
    use super::super::Reader;
    use super::*;

    /// The place of each key, and whether it is in snake case.
    fn keys<const N: usize>(
        mut fields: Fields<N>,
        text: &str,
    ) -> Result<Vec<Option<(usize, bool)>>, Error> {
        let mut reader = Reader::new(text);
        let mut object = reader.object()?;
        let mut found = Vec::new();
        while let Some(key) = object.next(&mut reader)? {
            found.push(fields.find(&key)?.map(|place| (place, fields.is_snake(place, &key))));
            reader.skip()?;
        }
        Ok(found)
    }

    fn ambiguous<const N: usize>(fields: impl Fn() -> Fields<N>, texts: &[&str]) {
        for text in texts {
            let error = keys(fields(), text).unwrap_err();
            assert_eq!(error.what, Problem::DuplicateKey, "{text}");
        }
    }

    #[test]
    fn guarded_keys_stand_once_and_in_one_case() {
        let fields = || Fields::new(&["name", "input"]);
        let found = keys(fields(), r#"{"x":1,"n\u0061me":2,"x":3}"#).unwrap();
        assert_eq!(found, [None, Some((0, false)), None]);
        ambiguous(
            fields,
            &[
                r#"{"name":1,"name":2}"#,
                r#"{"name":1,"n\u0061me":2}"#,
                r#"{"Name":1}"#,
                r#"{"NAME":1}"#,
                "{\"\u{4e}ame\":1}",
            ],
        );
    }

    #[test]
    fn keys_with_capitals() {
        let fields = || Fields::mixed(&["toolUse", "text"]);
        let found = keys(fields(), r#"{"tool_use":1,"toolUse":2,"t\u0065xt":3}"#).unwrap();
        assert_eq!(found, [None, Some((0, false)), Some((1, false))]);
        ambiguous(fields, &[r#"{"tooluse":1}"#, r#"{"TEXT":1}"#, r#"{"toolUse":1,"toolUse":2}"#]);
    }

    #[test]
    fn camel_and_snake_case() {
        let fields = || Fields::camel_or_snake(&["functionCall", "name"]);
        let found = |text| keys(fields(), text).unwrap();
        assert_eq!(
            found(r#"{"x":1,"functionCall":2,"name":3}"#),
            [None, Some((0, false)), Some((1, false))]
        );
        assert_eq!(found(r#"{"function_call":2}"#), [Some((0, true))]);
        assert_eq!(found(r#"{"function\u0043all":2}"#), [Some((0, false))]);
        assert_eq!(found(r#"{"functionCalls":2,"nam":1,"":0}"#), [None, None, None]);
        ambiguous(
            fields,
            &[
                r#"{"functionCall":1,"functionCall":2}"#,
                r#"{"functionCall":1,"function_call":2}"#,
                r#"{"functioncall":1}"#,
                r#"{"FunctionCall":1}"#,
                r#"{"FUNCTION_CALL":1}"#,
                r#"{"_name":1}"#,
                r#"{"n\u0041me":1}"#,
                "{\"function\u{43}aLl\":1}",
                "{\"function_ca\u{4c}l\":1}",
            ],
        );
    }
}
