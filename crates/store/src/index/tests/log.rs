//! A journal in memory.

use std::ops::ControlFlow;
use std::sync::Arc;

use callgate_audit::{ChainHash, ChainLink, GENESIS, Record, Sealed};
use parking_lot::Mutex;

use crate::error::ReadError;
use crate::journal::{JournalEntry, Log, RecordRange, Spot};
use crate::verify::{Verified, VerifyError};

/// A journal in memory. Its clones are the same journal.
#[derive(Debug, Clone)]
pub(crate) struct MemoryLog(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    first: u64,
    /// One less than the first sequence number.
    begin: u64,
    entries: Vec<JournalEntry>,
    total: i64,
    /// A walk fails before this record.
    fails_at: Option<u64>,
    /// How many records were read by their spots.
    reads: usize,
}

impl MemoryLog {
    /// A journal whose next record comes after this one; all earlier records have expired.
    pub(crate) fn starting_after(begin: u64) -> Self {
        let (entries, first) = (Vec::new(), begin + 1);
        let state = State { first, begin, entries, total: 0, fails_at: None, reads: 0 };
        Self(Arc::new(Mutex::new(state)))
    }

    pub(crate) fn append(&self, record: Record) -> u64 {
        self.append_sealed(Sealed::new(record))
    }

    pub(crate) fn append_sealed(&self, sealed: Sealed) -> u64 {
        let mut state = self.0.lock();
        let (before, at): (ChainHash, i64) =
            state.entries.last().map_or((GENESIS, 0), |last| (last.hash, last.at));
        let seq = state.begin + state.entries.len() as u64 + 1;
        state.total += sealed.body.len() as i64;
        let link = ChainLink {
            seq: seq.cast_signed(),
            at: at.max(sealed.time),
            total: state.total,
            joins: sealed.joins.as_deref(),
            body: &sealed.body,
        };
        let (at, hash) = (link.at, link.hash(&before));
        let spot = Spot { segment: seq / 10, offset: seq % 10 * 100 };
        let Sealed { joins, body, .. } = sealed;
        let end = spot.offset + 100;
        state.entries.push(JournalEntry { seq, at, spot, end, hash, before, joins, body });
        seq
    }

    /// Makes all records before this one expire.
    pub(crate) fn expire(&self, first: u64) {
        self.0.lock().first = first;
    }

    pub(crate) fn fail_at(&self, seq: Option<u64>) {
        self.0.lock().fails_at = seq;
    }

    pub(crate) fn reads(&self) -> usize {
        self.0.lock().reads
    }

    fn at(&self, seq: u64) -> Option<JournalEntry> {
        let state = self.0.lock();
        let position = usize::try_from(seq.checked_sub(state.begin + 1)?).ok()?;
        state.entries.get(position).filter(|_| seq >= state.first).cloned()
    }

    pub(crate) fn entries(&self) -> Vec<JournalEntry> {
        let state = self.0.lock();
        state.entries.iter().filter(|entry| entry.seq >= state.first).cloned().collect()
    }
}

impl Log for MemoryLog {
    fn extent(&self) -> Result<RecordRange, ReadError> {
        let state = self.0.lock();
        Ok(RecordRange { first: state.first, last: state.begin + state.entries.len() as u64 })
    }

    fn walk(
        &self,
        after: u64,
        near: Option<Spot>,
        visit: &mut dyn FnMut(JournalEntry) -> Result<ControlFlow<()>, ReadError>,
    ) -> Result<(), ReadError> {
        if let Some(near) = near {
            assert_eq!(near, Spot { segment: after / 10, offset: after % 10 * 100 });
        }
        let RecordRange { first, last } = self.extent()?;
        for seq in first.max(after + 1)..=last {
            if self.0.lock().fails_at == Some(seq) {
                return Err(ReadError::Failed("the disk is gone".into()));
            }
            let Some(entry) = self.at(seq) else { break };
            if visit(entry)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn verify(&self, _: &mut dyn FnMut(u64, u64)) -> Result<Verified, VerifyError> {
        Err(ReadError::Failed("not of interest here".into()).into())
    }

    fn entry(&self, spot: Spot) -> Result<Option<JournalEntry>, ReadError> {
        self.0.lock().reads += 1;
        Ok(self.at(spot.segment * 10 + spot.offset / 100))
    }
}
