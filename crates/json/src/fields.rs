//! Finds the few keys of an object that matter, and rejects ambiguous ones.

use super::{Error, Problem, Text, equal_ignoring_case};

/// The guarded keys of one object: those that change what a client does. Some clients keep the last
/// of two equal keys, others the first, and Go programs ignore case. So an object is ambiguous if a
/// guarded key occurs twice or in another case.
#[derive(Debug)]
pub struct Fields<const N: usize> {
    names: &'static [&'static str; N],
    seen: u32,
}

impl<const N: usize> Fields<N> {
    /// Guards these keys, none of which was seen yet.
    pub fn new(names: &'static [&'static str; N]) -> Self {
        Self { names, seen: 0 }
    }

    /// The position of `key` among the guarded keys; `None` for any other key.
    #[inline]
    pub fn find(&mut self, key: &Text<'_>) -> Result<Option<usize>, Error> {
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
        match self.names.iter().any(|name| equal_ignoring_case(name, &text)) {
            true => Err(ambiguous(key)),
            false => Ok(None),
        }
    }
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
