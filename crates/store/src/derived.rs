//! Derived records: they add detail to another record and are written in batches a few milliseconds
//! later, so that the call that caused one does not wait for it.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::database::Fault;
use crate::records::Records;
use callgate_audit::Record;
use callgate_audit::Sealed;

/// The derived records that are not in the store yet.
#[derive(Debug, Default)]
pub(crate) struct DerivedRecords(Mutex<PendingRecords>);

#[derive(Debug, Default)]
struct PendingRecords {
    records: Vec<Record>,
    /// When to write them; `None` while there are no records.
    due: Option<Instant>,
}

/// What the caller has to do after adding a record.
#[derive(Debug)]
pub(crate) enum AfterAdd {
    /// Nothing: other records were already waiting.
    Queued,
    /// Wake the writer: it is the first one.
    First,
    /// Put these in the queue: too many are waiting.
    TooMany(Vec<Record>),
}

impl DerivedRecords {
    /// Adds a record to be written later.
    pub(crate) fn add(&self, record: Record) -> AfterAdd {
        let mut waiting = self.0.lock();
        waiting.records.push(record);
        if waiting.records.len() >= MAX_PENDING {
            return AfterAdd::TooMany(std::mem::take(&mut *waiting).records);
        }
        if waiting.due.is_some() {
            return AfterAdd::Queued;
        }
        waiting.due = Some(Instant::now() + BATCH_DELAY);
        AfterAdd::First
    }

    /// The time until the records have to be written; `None` while there are no records.
    pub(crate) fn due(&self) -> Option<Duration> {
        let due = self.0.lock().due?;
        Some(due.saturating_duration_since(Instant::now()))
    }

    /// Writes the records. If that fails, they are kept for the next attempt.
    pub(crate) fn write(&self, records: &Records) -> Result<(), Fault> {
        let taken = std::mem::take(&mut *self.0.lock()).records;
        let done = records.append(&sealed(taken.clone()));
        if done.is_err() {
            let mut waiting = self.0.lock();
            waiting.due = Some(Instant::now() + RETRY_DELAY);
            waiting.records.splice(..0, taken);
        }
        done
    }
}

/// Seals the records, so that they can be stored.
pub(crate) fn sealed(records: Vec<Record>) -> Vec<Sealed> {
    records.into_iter().map(Sealed::new).collect()
}

/// How long a record waits for others: long enough that many calls share one transaction, short
/// enough that the record is written before an agent stops its servers after the last call.
const BATCH_DELAY: Duration = Duration::from_millis(5);

/// The delay before a retry after a failure: the same as for a failing store.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// With this many waiting, they go into the queue, which has its own bounds.
const MAX_PENDING: usize = 1024;
