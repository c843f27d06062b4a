//! How a stream formats its events, for events that the gate adds.

use crate::body::Framing;
use crate::frame::LineEnd;
use crate::line::split_lines;
use crate::message;

/// How the stream so far formats events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    framing: Framing,
    line_end: LineEnd,
    /// Events are chunks that contain those of another API.
    chunks: bool,
    array: ArrayState,
}

/// How much of a JSON array has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArrayState {
    Nothing,
    Opened,
    Elements,
    Closed,
}

impl Style {
    /// The usual style of a framing.
    pub fn default_of(framing: Framing) -> Self {
        Self { framing, line_end: LineEnd::Lf, chunks: false, array: ArrayState::Nothing }
    }

    pub(crate) fn of_frame(framing: Framing, line_end: LineEnd, chunks: bool) -> Self {
        Self { framing, line_end, chunks, array: ArrayState::Nothing }
    }

    /// Whether an event is one line of JSON.
    pub fn is_json_lines(&self) -> bool {
        self.framing == Framing::Lines
    }

    pub(crate) fn line_end(&self) -> LineEnd {
        self.line_end
    }

    /// Takes over the style of another frame of the same stream.
    #[inline]
    pub fn follow(&mut self, frame: Self) {
        self.line_end = frame.line_end;
        self.chunks |= frame.chunks;
    }

    /// Appends an event. If events have no names, the name is left out.
    pub fn event(&self, name: Option<&str>, data: &str, out: &mut Vec<u8>) {
        match self.framing {
            Framing::Lines => write_line(data.as_bytes(), self.line_end, out),
            Framing::Array => {
                out.push(b',');
                out.extend_from_slice(data.as_bytes());
            }
            Framing::EventStream if self.chunks => {
                message::write_own_chunk(data.as_bytes(), out);
            }
            Framing::EventStream => {
                let name = name.unwrap_or("event");
                message::write_own(message::AwsMessageKind::Event, name, data.as_bytes(), out);
            }
            Framing::Sse | Framing::Body | Framing::Unreadable => {
                let end = self.line_end.bytes();
                if let Some(name) = name {
                    for part in [b"event: ", name.as_bytes(), end] {
                        out.extend_from_slice(part);
                    }
                }
                for line in split_lines(data.as_bytes()) {
                    for part in [b"data: ", line, end] {
                        out.extend_from_slice(part);
                    }
                }
                out.extend_from_slice(end);
            }
        }
    }

    /// Appends a comment of one line, if the framing has comments.
    pub fn comment(&self, text: &str, out: &mut Vec<u8>) {
        if self.framing == Framing::Sse && !text.contains(['\n', '\r']) {
            let end = self.line_end.bytes();
            for part in [b": ", text.as_bytes(), end, end] {
                out.extend_from_slice(part);
            }
        }
    }

    /// Appends an event that reports a failure, and ends what must be ended.
    pub fn failure(&self, name: Option<&str>, data: &str, out: &mut Vec<u8>) {
        match self.framing {
            Framing::EventStream => {
                let name = name.unwrap_or("internalServerException");
                message::write_own(message::AwsMessageKind::Exception, name, data.as_bytes(), out);
            }
            _ => {
                self.event(name, data, out);
                self.end_stream(out);
            }
        }
    }

    /// Ends a stream early: an array needs its closing bracket.
    pub fn end_stream(&self, out: &mut Vec<u8>) {
        if self.framing == Framing::Array {
            out.push(b']');
        }
    }

    /// Ends an event that left without its end.
    pub fn end_event(&self, out: &mut Vec<u8>) {
        match self.framing {
            Framing::Sse => out.extend_from_slice(&self.line_end.bytes().repeat(2)),
            Framing::Lines => out.extend_from_slice(self.line_end.bytes()),
            Framing::Array | Framing::EventStream | Framing::Body | Framing::Unreadable => {}
        }
    }

    /// Joins what was appended since `start` to what has left before. Call it once whenever bytes
    /// are about to leave. Only an array needs it: frames overtake each other, are left out and are
    /// added, each with a comma before it, and one comma too many makes the array invalid.
    #[inline]
    pub fn join(&mut self, start: usize, out: &mut Vec<u8>) {
        if self.framing == Framing::Array && start < out.len() {
            self.join_array(start, out);
        }
    }

    fn join_array(&mut self, start: usize, out: &mut Vec<u8>) {
        if self.array == ArrayState::Closed {
            // Only white space can follow the end.
            if !out.get(start..).unwrap_or_default().trim_ascii().is_empty() {
                out.truncate(start);
            }
            return;
        }
        let mut at = next(out, start);
        if self.array == ArrayState::Nothing {
            match out.get_mut(at) {
                Some(byte @ b',') => {
                    *byte = b'[';
                    self.array = ArrayState::Elements;
                }
                Some(_) => {
                    self.array = ArrayState::Opened;
                    at = next(out, at + 1);
                }
                None => return,
            }
        }
        if self.array == ArrayState::Opened {
            match out.get(at) {
                Some(b',') => {
                    out.remove(at);
                    self.array = ArrayState::Elements;
                }
                Some(b']') | None => {}
                Some(_) => self.array = ArrayState::Elements,
            }
        }
        // Elements are objects: only the array itself ends with this bracket.
        if out.get(start..).unwrap_or_default().trim_ascii_end().ends_with(b"]") {
            self.array = ArrayState::Closed;
        }
    }
}

/// Appends a document as one line: characters that could be read as a line end are escaped. Real
/// line ends can only be between tokens, where a space means the same.
pub(crate) fn write_line(data: &[u8], end: LineEnd, out: &mut Vec<u8>) {
    for piece in data.utf8_chunks() {
        for char in piece.valid().chars() {
            match char {
                '\n' | '\r' => out.push(b' '),
                '\u{85}' => out.extend_from_slice(b"\\u0085"),
                '\u{2028}' => out.extend_from_slice(b"\\u2028"),
                '\u{2029}' => out.extend_from_slice(b"\\u2029"),
                _ => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        out.extend_from_slice(piece.invalid());
    }
    out.extend_from_slice(end.bytes());
}

/// The next offset at or after `at` that is not white space.
fn next(out: &[u8], at: usize) -> usize {
    let rest = out.get(at..).unwrap_or_default();
    at + rest.len() - rest.trim_ascii_start().len()
}
