//! AWS event stream messages. Both checksums are verified, as clients do; a message with a wrong
//! one ends the stream, because the beginning of the next message cannot be trusted.

use super::{FrameError, Splitter};
use crate::message::{self, PRELUDE};

impl Splitter {
    /// Searches for the end of the current message; returns its length.
    pub(super) fn scan_messages(&mut self) -> Result<Option<usize>, FrameError> {
        let frame = self.buf.get(self.start..).unwrap_or_default();
        let Some(prelude) = frame.first_chunk::<PRELUDE>() else { return Ok(None) };
        let total = message::total(prelude).map_err(FrameError::Broken)?;
        if total > self.max_frame {
            return Err(FrameError::TooLarge { limit: self.max_frame });
        }
        let Some(whole) = frame.get(..total) else { return Ok(None) };
        let read = message::read(whole, &mut self.joined).map_err(FrameError::Broken)?;
        self.parts.set_message(&read);
        self.parts.terminate();
        Ok(Some(total))
    }
}
