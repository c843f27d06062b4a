//! Migrates what an older store kept before the state had its own file.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::database::{Database, Fault};
use crate::error::OpenError;
use crate::place::StorePlace;
use crate::settings::Durability;
use crate::state::StateDb;

impl StateDb {
    /// Creates a new state. A file that is already there was left by an interrupted migration, and
    /// is deleted.
    pub(crate) fn create_new(store: &StorePlace) -> Result<Self, OpenError> {
        if let StorePlace::File(path) = store.state() {
            for ending in ["", "-wal", "-shm"] {
                let mut name = path.clone().into_os_string();
                name.push(ending);
                match fs::remove_file(&name) {
                    Err(error) if error.kind() != ErrorKind::NotFound => {
                        let why = error.to_string();
                        return Err(OpenError::Unwritable { path: name.into(), why });
                    }
                    _ => {}
                }
            }
        }
        Self::open(store, Durability::Disk)
    }

    /// Copies what an older store keeps along with its records, all of it or nothing. The older
    /// store must have its newest schema version, and is not changed. A state that is not empty is
    /// left alone, because the copy was already made.
    pub(crate) fn copy_from(&self, older: &Path) -> Result<(), Fault> {
        self.writing.with(|database| {
            // As bytes: a path need not be text.
            let path = older.as_os_str().as_encoded_bytes();
            database.execute("ATTACH ?1 AS older", [path])?;
            let done = database.deferred_transaction(copy);
            // A cached prepared statement would keep it attached.
            database.connection().flush_prepared_statement_cache();
            database.execute("DETACH older", []).and(done)
        })
    }
}

fn copy(database: &Database) -> Result<(), Fault> {
    for table in TABLES {
        let any = format!("SELECT 1 FROM main.{table} LIMIT 1");
        if database.one(&any, [], |_| Ok(()))?.is_some() {
            return Ok(());
        }
    }
    for table in TABLES {
        let copy = format!("INSERT INTO main.{table} SELECT * FROM older.{table}");
        database.execute(&copy, [])?;
    }
    let count = "UPDATE main.versions SET pins = (SELECT pins FROM older.versions)";
    database.execute(count, []).map(drop)
}

/// The tables that both have, with the same columns in the same order. Entries come before their
/// signs.
const TABLES: [&str; 8] =
    ["keys", "turns", "removed", "removed_signs", "pins", "buckets", "flows", "sessions"];
