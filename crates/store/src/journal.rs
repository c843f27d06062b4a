//! The journal: an append-only sequence of records in segment files. It is the source of truth for
//! what happened on this machine; the index is built from it.

mod files;
mod frame;
mod head;
mod header;
mod import;
mod limits;
mod memory;
mod read;
mod recover;
mod scan;
mod snapshot;
#[cfg(test)]
mod tests;
mod verify;
mod volume;
mod write;

use std::ops::ControlFlow;

use callgate_audit::{ChainHash, Sealed};

use crate::error::ReadError;
use crate::verify::{Verified, VerifyError};
pub(crate) use files::{FileVolume, ReadOnlyVolume};
pub(crate) use import::{Import, ImportEnd};
pub(crate) use limits::JournalLimits;
pub(crate) use memory::MemoryVolume;
pub(crate) use read::JournalLog;
pub(crate) use snapshot::{Snapshot, create_private};
pub(crate) use volume::Volume;
pub(crate) use write::Journal;

/// The longest record that the journal takes. Recovery would take a longer one for the torn end of a
/// write.
pub(crate) const MAX_RECORD: usize = frame::MAX_RECORD;

/// The bytes of a record that [`MAX_RECORD`] bounds.
pub(crate) fn size_of_record(sealed: &Sealed) -> usize {
    sealed.body.len() + sealed.joins.as_ref().map_or(0, String::len)
}

/// Where a record is: the number of its segment, and its first byte there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    pub(crate) segment: u64,
    pub(crate) offset: u64,
}

/// A record as stored in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JournalEntry {
    /// Its sequence number: 1, 2, 3 and so on, without gaps.
    pub(crate) seq: u64,
    /// When it was stored, in microseconds since 1970; never less than in the record before it.
    pub(crate) at: i64,
    pub(crate) spot: Spot,
    /// Where the next record begins, if it is in the same segment.
    pub(crate) end: u64,
    pub(crate) hash: ChainHash,
    /// The hash of the record before it.
    pub(crate) before: ChainHash,
    /// The id that links it to other records: see [`Sealed::joins`](callgate_audit::Sealed::joins).
    pub(crate) joins: Option<String>,
    /// The record as JSON: see [`RecordBody`](callgate_audit::RecordBody).
    pub(crate) body: String,
}

/// The range of records that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordRange {
    /// The oldest record that has not expired; `last + 1` if there are no records.
    pub(crate) first: u64,
    /// The newest record whose receipt may have been given; 0 before the first record.
    pub(crate) last: u64,
}

/// The journal as readers see it.
pub(crate) trait Log: Send {
    /// The current range of records.
    fn extent(&self) -> Result<RecordRange, ReadError>;

    /// Passes on each record after `after` in order, up to the last of [`extent`](Self::extent),
    /// until the callback returns `Break`. `near` is the place of the record `after`, if known:
    /// then nothing before it is read.
    fn walk(
        &self,
        after: u64,
        near: Option<Spot>,
        visit: &mut dyn FnMut(JournalEntry) -> Result<ControlFlow<()>, ReadError>,
    ) -> Result<(), ReadError>;

    /// Checks every record. Calls `progress` with the number of records checked, and their total.
    fn verify(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Verified, VerifyError>;

    /// The record at this place; `None` if it has expired.
    fn entry(&self, spot: Spot) -> Result<Option<JournalEntry>, ReadError>;
}
