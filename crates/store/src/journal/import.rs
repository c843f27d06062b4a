//! Fills a new journal with records that were chained elsewhere.

use std::sync::Arc;

use callgate_audit::{Hash, Link};

use super::frame;
use super::head::Head;
use super::header::{Cause, Previous};
use super::limits::Limits;
use super::volume::{Locked, Volume};
use super::write::{Journal, Tip};
use crate::database::Fault;
use crate::settings::{Durability, Retention};

/// A journal that is being filled. All its earlier content is gone, and no other process can write
/// until this is dropped.
pub(crate) struct Import<'a> {
    journal: Journal,
    first: Previous,
    bytes: Vec<u8>,
    /// The last record, and its offset in the buffer.
    last: Previous,
    start: usize,
    _lock: Box<dyn Locked + 'a>,
}

/// How the imported records end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail {
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
        hash: Hash,
        total: u64,
    ) -> Result<Self, Fault> {
        let lock = volume.lock()?;
        for number in volume.numbers()? {
            volume.remove(number)?;
        }
        let none = Retention { age: None, records: None, bytes: None };
        let first = Previous { seq, hash, at: 0, total };
        let mut journal =
            Journal::unopened(Arc::clone(volume), Durability::Disk, Limits::new(&none));
        // Both slots, so that no older head is left.
        let head = journal.write_head(Head::NEW)?;
        journal.write_head(head)?;
        journal.begin_segment(first, Cause::First, 0)?;
        Ok(Self { journal, first, bytes: Vec::new(), last: first, start: 0, _lock: lock })
    }

    /// Adds a record unchanged. `verify` reports a wrong hash.
    pub(crate) fn add(&mut self, link: &Link<'_>, hash: &Hash) -> Result<(), Fault> {
        if self.bytes.len() >= MANY {
            self.flush()?;
        }
        self.start = self.bytes.len();
        frame::put_record(&mut self.bytes, link, &self.last.hash, hash);
        let (seq, total) = (link.seq.unsigned_abs(), link.total.unsigned_abs());
        self.last = Previous { seq, hash: *hash, at: link.at, total };
        Ok(())
    }

    /// Syncs everything to the disk, so that the journal continues after it.
    pub(crate) fn finish(mut self, tail: Tail) -> Result<(), Fault> {
        self.flush()?;
        let tip = self.journal.tip()?;
        tip.segment.sync()?;
        self.journal.volume.sync_names()?;
        let mut head = self.journal.head()?;
        (head.first, head.before_first) = (self.first.seq + 1, self.first.hash);
        (head.last, head.segment) = (tip.last, tip.header.segment);
        (head.start, head.end) = (tip.start, tip.end);
        if tail == Tail::Truncated {
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
        if end > LONG {
            self.journal.begin_segment(self.last, Cause::Full, 0)?;
        }
        Ok(())
    }
}

/// The size of one write.
const MANY: usize = 4 * 1024 * 1024;
/// The length of a segment.
const LONG: u64 = 32 * 1024 * 1024;
