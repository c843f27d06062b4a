//! Records that tell nothing that another one does not tell: written together, a moment later, so that
//! the call that caused one does not pay for it.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::database::Fault;
use crate::records::Records;
use callgate_audit::Record;
use callgate_audit::Sealed;

/// Those that are not in the store yet.
#[derive(Debug, Default)]
pub(crate) struct Beside(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    records: Vec<Record>,
    /// When they are to be written.
    due: Option<Instant>,
}

/// What is to be done about a record that was added.
#[derive(Debug)]
pub(crate) enum Added {
    /// Others waited already.
    ToOthers,
    /// It is the first: the writer must be told.
    First,
    /// There are too many to wait.
    TooMany(Vec<Record>),
}

impl Beside {
    /// Keeps one for later.
    pub(crate) fn add(&self, record: Record) -> Added {
        let mut waiting = self.0.lock();
        waiting.records.push(record);
        if waiting.records.len() >= MANY {
            return Added::TooMany(std::mem::take(&mut *waiting).records);
        }
        if waiting.due.is_some() {
            return Added::ToOthers;
        }
        waiting.due = Some(Instant::now() + GATHER);
        Added::First
    }

    /// Until they are to be written: `None` while there are none.
    pub(crate) fn due(&self) -> Option<Duration> {
        let due = self.0.lock().due?;
        Some(due.saturating_duration_since(Instant::now()))
    }

    /// Writes them. What could not be written is kept for the next time.
    pub(crate) fn write(&self, records: &Records) -> Result<(), Fault> {
        let taken = std::mem::take(&mut *self.0.lock()).records;
        let done = records.append(&sealed(taken.clone()));
        if done.is_err() {
            let mut waiting = self.0.lock();
            waiting.due = Some(Instant::now() + AGAIN);
            waiting.records.splice(..0, taken);
        }
        done
    }
}

/// Ready to be stored.
pub(crate) fn sealed(records: Vec<Record>) -> Vec<Sealed> {
    records.into_iter().map(Sealed::new).collect()
}

/// How long one waits for others: long enough that many calls pay for one transaction, and not so long
/// that an agent that ends its servers after the last call would take it along.
const GATHER: Duration = Duration::from_millis(5);

/// How long after a failure they are tried again: as often as a failing store is.
const AGAIN: Duration = Duration::from_secs(1);

/// So many are not kept waiting any longer: they go into the queue, which has bounds of its own.
const MANY: usize = 1024;
