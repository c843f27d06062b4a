//! Filling an index from the journal.

use std::ops::ControlFlow;

use rusqlite::{Transaction, TransactionBehavior};

use super::batch::Batch;
use super::bits::{BLOCK, block_of};
use super::filled::Filled;
use super::number::SqlNumber;
use super::{Index, IndexAccess, IndexError, names, schema};
use crate::error::ReadError;
use crate::journal::{JournalEntry, Log, RecordRange};

/// Where an empty index starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FillStart {
    /// At the oldest record of the journal.
    Oldest,
    /// After this record.
    After(u64),
}

/// How far filling has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FillProgress {
    /// The last indexed record.
    pub(crate) done: u64,
    /// The last record of the journal.
    pub(crate) last: u64,
}

/// What one transaction did.
enum FillStep {
    /// There was nothing to do.
    Nothing(Filled),
    /// Some work, and there may be more.
    Something(FillProgress),
}

impl Index {
    /// Indexes everything up to the end of the journal, one transaction for each block, until
    /// `progress` returns `Break`. Several processes may do so at once: each transaction continues
    /// where the previous one ended. Starts over if the indexed journal was a different one.
    pub(crate) fn fill(
        &self,
        log: &dyn Log,
        begin: FillStart,
        progress: &mut dyn FnMut(FillProgress) -> ControlFlow<()>,
    ) -> Result<Filled, IndexError> {
        let (filled, extent) = (self.filled()?, log.extent()?);
        if begin.can_continue(&filled, &extent, log) && !needs_work(&filled, &extent) {
            return Ok(filled);
        }
        loop {
            match self.step(log, begin) {
                Ok(FillStep::Nothing(filled)) => return Ok(filled),
                Ok(FillStep::Something(done)) => {
                    if progress(done).is_break() {
                        return self.filled();
                    }
                }
                Err(error) => {
                    // The added names are rolled back, so forget them.
                    self.names.borrow_mut().clear();
                    return Err(error);
                }
            }
        }
    }

    /// Indexes at most this many blocks: a gateway calls it from time to time. Rebuilds a damaged
    /// index.
    pub(crate) fn keep_up(&self, log: &dyn Log, blocks: usize) -> Result<Filled, IndexError> {
        let mut left = blocks;
        let mut progress = |_| {
            left = left.saturating_sub(1);
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        match self.fill(log, FillStart::Oldest, &mut progress) {
            Err(error) if error.is_damage() && self.access == IndexAccess::Write => {
                self.recreate()?;
                self.fill(log, FillStart::Oldest, &mut progress)
            }
            filled => filled,
        }
    }

    /// Deletes everything, and fills it again.
    pub(crate) fn rebuild(
        &self,
        log: &dyn Log,
        begin: FillStart,
        progress: &mut dyn FnMut(FillProgress) -> ControlFlow<()>,
    ) -> Result<Filled, IndexError> {
        let transaction = self.begin_write()?;
        schema::clear(&transaction, begin.resolve(&log.extent()?))?;
        transaction.commit()?;
        self.fill(log, begin, progress)
    }

    /// How far it is filled.
    pub(crate) fn filled(&self) -> Result<Filled, IndexError> {
        Filled::read(&self.connection)
    }

    fn begin_write(&self) -> Result<Transaction<'_>, IndexError> {
        Ok(Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?)
    }

    /// One transaction: removes a block of expired records, or adds a block of new ones.
    fn step(&self, log: &dyn Log, begin: FillStart) -> Result<FillStep, IndexError> {
        let transaction = self.begin_write()?;
        let mut filled = Filled::read(&transaction)?;
        let extent = log.extent()?;
        if !begin.can_continue(&filled, &extent, log) {
            schema::clear(&transaction, begin.resolve(&extent))?;
            filled = Filled::read(&transaction)?;
        }
        if !needs_work(&filled, &extent) {
            transaction.commit()?;
            return Ok(FillStep::Nothing(filled));
        }
        let done = if has_expired(&filled, &extent) {
            remove_block(&transaction, &filled, &extent)?;
            filled.seq
        } else {
            self.add_block(&transaction, log, &filled)?
        };
        transaction.commit()?;
        Ok(FillStep::Something(FillProgress { done, last: extent.last }))
    }

    fn add_block(
        &self,
        transaction: &Transaction<'_>,
        log: &dyn Log,
        filled: &Filled,
    ) -> Result<u64, IndexError> {
        let mut names = self.names.borrow_mut();
        names.check(filled.pruned);
        let mut batch = Batch::new(transaction, &mut names, filled.seq + 1)?;
        let (mut last, mut failed) = (None::<JournalEntry>, None);
        log.walk(filled.seq, filled.spot(), &mut |entry| {
            let expected = last.as_ref().map_or(filled.seq, |last| last.seq) + 1;
            // Some may be missing: `verify` reports that.
            if entry.seq < expected {
                let why = format!("record {expected} was expected here");
                return Err(ReadError::Unreadable { seq: entry.seq, why });
            }
            if let Err(error) = batch.add(&entry) {
                failed = Some(error);
                return Ok(ControlFlow::Break(()));
            }
            let full = batch.is_full(&entry);
            last = Some(entry);
            Ok(if full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        batch.write()?;
        let Some(last) = last else { return Err(IndexError::BegunAnew) };
        Filled::advance(transaction, &last)?;
        Ok(last.seq)
    }
}

impl FillStart {
    /// The record after which it starts.
    fn resolve(self, extent: &RecordRange) -> u64 {
        let oldest = extent.first.saturating_sub(1);
        match self {
            Self::Oldest => oldest,
            Self::After(seq) => seq.max(oldest),
        }
    }

    /// Whether an index that is filled this far can be continued.
    fn can_continue(self, filled: &Filled, extent: &RecordRange, log: &dyn Log) -> bool {
        if filled.is_empty() {
            return filled.seq == self.resolve(extent);
        }
        filled.matches_log(log) && filled.seq >= extent.first.saturating_sub(1)
    }
}

fn needs_work(filled: &Filled, extent: &RecordRange) -> bool {
    filled.seq < extent.last || has_expired(filled, extent)
}

/// Whether a whole block has expired. A smaller part is not worth a transaction: readers skip it.
fn has_expired(filled: &Filled, extent: &RecordRange) -> bool {
    filled.seq >= extent.first && block_of(filled.first) < block_of(extent.first)
}

/// Removes the oldest block. With the last expired block, also removes the names that no other
/// block uses.
fn remove_block(
    transaction: &Transaction<'_>,
    filled: &Filled,
    extent: &RecordRange,
) -> Result<(), IndexError> {
    let block = block_of(filled.first) + 1;
    let first = block * BLOCK;
    for sql in [
        "DELETE FROM entries WHERE seq < ?1",
        "DELETE FROM turns WHERE seq < ?1",
        "UPDATE filled SET first = ?1",
    ] {
        transaction.prepare_cached(sql)?.execute([SqlNumber(first)])?;
    }
    for sql in ["DELETE FROM marks WHERE block < ?1", "DELETE FROM blocks WHERE block < ?1"] {
        transaction.prepare_cached(sql)?.execute([SqlNumber(block)])?;
    }
    if block == block_of(extent.first) {
        names::prune(transaction, block)?;
    }
    Ok(())
}
