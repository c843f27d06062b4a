//! Looks up single records.

use rusqlite::{OptionalExtension, Row, params};

use super::batch::joins_hash;
use super::bits::{BLOCK, block_of};
use super::number::SqlNumber;
use super::{Bounds, Index, IndexError};
use crate::journal::Spot;

/// The range of ids with a common prefix: the first and the last of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IdRange {
    first: [u8; 16],
    last: [u8; 16],
}

impl IdRange {
    /// The ids that equal this text or begin with it. `None` if no id can.
    pub(crate) fn beginning_with(text: &str) -> Option<Self> {
        const HYPHENS: [usize; 4] = [8, 13, 18, 23];
        let (mut first, mut last) = ([0; 32], [15; 32]);
        if text.is_empty() || text.len() > 36 {
            return None;
        }
        let mut digits = first.iter_mut().zip(&mut last);
        for (at, letter) in text.chars().enumerate() {
            if HYPHENS.contains(&at) {
                (letter == '-').then_some(())?;
                continue;
            }
            let digit = u8::try_from(letter.to_digit(16)?).ok()?;
            let (low, high) = digits.next()?;
            (*low, *high) = (digit, digit);
        }
        Some(Self { first: bytes(&first), last: bytes(&last) })
    }
}

fn bytes(digits: &[u8; 32]) -> [u8; 16] {
    let mut bytes = [0; 16];
    let (pairs, _) = digits.as_chunks::<2>();
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = high << 4 | low;
    }
    bytes
}

impl Index {
    /// The place and time of a record; `None` if it is not in the index.
    pub(crate) fn spot(&self, seq: u64) -> Result<Option<(Spot, i64)>, IndexError> {
        let mut query = self.connection.prepare_cached(SPOT)?;
        let found = query.query_row([SqlNumber(seq)], |row| Ok((spot(row, 0)?, row.get(2)?)));
        Ok(found.optional()?)
    }

    /// Passes on the records that may join with this text, newest first, until `take` returns a
    /// value.
    pub(crate) fn joined<T, E: From<IndexError>>(
        &self,
        joins: &str,
        bounds: Bounds,
        mut take: impl FnMut(Spot) -> Result<Option<T>, E>,
    ) -> Result<Option<T>, E> {
        let hash = joins_hash(joins);
        let mut high = bounds.high;
        // One at a time: another text with the same hash is very rare.
        while let Some((seq, spot)) = self.last_joined(hash, Bounds { high, ..bounds })? {
            if let Some(taken) = take(spot)? {
                return Ok(Some(taken));
            }
            high = seq.saturating_sub(1);
        }
        self.check_reaches(bounds)?;
        Ok(None)
    }

    /// If the index was rebuilt, a record that is not found may still exist.
    fn check_reaches(&self, bounds: Bounds) -> Result<(), IndexError> {
        match self.filled()?.seq {
            seq if seq < bounds.high => Err(IndexError::BegunAnew),
            _ => Ok(()),
        }
    }

    fn last_joined(&self, hash: i64, bounds: Bounds) -> Result<Option<(u64, Spot)>, IndexError> {
        let mut query = self.connection.prepare_cached(JOINED)?;
        let Bounds { low, high } = bounds;
        Ok(query
            .query_row(params![hash, SqlNumber(low), SqlNumber(high)], seq_and_spot)
            .optional()?)
    }

    /// Up to five records with ids in this range.
    pub(crate) fn with_id(
        &self,
        ids: &IdRange,
        bounds: Bounds,
    ) -> Result<Vec<(u64, Spot)>, IndexError> {
        let view = self.connection.unchecked_transaction()?;
        self.check_reaches(bounds)?;
        let mut blocks = view.prepare_cached(BLOCKS_WITH_ID)?;
        let (low, high) = (block_of(bounds.low), block_of(bounds.high));
        let mut blocks =
            blocks.query(params![SqlNumber(low), SqlNumber(high), ids.first, ids.last])?;
        let mut query = view.prepare_cached(WITH_ID)?;
        let mut found = Vec::new();
        while let Some(row) = blocks.next()? {
            let begin = row.get::<_, SqlNumber>(0)?.0.saturating_mul(BLOCK);
            let Bounds { low, high } =
                bounds.and(Bounds { low: begin, high: begin.saturating_add(BLOCK - 1) });
            let values = params![SqlNumber(low), SqlNumber(high), ids.first, ids.last];
            for row in query.query_map(values, seq_and_spot)? {
                found.push(row?);
                if found.len() == MAX_SHOWN {
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }
}

fn seq_and_spot(row: &Row<'_>) -> rusqlite::Result<(u64, Spot)> {
    Ok((row.get::<_, SqlNumber>(0)?.0, spot(row, 1)?))
}

/// Reads `segment, offset` starting at this column.
fn spot(row: &Row<'_>, at: usize) -> rusqlite::Result<Spot> {
    let (SqlNumber(segment), SqlNumber(offset)) = (row.get(at)?, row.get(at + 1)?);
    Ok(Spot { segment, offset })
}

pub(super) const SPOT: &str = "SELECT segment, offset, time FROM entries WHERE seq = ?1";
pub(super) const JOINED: &str = "SELECT seq, segment, offset FROM entries \
     WHERE joins = ?1 AND seq BETWEEN ?2 AND ?3 ORDER BY seq DESC LIMIT 1";
pub(super) const BLOCKS_WITH_ID: &str = "SELECT block FROM blocks \
     WHERE block BETWEEN ?1 AND ?2 AND first_id <= ?4 AND last_id >= ?3 ORDER BY block";
pub(super) const WITH_ID: &str = "SELECT seq, segment, offset FROM entries \
     WHERE seq BETWEEN ?1 AND ?2 AND id BETWEEN ?3 AND ?4 ORDER BY seq";

/// How many records to list when a prefix is ambiguous.
pub(crate) const MAX_SHOWN: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_begin_alike() {
        let range = IdRange::beginning_with("0123abcd-1").unwrap();
        let mut first = [0; 16];
        first[..5].copy_from_slice(&[0x01, 0x23, 0xab, 0xcd, 0x10]);
        let mut last = [0xff; 16];
        last[..5].copy_from_slice(&[0x01, 0x23, 0xab, 0xcd, 0x1f]);
        assert_eq!(range, IdRange { first, last });
        let whole = IdRange::beginning_with("0123abcd-1234-5678-9abc-def012345678").unwrap();
        assert_eq!(whole.first, whole.last);
        for wrong in ["", "0123abcd1", "x", "-", "0123abcd-1234-5678-9abc-def0123456789", "é"] {
            assert_eq!(IdRange::beginning_with(wrong), None, "{wrong}");
        }
    }
}
