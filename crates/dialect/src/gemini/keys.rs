//! Keys with both spellings that clients know.

use callgate_json::{Error, Problem, Text};

/// The fields of one object that the gate acts on, in camel case and in snake case. One client
/// reads both, the others only the first, and some programs ignore case; so a duplicate key, or one
/// in another spelling, makes the object ambiguous.
pub(super) struct Keys<const N: usize> {
    names: &'static [Name; N],
    seen: u32,
}

/// A field's name in camel case and in snake case.
pub(super) type Name = (&'static str, &'static str);

/// A field that was found.
#[derive(Clone, Copy)]
pub(super) struct FoundKey {
    /// Its index among the names.
    pub(super) place: usize,
    /// It has the name that only some clients read.
    pub(super) is_snake: bool,
}

impl<const N: usize> Keys<N> {
    pub(super) fn new(names: &'static [Name; N]) -> Self {
        Self { names, seen: 0 }
    }

    /// The field with this key, or `None` for one that the gate does not act on.
    pub(super) fn find(&mut self, key: &Text<'_>) -> Result<Option<FoundKey>, Error> {
        let raw = key.bytes();
        if key.is_escaped() || !raw.is_ascii() {
            let text = key.decode()?;
            // Letters beyond ASCII may become ASCII in lower case.
            let folded = text.to_uppercase().to_lowercase();
            return self.place(text.as_bytes(), folded.as_bytes(), key);
        }
        self.place(raw, raw, key)
    }

    fn place(
        &mut self,
        raw: &[u8],
        folded: &[u8],
        key: &Text<'_>,
    ) -> Result<Option<FoundKey>, Error> {
        let Some(place) = self.names.iter().position(|(camel, _)| is_alike(folded, camel)) else {
            return Ok(None);
        };
        let ambiguous = || Error::new(Problem::DuplicateKey, key.span().start);
        let (camel, snake) = self.names.get(place).ok_or_else(ambiguous)?;
        let is_snake = match raw {
            raw if raw == camel.as_bytes() => false,
            raw if raw == snake.as_bytes() => true,
            _ => return Err(ambiguous()),
        };
        let bit = 1 << place;
        if self.seen & bit != 0 {
            return Err(ambiguous());
        }
        self.seen |= bit;
        Ok(Some(FoundKey { place, is_snake }))
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

#[cfg(test)]
mod tests {
    use callgate_json::Reader;

    use super::*;

    const NAMES: [Name; 2] = [("functionCall", "function_call"), ("name", "name")];

    fn keys(text: &str) -> Result<Vec<Option<(usize, bool)>>, Error> {
        let mut reader = Reader::new(text);
        let mut object = reader.object()?;
        let (mut keys, mut found) = (Keys::new(&NAMES), Vec::new());
        while let Some(key) = object.next(&mut reader)? {
            found.push(keys.find(&key)?.map(|found| (found.place, found.is_snake)));
            reader.skip()?;
        }
        Ok(found)
    }

    #[test]
    fn both_names_are_read() {
        assert_eq!(
            keys(r#"{"x":1,"functionCall":2,"name":3}"#).unwrap(),
            [None, Some((0, false)), Some((1, false))]
        );
        assert_eq!(keys(r#"{"function_call":2}"#).unwrap(), [Some((0, true))]);
        assert_eq!(keys(r#"{"function\u0043all":2}"#).unwrap(), [Some((0, false))]);
        assert_eq!(keys(r#"{"functionCalls":2,"nam":1,"":0}"#).unwrap(), [None, None, None]);
    }

    #[test]
    fn other_spellings_and_second_ones_are_ambiguous() {
        for text in [
            r#"{"functionCall":1,"functionCall":2}"#,
            r#"{"functionCall":1,"function_call":2}"#,
            r#"{"functioncall":1}"#,
            r#"{"FunctionCall":1}"#,
            r#"{"FUNCTION_CALL":1}"#,
            r#"{"_name":1}"#,
            r#"{"n\u0041me":1}"#,
            "{\"function\u{43}aLl\":1}",
            "{\"function_ca\u{4c}l\":1}",
        ] {
            assert_eq!(keys(text).unwrap_err().what, Problem::DuplicateKey, "{text}");
        }
    }
}
