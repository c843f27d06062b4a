//! Consecutive records of one block that are about to be indexed.

use std::collections::HashMap;

use rusqlite::{CachedStatement, Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::IndexError;
use super::bits::{BLOCK, Bits, block_of, position_of};
use super::columns::Columns;
use super::field::{IndexField, IndexFlag};
use super::names::NameCache;
use super::number::SqlNumber;
use crate::journal::JournalEntry;

/// Consecutive records of one block, inside a transaction.
pub(super) struct Batch<'a> {
    connection: &'a Connection,
    names: &'a mut NameCache,
    block: u64,
    marks: HashMap<(IndexField, i64), Vec<u16>>,
    add_entry: CachedStatement<'a>,
    times: Option<(i64, i64)>,
    ids: Option<([u8; 16], [u8; 16])>,
    bytes: usize,
}

impl<'a> Batch<'a> {
    /// A batch for the block that contains this record.
    pub(super) fn new(
        connection: &'a Connection,
        names: &'a mut NameCache,
        seq: u64,
    ) -> Result<Self, IndexError> {
        let add_entry = connection
            .prepare_cached("INSERT OR IGNORE INTO entries VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
        let (block, marks) = (block_of(seq), HashMap::new());
        Ok(Self { connection, names, block, marks, add_entry, times: None, ids: None, bytes: 0 })
    }

    /// Adds a record of this block.
    pub(super) fn add(&mut self, entry: &JournalEntry) -> Result<(), IndexError> {
        self.bytes += entry.body.len();
        match Columns::read(&entry.body) {
            Some(columns) => self.add_readable(entry, &columns),
            None => {
                self.mark(entry.seq, IndexField::Flag, IndexFlag::Unreadable.number());
                self.add_entry(entry, entry.at.saturating_mul(1000), None)
            }
        }
    }

    /// Whether the next record has to go into another batch.
    pub(super) fn is_full(&self, last: &JournalEntry) -> bool {
        self.bytes >= MAX_BYTES || (last.seq + 1).is_multiple_of(BLOCK)
    }

    fn add_readable(
        &mut self,
        entry: &JournalEntry,
        columns: &Columns<'_>,
    ) -> Result<(), IndexError> {
        let seq = entry.seq;
        columns.names(|field, text| -> Result<(), IndexError> {
            let id = self.names.id(self.connection, field, text, self.block)?;
            self.mark(seq, field, id);
            Ok(())
        })?;
        self.mark(seq, IndexField::Day, columns.day());
        if columns.completes() {
            self.mark(seq, IndexField::Flag, IndexFlag::Completes.number());
        }
        let tokens = columns.tokens();
        if tokens.input.is_some() || tokens.output.is_some() {
            let count = |tokens: Option<u64>| tokens.unwrap_or(0).cast_signed();
            self.connection
                .prepare_cached("INSERT OR IGNORE INTO turns VALUES (?1, ?2, ?3)")?
                .execute(params![SqlNumber(seq), count(tokens.input), count(tokens.output)])?;
        }
        self.add_entry(entry, columns.time(), Some(columns.id()))
    }

    fn add_entry(
        &mut self,
        entry: &JournalEntry,
        time: i64,
        id: Option<[u8; 16]>,
    ) -> Result<(), IndexError> {
        let (earliest, latest) = self.times.unwrap_or((time, time));
        self.times = Some((earliest.min(time), latest.max(time)));
        if let Some(id) = id {
            let (first, last) = self.ids.unwrap_or((id, id));
            self.ids = Some((first.min(id), last.max(id)));
        }
        let joins = entry.joins.as_deref().map(joins_hash);
        let (segment, offset) = (SqlNumber(entry.spot.segment), SqlNumber(entry.spot.offset));
        self.add_entry.execute(params![SqlNumber(entry.seq), segment, offset, time, id, joins])?;
        Ok(())
    }

    fn mark(&mut self, seq: u64, field: IndexField, value: i64) {
        let positions = self.marks.entry((field, value)).or_default();
        let position = position_of(seq);
        if positions.last() != Some(&position) {
            positions.push(position);
        }
    }

    /// Writes the batch.
    pub(super) fn write(self) -> Result<(), IndexError> {
        let Some((earliest, latest)) = self.times else { return Ok(()) };
        let (first, last) = self.ids.unzip();
        self.connection.prepare_cached(WIDEN_BLOCK)?.execute(params![
            SqlNumber(self.block),
            earliest,
            latest,
            first,
            last
        ])?;
        let mut before = self.connection.prepare_cached(super::page::MARK)?;
        let mut write = self
            .connection
            .prepare_cached("INSERT OR REPLACE INTO marks VALUES (?1, ?2, ?3, ?4)")?;
        for ((field, value), positions) in &self.marks {
            let mut bits = Bits::NONE;
            let key = params![SqlNumber(self.block), field.number(), value];
            let stored: Option<Vec<u8>> = before.query_row(key, |row| row.get(0)).optional()?;
            if !stored.is_none_or(|stored| bits.add_stored(&stored)) {
                return Err(IndexError::Damaged);
            }
            positions.iter().for_each(|position| bits.insert(*position));
            write.execute(params![SqlNumber(self.block), field.number(), value, bits.encode()])?;
        }
        Ok(())
    }
}

const WIDEN_BLOCK: &str = "INSERT INTO blocks VALUES (?1, ?2, ?3, ?4, ?5) \
     ON CONFLICT DO UPDATE SET \
     earliest = min(earliest, excluded.earliest), latest = max(latest, excluded.latest), \
     first_id = min(coalesce(first_id, ?4), coalesce(?4, first_id)), \
     last_id = max(coalesce(last_id, ?5), coalesce(?5, last_id))";

/// The hash by which `joins` is looked up. Two texts may share a hash, so the caller compares the
/// text of each record found.
pub(super) fn joins_hash(joins: &str) -> i64 {
    let [a, b, c, d, e, f, g, h, ..]: [u8; 32] = Sha256::digest(joins).into();
    i64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// The bytes of records in one batch, plus one record: names are collected in memory until the
/// batch is written.
const MAX_BYTES: usize = 8 * 1024 * 1024;
