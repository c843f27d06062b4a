//! What a store kept before the state had a file of its own.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::database::{Database, Fault};
use crate::error::OpenError;
use crate::place::Place;
use crate::settings::Durability;
use crate::state::StateDb;

impl StateDb {
    /// A new state: whatever lies there is what an attempt to take over an older store has left.
    pub(crate) fn anew(store: &Place) -> Result<Self, OpenError> {
        if let Place::File(path) = store.state() {
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

    /// Takes over what an older store keeps among its records, all of it or nothing. The older store must
    /// be at the newest version of its tables, and stays as it is. A state that holds something already is
    /// left alone: then it was done before.
    pub(crate) fn take_over(&self, older: &Path) -> Result<(), Fault> {
        self.writing.with(|database| {
            // As bytes: a path need not be text.
            let path = older.as_os_str().as_encoded_bytes();
            database.execute("ATTACH ?1 AS older", [path])?;
            let done = database.deferred_transaction(copy);
            // A statement that is kept prepared would keep it attached.
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

/// Those that both have, with the same columns in the same order. Entries come before their signs.
const TABLES: [&str; 8] =
    ["keys", "turns", "removed", "removed_signs", "pins", "buckets", "flows", "sessions"];
