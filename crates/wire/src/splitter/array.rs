//! One JSON array, handed out element by element.
//!
//! The bracket that opens it is a frame of its own, and so is the one that closes it; an element's
//! frame begins with what separates it from the one before. Only objects are elements, and nothing
//! but white space and one comma stands between them: everything else breaks the stream.

use super::{FrameError, Splitter};
use crate::frame::Span;
use crate::nesting::Nesting;

/// Where in the array the splitter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Place {
    /// It has not begun.
    #[default]
    Before,
    /// Behind the opening bracket.
    Opened,
    /// In an element.
    Element,
    /// Behind an element.
    Behind,
    /// Behind a comma.
    Separated,
    /// Behind the closing bracket.
    Closed,
}

impl Splitter {
    /// Looks for the end of the current element or bracket; gives the frame's length.
    pub(super) fn scan_array(&mut self) -> Result<Option<usize>, FrameError> {
        loop {
            let frame = self.buf.get(self.start..).unwrap_or_default();
            let rest = frame.get(self.scanned..).unwrap_or_default();
            if self.place == Place::Element {
                let Some(end) = self.nesting.close(rest) else {
                    self.scanned = frame.len();
                    return Ok(None);
                };
                let end = self.scanned + end;
                self.place = Place::Behind;
                self.parts.data(Span { start: self.line, end });
                self.parts.terminate();
                return Ok(Some(end));
            }
            let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
            let blank = rest.iter().take_while(is_blank).count();
            let at = self.scanned + blank;
            self.scanned = at;
            let Some(byte) = frame.get(at) else { return Ok(None) };
            match (self.place, byte) {
                (Place::Before, b'[') => self.place = Place::Opened,
                (Place::Opened | Place::Behind, b']') => self.place = Place::Closed,
                (Place::Behind, b',') => {
                    self.place = Place::Separated;
                    self.scanned += 1;
                    continue;
                }
                (Place::Opened | Place::Separated, b'{') => {
                    if self.place == Place::Opened {
                        self.parts.no_separator();
                    }
                    self.place = Place::Element;
                    self.nesting = Nesting::default();
                    self.line = at;
                    continue;
                }
                (Place::Before, _) => return Err(FrameError::Broken("it is no array")),
                (Place::Closed, _) => {
                    return Err(FrameError::Broken("something stands behind the array"));
                }
                _ => return Err(FrameError::Broken("something stands between the elements")),
            }
            self.parts.terminate();
            return Ok(Some(at + 1));
        }
    }

    /// Notes what is left at the end of the stream.
    pub(super) fn note_rest_of_array(&mut self, left: usize) {
        match self.place {
            Place::Element => self.parts.data(Span { start: self.line, end: left }),
            Place::Closed => {}
            _ => self.parts.not_clean(),
        }
    }
}
