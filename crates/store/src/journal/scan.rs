//! Reads a segment frame by frame.

use std::io;
use std::sync::Arc;

use super::frame::{self, JournalFrame, MAGIC, NoFrame, RecordFrame};
use super::header::SegmentHeader;
use super::volume::Segment;

/// Reads one frame after the other. Memory does not grow with the segment.
#[derive(Debug)]
pub(super) struct Scan {
    segment: Arc<dyn Segment>,
    buffer: Vec<u8>,
    /// The offset of the next frame in the buffer.
    from: usize,
    /// The offset of the buffer in the segment.
    offset: u64,
    /// The size of one read.
    chunk: usize,
}

/// What is at a place in a segment.
#[derive(Debug)]
pub(super) enum Next<'a> {
    /// A record, with its first byte and the byte after its last one.
    Record(RecordFrame<'a>, u64, u64),
    /// The end of the segment.
    End,
    /// Not a frame, or only part of one.
    Broken(&'static str),
}

impl Scan {
    /// Starts at this offset, which must be the beginning of a record.
    pub(super) fn from(segment: Arc<dyn Segment>, offset: u64) -> Self {
        Self { segment, buffer: Vec::new(), from: 0, offset, chunk: CHUNK }
    }

    /// Like [`Self::from`], for one record and with a small buffer because most records are short.
    pub(super) fn one(segment: Arc<dyn Segment>, offset: u64) -> Self {
        Self { chunk: SMALL_CHUNK, ..Self::from(segment, offset) }
    }

    /// Reads the header of a segment; `None` if it has none. The scan continues after it.
    pub(super) fn with_header(
        segment: Arc<dyn Segment>,
    ) -> io::Result<Option<(SegmentHeader, Self)>> {
        let mut scan = Self::from(segment, 0);
        scan.fill(MAGIC.len())?;
        if !scan.rest().starts_with(MAGIC) {
            return Ok(None);
        }
        scan.from += MAGIC.len();
        if scan.load()?.is_err() {
            return Ok(None);
        }
        let Ok((JournalFrame::Header(header), long)) = frame::read(scan.rest()) else {
            return Ok(None);
        };
        scan.from += long;
        Ok(Some((header, scan)))
    }

    /// Continues at another offset, which must be the beginning of a record.
    pub(super) fn skip_to(&mut self, offset: u64) {
        (self.offset, self.from) = (offset, 0);
        self.buffer.clear();
    }

    /// The offset of the next frame in the segment.
    pub(super) fn place(&self) -> u64 {
        self.offset + self.from as u64
    }

    /// The next record.
    pub(super) fn next(&mut self) -> io::Result<Next<'_>> {
        let place = self.place();
        let long = match self.load()? {
            Ok(long) => long,
            Err(NoFrame::Short(_)) if self.rest().is_empty() => return Ok(Next::End),
            Err(NoFrame::Short(_)) => return Ok(Next::Broken("it is truncated")),
            Err(NoFrame::Broken(what)) => return Ok(Next::Broken(what)),
        };
        let start = self.from;
        self.from += long;
        Ok(match frame::read(self.buffer.get(start..).unwrap_or_default()) {
            Ok((JournalFrame::Record(record), _)) => {
                Next::Record(record, place, place + long as u64)
            }
            _ => Next::Broken("it is not a record"),
        })
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.from..).unwrap_or_default()
    }

    /// Reads until there is a complete frame, or none is possible. Returns its length.
    fn load(&mut self) -> io::Result<Result<usize, NoFrame>> {
        while let Err(NoFrame::Short(wanted)) = frame::whole(self.rest()) {
            let long = self.rest().len();
            if self.fill(wanted)? == long {
                break;
            }
        }
        Ok(frame::whole(self.rest()))
    }

    /// Makes sure that the buffer has at least this many bytes, if the segment has them. Returns
    /// how many it has.
    fn fill(&mut self, wanted: usize) -> io::Result<usize> {
        if self.from > self.chunk {
            self.buffer.drain(..self.from);
            self.offset += self.from as u64;
            self.from = 0;
        }
        while self.rest().len() < wanted {
            let end = self.buffer.len();
            let at = self.offset + end as u64;
            self.buffer.resize(end + self.chunk.max(wanted - (end - self.from)), 0);
            let into = self.buffer.get_mut(end..).unwrap_or_default();
            let read = self.segment.read_at(into, at)?;
            self.buffer.truncate(end + read);
            if read == 0 {
                break;
            }
        }
        Ok(self.rest().len())
    }
}

const CHUNK: usize = 256 * 1024;
const SMALL_CHUNK: usize = 4 * 1024;
