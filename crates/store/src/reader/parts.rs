//! Which index covers which records.

use std::ops::ControlFlow;

use super::RecordReader;
use crate::error::ReadError;
use crate::index::{
    Bounds, FillProgress, FillStart, Filled, IdRange, Index, IndexAccess, IndexError, IndexFilter,
    MAX_SHOWN,
};
use crate::journal::{JournalEntry, Log, Spot};
use callgate_audit::RecordOrder;

/// All records of the journal, each covered by one index; the oldest first.
pub(super) struct IndexedRanges<'a>(Vec<IndexedRange<'a>>);

/// Some consecutive records and the index that covers them.
pub(super) struct IndexedRange<'a> {
    pub(super) index: &'a Index,
    pub(super) bounds: Bounds,
}

impl<'a> IndexedRanges<'a> {
    pub(super) fn in_order(&self, order: RecordOrder) -> impl Iterator<Item = &IndexedRange<'a>> {
        let newest_first = matches!(order, RecordOrder::NewestFirst).then(|| self.0.iter().rev());
        let oldest_first = matches!(order, RecordOrder::OldestFirst).then(|| self.0.iter());
        newest_first.into_iter().flatten().chain(oldest_first.into_iter().flatten())
    }

    /// Up to five records with these ids.
    pub(super) fn with_id(
        &self,
        log: &dyn Log,
        ids: &IdRange,
    ) -> Result<Vec<JournalEntry>, IndexError> {
        let mut entries = Vec::new();
        for part in &self.0 {
            for (seq, spot) in part.index.with_id(ids, part.bounds)? {
                entries.extend(entry_at(log, seq, spot)?);
            }
        }
        entries.truncate(MAX_SHOWN);
        Ok(entries)
    }

    /// The newest record whose `joins` equals this text.
    pub(super) fn joined(
        &self,
        log: &dyn Log,
        joins: &str,
    ) -> Result<Option<JournalEntry>, IndexError> {
        for part in self.in_order(RecordOrder::NewestFirst) {
            let found = part.index.joined(joins, part.bounds, |spot| {
                let entry = log.entry(spot)?;
                Ok::<_, IndexError>(entry.filter(|it| it.joins.as_deref() == Some(joins)))
            })?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

impl IndexedRange<'_> {
    /// A record of this part. `None` if it has expired, or is not in the time range.
    pub(super) fn entry(
        &self,
        log: &dyn Log,
        seq: u64,
        wanted: &IndexFilter,
    ) -> Result<Option<JournalEntry>, IndexError> {
        match self.index.spot(seq)? {
            Some((spot, time)) if wanted.is_in_time(time) => entry_at(log, seq, spot),
            Some(_) => Ok(None),
            None if seq < log.extent()?.first => Ok(None),
            None => Err(IndexError::BegunAnew),
        }
    }
}

/// The record at this place. If it is another record, the index is wrong.
fn entry_at(log: &dyn Log, seq: u64, spot: Spot) -> Result<Option<JournalEntry>, IndexError> {
    match log.entry(spot)? {
        Some(entry) if entry.seq == seq => Ok(Some(entry)),
        Some(_) => Err(IndexError::Damaged),
        None => Ok(None),
    }
}

impl RecordReader {
    /// Updates the indices, so that they cover every record that is in the journal now. Records
    /// that are appended meanwhile may be missing: the next query finds them.
    pub(super) fn parts(&self) -> Result<IndexedRanges<'_>, IndexError> {
        let last = self.log.extent()?.last;
        let shared = self.catch_up_shared()?;
        let first = self.log.extent()?.first;
        let mut parts = Vec::new();
        let mut known = first.saturating_sub(1);
        if let Some((index, filled)) = shared
            && filled.first <= first
            && filled.seq >= known
        {
            known = filled.seq;
            parts.push(IndexedRange { index, bounds: Bounds { low: first, high: filled.seq } });
        }
        if known < last {
            let index = self.catch_up_own(known)?;
            parts.push(IndexedRange { index, bounds: Bounds { low: known + 1, high: last } });
        }
        Ok(IndexedRanges(parts))
    }

    /// The shared index, filled as far as possible, if it is usable.
    fn catch_up_shared(&self) -> Result<Option<(&Index, Filled)>, IndexError> {
        let Some(index) = self.shared.as_ref().filter(|_| !self.shared_is_broken.get()) else {
            return Ok(None);
        };
        if index.access() == IndexAccess::Write {
            let mut show = showing(self.shown());
            match index.fill(&*self.log, FillStart::Oldest, &mut show) {
                Ok(filled) => return Ok(Some((index, filled))),
                Err(IndexError::Journal(error)) => return Err(error.into()),
                Err(error) if error.is_damage() => return Err(error),
                // Locked, or the disk is full: it is used as far as it is filled.
                Err(_) => {}
            }
        }
        match index.filled() {
            Ok(filled) if filled.matches_log(&*self.log) => Ok(Some((index, filled))),
            Err(error) if error.is_damage() => Err(error),
            _ => Ok(None),
        }
    }

    /// The private index of this reader, for the records after `known`.
    fn catch_up_own(&self, known: u64) -> Result<&Index, IndexError> {
        let index = match self.own.get() {
            Some(index) => index,
            None => {
                let index = Index::temporary()?;
                self.own.get_or_init(|| index)
            }
        };
        let begin = FillStart::After(known);
        let mut show = showing(self.shown());
        let filled = index.fill(&*self.log, begin, &mut show)?;
        if filled.first > known + 1 {
            index.rebuild(&*self.log, begin, &mut show)?;
        }
        Ok(index)
    }

    fn shown(&self) -> Option<&dyn Fn(u64, u64)> {
        self.progress.as_deref().map(|show| show as &dyn Fn(u64, u64))
    }

    /// Rebuilds a damaged index, or stops using it.
    pub(super) fn repair(&self) {
        if let Some(shared) = &self.shared {
            let mended = shared.access() == IndexAccess::Write && shared.recreate().is_ok();
            self.shared_is_broken.set(!mended);
        }
        if let Some(own) = self.own.get() {
            // If even this fails, the next attempt reports why.
            let _ = own.recreate();
        }
    }

    pub(super) fn rebuild_shared(&self, show: &dyn Fn(u64, u64)) -> Result<u64, ReadError> {
        let Some(index) = self.shared.as_ref().filter(|it| it.access() == IndexAccess::Write)
        else {
            let why = "the index cannot be written, so it cannot be rebuilt".to_owned();
            return Err(ReadError::Failed(why));
        };
        let mut progress = showing(Some(show));
        let rebuilt = match index.rebuild(&*self.log, FillStart::Oldest, &mut progress) {
            Err(error) if error.is_damage() => {
                index.recreate()?;
                index.rebuild(&*self.log, FillStart::Oldest, &mut progress)
            }
            rebuilt => rebuilt,
        }?;
        self.shared_is_broken.set(false);
        Ok((rebuilt.seq + 1).saturating_sub(rebuilt.first))
    }
}

/// A progress callback that never stops, and calls `show`.
fn showing<'a>(
    show: Option<&'a (dyn Fn(u64, u64) + 'a)>,
) -> impl FnMut(FillProgress) -> ControlFlow<()> + use<'a> {
    move |FillProgress { done, last }| {
        if let Some(show) = show {
            show(done, last);
        }
        ControlFlow::Continue(())
    }
}
