//! The state in a SQLite file.

mod history;
mod keeper;
mod keys;
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
use crate::place::{Patience, Place};
use crate::settings::Durability;
use crate::state::{Kept, State};
use crate::writing::{File, View, Writing};

pub(crate) use keeper::StateKeeper;
pub(crate) use read::StateReader;
use schema::STATE;
pub(crate) use snapshot::{StateLock, StateSnapshot};
#[cfg(test)]
pub(crate) use {
    history::prune as prune_history, meters::prune as prune_meters,
    removed::prune as prune_removed, sessions::end_idle, turns::expire as expire_turns,
};

/// The state in a SQLite file of its own.
#[derive(Debug)]
pub(crate) struct StateDb {
    pub(crate) writing: Writing,
    /// A connection to look things up, so that nobody who does waits for the disk.
    looking: Mutex<Database>,
}

impl StateDb {
    /// Opens the state of the store at this place, and makes it if there is none.
    pub(crate) fn open(store: &Place, durability: Durability) -> Result<Self, OpenError> {
        let file = File { place: store.state(), schema: &STATE, durability };
        let writing = Writing::open(file)?;
        let looking = Mutex::new(writing.file.open(Patience::new())?);
        Ok(Self { writing, looking })
    }

    /// Runs something with the connection that looks things up.
    fn look<T>(&self, run: impl FnOnce(&Database) -> Result<T, Fault>) -> Result<T, Fault> {
        run(&self.looking.lock())
    }

    /// Runs something in one transaction.
    fn change<T>(&self, run: impl FnOnce(&Database) -> Result<T, Fault>) -> Result<T, Fault> {
        self.writing.transaction(run)
    }

    /// Opens the connection that looks things up anew.
    fn reopen_looking(&self) -> Result<(), OpenError> {
        *self.looking.lock() = self.writing.file.open(Patience::new())?;
        self.writing.count_opened();
        Ok(())
    }
}

impl State for StateDb {
    fn keep(&self, kept: &[&Kept], now: i64) -> Result<(), Fault> {
        self.change(|database| {
            kept.iter().try_for_each(|kept| match kept {
                Kept::Removed(removed) => removed::insert(database, removed, now),
                Kept::Step(step) => history::insert(database, step),
            })
        })
    }

    fn view(&self) -> Option<View> {
        self.writing.view()
    }

    fn opened(&self) -> u64 {
        self.writing.opened()
    }
}
