//! One JSON document per line.
//!
//! A line ends with LF, or CRLF. Python's `splitlines`, which clients use, also splits at CR alone
//! and at characters that JSON allows raw in a string: such a line is not clean. A blank line is
//! not clean either, because clients fail on it.

use memchr::memchr;

use super::Splitter;
use crate::frame::{ByteRange, LineEnd};
use crate::line::has_stray_separator;

impl Splitter {
    /// Searches for the end of the current line; returns its length.
    pub(super) fn scan_lines(&mut self) -> Option<usize> {
        let frame = self.buf.get(self.start..)?;
        let Some(at) = memchr(b'\n', frame.get(self.scanned..)?) else {
            self.scanned = frame.len();
            return None;
        };
        let end = self.scanned + at;
        let (end, line_end) = match frame.get(..end)? {
            [text @ .., b'\r'] => (text.len(), LineEnd::CrLf),
            text => (text.len(), LineEnd::Lf),
        };
        self.parts.note_line_end(line_end);
        self.parts.terminate();
        self.note_line(end);
        Some(end + line_end.len())
    }

    /// Sets the first `end` bytes as the line's text.
    pub(super) fn note_line(&mut self, end: usize) {
        let text = self.buf.get(self.start..).and_then(|frame| frame.get(..end));
        let text = text.unwrap_or_default();
        let blank = text.trim_ascii().is_empty();
        if !blank {
            self.parts.set_data(ByteRange { start: 0, end });
        }
        if blank || memchr(b'\r', text).is_some() || has_stray_separator(text) {
            self.parts.not_clean();
        }
    }
}
