//! The tables of a SQLite file, and the migrations of older files.

use rusqlite::{Connection, TransactionBehavior};

/// The schema of a SQLite file of callgate.
#[derive(Debug)]
pub(crate) struct Schema {
    /// The application id in the file header, so that other SQLite files are recognized.
    pub(crate) application: i64,
    /// The migration steps. A file at version `n` has had the first `n` steps; a released step
    /// never changes.
    pub(crate) steps: &'static [&'static str],
}

/// The application id of every file at the path of a store: `CGAT` in ASCII.
pub(crate) const APPLICATION: i64 = 0x4347_4154;

/// What kind of file it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// It is empty.
    Empty,
    /// A store of this version.
    Store(i64),
    /// A database of another application.
    Foreign,
}

impl Schema {
    /// The newest version that this program knows.
    pub(crate) fn version(&self) -> i64 {
        i64::try_from(self.steps.len()).unwrap_or(i64::MAX)
    }

    /// Identifies a file without changing it. Reads in one transaction: another process may be
    /// creating the file, and half of it would look like something else.
    pub(crate) fn identify(&self, connection: &Connection) -> rusqlite::Result<FileKind> {
        let view = connection.unchecked_transaction()?;
        let identity = self.identify_in(&view)?;
        view.commit()?;
        Ok(identity)
    }

    fn identify_in(&self, connection: &Connection) -> rusqlite::Result<FileKind> {
        let number = |pragma: &str| -> rusqlite::Result<i64> {
            connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))
        };
        let application = number("application_id")?;
        let version = number("user_version")?;
        let tables: i64 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        Ok(match (application, version, tables) {
            (found, version, _) if found == self.application => FileKind::Store(version),
            (0, 0, 0) => FileKind::Empty,
            _ => FileKind::Foreign,
        })
    }

    /// Migrates a file, even an empty one, to the newest version. Several processes may do so at
    /// once: the second finds nothing to do.
    pub(crate) fn migrate(&self, connection: &mut Connection) -> rusqlite::Result<()> {
        self.migrate_to(connection, self.version())
    }

    /// Migrates it to this version. Tests of older files start with this.
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
        assert_eq!(RECORDS.identify(&connection).unwrap(), FileKind::Empty);
        RECORDS.migrate(&mut connection).unwrap();
        RECORDS.migrate(&mut connection).unwrap();
        assert_eq!(RECORDS.identify(&connection).unwrap(), FileKind::Store(RECORDS.version()));
    }

    #[test]
    fn another_database_is_foreign() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE songs (name TEXT)").unwrap();
        assert_eq!(RECORDS.identify(&connection).unwrap(), FileKind::Foreign);
    }
}
