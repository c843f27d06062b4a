//! Splits bytes into lines, within a limit.

use memchr::memchr;

/// Splits incoming bytes into lines.
#[derive(Debug)]
pub(crate) struct LineSplitter {
    buffer: Vec<u8>,
    /// There is no line end before this position.
    searched: usize,
    /// The maximum length of a line.
    limit: usize,
    /// The current line is too long: only its start is kept.
    skipping: bool,
}

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SplitLine {
    /// Including its line end.
    Whole(Vec<u8>),
    /// Longer than the limit. This is its start.
    TooLarge(Vec<u8>),
}

impl LineSplitter {
    /// How much of an oversized line is kept: enough to find the id in most.
    const HEAD: usize = 64 * 1024;

    pub(crate) fn new(limit: usize) -> Self {
        Self { buffer: Vec::new(), searched: 0, limit, skipping: false }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete line.
    pub(crate) fn next_line(&mut self) -> Option<SplitLine> {
        let unread = self.buffer.get(self.searched..).unwrap_or(&[]);
        match memchr(b'\n', unread) {
            Some(at) => Some(self.take(self.searched + at + 1)),
            None => {
                self.searched = self.buffer.len();
                if self.skipping || self.buffer.len() > self.limit {
                    self.skipping = true;
                    self.buffer.truncate(Self::HEAD);
                    self.buffer.shrink_to(Self::HEAD);
                    self.searched = self.buffer.len();
                }
                None
            }
        }
    }

    /// The rest after the last line end, once no more bytes follow.
    pub(crate) fn finish(&mut self) -> Option<SplitLine> {
        (!self.buffer.is_empty()).then(|| self.take(self.buffer.len()))
    }

    fn take(&mut self, end: usize) -> SplitLine {
        let rest = self.buffer.split_off(end.min(self.buffer.len()));
        let mut line = std::mem::replace(&mut self.buffer, rest);
        self.searched = 0;
        if std::mem::take(&mut self.skipping) || line.len() > self.limit {
            line.truncate(Self::HEAD);
            return SplitLine::TooLarge(line);
        }
        SplitLine::Whole(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All lines of a text that arrives in pieces of `size`.
    fn lines(text: &[u8], size: usize, limit: usize) -> Vec<SplitLine> {
        let (mut lines, mut found) = (LineSplitter::new(limit), Vec::new());
        for piece in text.chunks(size) {
            lines.push(piece);
            while let Some(line) = lines.next_line() {
                found.push(line);
            }
        }
        found.extend(lines.finish());
        found
    }

    #[test]
    fn every_cut_gives_the_same_lines() {
        let text = b"one\n\ntwo and more\r\nlast";
        let whole = |text: &[u8]| SplitLine::Whole(text.to_vec());
        let expected = [whole(b"one\n"), whole(b"\n"), whole(b"two and more\r\n"), whole(b"last")];
        for size in 1..=text.len() {
            assert_eq!(lines(text, size, 100), expected, "{size}");
        }
    }

    #[test]
    fn a_line_beyond_the_limit_is_skipped_and_the_next_is_read() {
        let mut text = vec![b'x'; 200_000];
        text.extend_from_slice(b"\nnext\n");
        for size in [1, 7, 1000, text.len()] {
            let found = lines(&text, size, 100_000);
            assert_eq!(found.len(), 2, "{size}");
            assert!(
                matches!(&found[0], SplitLine::TooLarge(head) if head.len() == LineSplitter::HEAD)
            );
            assert_eq!(found[1], SplitLine::Whole(b"next\n".to_vec()));
        }
    }

    #[test]
    fn skipped_bytes_are_not_kept() {
        let mut lines = LineSplitter::new(100);
        for _ in 0..1000 {
            lines.push(&[b'x'; 1000]);
            assert_eq!(lines.next_line(), None);
            assert!(lines.buffer.capacity() < 2 * LineSplitter::HEAD + 2000);
        }
    }
}
