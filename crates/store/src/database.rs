//! The write side of a store: one connection, whole transactions.

use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, params};

use crate::flows::SealedStep;
use crate::removed::SealedRemoved;
use callgate_audit::Record;
use callgate_audit::Sealed;
use callgate_audit::{GENESIS, Hash, Link};

/// What can be committed.
#[derive(Debug)]
pub(crate) enum Item {
    /// A record.
    Record(Sealed),
    /// A removed call.
    Removed(SealedRemoved),
    /// A step of a session.
    Flow(SealedStep),
}

impl Item {
    /// About how many bytes it takes in memory.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Record(sealed) => sealed.body.len() + 256,
            Self::Removed(removed) => removed.content.len() + 32 * removed.signs.len() + 256,
            Self::Flow(step) => step.size(),
        }
    }
}

/// Why a transaction did not happen. None of it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Another connection writes.
    Busy,
    /// The store cannot take it now, but the connection is sound: the disk is full, say.
    Failed(String),
    /// The connection is of no more use.
    Lost(String),
}

impl Fault {
    pub(crate) fn why(&self) -> String {
        match self {
            Self::Busy => "another process has kept the store locked for two seconds".to_owned(),
            Self::Failed(why) | Self::Lost(why) => why.clone(),
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

/// The write side of a store.
#[derive(Debug)]
pub(crate) struct Database {
    connection: Connection,
    #[cfg(test)]
    pub(crate) faults: crate::faults::Faults,
}

/// The end of the chain, inside a transaction.
struct Head {
    seq: i64,
    at: i64,
    total: i64,
    hash: Hash,
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

    /// Writes all of these, or none. `now` is in microseconds since 1970.
    pub(crate) fn commit<'a>(
        &self,
        items: impl Iterator<Item = &'a Item> + Clone,
        now: i64,
    ) -> Result<(), Fault> {
        self.transaction(|store| store.fill(items, now))
    }

    /// Runs this in one transaction that holds the write lock from its begin.
    pub(crate) fn transaction<T>(
        &self,
        run: impl FnOnce(&Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.execute("BEGIN IMMEDIATE", [])?;
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

    /// Appends a record inside the transaction that is open, so that it is written together with what
    /// it tells of, or not at all.
    pub(crate) fn append(&self, record: Record, now: i64) -> Result<(), Fault> {
        let item = Item::Record(Sealed::new(record));
        self.fill(std::iter::once(&item), now)
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

    /// Writes all of these, inside a transaction.
    pub(crate) fn fill<'a>(
        &self,
        items: impl Iterator<Item = &'a Item> + Clone,
        now: i64,
    ) -> Result<(), Fault> {
        let mut left = items.clone().filter(|item| matches!(item, Item::Record(_))).count();
        let mut head = None;
        for item in items {
            match item {
                Item::Record(sealed) => {
                    let before = match head.take() {
                        Some(head) => head,
                        None => self.take_head()?,
                    };
                    left -= 1;
                    let tail = i64::from(left == 0);
                    head = Some(self.insert(sealed, &before, tail, now)?);
                }
                Item::Removed(removed) => removed.insert(self, now)?,
                Item::Flow(step) => step.insert(self)?,
            }
        }
        Ok(())
    }

    /// Reads the end of the chain. Inside the transaction, for other processes append too.
    fn take_head(&self) -> Result<Head, Fault> {
        #[cfg(test)]
        self.faults.step()?;
        let mut last = self.connection.prepare_cached(
            "SELECT seq, at, total, hash, tail FROM records ORDER BY seq DESC LIMIT 1",
        )?;
        let found = last.query_row([], |row| Ok((read_head(row)?, row.get(4)?))).optional()?;
        match found {
            Some((head, 1)) => {
                self.execute("UPDATE records SET tail = 0 WHERE seq = ?1", [head.seq])?;
                Ok(head)
            }
            // Its successors were cut off. The next record leaves a gap, so that it stays visible.
            Some((head, _)) => Ok(Head { seq: head.seq + 1, ..head }),
            None => self.begin_chain(),
        }
    }

    fn begin_chain(&self) -> Result<Head, Fault> {
        let mut row = self
            .connection
            .prepare_cached("SELECT seq, 0, total, hash, begun FROM chain WHERE one = 1")?;
        let (head, begun) =
            row.query_row([], |row| Ok((read_head(row)?, row.get::<_, i64>(4)?)))?;
        if begun == 0 {
            self.execute("UPDATE chain SET begun = 1 WHERE one = 1", [])?;
            return Ok(head);
        }
        // There were records, and all are gone: again a gap.
        Ok(Head { seq: head.seq + 1, ..head })
    }

    fn insert(&self, sealed: &Sealed, before: &Head, tail: i64, now: i64) -> Result<Head, Fault> {
        let body = sealed.body.as_str();
        let size = i64::try_from(body.len()).unwrap_or(i64::MAX);
        let link = Link {
            seq: before.seq + 1,
            at: before.at.max(now).max(sealed.time),
            total: before.total.saturating_add(size),
            joins: sealed.joins.as_deref(),
            body,
        };
        let hash = link.hash(&before.hash);
        self.execute(
            "INSERT INTO records (seq, tail, at, total, hash, joins, body) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![link.seq, tail, link.at, link.total, hash, link.joins, link.body],
        )?;
        Ok(Head { seq: link.seq, at: link.at, total: link.total, hash })
    }
}

fn read_head(row: &Row<'_>) -> rusqlite::Result<Head> {
    Ok(Head {
        seq: row.get(0)?,
        at: row.get(1)?,
        total: row.get(2)?,
        hash: row.get::<_, Option<Hash>>(3)?.unwrap_or(GENESIS),
    })
}
