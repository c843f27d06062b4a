//! What people say about recorded verdicts: right, or wrong. Shared by every process that uses the
//! store, and kept as long as the records.

use callgate_audit::{Record, RecordId, RecordedPrincipal};
use jiff::Timestamp;

use crate::database::Fault;
use crate::error::{ReadError, StoreError};
use crate::reader::RecordReader;
use crate::shared::now;
use crate::state::BeforeCommit;
use crate::state::sqlite::StateReader;
use crate::store::Store;

/// What someone says about the verdict on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Opinion {
    /// It was wrong: the call should have passed, or should not have.
    Wrong,
    /// It was right.
    Right,
}

impl Opinion {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Wrong, Self::Right];

    /// The word used in the store and in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Wrong => "wrong",
            Self::Right => "right",
        }
    }

    /// The opinion with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|opinion| opinion.as_str() == word)
    }
}

/// An opinion about the verdict on a recorded call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallMark {
    /// The record of the call.
    pub record: RecordId,
    /// What is said about its verdict.
    pub opinion: Opinion,
    /// When.
    pub at: Timestamp,
    /// By which user, if that is known.
    pub by: Option<String>,
}

impl CallMark {
    /// The most marks in a store. Beyond that, the oldest are removed.
    pub const MAX_KEPT: i64 = 10_000;
}

/// A mark that is set (`None` removes it), by whom and when, in microseconds since 1970.
#[derive(Debug)]
pub(crate) struct Marking<'a> {
    pub(crate) record: RecordId,
    pub(crate) opinion: Option<Opinion>,
    pub(crate) by: &'a RecordedPrincipal,
    pub(crate) now: i64,
}

/// The store of marks. Each change passes its record to `record_change` before it is committed, so no
/// mark is changed without a record.
pub(crate) trait MarkStore {
    /// Sets or removes the mark of a call. Returns `false` if that changes nothing.
    fn mark(
        &self,
        marking: &Marking<'_>,
        record_change: BeforeCommit<'_, Record>,
    ) -> Result<bool, Fault>;
}

impl Store {
    /// Marks the verdict on a recorded call, or removes the mark, and records who did so. Returns
    /// `false` if that changes nothing.
    pub fn mark_call(
        &self,
        record: RecordId,
        opinion: Option<Opinion>,
        by: &RecordedPrincipal,
    ) -> Result<bool, StoreError> {
        let shared = self.shared();
        let marking = Marking { record, opinion, by, now: now() };
        Ok(shared.state.mark(&marking, &mut |told| shared.record([told]))?)
    }
}

impl RecordReader {
    /// Every mark, the newest first.
    pub fn marks(&self) -> Result<Vec<CallMark>, ReadError> {
        self.state().map_or_else(|| Ok(Vec::new()), StateReader::marks)
    }
}
