//! Checking the chain.

use rusqlite::{Connection, OptionalExtension};

use crate::error::ReadError;
use crate::row::{self, COLUMNS, StoredRow};
use callgate_audit::{Hash, hex};

/// A chain that is whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// How many records were checked.
    pub records: u64,
    /// The number of the first one; behind it are those that expired.
    pub first: u64,
    /// The number of the last one.
    pub last: u64,
    /// The hash of the last one, in hexadecimal. Whoever keeps it elsewhere can later show that the
    /// chain up to here was not written anew.
    pub head: String,
    /// How many records have expired.
    pub expired: u64,
}

/// A chain that is not whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the chain is broken at record {seq}: {what}")]
pub struct Broken {
    /// The first record that is not as it was written, or is missing.
    pub seq: u64,
    /// What is wrong.
    pub what: String,
}

/// Why a chain was not verified.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// It is broken.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// It could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl From<rusqlite::Error> for VerifyError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Read(error.into())
    }
}

/// Where the chain begins: the last record that expired.
struct Anchor {
    begun: i64,
    seq: i64,
    hash: Hash,
    total: i64,
    expired: i64,
}

/// How far the check has come.
struct Position {
    seq: i64,
    hash: Hash,
    total: i64,
    tail: i64,
}

/// Checks every record, in one view of the store: what is appended meanwhile is not in it. Memory
/// does not grow with the store.
pub(crate) fn verify(
    connection: &Connection,
    mut progress: impl FnMut(u64, u64),
) -> Result<Verified, VerifyError> {
    let view = connection.unchecked_transaction()?;
    let anchor = anchor(&view)?;
    let last: i64 =
        view.query_row("SELECT coalesce(max(seq), 0) FROM records", [], |row| row.get(0))?;
    let all = last.saturating_sub(anchor.seq).max(0).unsigned_abs();
    let mut rows = view.prepare(&format!("SELECT {COLUMNS} FROM records ORDER BY seq"))?;
    let mut rows = rows.query([])?;
    let mut at = Position { seq: anchor.seq, hash: anchor.hash, total: anchor.total, tail: 0 };
    let mut records = 0;
    while let Some(row) = rows.next()? {
        let row = row::read(row).map_err(|what| broken(at.seq + 1, what))?;
        at = follow(&at, &row)?;
        records += 1;
        if records % PROGRESS_EVERY == 0 {
            progress(records, all);
        }
    }
    check_end(&anchor, &at, records)?;
    progress(records, all);
    Ok(Verified {
        records,
        first: if records == 0 { 0 } else { anchor.seq.unsigned_abs() + 1 },
        last: at.seq.unsigned_abs(),
        head: hex(&at.hash),
        expired: anchor.expired.unsigned_abs(),
    })
}

fn anchor(view: &Connection) -> Result<Anchor, VerifyError> {
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Anchor {
            begun: row.get(0)?,
            seq: row.get(1)?,
            hash: row.get(2)?,
            total: row.get(3)?,
            expired: row.get(4)?,
        })
    };
    let mut query =
        view.prepare("SELECT begun, seq, hash, total, expired FROM chain WHERE one = 1")?;
    match query.query_row([], read).optional() {
        Ok(Some(anchor)) => Ok(anchor),
        Ok(None) => Err(broken(0, "the row that says where the chain begins is missing")),
        Err(
            rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..),
        ) => Err(broken(0, "the row that says where the chain begins was changed")),
        Err(error) => Err(error.into()),
    }
}

fn follow(before: &Position, row: &StoredRow<'_>) -> Result<Position, VerifyError> {
    let expected = before.seq + 1;
    let StoredRow { link, tail, hash } = row;
    if before.tail != 0 {
        return Err(broken(before.seq, "it says that it is the last record, and is not"));
    }
    if link.seq > expected {
        let missing = link.seq - expected;
        return Err(broken(expected, &format!("{missing} record(s) missing before {}", link.seq)));
    }
    if link.seq < expected {
        return Err(broken(link.seq, "it stands where records have expired"));
    }
    let size = i64::try_from(link.body.len()).unwrap_or(i64::MAX);
    if link.hash(&before.hash) != *hash || before.total.saturating_add(size) != link.total {
        return Err(broken(expected, "it was edited, or stands in another record's place"));
    }
    Ok(Position { seq: link.seq, hash: *hash, total: link.total, tail: *tail })
}

fn check_end(anchor: &Anchor, end: &Position, records: u64) -> Result<(), VerifyError> {
    match (anchor.begun, records) {
        (0, 0) => Ok(()),
        (0, _) => Err(broken(0, "the row that says where the chain begins was changed")),
        (_, 0) => Err(broken(end.seq + 1, "it and all records behind it are missing")),
        (_, _) if end.tail != 1 => Err(broken(end.seq + 1, "the end of the chain was cut off")),
        (_, _) => Ok(()),
    }
}

fn broken(seq: i64, what: &str) -> VerifyError {
    Broken { seq: seq.max(0).unsigned_abs(), what: what.to_owned() }.into()
}

/// Records between two calls of the progress callback: some hundredths of a second.
const PROGRESS_EVERY: u64 = 10_000;
