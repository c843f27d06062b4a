//! Records in a table of a SQLite file.

use rusqlite::{OptionalExtension, Row, params};

use callgate_audit::{GENESIS, Hash, Link, Sealed};

use crate::database::{Database, Fault};
use crate::error::OpenError;
use crate::place::Place;
use crate::records::Records;
use crate::schema::RECORDS;
use crate::settings::Durability;
use crate::shared::now;
use crate::writing::{File, Writing};

/// The file with the records, open to append.
#[derive(Debug)]
pub(crate) struct RecordsFile(pub(crate) Writing);

impl RecordsFile {
    pub(crate) fn open(place: &Place, durability: Durability) -> Result<Self, OpenError> {
        let file = File { place: place.clone(), schema: &RECORDS, durability };
        Writing::open(file).map(Self)
    }
}

impl Records for RecordsFile {
    fn append(&self, records: Vec<Sealed>) -> Result<(), Fault> {
        if records.is_empty() {
            return Ok(());
        }
        self.0.transaction(|database| Chain(database).extend(&records, now()))
    }
}

/// The chain, inside a transaction.
struct Chain<'a>(&'a Database);

/// The end of the chain, inside a transaction.
struct Head {
    seq: i64,
    at: i64,
    total: i64,
    hash: Hash,
}

impl Chain<'_> {
    fn extend(&self, records: &[Sealed], now: i64) -> Result<(), Fault> {
        let mut head = self.take_head()?;
        for (place, sealed) in records.iter().enumerate() {
            let tail = i64::from(place + 1 == records.len());
            head = self.insert(sealed, &head, tail, now)?;
        }
        Ok(())
    }

    /// Reads the end of the chain. Inside the transaction, for other processes append too.
    fn take_head(&self) -> Result<Head, Fault> {
        #[cfg(test)]
        self.0.faults.step()?;
        let mut last = self.0.connection().prepare_cached(
            "SELECT seq, at, total, hash, tail FROM records ORDER BY seq DESC LIMIT 1",
        )?;
        let found = last.query_row([], |row| Ok((read_head(row)?, row.get(4)?))).optional()?;
        match found {
            Some((head, 1)) => {
                self.0.execute("UPDATE records SET tail = 0 WHERE seq = ?1", [head.seq])?;
                Ok(head)
            }
            // Its successors were cut off. The next record leaves a gap, so that it stays visible.
            Some((head, _)) => Ok(Head { seq: head.seq + 1, ..head }),
            None => self.begin_chain(),
        }
    }

    fn begin_chain(&self) -> Result<Head, Fault> {
        let mut row = self
            .0
            .connection()
            .prepare_cached("SELECT seq, 0, total, hash, begun FROM chain WHERE one = 1")?;
        let (head, begun) =
            row.query_row([], |row| Ok((read_head(row)?, row.get::<_, i64>(4)?)))?;
        if begun == 0 {
            self.0.execute("UPDATE chain SET begun = 1 WHERE one = 1", [])?;
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
        self.0.execute(
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
