//! The characters of a text with the bytes they are written with: plain, or in a JSON string, where
//! a character may be one or two escapes.

use std::ops::Range;

/// A character, and the bytes it is written with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WrittenChar {
    pub(super) sign: CharOrHalf,
    pub(super) span: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CharOrHalf {
    Char(char),
    /// Half of a surrogate pair without the other half.
    High(u16),
    Low(u16),
}

impl CharOrHalf {
    pub(super) fn char(self) -> Option<char> {
        match self {
            Self::Char(c) => Some(c),
            Self::High(_) | Self::Low(_) => None,
        }
    }
}

/// The pieces of a plain text.
pub(super) fn plain(text: &str) -> impl Iterator<Item = WrittenChar> + Clone {
    text.char_indices()
        .map(|(at, c)| WrittenChar { sign: CharOrHalf::Char(c), span: at..at + c.len_utf8() })
}

/// The pieces of the content of a JSON string that was parsed before, so every escape is well
/// formed. The spans count from `at`.
pub(super) fn escaped(raw: &str, at: usize) -> Escaped<'_> {
    Escaped { rest: raw, at }
}

#[derive(Debug, Clone)]
pub(super) struct Escaped<'r> {
    rest: &'r str,
    at: usize,
}

impl Escaped<'_> {
    /// The character of the escape at the start of the rest, and its length.
    fn escape(&self) -> (CharOrHalf, usize) {
        let Some(unit) = unit(self.rest) else {
            let c = match self.rest.chars().nth(1) {
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some(other) => other,
                None => '\\',
            };
            return (CharOrHalf::Char(c), 2);
        };
        match unit {
            0xD800..=0xDBFF => match self.rest.get(6..).and_then(self::unit) {
                Some(low @ 0xDC00..=0xDFFF) => (CharOrHalf::Char(joined(unit, low)), 12),
                _ => (CharOrHalf::High(unit), 6),
            },
            0xDC00..=0xDFFF => (CharOrHalf::Low(unit), 6),
            _ => (CharOrHalf::Char(char::from_u32(u32::from(unit)).unwrap_or('\u{FFFD}')), 6),
        }
    }
}

/// The character of a surrogate pair.
pub(super) fn joined(high: u16, low: u16) -> char {
    let code = 0x10000 + ((u32::from(high) & 0x3FF) << 10) + (u32::from(low) & 0x3FF);
    char::from_u32(code).unwrap_or('\u{FFFD}')
}

/// The value of `\uXXXX` at the start of `rest`.
fn unit(rest: &str) -> Option<u16> {
    let hex = rest.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(hex, 16).ok()
}

impl Iterator for Escaped<'_> {
    type Item = WrittenChar;

    fn next(&mut self) -> Option<WrittenChar> {
        let first = self.rest.chars().next()?;
        let (sign, length) = match first {
            '\\' => self.escape(),
            c => (CharOrHalf::Char(c), c.len_utf8()),
        };
        let length = length.min(self.rest.len());
        let span = self.at..self.at + length;
        self.rest = self.rest.get(length..).unwrap_or("");
        self.at += length;
        Some(WrittenChar { sign, span })
    }
}
