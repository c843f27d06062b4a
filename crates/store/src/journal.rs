//! The journal: records one behind the other in files that only ever grow. It is the truth about what
//! happened on this machine; everything that finds records is built from it.

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

use callgate_audit::Hash;

use crate::error::ReadError;
use crate::verify::{Verified, VerifyError};
pub(crate) use files::{FileVolume, ReadOnlyVolume};
pub(crate) use import::{Import, Tail};
pub(crate) use limits::Limits;
pub(crate) use memory::MemoryVolume;
pub(crate) use read::JournalLog;
pub(crate) use snapshot::{Snapshot, create_private};
pub(crate) use volume::Volume;
pub(crate) use write::Journal;

/// Where a record lies: the number of its segment, and the byte it begins at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    pub(crate) segment: u64,
    pub(crate) offset: u64,
}

/// A record as it lies in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// 1, 2, 3 and so on, without gaps.
    pub(crate) seq: u64,
    /// When it was stored, in microseconds since 1970; never less than in the record before it.
    pub(crate) at: i64,
    pub(crate) spot: Spot,
    /// Where the next one begins, if it is in the same segment.
    pub(crate) end: u64,
    pub(crate) hash: Hash,
    /// The hash of the record before it.
    pub(crate) before: Hash,
    /// What it belongs to: see [`Sealed::joins`](callgate_audit::Sealed::joins).
    pub(crate) joins: Option<String>,
    /// The record as JSON: see [`Body`](callgate_audit::Body).
    pub(crate) body: String,
}

/// Which records there are to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The oldest that has not expired; one more than `last` where there is none.
    pub(crate) first: u64,
    /// The newest whose receipt may have been given; 0 before the first.
    pub(crate) last: u64,
}

/// The journal as readers see it.
pub(crate) trait Log: Send {
    /// What there is now.
    fn extent(&self) -> Result<Extent, ReadError>;

    /// Hands over each record behind `after` in order, up to the last of [`extent`](Self::extent), until
    /// told to stop. `near` is where the record `after` lies, if that is known: then nothing before it is
    /// read.
    fn walk(
        &self,
        after: u64,
        near: Option<Spot>,
        visit: &mut dyn FnMut(Entry) -> Result<ControlFlow<()>, ReadError>,
    ) -> Result<(), ReadError>;

    /// Checks every record, and tells how far it is: records checked, records in all.
    fn verify(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Verified, VerifyError>;

    /// The record that lies there; `None` if it has expired.
    fn entry(&self, spot: Spot) -> Result<Option<Entry>, ReadError>;
}
