//! How far an index is filled.

use rusqlite::{Connection, OptionalExtension, params};

use super::IndexError;
use super::number::SqlNumber;
use crate::error::ReadError;
use crate::journal::{JournalEntry, Log, Spot};
use callgate_audit::ChainHash;

/// How far an index is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Filled {
    /// The first record in it.
    pub(crate) first: u64,
    /// The last record in it; `first - 1` while it is empty.
    pub(crate) seq: u64,
    /// The place and the hash of the last record; `None` while it is empty.
    pub(super) last: Option<(Spot, ChainHash)>,
    /// How often it was rebuilt.
    pub(crate) generation: i64,
    /// How often names were removed.
    pub(super) pruned: i64,
}

impl Filled {
    pub(super) fn read(connection: &Connection) -> Result<Self, IndexError> {
        let sql = "SELECT first, seq, segment, offset, hash, generation, pruned FROM filled";
        let mut query = connection.prepare_cached(sql)?;
        let found = query.query_row([], |row| {
            let last = match (row.get(2)?, row.get(3)?, row.get(4)?) {
                (Some(SqlNumber(segment)), Some(SqlNumber(offset)), Some(hash)) => {
                    Some((Spot { segment, offset }, hash))
                }
                _ => None,
            };
            let (SqlNumber(first), SqlNumber(seq)) = (row.get(0)?, row.get(1)?);
            Ok(Self { first, seq, last, generation: row.get(5)?, pruned: row.get(6)? })
        });
        found.optional()?.ok_or(IndexError::Damaged)
    }

    /// Stores that it is filled up to this record.
    pub(super) fn advance(connection: &Connection, entry: &JournalEntry) -> rusqlite::Result<()> {
        let sql = "UPDATE filled SET seq = ?1, segment = ?2, offset = ?3, hash = ?4";
        let Spot { segment, offset } = entry.spot;
        connection.prepare_cached(sql)?.execute(params![
            SqlNumber(entry.seq),
            SqlNumber(segment),
            SqlNumber(offset),
            entry.hash
        ])?;
        Ok(())
    }

    /// Whether the journal has exactly this record: its hash covers all records before it, so the
    /// index matches the journal.
    pub(crate) fn matches_log(&self, log: &dyn Log) -> bool {
        let Some((spot, hash)) = self.last else { return false };
        // If the path now holds another journal, the spot may be anything, even unreadable.
        let found: Result<Option<JournalEntry>, ReadError> = log.entry(spot);
        found.is_ok_and(|it| it.is_some_and(|it| it.seq == self.seq && it.hash == hash))
    }

    /// Whether no record is in it.
    pub(super) fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    pub(super) fn spot(&self) -> Option<Spot> {
        self.last.map(|(spot, _)| spot)
    }
}
