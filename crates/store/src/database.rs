//! A connection to a SQLite file: statements that are kept prepared, whole transactions.

use rusqlite::{Connection, ErrorCode, OptionalExtension, Row};

use crate::error::StoreError;

/// Why a transaction did not happen. None of it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Another connection writes.
    Busy,
    /// The store cannot take it now, but the connection is sound: the disk is full, say.
    Failed(String),
    /// The connection is of no more use.
    Lost(String),
    /// What had to be on record first could not be recorded. Nothing is wrong with this file.
    NotRecorded(String),
}

impl Fault {
    pub(crate) fn why(&self) -> String {
        match self {
            Self::Busy => "another process has kept the store locked for two seconds".to_owned(),
            Self::Failed(why) | Self::Lost(why) | Self::NotRecorded(why) => why.clone(),
        }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DiskFull) => Self::Failed("the disk is full".to_owned()),
            _ => Self::Lost(error.to_string()),
        }
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault.why())
    }
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Database {
    connection: Connection,
    #[cfg(test)]
    pub(crate) faults: crate::faults::Faults,
}

impl Database {
    pub(crate) fn new(connection: Connection) -> Self {
        Self {
            connection,
            #[cfg(test)]
            faults: crate::faults::Faults::default(),
        }
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Runs this in one transaction that holds the write lock from its begin.
    pub(crate) fn transaction<T>(
        &self,
        run: impl FnOnce(&Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.execute("BEGIN IMMEDIATE", [])?;
        self.finish(run)
    }

    /// The same, with no lock before something is read or written: for one that only reads from a file that
    /// somebody else has locked.
    pub(crate) fn deferred_transaction<T>(
        &self,
        run: impl FnOnce(&Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.execute("BEGIN", [])?;
        self.finish(run)
    }

    fn finish<T>(&self, run: impl FnOnce(&Self) -> Result<T, Fault>) -> Result<T, Fault> {
        let done = run(self).and_then(|value| {
            self.execute("COMMIT", [])?;
            Ok(value)
        });
        if done.is_err() && !self.connection.is_autocommit() {
            // If even this fails, SQLite has rolled back by itself or will when it is reopened.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        done
    }

    /// Runs one statement, which is kept prepared.
    pub(crate) fn execute(&self, sql: &str, values: impl rusqlite::Params) -> Result<usize, Fault> {
        #[cfg(test)]
        self.faults.step()?;
        Ok(self.connection.prepare_cached(sql)?.execute(values)?)
    }

    /// The first row of a query, which is kept prepared.
    pub(crate) fn one<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, Fault> {
        #[cfg(test)]
        self.faults.step()?;
        Ok(self.connection.prepare_cached(sql)?.query_row(values, read).optional()?)
    }

    /// Counts the commits of other connections, of this process and others.
    pub(crate) fn data_version(&self) -> Result<i64, Fault> {
        let mut ask = self.connection.prepare_cached("PRAGMA data_version")?;
        Ok(ask.query_row([], |row| row.get(0))?)
    }

    /// Writes a little: each file has a table for that.
    pub(crate) fn touch(&self) -> Result<(), Fault> {
        let touch = "UPDATE touched SET times = times + 1 WHERE one = 1";
        self.transaction(|database| database.execute(touch, [])).map(drop)
    }
}
