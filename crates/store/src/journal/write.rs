//! Appends records: one write and one sync for all waiting records.

use std::collections::VecDeque;
use std::sync::Arc;

use callgate_audit::{ChainLink, Sealed};

use super::frame;
use super::head::JournalHead;
use super::header::{Cause, Previous, SegmentHeader};
use super::limits::{JournalLimits, SegmentInfo};
use super::volume::{Segment, Volume};
use super::{MAX_RECORD, size_of_record};
use crate::database::Fault;
use crate::settings::Durability;

/// A journal that is open for appending.
#[derive(Debug)]
pub(crate) struct Journal {
    pub(super) volume: Arc<dyn Volume>,
    durability: Durability,
    limits: JournalLimits,
    /// `None` until the end is found, and again after a failure.
    pub(super) tip: Option<Tip>,
    /// All segments, oldest first.
    pub(super) segments: VecDeque<SegmentInfo>,
    buffer: Vec<u8>,
}

/// The end of the journal, as this process last saw it.
#[derive(Debug, Clone)]
pub(super) struct Tip {
    pub(super) segment: Arc<dyn Segment>,
    pub(super) header: SegmentHeader,
    /// The offset of the last record.
    pub(super) start: u64,
    /// The offset of the next record.
    pub(super) end: u64,
    /// The last record.
    pub(super) last: Previous,
}

impl Tip {
    /// Whether nothing was written to its segment yet.
    fn is_new(&self) -> bool {
        self.last == self.header.before
    }
}

/// The end after a write whose last segment may not be on the disk yet. Segments that were filled
/// before are.
#[derive(Debug)]
struct WrittenBatch(Tip);

/// How often a batch is written again to a new segment after a failed sync.
const ATTEMPTS: usize = 3;
/// How much buffer memory is kept for the next batch.
const KEPT_BUFFER: usize = 1024 * 1024;

impl Journal {
    /// Opens a journal, finds its end and repairs what a crash left there.
    pub(crate) fn open(
        volume: Arc<dyn Volume>,
        durability: Durability,
        limits: JournalLimits,
    ) -> Result<Self, Fault> {
        let mut journal = Self::unopened(volume, durability, limits);
        let volume = Arc::clone(&journal.volume);
        let _lock = volume.lock()?;
        journal.recover()?;
        Ok(journal)
    }

    /// A journal whose end is not known yet.
    pub(super) fn unopened(
        volume: Arc<dyn Volume>,
        durability: Durability,
        limits: JournalLimits,
    ) -> Self {
        let segments = VecDeque::new();
        Self { volume, durability, limits, tip: None, segments, buffer: Vec::new() }
    }

    /// Appends all of the records or none, and returns when they are as safe as the durability
    /// setting asks for. `now` is in microseconds since 1970. Returns the sequence number of the
    /// last record.
    pub(crate) fn append(&mut self, records: &[Sealed], now: i64) -> Result<u64, Fault> {
        if records.iter().any(|sealed| size_of_record(sealed) > MAX_RECORD) {
            return Err(Fault::Failed("a record is too large for the journal".to_owned()));
        }
        let volume = Arc::clone(&self.volume);
        let mut why = Fault::Failed("the write was not attempted".to_owned());
        for _ in 0..ATTEMPTS {
            let written = {
                let _lock = volume.lock()?;
                let written = self.write(records, now)?;
                if self.durability == Durability::Process {
                    return self.confirm(&written.0);
                }
                written
            };
            match written.0.segment.sync() {
                Ok(()) => {
                    let _lock = volume.lock()?;
                    if self.is_part(&written.0)? {
                        return self.confirm(&written.0);
                    }
                    why = Fault::Failed("another process could not sync the journal".to_owned());
                }
                Err(error) => {
                    why = Fault::from(error);
                    let _lock = volume.lock()?;
                    self.close_unsynced(&written.0, now)?;
                }
            }
        }
        Err(why)
    }

    /// Checks that records can be written, after a failure.
    pub(crate) fn check(&mut self) -> Result<(), Fault> {
        let volume = Arc::clone(&self.volume);
        let _lock = volume.lock()?;
        let tip = self.catch_up()?.clone();
        let written = tip.segment.write_at(&[0; 4096], tip.end).and_then(|()| tip.segment.sync());
        self.undo(&tip);
        written?;
        let head = self.head()?;
        self.write_head(head).map(drop)
    }

    /// Removes segments that are too old. `now` is in microseconds since 1970.
    pub(crate) fn expire(&mut self, now: i64) -> Result<(), Fault> {
        if !self.is_over(0, 0, now) {
            return Ok(());
        }
        let volume = Arc::clone(&self.volume);
        let _lock = volume.lock()?;
        self.catch_up()?;
        self.make_room(0, 0, now)
    }

    /// Writes all of these, or none.
    fn write(&mut self, records: &[Sealed], now: i64) -> Result<WrittenBatch, Fault> {
        let before = self.catch_up()?.clone();
        let done = self.fill(records, now);
        if done.is_err() {
            self.undo(&before);
        }
        done
    }

    fn fill(&mut self, records: &[Sealed], now: i64) -> Result<WrittenBatch, Fault> {
        let mut done = 0;
        // Each record may need a new segment, and for that another one may have to be removed.
        for _ in 0..3 * (records.len() + ATTEMPTS) {
            let left = records.get(done..).unwrap_or_default();
            if left.is_empty() {
                return Ok(WrittenBatch(self.tip()?));
            }
            let tip = self.tip()?;
            if self.is_full(&tip, tip.last.seq, tip.end, now) {
                self.begin_segment(tip.last, Cause::Full, now)?;
            } else {
                done += self.put(&tip, left, now)?;
            }
            if self.tip()?.header.cause == Cause::FailedSync && self.tip()?.is_new() {
                // What this batch wrote before no longer counts.
                done = 0;
            }
        }
        Err(Fault::Failed("the journal cannot be synced".to_owned()))
    }

    /// Writes as many records as fit into the segment, at least one, and returns how many. Returns
    /// 0 if a new segment had to be started first.
    fn put(&mut self, tip: &Tip, records: &[Sealed], now: i64) -> Result<usize, Fault> {
        let buffer = std::mem::take(&mut self.buffer);
        let is_full = |last, bytes| self.is_full(tip, last, bytes, now);
        let (Encoded { bytes, last, start }, many) = encode(buffer, tip, records, is_full, now);
        self.buffer = bytes;
        let long = self.buffer.len() as u64;
        self.make_room(many as u64, long, now)?;
        if self.tip()?.header.segment != tip.header.segment {
            return Ok(0);
        }
        tip.segment.write_at(&self.buffer, tip.end)?;
        // A batch of large records is rare, so its memory is not kept.
        self.buffer.shrink_to(KEPT_BUFFER);
        let end = tip.end + long;
        self.tip = Some(Tip { start: tip.end + start as u64, end, last, ..tip.clone() });
        if let Some(segment) = self.segments.back_mut() {
            segment.bytes = end;
        }
        Ok(many)
    }

    fn is_full(&self, tip: &Tip, last: u64, bytes: u64, now: i64) -> bool {
        let records = last.saturating_sub(tip.header.before.seq);
        self.limits.is_full(tip.header.made, records, bytes, now)
    }

    /// Undoes everything that was written after this.
    fn undo(&mut self, before: &Tip) {
        let is_same =
            self.tip.as_ref().is_some_and(|tip| Arc::ptr_eq(&tip.segment, &before.segment));
        // If it cannot be truncated, recovery treats it as a torn end.
        let is_cut = is_same && before.segment.truncate(before.end).is_ok();
        self.tip = is_cut.then(|| before.clone());
    }

    /// Starts a segment after this record.
    pub(super) fn begin_segment(
        &mut self,
        before: Previous,
        cause: Cause,
        now: i64,
    ) -> Result<(), Fault> {
        let (before, cause) = match cause {
            // Confirming a record in the new segment also confirms all records before it.
            Cause::Full if self.is_unsynced() => (self.head()?.last, Cause::FailedSync),
            cause => (before, cause),
        };
        let newest = self.segments.back().map_or(0, |segment| segment.number);
        let number = newest.max(self.head()?.segment) + 1;
        let made = now.max(before.at);
        let header = SegmentHeader { segment: number, before, made, cause };
        let segment = self.volume.create(number)?;
        let mut bytes = Vec::new();
        frame::put_header(&mut bytes, &header);
        let done = segment.write_at(&bytes, 0).and_then(|()| match self.durability {
            Durability::Disk => self.volume.sync_names(),
            Durability::Process => Ok(()),
        });
        if let Err(error) = done {
            // A segment without a header is removed by the next process that finds it.
            let _ = self.volume.remove(number);
            return Err(error.into());
        }
        let end = bytes.len() as u64;
        self.segments.push_back(SegmentInfo { number, first: header.first(), made, bytes: end });
        self.tip = Some(Tip { segment, header, start: end, end, last: before });
        Ok(())
    }

    /// Whether the end of the journal has to be on the disk and cannot be synced.
    fn is_unsynced(&self) -> bool {
        let has_to_be = self.durability == Durability::Disk;
        has_to_be && self.tip.as_ref().is_some_and(|tip| tip.segment.sync().is_err())
    }

    /// Removes the oldest segments until this many more records and bytes fit in.
    fn make_room(&mut self, records: u64, bytes: u64, now: i64) -> Result<(), Fault> {
        while self.is_over(records, bytes, now) {
            let tip = self.tip()?;
            let [oldest, rest @ ..] = self.segments.make_contiguous() else { return Ok(()) };
            let (oldest, next) = (*oldest, rest.first().copied());
            match next {
                Some(_) => self.drop_oldest(oldest)?,
                None if tip.last.seq >= oldest.first => {
                    self.begin_segment(tip.last, Cause::Full, now)?;
                }
                // The journal is empty: there is nothing left to remove.
                None => return Ok(()),
            }
        }
        Ok(())
    }

    fn is_over(&self, records: u64, bytes: u64, now: i64) -> bool {
        let (Some(oldest), Some(tip)) = (self.segments.front(), &self.tip) else { return false };
        let records = (tip.last.seq + records).saturating_sub(oldest.first - 1);
        let bytes = bytes + self.segments.iter().map(|segment| segment.bytes).sum::<u64>();
        self.limits.is_over(oldest, records, bytes, now)
    }

    /// Writes the head first, and then removes the segment.
    fn drop_oldest(&mut self, oldest: SegmentInfo) -> Result<(), Fault> {
        let Some(next) = self.segments.get(1).copied() else { return Ok(()) };
        let Some(header) = self.header_of(next.number)? else {
            return Err(Fault::Lost("the header of a segment cannot be read".to_owned()));
        };
        let head = self.head()?;
        if head.first < header.first() {
            let before_first = header.before.hash;
            self.write_head(JournalHead { first: header.first(), before_first, ..head })?;
        }
        self.volume.remove(oldest.number)?;
        self.segments.pop_front();
        Ok(())
    }

    /// Stores that everything up to here is safe, and returns the sequence number of the last
    /// record.
    fn confirm(&self, tip: &Tip) -> Result<u64, Fault> {
        let head = self.head()?;
        if head.last.seq < tip.last.seq {
            let segment = tip.header.segment;
            self.write_head(JournalHead {
                last: tip.last,
                segment,
                start: tip.start,
                end: tip.end,
                ..head
            })?;
        }
        Ok(tip.last.seq)
    }

    /// Whether the written records are still part of the chain: a process that cannot sync a
    /// segment closes it, and records that were not confirmed by then have to be written again.
    fn is_part(&mut self, written: &Tip) -> Result<bool, Fault> {
        let tip = self.catch_up()?;
        if tip.header.segment == written.header.segment {
            return Ok(true);
        }
        let next = self.header_of(written.header.segment + 1)?;
        Ok(next.is_some_and(|next| next.before.seq >= written.last.seq))
    }

    /// After a failed sync it is unknown how much of the segment is on the disk. Closes it after
    /// the last confirmed record.
    fn close_unsynced(&mut self, written: &Tip, now: i64) -> Result<(), Fault> {
        let tip = self.catch_up()?;
        if tip.header.segment != written.header.segment {
            return Ok(());
        }
        let head = self.head()?;
        // If this fails too, the next writer has to find the end again.
        let begun = self.begin_segment(head.last, Cause::FailedSync, now);
        if begun.is_err() {
            self.tip = None;
        }
        begun
    }

    pub(super) fn tip(&self) -> Result<Tip, Fault> {
        self.tip.clone().ok_or_else(|| Fault::Lost("the end of the journal is unknown".to_owned()))
    }

    /// How far the journal reaches.
    pub(super) fn head(&self) -> Result<JournalHead, Fault> {
        let head = JournalHead::newest(&self.volume.read_head()?);
        head.ok_or_else(|| Fault::Lost("the head of the journal cannot be read".to_owned()))
    }

    pub(super) fn write_head(&self, head: JournalHead) -> Result<JournalHead, Fault> {
        let (head, place, bytes) = head.next();
        self.volume.write_head(place, &bytes)?;
        Ok(head)
    }
}

struct Encoded {
    bytes: Vec<u8>,
    last: Previous,
    /// The offset of the last one.
    start: usize,
}

/// Encodes as many records as fit into the segment, at least one. Returns how many.
fn encode(
    mut bytes: Vec<u8>,
    tip: &Tip,
    records: &[Sealed],
    is_full: impl Fn(u64, u64) -> bool,
    now: i64,
) -> (Encoded, usize) {
    bytes.clear();
    let (mut last, mut start, mut many) = (tip.last, 0, 0);
    for sealed in records {
        if many > 0 && is_full(last.seq, tip.end + bytes.len() as u64) {
            break;
        }
        let size = sealed.body.len() as u64;
        let link = ChainLink {
            seq: i64::try_from(last.seq + 1).unwrap_or(i64::MAX),
            at: last.at.max(now).max(sealed.time),
            total: i64::try_from(last.total.saturating_add(size)).unwrap_or(i64::MAX),
            joins: sealed.joins.as_deref(),
            body: &sealed.body,
        };
        let hash = link.hash(&last.hash);
        start = bytes.len();
        frame::put_record(&mut bytes, &link, &last.hash, &hash);
        last = Previous { seq: last.seq + 1, hash, at: link.at, total: last.total + size };
        many += 1;
    }
    (Encoded { bytes, last, start }, many)
}
