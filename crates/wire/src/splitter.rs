//! Splits a stream into [`Frame`]s, in whatever pieces it arrives.
//!
//! The grammar of server-sent events is the WHATWG one, read the way the most lenient client reads
//! it, because everything that any client takes for data must be judged: see [`Frame::clean`].
//!
//! The frames never depend on how the input was split. The one hard case is CR at the end of the
//! input so far: it may be a line end itself or half of a CRLF, so the splitter waits for one more
//! byte, or for [`Splitter::finish`].

mod array;
mod lines;
mod messages;

use memchr::memchr2;
use thiserror::Error;

use crate::body::Framing;
use crate::frame::{ByteRange, Frame, FrameParts, LineEnd};
use crate::line::BOM;
use crate::nesting::Nesting;

/// Collects bytes and returns complete frames.
///
/// Push, then call [`Self::next_frame`] until it returns `None`; at the end of the stream, call
/// [`Self::finish`] until it returns `None`.
#[derive(Debug)]
pub struct Splitter {
    /// Input that was not returned yet, from `start` on. Bytes before that are spent.
    buf: Vec<u8>,
    /// Where the current frame starts in `buf`. Never beyond its end.
    start: usize,
    /// Where the current line starts, counted from `start`.
    line: usize,
    /// How far the current frame was searched for line ends, counted from `start`. Keeps a frame
    /// that arrives byte by byte from being searched over and over.
    scanned: usize,
    /// What is known from the lines before `line`.
    parts: FrameParts,
    /// How the frame before began. Nearly all frames of a stream have the same name.
    opening: Box<Opening>,
    /// The data of a frame that has several data lines, or that is encoded. Kept for reuse.
    joined: Vec<u8>,
    framing: Framing,
    /// Where in an array, and in an element of it, the input so far ends.
    place: array::ArrayPosition,
    nesting: Nesting,
    max_frame: usize,
    stage: SplitterState,
    had_bom: bool,
    /// Whether no message was truncated.
    whole: bool,
}

impl Splitter {
    /// A splitter that rejects frames longer than `max_frame` bytes.
    ///
    /// A framing that is not a stream is read as server-sent events.
    pub fn new(framing: Framing, max_frame: usize) -> Self {
        Self {
            buf: Vec::new(),
            start: 0,
            line: 0,
            scanned: 0,
            parts: FrameParts::new(framing),
            opening: Box::default(),
            joined: Vec::new(),
            framing,
            place: array::ArrayPosition::default(),
            nesting: Nesting::default(),
            max_frame,
            stage: SplitterState::Start,
            had_bom: false,
            whole: true,
        }
    }

    /// Adds input. After a [`FrameError`], it is dropped.
    pub fn push(&mut self, bytes: &[u8]) {
        if matches!(self.stage, SplitterState::Failed(_)) {
            return;
        }
        // Moves the rest to the front only when at least as much was spent, so that each byte is
        // moved once on average.
        if self.start >= self.buffered() {
            self.compact();
        }
        self.buf.extend_from_slice(bytes);
    }

    /// The next complete frame, or `None` if it has not arrived completely yet.
    ///
    /// A frame beyond the limit is a permanent error, and so is a broken one: the stream cannot be
    /// resumed after a frame that was not checked.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, FrameError> {
        let found = match self.stage {
            SplitterState::Failed(error) => return Err(error),
            SplitterState::Start => match self.skip_bom(MoreInput::MayCome) {
                true => self.scan(MoreInput::MayCome),
                false => Ok(None),
            },
            SplitterState::Running => self.scan(MoreInput::MayCome),
        };
        let found = match found {
            Ok(found) => found,
            Err(error) => return Err(self.fail(error)),
        };
        if found.unwrap_or_else(|| self.buffered()) > self.max_frame {
            return Err(self.fail(FrameError::TooLarge { limit: self.max_frame }));
        }
        match found {
            Some(len) => Ok(Some(self.take(len))),
            None => {
                self.shrink_buffer();
                Ok(None)
            }
        }
    }

    /// At the end of the stream: the rest. Usually that is one frame without its blank line; call
    /// it until it returns `None`. After a [`FrameError`] there is no rest.
    pub fn finish(&mut self) -> Option<Frame<'_>> {
        if self.stage == SplitterState::Start {
            self.skip_bom(MoreInput::None);
        }
        match self.scan(MoreInput::None) {
            Ok(Some(len)) => return Some(self.take(len)),
            Ok(None) => {}
            Err(error) => {
                self.fail(error);
                return None;
            }
        }
        let left = self.buffered();
        if left == 0 {
            return None;
        }
        match self.framing {
            Framing::Lines => self.note_line(left),
            Framing::Array => self.note_rest_of_array(left),
            Framing::EventStream => {
                self.whole = false;
                self.parts.not_clean();
            }
            Framing::Sse | Framing::Body | Framing::Unreadable if self.line < left => {
                let frame = self.buf.get(self.start..).unwrap_or_default();
                self.parts.add_line(
                    frame,
                    ByteRange { start: self.line, end: left },
                    &mut self.joined,
                );
            }
            Framing::Sse | Framing::Body | Framing::Unreadable => {}
        }
        Some(self.take(left))
    }

    /// Whether a stream that has ended is complete: the array was closed, the last message is
    /// complete. For streams of lines this is unknown.
    pub fn is_whole(&self) -> bool {
        match self.framing {
            Framing::Array => self.place == array::ArrayPosition::Closed,
            _ => self.whole,
        }
    }

    /// How many bytes were pushed but not returned.
    pub fn buffered(&self) -> usize {
        self.buf.len().saturating_sub(self.start)
    }

    /// Whether the stream began with a byte order mark, which is not part of any frame. Python
    /// clients fail on it, so it is best not forwarded.
    pub fn had_bom(&self) -> bool {
        self.had_bom
    }

    /// Searches for the end of the current frame; returns its length.
    #[inline]
    fn scan(&mut self, rest: MoreInput) -> Result<Option<usize>, FrameError> {
        match self.framing {
            Framing::Sse | Framing::Body | Framing::Unreadable => Ok(self.scan_events(rest)),
            Framing::Lines => Ok(self.scan_lines()),
            Framing::Array => self.scan_array(),
            Framing::EventStream => self.scan_messages(),
        }
    }

    fn scan_events(&mut self, rest: MoreInput) -> Option<usize> {
        let frame = self.buf.get(self.start..)?;
        if self.scanned == 0 && self.opening.begins(frame) {
            (self.parts, self.line) = (self.opening.parts, self.opening.line.len());
            self.scanned = self.line;
        }
        let mut seek = self.scanned;
        loop {
            let unseen = frame.get(seek..)?;
            // About every third line is blank: not worth a search.
            let found = match unseen {
                [b'\n' | b'\r', ..] => Some(0),
                _ => memchr2(b'\n', b'\r', unseen),
            };
            let Some(at) = found else {
                self.scanned = frame.len();
                return None;
            };
            let line = ByteRange { start: self.line, end: seek + at };
            let end = match unseen.get(at..)? {
                [b'\n', ..] => LineEnd::Lf,
                [b'\r', b'\n', ..] => LineEnd::CrLf,
                [b'\r'] if rest == MoreInput::MayCome => {
                    self.scanned = line.end;
                    return None;
                }
                _ => LineEnd::Cr,
            };
            seek = line.end + end.len();
            self.parts.note_line_end(end);
            if line.is_empty() {
                self.parts.terminate();
                return Some(seek);
            }
            self.parts.add_line(frame, line, &mut self.joined);
            if self.line == 0 && self.parts.is_only_name() {
                self.opening.remember(frame.get(..seek).unwrap_or_default(), self.parts);
            }
            self.line = seek;
        }
    }

    /// Returns the first `len` bytes and prepares for the next frame.
    fn take(&mut self, len: usize) -> Frame<'_> {
        let parts = std::mem::replace(&mut self.parts, FrameParts::new(self.framing));
        let start = self.start;
        self.start += len;
        self.line = 0;
        self.scanned = 0;
        Frame::new(self.buf.get(start..self.start).unwrap_or_default(), &self.joined, parts)
    }

    /// Determines whether there is a byte order mark; `false` while that is unknown.
    fn skip_bom(&mut self, rest: MoreInput) -> bool {
        if self.framing == Framing::EventStream {
            // Its first bytes are numbers.
        } else if self.buf.starts_with(BOM) {
            self.had_bom = true;
            self.start = BOM.len();
        } else if rest == MoreInput::MayCome && BOM.starts_with(&self.buf) {
            return false;
        }
        self.stage = SplitterState::Running;
        true
    }

    /// Frees memory that only one large piece needed, so that an idle stream holds little.
    fn shrink_buffer(&mut self) {
        if self.buffered() == 0 {
            self.compact();
        }
        if self.buf.capacity() > KEEP && self.buffered() <= KEEP / 2 {
            self.compact();
            self.buf.shrink_to(KEEP);
        }
        if self.joined.capacity() > KEEP && !self.parts.joins() {
            self.joined = Vec::new();
        }
    }

    fn compact(&mut self) {
        if self.start == self.buf.len() {
            self.buf.clear();
            self.start = 0;
        } else if self.start > 0 {
            self.buf.drain(..self.start);
            self.start = 0;
        }
    }

    #[cold]
    fn fail(&mut self, error: FrameError) -> FrameError {
        self.stage = SplitterState::Failed(error);
        self.buf = Vec::new();
        self.joined = Vec::new();
        self.start = 0;
        self.line = 0;
        self.scanned = 0;
        error
    }
}

/// The first line of a frame, with its end, and what it says: a name. The same bytes at the start of
/// another frame say the same.
#[derive(Debug)]
struct Opening {
    /// Empty until a frame begins with a short name.
    line: Vec<u8>,
    parts: FrameParts,
}

impl Default for Opening {
    fn default() -> Self {
        Self { line: Vec::new(), parts: FrameParts::new(Framing::Sse) }
    }
}

impl Opening {
    fn begins(&self, frame: &[u8]) -> bool {
        !self.line.is_empty() && frame.starts_with(&self.line)
    }

    fn remember(&mut self, line: &[u8], parts: FrameParts) {
        if line.len() <= MAX_OPENING && line.ends_with(b"\n") {
            self.line.clear();
            self.line.extend_from_slice(line);
            self.parts = parts;
        }
    }
}

/// Longer than the names of events.
const MAX_OPENING: usize = 64;

/// A stream that cannot be read any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// An event is longer than [`ReadLimits::frame`](crate::ReadLimits::frame).
    #[error("an event of the stream is longer than {limit} bytes")]
    TooLarge {
        /// The limit that was exceeded.
        limit: usize,
    },
    /// It does not follow its framing.
    #[error("the stream is broken: {0}")]
    Broken(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SplitterState {
    /// A byte order mark may still come.
    Start,
    Running,
    Failed(FrameError),
}

/// Whether more input may follow what is buffered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MoreInput {
    MayCome,
    None,
}

/// The buffer size that is kept between frames: a few network reads.
const KEEP: usize = 64 * 1024;

#[cfg(test)]
mod tests;
