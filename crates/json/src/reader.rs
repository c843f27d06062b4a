//! The pull reader.

use std::borrow::Cow;

use super::escape::decode_lossy;
use super::{Error, MAX_DEPTH, Problem, decode_into};

/// A byte range of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The text of the span; empty if it does not lie in `text`.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or("")
    }

    /// The bytes from here to the end of `later`.
    pub fn to(self, later: Span) -> Span {
        Span { start: self.start, end: later.end }
    }
}

/// The type of a value, by its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `{`
    Object,
    /// `[`
    Array,
    /// `"`
    String,
    /// A digit or a minus sign.
    Number,
    /// `t` or `f`
    Bool,
    /// `n`
    Null,
}

/// A string in the document: its raw text between the quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a> {
    /// A part of a `str` between quotes, so it is valid UTF-8.
    raw: &'a [u8],
    /// The position of its opening quote. 32 bits, because frames are far smaller than 4 GiB and
    /// this is passed around for every key of every frame.
    at: u32,
    escaped: bool,
}

impl<'a> Text<'a> {
    /// Its span, including the quotes.
    #[inline]
    pub fn span(&self) -> Span {
        let start = self.at as usize;
        Span { start, end: start + self.raw.len() + 2 }
    }

    /// The text between the quotes, with its escapes.
    #[inline]
    pub fn raw(&self) -> &'a str {
        std::str::from_utf8(self.raw).unwrap_or("")
    }

    /// The same as bytes, for comparisons.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.raw
    }

    /// The decoded text. A lone surrogate is an error.
    pub fn decode(&self) -> Result<Cow<'a, str>, Error> {
        if !self.escaped {
            return Ok(Cow::Borrowed(self.raw()));
        }
        let (mut half, mut text) = (None, String::with_capacity(self.raw.len()));
        match decode_into(self.raw(), &mut half, &mut text) && half.is_none() {
            true => Ok(Cow::Owned(text)),
            false => Err(Error::new(Problem::LoneSurrogate, self.at as usize)),
        }
    }

    /// The decoded text, with U+FFFD for each lone surrogate.
    pub fn decode_lossy(&self) -> Cow<'a, str> {
        self.decode().unwrap_or_else(|_| Cow::Owned(decode_lossy(self.raw())))
    }

    /// Whether the decoded text is exactly `word`.
    pub fn is(&self, word: &str) -> bool {
        match self.escaped {
            false => self.raw == word.as_bytes(),
            true => self.decode().is_ok_and(|text| text == word),
        }
    }

    /// Whether there is anything between the quotes.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// Whether the string contains an escape, so that its raw text differs from the decoded text.
    pub fn is_escaped(&self) -> bool {
        self.escaped
    }
}

/// Walks one document. Every method that reads consumes exactly one value or one piece of
/// punctuation, and fails on anything RFC 8259 does not allow there.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    /// The unread rest.
    rest: &'a [u8],
    /// The position where the rest ends; positions are computed from it.
    end: usize,
    depth: u32,
    /// Whether the whole text is free of control characters, so that strings need not be checked.
    tame: bool,
}

/// A position inside an object: call [`Members::next`] until it returns `None`, and read one value
/// after each key.
#[derive(Debug)]
pub struct Members {
    first: bool,
}

/// A position inside an array: call [`Elements::next`] until it returns `false`, and read one value
/// after each `true`.
#[derive(Debug)]
pub struct Elements {
    first: bool,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `text`.
    pub fn new(text: &'a str) -> Self {
        let rest = text.as_bytes();
        Self { rest, end: rest.len(), depth: 0, tame: is_tame(rest) }
    }

    /// A reader of the value at `span` of `text`. Its spans are relative to `text`.
    pub fn at(text: &'a str, span: Span) -> Self {
        let rest = text.as_bytes().get(span.start..span.end).unwrap_or(&[]);
        Self { rest, end: span.end, depth: 0, tame: false }
    }

    /// The current byte position.
    #[inline]
    pub fn position(&self) -> usize {
        self.end - self.rest.len()
    }

    /// The type of the next value.
    #[inline]
    pub fn kind(&mut self) -> Result<Kind, Error> {
        match self.skip_space() {
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'"') => Ok(Kind::String),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            Some(b't' | b'f') => Ok(Kind::Bool),
            Some(b'n') => Ok(Kind::Null),
            other => Err(self.unexpected(other)),
        }
    }

    /// Enters an object.
    #[inline]
    pub fn object(&mut self) -> Result<Members, Error> {
        self.open(b'{')?;
        Ok(Members { first: true })
    }

    /// Enters an array.
    #[inline]
    pub fn array(&mut self) -> Result<Elements, Error> {
        self.open(b'[')?;
        Ok(Elements { first: true })
    }

    /// Reads a string.
    #[inline]
    pub fn string(&mut self) -> Result<Text<'a>, Error> {
        match self.skip_space() {
            Some(b'"') => self.string_here(),
            Some(b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                Err(self.error(Problem::WrongType))
            }
            other => Err(self.unexpected(other)),
        }
    }

    /// Skips any value and returns its span.
    pub fn skip(&mut self) -> Result<Span, Error> {
        let first = self.skip_space();
        let start = self.position();
        match first {
            Some(b'"') => self.string_here().map(|text| text.span()),
            Some(b'{' | b'[') => self.skip_nested(start),
            _ => self.scalar(first).map(|()| Span { start, end: self.position() }),
        }
    }

    /// Reads any value, and returns nothing of it.
    #[inline]
    pub fn ignore(&mut self) -> Result<(), Error> {
        self.skip().map(|_| ())
    }

    /// Skips any value and returns its span and its type.
    #[inline]
    pub fn value(&mut self) -> Result<(Span, Kind), Error> {
        let kind = self.kind()?;
        Ok((self.skip()?, kind))
    }

    /// Reads an array, each element with `read`. Returns its span, and what was read.
    #[inline]
    pub fn list<T, E: From<Error>>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, E>,
    ) -> Result<(Span, Vec<T>), E> {
        let mut array = self.array()?;
        let (start, mut list) = (self.position() - 1, Vec::new());
        while array.next(self)? {
            list.push(read(self)?);
        }
        Ok((Span { start, end: self.position() }, list))
    }

    /// Expects the end of the document.
    pub fn end(&mut self) -> Result<(), Error> {
        match self.skip_space() {
            None => Ok(()),
            Some(_) => Err(self.error(Problem::Trailing)),
        }
    }

    /// Skips an object or array without recursion. One bit per level says which of the two it is.
    fn skip_nested(&mut self, start: usize) -> Result<Span, Error> {
        let mut objects: u128 = 0;
        let base = self.depth;
        let mut byte = self.skip_space();
        loop {
            // A value starts here.
            match byte {
                Some(open @ (b'{' | b'[')) => {
                    self.open(open)?;
                    objects = objects << 1 | u128::from(open == b'{');
                    byte = self.skip_space();
                    let close = if open == b'{' { b'}' } else { b']' };
                    if byte != Some(close) {
                        if open == b'{' {
                            self.key_here(byte)?;
                            byte = self.skip_space();
                        }
                        continue;
                    }
                }
                Some(b'"') => {
                    self.string_here()?;
                    byte = self.skip_space();
                }
                other => {
                    self.scalar(other)?;
                    byte = self.skip_space();
                }
            }
            // A value has ended: close the levels that it ends, or skip the comma.
            loop {
                let in_object = objects & 1 == 1;
                match byte {
                    Some(b'}') if in_object => {}
                    Some(b']') if !in_object => {}
                    Some(b',') => {
                        self.step(1);
                        byte = self.skip_space();
                        if in_object {
                            self.key_here(byte)?;
                            byte = self.skip_space();
                        }
                        break;
                    }
                    other => return Err(self.unexpected(other)),
                }
                self.step(1);
                self.depth -= 1;
                objects >>= 1;
                if self.depth == base {
                    return Ok(Span { start, end: self.position() });
                }
                byte = self.skip_space();
            }
        }
    }

    #[inline]
    fn open(&mut self, bracket: u8) -> Result<(), Error> {
        match self.skip_space() {
            Some(byte) if byte == bracket => {}
            Some(b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                return Err(self.error(Problem::WrongType));
            }
            other => return Err(self.unexpected(other)),
        }
        if self.depth == MAX_DEPTH {
            return Err(self.error(Problem::TooDeep));
        }
        self.depth += 1;
        self.step(1);
        Ok(())
    }

    #[inline]
    fn key_here(&mut self, byte: Option<u8>) -> Result<Text<'a>, Error> {
        if byte != Some(b'"') {
            return Err(self.unexpected(byte));
        }
        let key = self.string_here()?;
        match self.skip_space() {
            Some(b':') => {
                self.step(1);
                Ok(key)
            }
            other => Err(self.unexpected(other)),
        }
    }

    /// Reads the string whose opening quote is here.
    #[inline]
    fn string_here(&mut self) -> Result<Text<'a>, Error> {
        let at = self.position();
        let inside = self.rest.get(1..).unwrap_or(&[]);
        let run = if self.tame { plain_run_tame } else { plain_run };
        let mut length = run(inside);
        let mut escaped = false;
        while inside.get(length) != Some(&b'"') {
            let Some(after) = inside.get(length..).and_then(escape) else {
                return Err(self.bad_string(at, inside, length));
            };
            escaped = true;
            length = inside.len() - after.len() + run(after);
        }
        let raw = inside.get(..length).unwrap_or(&[]);
        self.rest = inside.get(length + 1..).unwrap_or(&[]);
        Ok(Text { raw, at: at as u32, escaped })
    }

    #[cold]
    fn bad_string(&self, at: usize, inside: &[u8], length: usize) -> Error {
        // An escape needs up to six bytes; if some are missing, it is truncated.
        let cut = match inside.get(length) {
            None => true,
            Some(b'\\') => inside
                .get(length..)
                .is_some_and(|escape| escape.len() < 6 && !escape.contains(&b'"')),
            Some(_) => false,
        };
        Error::new(if cut { Problem::Truncated } else { Problem::Unexpected }, at + 1 + length)
    }

    #[inline]
    fn scalar(&mut self, first: Option<u8>) -> Result<(), Error> {
        match first {
            Some(b't') => self.literal("true"),
            Some(b'f') => self.literal("false"),
            Some(b'n') => self.literal("null"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            other => Err(self.unexpected(other)),
        }
    }

    fn literal(&mut self, word: &str) -> Result<(), Error> {
        if self.rest.starts_with(word.as_bytes()) {
            self.step(word.len());
            return Ok(());
        }
        let cut = word.as_bytes().starts_with(self.rest);
        Err(self.error(if cut { Problem::Truncated } else { Problem::Unexpected }))
    }

    fn number(&mut self) -> Result<(), Error> {
        if self.byte() == Some(b'-') {
            self.step(1);
        }
        match self.byte() {
            Some(b'0') => self.step(1),
            Some(b'1'..=b'9') => self.digits()?,
            other => return Err(self.unexpected(other)),
        }
        if self.byte() == Some(b'.') {
            self.step(1);
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.step(1);
            if let Some(b'+' | b'-') = self.byte() {
                self.step(1);
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Error> {
        let run = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.step(run);
        match run {
            0 => Err(self.unexpected(self.byte())),
            _ => Ok(()),
        }
    }

    #[inline]
    fn step(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or(&[]);
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    #[inline]
    fn skip_space(&mut self) -> Option<u8> {
        while let [b' ' | b'\t' | b'\n' | b'\r', after @ ..] = self.rest {
            self.rest = after;
        }
        self.byte()
    }

    #[cold]
    fn unexpected(&self, byte: Option<u8>) -> Error {
        self.error(if byte.is_none() { Problem::Truncated } else { Problem::Unexpected })
    }

    #[cold]
    fn error(&self, what: Problem) -> Error {
        Error::new(what, self.position())
    }
}

impl Members {
    /// The next key, or `None` after the closing brace.
    #[inline]
    pub fn next<'a>(&mut self, reader: &mut Reader<'a>) -> Result<Option<Text<'a>>, Error> {
        let mut byte = reader.skip_space();
        if byte == Some(b'}') {
            reader.step(1);
            reader.depth -= 1;
            return Ok(None);
        }
        if !self.first {
            if byte != Some(b',') {
                return Err(reader.unexpected(byte));
            }
            reader.step(1);
            byte = reader.skip_space();
        }
        self.first = false;
        reader.key_here(byte).map(Some)
    }
}

impl Elements {
    /// Whether another element follows; `false` after the closing bracket.
    #[inline]
    pub fn next(&mut self, reader: &mut Reader<'_>) -> Result<bool, Error> {
        let byte = reader.skip_space();
        if byte == Some(b']') {
            reader.step(1);
            reader.depth -= 1;
            return Ok(false);
        }
        if self.first {
            self.first = false;
        } else {
            if byte != Some(b',') {
                return Err(reader.unexpected(byte));
            }
            reader.step(1);
        }
        Ok(true)
    }
}

/// The position of the closing quote, for `bytes` that begin after the opening one. `None` if the
/// string is truncated or invalid.
pub fn string_end(bytes: &[u8]) -> Option<usize> {
    let mut length = plain_run(bytes);
    while bytes.get(length) != Some(&b'"') {
        let after = escape(bytes.get(length..)?)?;
        length = bytes.len() - after.len() + plain_run(after);
    }
    Some(length)
}

/// The bytes after the escape that `bytes` begin with; `None` if they do not begin with a valid
/// one.
fn escape(bytes: &[u8]) -> Option<&[u8]> {
    match bytes {
        [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', after @ ..] => Some(after),
        [b'\\', b'u', a, b, c, d, after @ ..] => {
            [a, b, c, d].into_iter().all(u8::is_ascii_hexdigit).then_some(after)
        }
        _ => None,
    }
}

/// Whether no byte is a control character. Without an early exit the compiler can vectorise the
/// loop.
fn is_tame(bytes: &[u8]) -> bool {
    bytes.iter().fold(true, |tame, &byte| tame & (byte >= 0x20))
}

const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);

/// Marks the high bit of each zero byte. The lowest mark is exact; marks above it may be false.
#[inline]
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGH
}

/// The number of bytes before the next quote or backslash. Most strings are short and end within
/// the first words; `memchr` handles the rest.
#[inline]
fn plain_run_tame(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    let mut run = 0;
    for _ in 0..3 {
        let Some((chunk, after)) = rest.split_first_chunk::<8>() else { break };
        rest = after;
        let word = u64::from_le_bytes(*chunk);
        let stop = zero_bytes(word ^ (ONES * u64::from(b'"')))
            | zero_bytes(word ^ (ONES * u64::from(b'\\')));
        if stop != 0 {
            return run + (stop.trailing_zeros() / 8) as usize;
        }
        run += 8;
    }
    run + memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len())
}

/// The number of bytes before the next quote, backslash or control character. Looks at eight bytes
/// at a time.
fn plain_run(bytes: &[u8]) -> usize {
    let mut run = 0;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let Ok(chunk) = <[u8; 8]>::try_from(chunk) else { break };
        let word = u64::from_le_bytes(chunk);
        let quote = zero_bytes(word ^ (ONES * u64::from(b'"')));
        let backslash = zero_bytes(word ^ (ONES * u64::from(b'\\')));
        // A byte below 0x20 borrows into its own high bit; bytes of 0x80 and more are excluded.
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        let stop = quote | backslash | control;
        if stop != 0 {
            // The lowest mark is exact; only marks above it can be false.
            return run + (stop.trailing_zeros() / 8) as usize;
        }
        run += 8;
    }
    run + chunks
        .remainder()
        .iter()
        .take_while(|&&byte| byte != b'"' && byte != b'\\' && byte >= 0x20)
        .count()
}

#[cfg(test)]
mod tests;
