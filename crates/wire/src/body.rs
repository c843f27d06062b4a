//! Answers that are not a stream: telling them apart by their bytes, and holding them whole.
//!
//! Clients ignore `Content-Type` and read what they get, so the gate goes by the bytes too.

use thiserror::Error;

/// How an answer has to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events: feed a [`Splitter`](crate::Splitter).
    Sse,
    /// One JSON document: feed a [`BodyBuffer`].
    Body,
    /// UTF-16 or UTF-32. Some Python clients read such JSON; the gate does not, so the answer must
    /// be refused rather than passed.
    Unreadable,
}

/// The forms in which the answers of an API come. Which of them one has is told by its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forms {
    /// Server-sent events, or one JSON document.
    Events,
}

/// Looks at the first bytes of an answer that may still grow.
///
/// `None` means more bytes are needed. Use a [`Sniffer`] where the answer may end early: only it
/// can be told so.
pub fn sniff(prefix: &[u8]) -> Option<Framing> {
    Sniffer::new().push(prefix)
}

/// [`sniff`], fed piece by piece. The verdict does not depend on how the bytes were cut.
#[derive(Clone, Debug, Default)]
pub struct Sniffer {
    /// The first bytes; an encoding shows itself there or nowhere.
    head: [u8; HEAD],
    /// How many bytes of `head` are filled.
    seen: usize,
    /// The first byte that is neither byte order mark nor white space.
    first: Option<u8>,
}

impl Sniffer {
    /// A sniffer that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes. Once it has answered, it keeps its answer.
    pub fn push(&mut self, bytes: &[u8]) -> Option<Framing> {
        for &byte in bytes {
            if self.seen == HEAD && self.first.is_some() {
                break;
            }
            self.take(byte);
        }
        if self.seen < HEAD { None } else { self.judge() }
    }

    /// The answer when nothing more will come. `None`: there was nothing but white space.
    pub fn finish(&self) -> Option<Framing> {
        self.judge()
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
        // `head` left a mark half way: the mark was text after all, and its first byte counts.
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

    fn judge(&self) -> Option<Framing> {
        let head = self.head.get(..self.seen).unwrap_or_default();
        if head.contains(&0) || head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
            return Some(Framing::Unreadable);
        }
        match self.first {
            Some(b'{' | b'[') => Some(Framing::Body),
            Some(_) => Some(Framing::Sse),
            None if (1..BOM.len()).contains(&self.seen) && self.in_mark() => Some(Framing::Sse),
            None => None,
        }
    }
}

/// A body held whole, up to a limit.
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

    /// Adds bytes. Past the limit everything held is dropped, and every later push fails as well:
    /// half a body cannot be judged.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), BodyTooLarge> {
        if self.overrun || bytes.len() > self.limit.saturating_sub(self.bytes.len()) {
            self.overrun = true;
            self.bytes = Vec::new();
            return Err(BodyTooLarge { limit: self.limit });
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// What has come so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How much has come so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing has come so far.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Gives the body away.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// A body is longer than [`Limits::body`](crate::Limits::body).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the answer's body is longer than {limit} bytes")]
pub struct BodyTooLarge {
    /// The limit it ran into.
    pub limit: usize,
}

/// Bytes that settle the encoding: the longest byte order mark, and the first character of UTF-32.
const HEAD: usize = 4;

const BOM: &[u8] = b"\xef\xbb\xbf";

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(bytes: &[u8]) -> Option<Framing> {
        let mut sniffer = Sniffer::new();
        sniffer.push(bytes).or(sniffer.finish())
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
    fn cuts_do_not_matter() {
        for body in [&b"\xef\xbb\xbf \n{\"a\":1}"[..], b"\n\ndata: 1", b"{\0\"\0a\0", b"[1,2,3]"] {
            let expected = whole(body);
            let mut sniffer = Sniffer::new();
            let mut first = None;
            for byte in body {
                let seen = sniffer.push(&[*byte]);
                first = first.or(seen);
                assert_eq!(seen, first, "an answer must not change: {body:?}");
            }
            assert_eq!(first, expected);
            for end in 0..body.len() {
                if let Some(early) = sniff(&body[..end]) {
                    assert_eq!(Some(early), expected);
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
