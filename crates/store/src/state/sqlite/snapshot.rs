//! The state as of one moment, to be copied while other processes keep writing.

use std::path::Path;
use std::time::Duration;

use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags};

use crate::database::Fault;
use crate::error::OpenError;
use crate::journal::create_private;
use crate::place::{COMMON, Patience, StorePlace};

/// Keeps every process from changing the state while it exists.
#[derive(Debug)]
pub(crate) struct StateLock {
    connection: Connection,
    place: StorePlace,
}

/// The state as it was when the snapshot was taken. Later changes are not part of it.
#[derive(Debug)]
pub(crate) struct StateSnapshot(Connection);

impl StateLock {
    /// Waits for changes in progress. `None` if the store has no state yet.
    pub(crate) fn take(store: &StorePlace) -> Result<Option<Self>, OpenError> {
        let place = store.state();
        if matches!(place.path().try_exists(), Ok(false)) {
            return Ok(None);
        }
        let failed = |error: rusqlite::Error| place.unreadable(&error);
        let connection = connect(&place).map_err(failed)?;
        connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
        Ok(Some(Self { connection, place }))
    }

    /// The state as of now.
    pub(crate) fn snapshot(&self) -> Result<StateSnapshot, Fault> {
        let connection = connect(&self.place)?;
        connection.execute_batch("BEGIN")?;
        // The first read decides which state the transaction sees until its end.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(StateSnapshot(connection))
    }
}

impl Drop for StateLock {
    fn drop(&mut self) {
        // If this fails, closing the connection ends the transaction.
        let _ = self.connection.execute_batch("ROLLBACK");
    }
}

impl StateSnapshot {
    /// Writes the copy to a new file that only this user can read.
    pub(crate) fn copy(&self, path: &Path) -> Result<(), Fault> {
        create_private(path)?.sync_all()?;
        let mut copy = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        Backup::new(&self.0, &mut copy)?.run_to_completion(PAGES, Duration::ZERO, None)?;
        // A copy with a log would be two files. A store sets the mode again when it opens it.
        copy.pragma_update_and_check(None, "journal_mode", "delete", |_| Ok(()))?;
        Ok(())
    }
}

fn connect(place: &StorePlace) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | COMMON;
    let mut connection = Connection::open_with_flags(place.path(), flags)?;
    let patience = Patience::new();
    connection.busy_handler(Some(move |count| patience.wait(count)))?;
    Ok(connection)
}

/// Pages copied in one step.
const PAGES: i32 = 1000;
