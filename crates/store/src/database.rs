//! A connection to a SQLite file: cached prepared statements and whole transactions.

use rusqlite::{Connection, ErrorCode, OptionalExtension, Row};

use crate::error::StoreError;

/// Why a transaction failed. Nothing of it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Another connection is writing.
    Busy,
    /// The store cannot be written at the moment, but the connection is intact: the disk is full,
    /// for example.
    Failed(String),
    /// The connection can no longer be used.
    Lost(String),
    /// The record that has to be written first could not be written. Nothing is wrong with this
    /// file.
    NotRecorded(String),
}

impl Fault {
    pub(crate) fn why(&self) -> String {
        match self {
            Self::Busy => "another process kept the store locked for two seconds".to_owned(),
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

/// A connection to a SQLite file.
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

    /// Runs a closure in one transaction that holds the write lock from its start.
    pub(crate) fn transaction<T>(
        &self,
        run: impl FnOnce(&Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.execute("BEGIN IMMEDIATE", [])?;
        self.finish(run)
    }

    /// Like [`Self::transaction`], without a lock until something is read or written: for a
    /// transaction that only reads, from a file that another connection has locked.
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
            // If even this fails, SQLite has rolled back by itself, or will when the file is
            // reopened.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        done
    }

    /// Runs one statement and caches it as prepared.
    pub(crate) fn execute(&self, sql: &str, values: impl rusqlite::Params) -> Result<usize, Fault> {
        #[cfg(test)]
        self.faults.step()?;
        Ok(self.connection.prepare_cached(sql)?.execute(values)?)
    }

    /// The first row of a query. The statement is cached as prepared.
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

    /// A number that changes with each commit of another connection, in this process or another.
    pub(crate) fn data_version(&self) -> Result<i64, Fault> {
        let mut ask = self.connection.prepare_cached("PRAGMA data_version")?;
        Ok(ask.query_row([], |row| row.get(0))?)
    }

    /// Writes a few bytes, to a table that each file has for this.
    pub(crate) fn touch(&self) -> Result<(), Fault> {
        let touch = "UPDATE touched SET times = times + 1 WHERE one = 1";
        self.transaction(|database| database.execute(touch, [])).map(drop)
    }
}
