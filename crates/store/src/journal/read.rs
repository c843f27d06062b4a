//! Reads the journal, even while other processes write to it.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::head::JournalHead;
use super::scan::{Next, Scan};
use super::volume::Volume;
use super::{JournalEntry, Log, RecordRange, Spot};
use crate::error::ReadError;
use crate::verify::{Verified, VerifyError};

/// A journal that is open for reading. It takes no lock: it reads up to the head, and what is
/// before that never changes.
#[derive(Debug, Clone)]
pub(crate) struct JournalLog {
    pub(super) volume: Arc<dyn Volume>,
}

impl JournalLog {
    pub(crate) fn new(volume: Arc<dyn Volume>) -> Self {
        Self { volume }
    }

    pub(super) fn head(&self) -> Result<JournalHead, ReadError> {
        let bytes = self.volume.read_head().map_err(failed)?;
        match (JournalHead::newest(&bytes), bytes.is_empty()) {
            (Some(head), _) => Ok(head),
            (None, true) => Ok(JournalHead::NEW),
            (None, false) => {
                Err(ReadError::Failed("the head of the journal cannot be read".into()))
            }
        }
    }

    /// The segment that contains the record after `after`.
    fn segment_after(&self, after: u64) -> Result<Option<u64>, ReadError> {
        let mut found = None;
        for number in self.volume.numbers().map_err(failed)? {
            match self.first_of(number)? {
                // If two segments begin with the same record, the later one counts.
                Some(first) if first <= after + 1 || found.is_none() => found = Some(number),
                _ => {}
            }
        }
        Ok(found)
    }

    fn first_of(&self, number: u64) -> Result<Option<u64>, ReadError> {
        let Some(segment) = self.volume.open(number).map_err(failed)? else { return Ok(None) };
        let read = Scan::with_header(segment).map_err(failed)?;
        Ok(read.map(|(header, _)| header.first()))
    }

    /// A segment from its first record on, and the last record of it that counts.
    fn begin(&self, number: u64) -> Result<Option<(Scan, u64)>, ReadError> {
        let Some(segment) = self.volume.open(number).map_err(failed)? else { return Ok(None) };
        let Some((_, scan)) = Scan::with_header(segment).map_err(failed)? else { return Ok(None) };
        Ok(Some((scan, self.upto(number)?)))
    }

    /// The last record of a segment that counts: the rest was never confirmed.
    fn upto(&self, number: u64) -> Result<u64, ReadError> {
        let mut next = number + 1;
        while self.volume.exists(next).map_err(failed)? {
            if let Some(first) = self.first_of(next)? {
                return Ok(first - 1);
            }
            // A segment that could never be synced may have lost its header. The next one knows.
            next += 1;
        }
        Ok(u64::MAX)
    }
}

impl Log for JournalLog {
    fn extent(&self) -> Result<RecordRange, ReadError> {
        let head = self.head()?;
        Ok(RecordRange { first: head.first, last: head.last.seq })
    }

    fn walk(
        &self,
        after: u64,
        near: Option<Spot>,
        visit: &mut dyn FnMut(JournalEntry) -> Result<ControlFlow<()>, ReadError>,
    ) -> Result<(), ReadError> {
        let head = self.head()?;
        let after = after.max(head.first - 1);
        let from = match near {
            Some(near) => Some(near.segment),
            None => self.segment_after(after)?,
        };
        let Some(mut number) = from else { return Ok(()) };
        let mut offset = near.map(|near| near.offset);
        while number <= head.segment {
            if let Some((mut scan, upto)) = self.begin(number)? {
                if let Some(offset) = offset.take() {
                    scan.skip_to(offset);
                }
                let part = SegmentRange { segment: number, after, upto: upto.min(head.last.seq) };
                match walk_segment(&mut scan, part, visit) {
                    Ok(ControlFlow::Continue(())) => {}
                    Ok(ControlFlow::Break(())) => return Ok(()),
                    // `verify` reports damage inside the journal; the rest can still be read.
                    Err(ReadError::Unreadable { .. }) if number < head.segment => {}
                    Err(error) => return Err(error),
                }
            }
            number += 1;
        }
        Ok(())
    }

    fn verify(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Verified, VerifyError> {
        self.verify_all(progress)
    }

    fn entry(&self, spot: Spot) -> Result<Option<JournalEntry>, ReadError> {
        let Some(segment) = self.volume.open(spot.segment).map_err(failed)? else {
            return Ok(None);
        };
        let mut scan = Scan::one(segment, spot.offset);
        match scan.next().map_err(failed)? {
            Next::Record(record, _, end) => Ok(Some(JournalEntry::of(&record, spot, end))),
            Next::End => Ok(None),
            Next::Broken(what) => Err(unreadable(0, what)),
        }
    }
}

/// The records of one segment after `after`, up to `upto`.
#[derive(Debug, Clone, Copy)]
struct SegmentRange {
    segment: u64,
    after: u64,
    upto: u64,
}

fn walk_segment(
    scan: &mut Scan,
    SegmentRange { segment, after, upto }: SegmentRange,
    visit: &mut dyn FnMut(JournalEntry) -> Result<ControlFlow<()>, ReadError>,
) -> Result<ControlFlow<()>, ReadError> {
    let mut seq = after;
    loop {
        match scan.next().map_err(failed)? {
            Next::Record(record, offset, end) => {
                if record.seq() > upto {
                    return Ok(ControlFlow::Continue(()));
                }
                seq = seq.max(record.seq());
                if record.seq() > after {
                    let entry = JournalEntry::of(&record, Spot { segment, offset }, end);
                    if visit(entry)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
            Next::End => return Ok(ControlFlow::Continue(())),
            // After the last record that counts, there may be anything.
            Next::Broken(_) if seq >= upto => return Ok(ControlFlow::Continue(())),
            Next::Broken(what) => return Err(unreadable(seq + 1, what)),
        }
    }
}

impl JournalEntry {
    fn of(record: &super::frame::RecordFrame<'_>, spot: Spot, end: u64) -> Self {
        Self {
            seq: record.seq(),
            at: record.link.at,
            spot,
            end,
            hash: record.hash,
            before: record.before,
            joins: record.link.joins.map(str::to_owned),
            body: record.link.body.to_owned(),
        }
    }
}

pub(super) fn failed(error: io::Error) -> ReadError {
    ReadError::Failed(error.to_string())
}

fn unreadable(seq: u64, what: &str) -> ReadError {
    ReadError::Unreadable { seq, why: what.to_owned() }
}
