//! Responses that are not a stream: detects them by their bytes, and buffers them whole.
//!
//! Clients ignore `Content-Type` and parse what they get, so the gate goes by the bytes too.

use thiserror::Error;

use crate::nesting::Nesting;

/// How a response has to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events: feed a [`Splitter`](crate::Splitter).
    Sse,
    /// One JSON document: feed a [`BodyBuffer`].
    Body,
    /// One JSON document per line.
    Lines,
    /// One JSON array that grows by whole objects.
    Array,
    /// Binary messages of the AWS event stream encoding.
    EventStream,
    /// UTF-16 or UTF-32. Some Python clients parse such JSON; the gate does not, so the response
    /// must be refused rather than passed.
    Unreadable,
}

/// The framings that the responses of an API may have. The bytes show which one it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framings {
    /// Server-sent events, or one JSON document.
    Events,
    /// One JSON document per line, or one document over several lines.
    Lines,
    /// Server-sent events, an array that grows, or one JSON document.
    EventsOrArray,
    /// Binary messages, or one JSON document.
    EventStream,
}

/// Detects the framing of a response by its first bytes, fed piece by piece. The result does not
/// depend on how the bytes were split.
#[derive(Clone, Debug)]
pub struct Sniffer {
    forms: Framings,
    /// The first bytes; only they can show the encoding.
    head: [u8; HEAD],
    /// How many bytes of `head` are filled.
    seen: usize,
    /// The first byte that is neither byte order mark nor white space.
    first: Option<u8>,
    /// For framings by line: the state of the first line.
    line: FirstLine,
}

/// The first line of a response with one document per line.
#[derive(Clone, Copy, Debug)]
enum FirstLine {
    /// Its document is open.
    Open(Nesting),
    /// Its document is complete, and the line continues.
    Whole,
    /// It has ended.
    Ended(Framing),
}

impl Sniffer {
    /// A sniffer without input.
    pub fn new(forms: Framings) -> Self {
        let line = FirstLine::Open(Nesting::default());
        Self { forms, head: [0; HEAD], seen: 0, first: None, line }
    }

    /// Adds the next bytes. The first result stays.
    pub fn push(&mut self, bytes: &[u8]) -> Option<Framing> {
        let mut rest = bytes.iter();
        while self.seen < HEAD || self.first.is_none() {
            let Some(&byte) = rest.next() else { break };
            self.take(byte);
            self.read_line(&[byte]);
        }
        self.read_line(rest.as_slice());
        let unsettled = self.forms == Framings::Lines
            && self.first == Some(b'{')
            && !matches!(self.line, FirstLine::Ended(_));
        if self.seen < HEAD || unsettled { None } else { self.detect() }
    }

    /// The result if nothing more comes. `None` if there was nothing but white space.
    pub fn finish(&self) -> Option<Framing> {
        self.detect()
    }

    /// Follows the first line to its end: a document that continues after it is the only one.
    fn read_line(&mut self, bytes: &[u8]) {
        if self.forms != Framings::Lines || self.first.is_none() {
            return;
        }
        let (line, ended) = match memchr::memchr(b'\n', bytes) {
            Some(at) => (bytes.get(..at).unwrap_or_default(), true),
            None => (bytes, false),
        };
        if let FirstLine::Open(nesting) = &mut self.line
            && nesting.close(line).is_some()
        {
            self.line = FirstLine::Whole;
        }
        if ended {
            self.line = match self.line {
                FirstLine::Open(_) => FirstLine::Ended(Framing::Body),
                FirstLine::Whole => FirstLine::Ended(Framing::Lines),
                FirstLine::Ended(framing) => FirstLine::Ended(framing),
            };
        }
    }

    fn take(&mut self, byte: u8) {
        let may_be_mark = self.in_mark();
        if let Some(slot) = self.head.get_mut(self.seen) {
            *slot = byte;
            self.seen += 1;
        }
        if self.first.is_some() || (may_be_mark && self.in_mark()) {
            return;
        }
        // `head` ended inside a byte order mark: so it was text, and its first byte counts.
        let broken_mark = may_be_mark && self.seen > 1 && self.seen <= BOM.len();
        if broken_mark {
            self.first = self.head.first().copied();
        } else if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
            self.first = Some(byte);
        }
    }

    /// Whether all bytes so far are a byte order mark or the start of one.
    fn in_mark(&self) -> bool {
        self.head.get(..self.seen).is_some_and(|head| BOM.starts_with(head))
    }

    fn detect(&self) -> Option<Framing> {
        let head = self.head.get(..self.seen).unwrap_or_default();
        // The length of a message; no client accepts more than 24 MiB.
        if self.forms == Framings::EventStream && matches!(head, [0 | 1, ..]) {
            return Some(Framing::EventStream);
        }
        if head.contains(&0) || head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
            return Some(Framing::Unreadable);
        }
        let Some(first) = self.first else {
            let half_a_mark = (1..BOM.len()).contains(&self.seen) && self.in_mark();
            return half_a_mark.then(|| self.stream());
        };
        Some(match (self.forms, first, self.line) {
            (Framings::EventStream, _, _) => Framing::Body,
            (Framings::EventsOrArray, b'[', _) => Framing::Array,
            (Framings::Lines, b'{', FirstLine::Ended(framing)) => framing,
            (_, b'{' | b'[', _) => Framing::Body,
            _ => self.stream(),
        })
    }

    /// The framing of a response that does not begin like JSON.
    fn stream(&self) -> Framing {
        match self.forms {
            Framings::Events | Framings::EventsOrArray => Framing::Sse,
            Framings::Lines => Framing::Lines,
            Framings::EventStream => Framing::Body,
        }
    }
}

/// A body that is buffered whole, up to a limit.
#[derive(Clone, Debug)]
pub struct BodyBuffer {
    bytes: Vec<u8>,
    limit: usize,
    overrun: bool,
}

impl BodyBuffer {
    /// An empty buffer for at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), limit, overrun: false }
    }

    /// A buffer for at most `limit` bytes that has these already; the caller has checked that they fit.
    pub fn starting_with(bytes: Vec<u8>, limit: usize) -> Self {
        Self { bytes, limit, overrun: false }
    }

    /// Adds bytes. Beyond the limit, drops all bytes and fails on every later push as well: half a
    /// body cannot be judged.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), BodyTooLarge> {
        if self.overrun || bytes.len() > self.limit.saturating_sub(self.bytes.len()) {
            self.overrun = true;
            self.bytes = Vec::new();
            return Err(BodyTooLarge { limit: self.limit });
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// The bytes so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The number of bytes so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are no bytes so far.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Consumes the buffer and returns the body.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// A body is longer than [`ReadLimits::body`](crate::ReadLimits::body).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the response body is longer than {limit} bytes")]
pub struct BodyTooLarge {
    /// The limit that was exceeded.
    pub limit: usize,
}

/// How many bytes show the encoding: the longest byte order mark, or the first character of UTF-32.
const HEAD: usize = 4;

const BOM: &[u8] = b"\xef\xbb\xbf";

#[cfg(test)]
mod tests {
    use super::*;

    fn whole_of(forms: Framings, bytes: &[u8]) -> Option<Framing> {
        let mut sniffer = Sniffer::new(forms);
        sniffer.push(bytes).or(sniffer.finish())
    }

    fn whole(bytes: &[u8]) -> Option<Framing> {
        whole_of(Framings::Events, bytes)
    }

    #[test]
    fn first_byte_decides() {
        let table: &[(&[u8], Option<Framing>)] = &[
            (b"", None),
            (b" \r\n\t ", None),
            (b"\xef\xbb\xbf", None),
            (b"{}", Some(Framing::Body)),
            (b"[", Some(Framing::Body)),
            (b"  \n\n  [1]", Some(Framing::Body)),
            (b"\xef\xbb\xbf {\"a\":1}", Some(Framing::Body)),
            (b"data: {}\n\n", Some(Framing::Sse)),
            (b"\xef\xbb\xbfdata: {}\n\n", Some(Framing::Sse)),
            (b": hi", Some(Framing::Sse)),
            (b"\n\ndata: {}", Some(Framing::Sse)),
            (b"\"text\"", Some(Framing::Sse)),
            (b"\xef\xbb{}", Some(Framing::Sse)),
            (b"\xef {}", Some(Framing::Sse)),
            (b"\xef", Some(Framing::Sse)),
            (b"\xef\xbb\xbf\xef\xbb\xbf{}", Some(Framing::Sse)),
            (b"{\0\"\0", Some(Framing::Unreadable)),
            (b"\0{\0\"", Some(Framing::Unreadable)),
            (b"{\0\0\0\"\0\0\0", Some(Framing::Unreadable)),
            (b"\0\0\0{", Some(Framing::Unreadable)),
            (b"\n\0{\0", Some(Framing::Unreadable)),
            (b"\xff\xfe{\0", Some(Framing::Unreadable)),
            (b"\xfe\xff\0{", Some(Framing::Unreadable)),
        ];
        for (bytes, expected) in table {
            assert_eq!(whole(bytes), *expected, "{bytes:?}");
        }
    }

    #[test]
    fn each_api_has_its_forms() {
        let table: &[(Framings, &[u8], Framing)] = &[
            (Framings::EventsOrArray, b" [{}]", Framing::Array),
            (Framings::EventsOrArray, b"[", Framing::Array),
            (Framings::EventsOrArray, b"{\"a\":1}", Framing::Body),
            (Framings::EventsOrArray, b"data: {}", Framing::Sse),
            (Framings::EventsOrArray, b"[\0{\0", Framing::Unreadable),
            (Framings::Lines, b"{\"a\":1}\n{\"a\":2}\n", Framing::Lines),
            (Framings::Lines, b"{\"a\":\"}\"}  \r\n", Framing::Lines),
            (Framings::Lines, b"{\"a\":1}{\n", Framing::Lines),
            (Framings::Lines, b"\xef\xbb\xbf\n {\"a\":1}\n", Framing::Lines),
            (Framings::Lines, b"{\"a\":1}", Framing::Body),
            (Framings::Lines, b"{\n \"a\": 1\n}\n", Framing::Body),
            (Framings::Lines, b"{\"a\":{\n}}", Framing::Body),
            (Framings::Lines, b"[{}]\n", Framing::Body),
            (Framings::Lines, b"<html>", Framing::Lines),
            (Framings::Lines, b"{\0\n\0", Framing::Unreadable),
            (Framings::EventStream, b"\0\0\0\x10", Framing::EventStream),
            (Framings::EventStream, b"\x01\x40\0\0", Framing::EventStream),
            (Framings::EventStream, b"\0", Framing::EventStream),
            (Framings::EventStream, b" {\"message\":\"no\"}", Framing::Body),
            (Framings::EventStream, b"{\0\"\0", Framing::Unreadable),
            (Framings::EventStream, b"data: {}", Framing::Body),
        ];
        for (forms, bytes, expected) in table {
            assert_eq!(whole_of(*forms, bytes), Some(*expected), "{forms:?} {bytes:?}");
        }
    }

    #[test]
    fn splits_do_not_matter() {
        let bodies: [&[u8]; 8] = [
            b"\xef\xbb\xbf \n{\"a\":1}",
            b"\n\ndata: 1",
            b"{\0\"\0a\0",
            b"[1,2,3]",
            b"{\"a\":\"{\"}\n{}",
            b"{\"a\":\n{}}\n",
            b"\0\0\0\x20\0",
            b"<!doctype html>\n",
        ];
        for forms in
            [Framings::Events, Framings::Lines, Framings::EventsOrArray, Framings::EventStream]
        {
            for body in bodies {
                let expected = whole_of(forms, body);
                let mut sniffer = Sniffer::new(forms);
                let mut first = None;
                for byte in body {
                    let seen = sniffer.push(&[*byte]);
                    first = first.or(seen);
                    assert_eq!(seen, first, "an answer must not change: {body:?}");
                }
                assert_eq!(first.or(sniffer.finish()), expected, "{forms:?} {body:?}");
                for end in 0..body.len() {
                    if let Some(early) = Sniffer::new(forms).push(&body[..end]) {
                        assert_eq!(Some(early), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn body_limit_is_final() {
        let mut body = BodyBuffer::new(4);
        assert_eq!(body.push(b"1234"), Ok(()));
        assert_eq!(body.bytes(), b"1234");
        assert_eq!(body.push(b""), Ok(()));
        assert_eq!(body.push(b"5"), Err(BodyTooLarge { limit: 4 }));
        assert!(body.is_empty());
        assert_eq!(body.push(b"1"), Err(BodyTooLarge { limit: 4 }));
        assert_eq!(body.into_bytes(), b"");
    }
}
