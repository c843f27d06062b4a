//! Persistent data that is not in records: gateway keys, pins, removed calls, token buckets, steps
//! and files of sessions, open sessions, counts of turns and marks of calls. It has its own file, so that rebuilding the
//! index loses none of it.
//!
//! There is one trait for each concern, and SQLite implements them all. No trait knows about
//! records: a change takes a function ([`BeforeCommit`]) that records it before it is committed.

pub(crate) mod cache;
pub(crate) mod files;
pub(crate) mod history;
pub(crate) mod keys;
pub(crate) mod marks;
pub(crate) mod meters;
pub(crate) mod pins;
pub(crate) mod removed;
pub(crate) mod sessions;
pub(crate) mod sqlite;
pub(crate) mod turns;

use crate::database::Fault;
use crate::write_connection::StateVersion;
use files::{FileStore, SealedFile};
use history::{HistoryStore, SealedStep};
use keys::KeyStore;
use marks::MarkStore;
use meters::MeterStore;
use pins::PinStore;
use removed::{RemovedCallStore, SealedRemoved};
use sessions::SessionStore;
use turns::TurnStore;

pub(crate) use sqlite::{StateDb, StateLock, StateMaintenance, StateReader, StateSnapshot};

/// Runs when a change is ready and before it is committed. If it fails, nothing is changed.
pub(crate) type BeforeCommit<'a, T> = &'a mut dyn FnMut(T) -> Result<(), Fault>;

/// Everything that is stored in addition to the records.
pub(crate) trait StateStore:
    KeyStore
    + PinStore
    + RemovedCallStore
    + MeterStore
    + HistoryStore
    + FileStore
    + SessionStore
    + TurnStore
    + MarkStore
{
    /// Stores all of these, or none. `now` is in microseconds since 1970.
    fn store(&self, entries: &[&StateEntry], now: i64) -> Result<(), Fault>;

    /// A view that stays the same as long as no other process has changed the state. `None` if that
    /// cannot be determined at once.
    fn view(&self) -> Option<StateVersion>;

    /// How often it was reopened. After that, cached data may be from another file.
    fn opened(&self) -> u64;
}

/// A state entry that the writer thread stores.
#[derive(Debug)]
pub(crate) enum StateEntry {
    /// A removed call.
    Removed(SealedRemoved),
    /// A step of a session.
    Step(SealedStep),
    /// What a call of a session writes into a file.
    File(SealedFile),
}

impl StateEntry {
    /// Its approximate size in memory.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Removed(removed) => removed.content.len() + 32 * removed.signs.len() + 256,
            Self::Step(step) => step.size(),
            Self::File(file) => file.content.len() + 256,
        }
    }
}
