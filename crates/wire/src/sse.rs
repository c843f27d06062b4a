//! Server-sent events: cuts a stream into [`Frame`]s, whatever pieces it arrives in.
//!
//! The grammar is the WHATWG one, read the way the most lenient client reads it, since what any
//! client takes for data must be judged: see [`Frame::clean`].
//!
//! Which frames come out never depends on how the input was cut. The one hard spot is CR at the
//! end of the input so far: it may be a line end of its own or half of a CRLF, so the splitter
//! waits for one more byte, or for [`Splitter::finish`].

use memchr::memchr2;
use thiserror::Error;

use crate::frame::{Frame, LineEnd, Parts, Span};
use crate::line::BOM;

/// Collects bytes and hands out whole frames.
///
/// Push, then call [`Self::next_frame`] until it gives `None`; at the end of the stream, call
/// [`Self::finish`] until it gives `None`.
#[derive(Debug)]
pub struct Splitter {
    /// Input not yet handed out, from `start` on. Bytes before that are spent.
    buf: Vec<u8>,
    /// Where the current frame starts in `buf`. Never past its end.
    start: usize,
    /// Where the current line starts, counted from `start`.
    line: usize,
    /// Up to where the current frame has no unseen line end, counted from `start`. Keeps a frame
    /// that arrives byte by byte from being searched over and over.
    scanned: usize,
    /// What the lines before `line` said.
    parts: Parts,
    /// The data of a frame that has several data lines. Kept to be used again.
    joined: Vec<u8>,
    max_frame: usize,
    stage: Stage,
    had_bom: bool,
}

impl Splitter {
    /// A splitter that refuses frames longer than `max_frame` bytes.
    pub fn new(max_frame: usize) -> Self {
        Self {
            buf: Vec::new(),
            start: 0,
            line: 0,
            scanned: 0,
            parts: Parts::new(),
            joined: Vec::new(),
            max_frame,
            stage: Stage::Start,
            had_bom: false,
        }
    }

    /// Adds input. After a [`FrameTooLarge`], it is thrown away.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.stage == Stage::Failed {
            return;
        }
        // Move what is left to the front only when at least as much was spent, so that each byte is
        // moved once on average.
        if self.start >= self.buffered() {
            self.compact();
        }
        self.buf.extend_from_slice(bytes);
    }

    /// The next whole frame, or `None` if it has not all come yet.
    ///
    /// A frame past the limit is an error now and for good: the stream cannot be picked up behind
    /// a frame nobody looked at.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, FrameTooLarge> {
        let found = match self.stage {
            Stage::Failed => return Err(self.too_large()),
            Stage::Start => self.skip_bom(Rest::MayCome).then(|| self.scan(Rest::MayCome)),
            Stage::Running => Some(self.scan(Rest::MayCome)),
        };
        let found = found.flatten();
        if found.unwrap_or_else(|| self.buffered()) > self.max_frame {
            return Err(self.fail());
        }
        match found {
            Some(len) => Ok(Some(self.take(len))),
            None => {
                self.relax();
                Ok(None)
            }
        }
    }

    /// At the end of the stream: what is left. Usually that is one frame without its blank line;
    /// call it until it gives `None`. After a [`FrameTooLarge`] nothing is left.
    pub fn finish(&mut self) -> Option<Frame<'_>> {
        if self.stage == Stage::Start {
            self.skip_bom(Rest::None);
        }
        if let Some(len) = self.scan(Rest::None) {
            return Some(self.take(len));
        }
        let left = self.buffered();
        if left == 0 {
            return None;
        }
        if self.line < left {
            let frame = self.buf.get(self.start..).unwrap_or_default();
            self.parts.line(frame, Span { start: self.line, end: left }, &mut self.joined);
        }
        Some(self.take(left))
    }

    /// How many bytes were pushed but not handed out.
    pub fn buffered(&self) -> usize {
        self.buf.len().saturating_sub(self.start)
    }

    /// Whether the stream began with a byte order mark, which no frame includes. Python clients
    /// choke on it, so it is best not forwarded.
    pub fn had_bom(&self) -> bool {
        self.had_bom
    }

    /// Looks for the end of the current frame; gives its length.
    fn scan(&mut self, rest: Rest) -> Option<usize> {
        let frame = self.buf.get(self.start..)?;
        let mut seek = self.scanned;
        loop {
            let unseen = frame.get(seek..)?;
            // Blank lines are every third or so: not worth a search.
            let found = match unseen {
                [b'\n' | b'\r', ..] => Some(0),
                _ => memchr2(b'\n', b'\r', unseen),
            };
            let Some(at) = found else {
                self.scanned = frame.len();
                return None;
            };
            let line = Span { start: self.line, end: seek + at };
            let end = match unseen.get(at..)? {
                [b'\n', ..] => LineEnd::Lf,
                [b'\r', b'\n', ..] => LineEnd::CrLf,
                [b'\r'] if rest == Rest::MayCome => {
                    self.scanned = line.end;
                    return None;
                }
                _ => LineEnd::Cr,
            };
            seek = line.end + end.len();
            self.parts.line_end(end);
            if line.is_empty() {
                self.parts.terminate();
                return Some(seek);
            }
            self.parts.line(frame, line, &mut self.joined);
            self.line = seek;
        }
    }

    /// Hands out the first `len` bytes and gets ready for the frame behind them.
    fn take(&mut self, len: usize) -> Frame<'_> {
        let parts = std::mem::replace(&mut self.parts, Parts::new());
        let start = self.start;
        self.start += len;
        self.line = 0;
        self.scanned = 0;
        Frame::new(self.buf.get(start..self.start).unwrap_or_default(), &self.joined, parts)
    }

    /// Settles whether there is a byte order mark; `false` while that cannot be told.
    fn skip_bom(&mut self, rest: Rest) -> bool {
        if self.buf.starts_with(BOM) {
            self.had_bom = true;
            self.start = BOM.len();
        } else if rest == Rest::MayCome && BOM.starts_with(&self.buf) {
            return false;
        }
        self.stage = Stage::Running;
        true
    }

    /// Gives back memory that only one large piece needed, so that an idle stream holds little.
    fn relax(&mut self) {
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

    fn fail(&mut self) -> FrameTooLarge {
        self.stage = Stage::Failed;
        self.buf = Vec::new();
        self.joined = Vec::new();
        self.start = 0;
        self.line = 0;
        self.scanned = 0;
        self.too_large()
    }

    fn too_large(&self) -> FrameTooLarge {
        FrameTooLarge { limit: self.max_frame }
    }
}

/// An event is longer than [`Limits::frame`](crate::Limits::frame).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("an event of the stream is longer than {limit} bytes")]
pub struct FrameTooLarge {
    /// The limit it ran into.
    pub limit: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// A byte order mark may still show up.
    Start,
    Running,
    Failed,
}

/// Whether more input may follow what is buffered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    MayCome,
    None,
}

/// Buffer kept between frames: a few network reads' worth.
const KEEP: usize = 64 * 1024;

#[cfg(test)]
mod tests;
