//! One JSON array, split into its elements.
//!
//! The opening bracket is a separate frame, and so is the closing one; an element's frame begins
//! with the separator before it. Only objects are elements, and only white space and one comma may
//! separate them: anything else breaks the stream.

use super::{FrameError, Splitter};
use crate::frame::ByteRange;
use crate::nesting::Nesting;

/// Where in the array the splitter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum ArrayPosition {
    /// Before the array.
    #[default]
    Before,
    /// After the opening bracket.
    Opened,
    /// In an element.
    Element,
    /// After an element.
    AfterElement,
    /// After a comma.
    AfterComma,
    /// After the closing bracket.
    Closed,
}

impl Splitter {
    /// Searches for the end of the current element or bracket; returns the frame's length.
    pub(super) fn scan_array(&mut self) -> Result<Option<usize>, FrameError> {
        loop {
            let frame = self.buf.get(self.start..).unwrap_or_default();
            let rest = frame.get(self.scanned..).unwrap_or_default();
            if self.place == ArrayPosition::Element {
                let Some(end) = self.nesting.close(rest) else {
                    self.scanned = frame.len();
                    return Ok(None);
                };
                let end = self.scanned + end;
                self.place = ArrayPosition::AfterElement;
                self.parts.set_data(ByteRange { start: self.line, end });
                self.parts.terminate();
                return Ok(Some(end));
            }
            let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
            let blank = rest.iter().take_while(is_blank).count();
            let at = self.scanned + blank;
            self.scanned = at;
            let Some(byte) = frame.get(at) else { return Ok(None) };
            match (self.place, byte) {
                (ArrayPosition::Before, b'[') => self.place = ArrayPosition::Opened,
                (ArrayPosition::Opened | ArrayPosition::AfterElement, b']') => {
                    self.place = ArrayPosition::Closed
                }
                (ArrayPosition::AfterElement, b',') => {
                    self.place = ArrayPosition::AfterComma;
                    self.scanned += 1;
                    continue;
                }
                (ArrayPosition::Opened | ArrayPosition::AfterComma, b'{') => {
                    if self.place == ArrayPosition::Opened {
                        self.parts.no_separator();
                    }
                    self.place = ArrayPosition::Element;
                    self.nesting = Nesting::default();
                    self.line = at;
                    continue;
                }
                (ArrayPosition::Before, _) => return Err(FrameError::Broken("it is not an array")),
                (ArrayPosition::Closed, _) => {
                    return Err(FrameError::Broken("there is data after the array"));
                }
                _ => return Err(FrameError::Broken("there is data between the elements")),
            }
            self.parts.terminate();
            return Ok(Some(at + 1));
        }
    }

    /// Sets the data of what is left at the end of the stream.
    pub(super) fn note_rest_of_array(&mut self, left: usize) {
        match self.place {
            ArrayPosition::Element => {
                self.parts.set_data(ByteRange { start: self.line, end: left })
            }
            ArrayPosition::Closed => {}
            _ => self.parts.not_clean(),
        }
    }
}
