//! Follows JSON text far enough to know where a value ends: strings and brackets, nothing else. The
//! next stage checks whether the value is valid JSON.

use memchr::memchr2;

/// The position of a text in nested JSON, fed piece by piece.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Nesting {
    depth: usize,
    inside: LexState,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LexState {
    #[default]
    Value,
    Text,
    /// In a string, after a backslash.
    Escape,
}

impl Nesting {
    /// Reads until the outermost bracket closes; returns the offset after it. `None` if it is still
    /// open at the end.
    pub(crate) fn close(&mut self, text: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            let rest = text.get(at..)?;
            match self.inside {
                LexState::Text => at += memchr2(b'"', b'\\', rest)?,
                LexState::Escape | LexState::Value => {}
            }
            let byte = *text.get(at)?;
            at += 1;
            match (self.inside, byte) {
                (LexState::Escape, _) => self.inside = LexState::Text,
                (LexState::Text, b'\\') => self.inside = LexState::Escape,
                (LexState::Text, _) => self.inside = LexState::Value,
                (LexState::Value, b'"') => self.inside = LexState::Text,
                (LexState::Value, b'{' | b'[') => self.depth += 1,
                (LexState::Value, b'}' | b']') => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at);
                    }
                }
                (LexState::Value, _) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_bracket_closes_at_every_cut() {
        let table = [
            ("{}", 2),
            ("{}{", 2),
            (r#"{"a":[1,{"b":"}]\"}"}]} x"#, 23),
            (r#"{"a\\":"\\"}"#, 12),
            (r#"{"\"{":"[["}]"#, 12),
        ];
        for (text, end) in table {
            for cut in 0..=text.len() {
                let mut nesting = Nesting::default();
                let (left, right) = text.as_bytes().split_at(cut);
                let found =
                    nesting.close(left).or_else(|| nesting.close(right).map(|place| cut + place));
                assert_eq!(found, Some(end), "{text} cut at {cut}");
            }
        }
        assert_eq!(Nesting::default().close(br#"{"a":"}"#), None);
    }
}
