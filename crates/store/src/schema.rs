//! The tables of a SQLite file, and how an older file becomes a newer one.

use rusqlite::{Connection, TransactionBehavior};

/// What a SQLite file of callgate consists of.
#[derive(Debug)]
pub(crate) struct Schema {
    /// Written into the header of the file, so that another SQLite file is not taken for one.
    pub(crate) application: i64,
    /// The tables, step by step. A file at version `n` has had the first `n` steps; a step that was
    /// released is never changed.
    pub(crate) steps: &'static [&'static str],
}

/// What every file that lies where a store should be has in its header: `CGAT` in ASCII.
pub(crate) const APPLICATION: i64 = 0x4347_4154;

/// What a file is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// Nothing is in it yet.
    Empty,
    /// A store of this version.
    Store(i64),
    /// A database of something else.
    Foreign,
}

impl Schema {
    /// The newest version that this program knows.
    pub(crate) fn version(&self) -> i64 {
        i64::try_from(self.steps.len()).unwrap_or(i64::MAX)
    }

    /// Says what a file is, without changing it. It is looked at in one view: another process may be
    /// making the file meanwhile, and half of it would look like something else.
    pub(crate) fn identify(&self, connection: &Connection) -> rusqlite::Result<Identity> {
        let view = connection.unchecked_transaction()?;
        let identity = self.identify_in(&view)?;
        view.commit()?;
        Ok(identity)
    }

    fn identify_in(&self, connection: &Connection) -> rusqlite::Result<Identity> {
        let number = |pragma: &str| -> rusqlite::Result<i64> {
            connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))
        };
        let application = number("application_id")?;
        let version = number("user_version")?;
        let tables: i64 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        Ok(match (application, version, tables) {
            (found, version, _) if found == self.application => Identity::Store(version),
            (0, 0, 0) => Identity::Empty,
            _ => Identity::Foreign,
        })
    }

    /// Brings a file, also an empty one, to the newest version. Several processes may do so at once: the
    /// second finds it done.
    pub(crate) fn migrate(&self, connection: &mut Connection) -> rusqlite::Result<()> {
        self.migrate_to(connection, self.version())
    }

    /// Brings it to this version, which tests of older files begin with.
    pub(crate) fn migrate_to(
        &self,
        connection: &mut Connection,
        newest: i64,
    ) -> rusqlite::Result<()> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let version: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let done = usize::try_from(version).unwrap_or(0);
        let all = usize::try_from(newest).unwrap_or(0);
        for step in self.steps.iter().take(all).skip(done) {
            transaction.execute_batch(step)?;
        }
        transaction.pragma_update(None, "application_id", self.application)?;
        transaction.pragma_update(None, "user_version", newest.max(version))?;
        transaction.commit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::legacy::RECORDS;

    #[test]
    fn a_store_is_made_once() {
        let mut connection = Connection::open_in_memory().unwrap();
        assert_eq!(RECORDS.identify(&connection).unwrap(), Identity::Empty);
        RECORDS.migrate(&mut connection).unwrap();
        RECORDS.migrate(&mut connection).unwrap();
        assert_eq!(RECORDS.identify(&connection).unwrap(), Identity::Store(RECORDS.version()));
    }

    #[test]
    fn another_database_is_foreign() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE songs (name TEXT)").unwrap();
        assert_eq!(RECORDS.identify(&connection).unwrap(), Identity::Foreign);
    }
}
