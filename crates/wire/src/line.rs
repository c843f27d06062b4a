//! One line of an event stream: its field, and where its value starts.

use memchr::memchr2;

/// The field of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SseField {
    Data,
    Event,
    Id,
    Retry,
    Comment,
    /// No field of the grammar. Clients skip the line, or guess.
    Unknown,
}

/// A parsed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SseLine {
    pub(crate) field: SseField,
    /// The length of the byte order marks before the field name. Node clients drop them and read
    /// on.
    pub(crate) mark: usize,
    /// Where the value starts, counted from the start of the line.
    pub(crate) value: usize,
}

impl SseLine {
    /// Parses a line without its line end. The line must not be empty.
    pub(crate) fn read(line: &[u8]) -> Self {
        let rest = if line.first() == BOM.first() { after_marks(line) } else { line };
        let mark = line.len() - rest.len();
        let (field, value) = match rest {
            [b'd', b'a', b't', b'a', rest @ ..] => split(SseField::Data, 4, rest),
            [b'e', b'v', b'e', b'n', b't', rest @ ..] => split(SseField::Event, 5, rest),
            [b':', ..] => (SseField::Comment, 1),
            [b'i', b'd', rest @ ..] => split(SseField::Id, 2, rest),
            [b'r', b'e', b't', b'r', b'y', rest @ ..] => split(SseField::Retry, 5, rest),
            _ => (SseField::Unknown, 0),
        };
        Self { field, mark, value: mark + value }
    }

    /// Whether some client reads this line differently from the grammar.
    ///
    /// Data is exempt from the check for stray separators: there they are ordinary text.
    pub(crate) fn is_ambiguous(&self, line: &[u8]) -> bool {
        self.mark > 0
            || match self.field {
                SseField::Data => false,
                SseField::Unknown => true,
                _ => has_stray_separator(line),
            }
    }
}

/// Splits text into lines at LF, CRLF or CR; each line comes without its end. The last one may be
/// empty: a text that ends in a line end has an empty line after it.
pub(crate) fn split_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let Some(at) = memchr2(b'\n', b'\r', text) else {
            return Some(text);
        };
        let (line, end) = text.split_at_checked(at)?;
        rest = match end {
            [b'\r', b'\n', behind @ ..] | [_, behind @ ..] => Some(behind),
            [] => None,
        };
        Some(line)
    })
}

/// Whether Python's `str.splitlines`, which some clients use, would split this line: in this way a
/// comment could hide a data line from all other clients.
pub(crate) fn has_stray_separator(line: &[u8]) -> bool {
    !is_plain(line) && has_rare_separator(line)
}

/// Whether all bytes are ASCII and none is a control character below the space. Nearly every line
/// and every event name is, so checking eight bytes at once pays off.
fn is_plain(line: &[u8]) -> bool {
    let Some(last) = line.last_chunk() else {
        return line.iter().all(|byte| matches!(byte, b' '..=0x7f));
    };
    // A byte below the space borrows into its top bit.
    let plain = |eight: &[u8; 8]| {
        let word = u64::from_ne_bytes(*eight);
        (word | word.wrapping_sub(EACH * 0x20)) & (EACH * 0x80) == 0
    };
    // The last eight overlap those before them, which costs less than going byte by byte.
    let (eights, _) = line.as_chunks();
    plain(last) && eights.iter().all(plain)
}

/// Multiplying a byte by this repeats it eight times.
const EACH: u64 = u64::MAX / 0xff;

#[cold]
fn has_rare_separator(line: &[u8]) -> bool {
    let starts = |at: usize, text: &str| {
        line.get(at..).is_some_and(|rest| rest.starts_with(text.as_bytes()))
    };
    line.iter().enumerate().any(|(at, byte)| match byte {
        0x0b | 0x0c | 0x1c..=0x1e => true,
        0xc2 => starts(at, "\u{85}"),
        0xe2 => starts(at, "\u{2028}") || starts(at, "\u{2029}"),
        _ => false,
    })
}

#[cold]
fn after_marks(mut line: &[u8]) -> &[u8] {
    while let Some(behind) = line.strip_prefix(BOM) {
        line = behind;
    }
    line
}

/// U+FEFF in UTF-8.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

fn split(field: SseField, name: usize, rest: &[u8]) -> (SseField, usize) {
    match rest {
        [] => (field, name),
        [b':', b' ', ..] => (field, name + 2),
        [b':', ..] => (field, name + 1),
        _ => (SseField::Unknown, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        let table: &[(&str, SseField, &str)] = &[
            ("data: x", SseField::Data, "x"),
            ("data:x", SseField::Data, "x"),
            ("data:  x", SseField::Data, " x"),
            ("data:", SseField::Data, ""),
            ("data: ", SseField::Data, ""),
            ("data", SseField::Data, ""),
            ("data:\tx", SseField::Data, "\tx"),
            ("event: ping", SseField::Event, "ping"),
            ("event", SseField::Event, ""),
            ("id: 1", SseField::Id, "1"),
            ("retry:10", SseField::Retry, "10"),
            (": hello", SseField::Comment, " hello"),
            (":", SseField::Comment, ""),
            ("\u{feff}data: x", SseField::Data, "x"),
            ("\u{feff}\u{feff}event:x", SseField::Event, "x"),
            ("Data: x", SseField::Unknown, "Data: x"),
            ("data : x", SseField::Unknown, "data : x"),
            (" data: x", SseField::Unknown, " data: x"),
            ("database: x", SseField::Unknown, "database: x"),
            ("events", SseField::Unknown, "events"),
            ("{\"a\":1}", SseField::Unknown, "{\"a\":1}"),
        ];
        for (text, field, value) in table {
            let line = SseLine::read(text.as_bytes());
            assert_eq!((line.field, &text[line.value..]), (*field, *value), "{text:?}");
        }
    }

    #[test]
    fn ambiguous_lines() {
        for text in [
            "\u{feff}data: x",
            "\u{feff}",
            "nonsense",
            "{}",
            ": a\u{2028}data: x",
            ": a\u{2029}data: x",
            ": a\u{85}data: x",
            ": a\u{b}data: x",
            "event: a\u{c}data: x",
            "id: a\u{1e}data: x",
        ] {
            assert!(SseLine::read(text.as_bytes()).is_ambiguous(text.as_bytes()), "{text:?}");
        }
        for text in ["data: a\u{2028}b", ": grüße", "event: ping", "id:1", "retry"] {
            assert!(!SseLine::read(text.as_bytes()).is_ambiguous(text.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn plain() {
        for len in 0..40 {
            let mut line = vec![b'a'; len];
            assert!(is_plain(&line));
            for at in 0..len {
                for byte in 0..=0xff {
                    line[at] = byte;
                    assert_eq!(is_plain(&line), (0x20..0x80).contains(&byte), "{line:?}");
                }
                line[at] = b' ';
            }
        }
    }

    #[test]
    fn lines() {
        let cut = |text: &'static str| {
            split_lines(text.as_bytes())
                .map(|line| str::from_utf8(line).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(cut("a\nb\r\nc\rd"), ["a", "b", "c", "d"]);
        assert_eq!(cut("a\n\r\r\n"), ["a", "", "", ""]);
        assert_eq!(cut(""), [""]);
    }
}
