//! Fills a new journal with records that were chained elsewhere.

use std::sync::Arc;

use callgate_audit::{ChainHash, ChainLink};

use super::MAX_RECORD;
use super::frame;
use super::head::JournalHead;
use super::header::{Cause, Previous};
use super::limits::JournalLimits;
use super::volume::{Locked, Volume};
use super::write::{Journal, Tip};
use crate::database::Fault;
use crate::settings::{Durability, Retention};
use crate::shared::now;

/// A journal that is being filled. All its earlier content is gone, and no other process can write
/// until this is dropped.
pub(crate) struct Import<'a> {
    journal: Journal,
    first: Previous,
    bytes: Vec<u8>,
    /// The last record, and its offset in the buffer.
    last: Previous,
    start: usize,
    /// When the first record of the segment was stored; `None` before the first segment.
    since: Option<i64>,
    _lock: Box<dyn Locked + 'a>,
}

/// How the imported records end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ImportEnd {
    /// With the last record.
    Whole,
    /// The last records are missing.
    Truncated,
}

impl<'a> Import<'a> {
    /// Starts after this record, which has expired.
    pub(crate) fn begin(
        volume: &'a Arc<dyn Volume>,
        seq: u64,
        hash: ChainHash,
        total: u64,
    ) -> Result<Self, Fault> {
        let lock = volume.lock()?;
        for number in volume.numbers()? {
            volume.remove(number)?;
        }
        let none = Retention { age: None, records: None, bytes: None };
        let first = Previous { seq, hash, at: 0, total };
        let journal =
            Journal::unopened(Arc::clone(volume), Durability::Disk, JournalLimits::new(&none));
        // Both slots, so that no older head is left.
        let head = journal.write_head(JournalHead::NEW)?;
        journal.write_head(head)?;
        let bytes = Vec::new();
        Ok(Self { journal, first, bytes, last: first, start: 0, since: None, _lock: lock })
    }

    /// Adds a record unchanged. `verify` reports a wrong hash.
    pub(crate) fn add(&mut self, link: &ChainLink<'_>, hash: &ChainHash) -> Result<(), Fault> {
        if link.body.len() + link.joins.map_or(0, str::len) > MAX_RECORD {
            return Err(Fault::Failed(format!("record {} is too large", link.seq)));
        }
        if self.bytes.len() >= MANY {
            self.flush()?;
        }
        self.make_segment_for(link.at)?;
        self.start = self.bytes.len();
        frame::put_record(&mut self.bytes, link, &self.last.hash, hash);
        let (seq, total) = (link.seq.unsigned_abs(), link.total.unsigned_abs());
        self.last = Previous { seq, hash: *hash, at: link.at, total };
        Ok(())
    }

    /// Begins a segment for a record that was stored at this time, if the last one is long or old
    /// enough. Retention removes a segment by the age of its first record, so a segment may not
    /// span a long time.
    fn make_segment_for(&mut self, at: i64) -> Result<(), Fault> {
        match self.since {
            None => self.journal.begin_segment(self.first, Cause::First, at)?,
            Some(since) => {
                let size = self.journal.tip()?.end + self.bytes.len() as u64;
                if size <= LONG && at.saturating_sub(since) < SPAN {
                    return Ok(());
                }
                self.flush()?;
                self.journal.begin_segment(self.last, Cause::Full, at)?;
            }
        }
        self.since = Some(at);
        Ok(())
    }

    /// Syncs everything to the disk, so that the journal continues after it.
    pub(crate) fn finish(mut self, tail: ImportEnd) -> Result<(), Fault> {
        if self.since.is_none() {
            self.make_segment_for(now())?;
        }
        self.flush()?;
        let tip = self.journal.tip()?;
        tip.segment.sync()?;
        self.journal.volume.sync_names()?;
        let mut head = self.journal.head()?;
        (head.first, head.before_first) = (self.first.seq + 1, self.first.hash);
        (head.last, head.segment) = (tip.last, tip.header.segment);
        (head.start, head.end) = (tip.start, tip.end);
        if tail == ImportEnd::Truncated {
            // The next record leaves a gap, so that the loss stays visible.
            head.last.seq += 1;
        }
        let head = self.journal.write_head(head)?;
        self.journal.write_head(head).map(drop)
    }

    fn flush(&mut self) -> Result<(), Fault> {
        let tip = self.journal.tip()?;
        if self.bytes.is_empty() {
            return Ok(());
        }
        tip.segment.write_at(&self.bytes, tip.end)?;
        let (start, end) = (tip.end + self.start as u64, tip.end + self.bytes.len() as u64);
        self.journal.tip = Some(Tip { start, end, last: self.last, ..tip });
        self.bytes.clear();
        Ok(())
    }
}

/// The size of one write.
const MANY: usize = 4 * 1024 * 1024;
/// The length of a segment.
const LONG: u64 = 32 * 1024 * 1024;
/// The time that one segment spans, in microseconds: five days, about as long as with the default
/// retention of 90 days.
const SPAN: i64 = 5 * 24 * 60 * 60 * 1_000_000;
