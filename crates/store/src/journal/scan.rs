//! Reading a segment from some place on, frame by frame.

use std::io;
use std::sync::Arc;

use super::frame::{self, Frame, MAGIC, NoFrame, RecordFrame};
use super::header::Header;
use super::volume::Segment;

/// Reads frames one behind the other. Memory does not grow with the segment.
#[derive(Debug)]
pub(super) struct Scan {
    segment: Arc<dyn Segment>,
    buffer: Vec<u8>,
    /// Where the next frame begins in the buffer.
    from: usize,
    /// Where the buffer begins in the segment.
    offset: u64,
    /// What is read at once.
    chunk: usize,
}

/// What lies at a place of a segment.
#[derive(Debug)]
pub(super) enum Next<'a> {
    /// A record, which begins and ends at these bytes of the segment.
    Record(RecordFrame<'a>, u64, u64),
    /// The segment ends here.
    End,
    /// This is no frame, or not all of one.
    Broken(&'static str),
}

impl Scan {
    /// From this place on, which must be the beginning of a record.
    pub(super) fn from(segment: Arc<dyn Segment>, offset: u64) -> Self {
        Self { segment, buffer: Vec::new(), from: 0, offset, chunk: CHUNK }
    }

    /// The same for one record: most are short.
    pub(super) fn one(segment: Arc<dyn Segment>, offset: u64) -> Self {
        Self { chunk: SMALL_CHUNK, ..Self::from(segment, offset) }
    }

    /// Reads the header of a segment; `None` if it has none. The scan goes on behind it.
    pub(super) fn with_header(segment: Arc<dyn Segment>) -> io::Result<Option<(Header, Self)>> {
        let mut scan = Self::from(segment, 0);
        scan.fill(MAGIC.len())?;
        if !scan.rest().starts_with(MAGIC) {
            return Ok(None);
        }
        scan.from += MAGIC.len();
        if scan.load()?.is_err() {
            return Ok(None);
        }
        let Ok((Frame::Header(header), long)) = frame::read(scan.rest()) else { return Ok(None) };
        scan.from += long;
        Ok(Some((header, scan)))
    }

    /// Goes on at another place, which must be the beginning of a record.
    pub(super) fn skip_to(&mut self, offset: u64) {
        (self.offset, self.from) = (offset, 0);
        self.buffer.clear();
    }

    /// Where the next frame begins.
    pub(super) fn place(&self) -> u64 {
        self.offset + self.from as u64
    }

    /// The next record.
    pub(super) fn next(&mut self) -> io::Result<Next<'_>> {
        let place = self.place();
        let long = match self.load()? {
            Ok(long) => long,
            Err(NoFrame::Short(_)) if self.rest().is_empty() => return Ok(Next::End),
            Err(NoFrame::Short(_)) => return Ok(Next::Broken("it is cut off")),
            Err(NoFrame::Broken(what)) => return Ok(Next::Broken(what)),
        };
        let start = self.from;
        self.from += long;
        Ok(match frame::read(self.buffer.get(start..).unwrap_or_default()) {
            Ok((Frame::Record(record), _)) => Next::Record(record, place, place + long as u64),
            _ => Next::Broken("it is no record"),
        })
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.from..).unwrap_or_default()
    }

    /// Reads on until there is a frame, or none can be; says how long it is.
    fn load(&mut self) -> io::Result<Result<usize, NoFrame>> {
        while let Err(NoFrame::Short(wanted)) = frame::whole(self.rest()) {
            let long = self.rest().len();
            if self.fill(wanted)? == long {
                break;
            }
        }
        Ok(frame::whole(self.rest()))
    }

    /// Makes sure that at least so many bytes are there, if the segment has them; says how many are.
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
