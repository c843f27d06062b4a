//! The state in a SQLite file.

mod files;
mod history;
mod keys;
mod maintenance;
mod marks;
mod meters;
mod older;
mod pins;
mod read;
mod removed;
mod schema;
mod sessions;
mod snapshot;
mod turns;

use parking_lot::Mutex;

use crate::database::{Database, Fault};
use crate::error::OpenError;
use crate::place::{Patience, StorePlace};
use crate::settings::Durability;
use crate::state::{StateEntry, StateStore};
use crate::write_connection::{SqliteFile, StateVersion, WriteConnection};

pub(crate) use maintenance::StateMaintenance;
pub(crate) use read::StateReader;
use schema::STATE;
pub(crate) use snapshot::{StateLock, StateSnapshot};
#[cfg(test)]
pub(crate) use {
    files::prune as prune_files, history::prune as prune_history, marks::expire as expire_marks,
    meters::prune as prune_meters, removed::prune as prune_removed, sessions::end_idle,
    turns::expire as expire_turns,
};

/// The state in its own SQLite file.
#[derive(Debug)]
pub(crate) struct StateDb {
    pub(crate) writing: WriteConnection,
    /// A connection for lookups, so that they do not wait for writes to the disk.
    lookups: Mutex<Database>,
}

impl StateDb {
    /// Opens the state of the store at this place. Creates it if it does not exist.
    pub(crate) fn open(store: &StorePlace, durability: Durability) -> Result<Self, OpenError> {
        let file = SqliteFile { place: store.state(), schema: &STATE, durability };
        let writing = WriteConnection::open(file)?;
        let lookups = Mutex::new(writing.file.open(Patience::new())?);
        Ok(Self { writing, lookups })
    }

    /// Runs a closure with the lookup connection.
    fn look<T>(&self, run: impl FnOnce(&Database) -> Result<T, Fault>) -> Result<T, Fault> {
        run(&self.lookups.lock())
    }

    /// Runs a closure in one transaction.
    fn change<T>(&self, run: impl FnOnce(&Database) -> Result<T, Fault>) -> Result<T, Fault> {
        self.writing.transaction(run)
    }

    /// Reopens the lookup connection.
    fn reopen_lookups(&self) -> Result<(), OpenError> {
        *self.lookups.lock() = self.writing.file.open(Patience::new())?;
        self.writing.count_opened();
        Ok(())
    }
}

impl StateStore for StateDb {
    fn store(&self, entries: &[&StateEntry], now: i64) -> Result<(), Fault> {
        self.change(|database| {
            entries.iter().try_for_each(|entries| match entries {
                StateEntry::Removed(removed) => removed::insert(database, removed, now),
                StateEntry::Step(step) => history::insert(database, step),
                StateEntry::File(file) => files::insert(database, file, now),
            })
        })
    }

    fn view(&self) -> Option<StateVersion> {
        self.writing.view()
    }

    fn opened(&self) -> u64 {
        self.writing.opened()
    }
}
