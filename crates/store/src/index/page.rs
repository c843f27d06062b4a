//! Walks the blocks of an index.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::bits::{BLOCK, Bits, block_of};
use super::field::{IndexField, IndexFlag};
use super::filled::Filled;
use super::filter::{FieldCondition, IndexFilter};
use super::number::SqlNumber;
use super::{Index, IndexError};
use callgate_audit::RecordOrder;

/// The records from one sequence number to another, both inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) low: u64,
    pub(crate) high: u64,
}

impl Bounds {
    pub(crate) fn is_empty(self) -> bool {
        self.low > self.high
    }

    /// The records that are in both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    /// The bounds after a record, in this order.
    pub(crate) fn after(self, seq: u64, order: RecordOrder) -> Self {
        match order {
            RecordOrder::OldestFirst => Self { low: seq.saturating_add(1), ..self },
            // No record has the sequence number 0.
            RecordOrder::NewestFirst if seq <= 1 => Self { low: 1, high: 0 },
            RecordOrder::NewestFirst => Self { high: seq - 1, ..self },
        }
    }

    /// The bounds after a block, in this order.
    pub(super) fn after_block(self, block: u64, order: RecordOrder) -> Self {
        let begin = block.saturating_mul(BLOCK);
        match order {
            RecordOrder::OldestFirst => self.after(begin.saturating_add(BLOCK - 1), order),
            RecordOrder::NewestFirst => self.after(begin, order),
        }
    }
}

/// Some records that may pass the filter.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// Their sequence numbers, in order.
    pub(crate) seqs: Vec<u64>,
    /// Where to look for more; `None` after the last page.
    pub(crate) rest: Option<Bounds>,
}

impl Index {
    /// The first records within the bounds that may pass: those of one block. No lock or read
    /// transaction is held between pages, so that a slow consumer delays no other connection.
    pub(crate) fn page(
        &self,
        wanted: &IndexFilter,
        bounds: Bounds,
        order: RecordOrder,
    ) -> Result<Page, IndexError> {
        let view = self.view(wanted)?;
        let mut rest = bounds;
        while let Some(block) = next_block(&view, wanted, rest, order)? {
            let set = IndexBlock { view: &view, block }.candidates(wanted, rest)?;
            rest = rest.after_block(block, order);
            if set.is_empty() {
                continue;
            }
            let mut seqs: Vec<u64> =
                set.positions().map(|position| block * BLOCK + u64::from(position)).collect();
            if order == RecordOrder::NewestFirst {
                seqs.reverse();
            }
            return Ok(Page { seqs, rest: Some(rest) });
        }
        Ok(Page { seqs: Vec::new(), rest: None })
    }

    /// A read transaction on the index in which the values were looked up.
    pub(super) fn view(&self, wanted: &IndexFilter) -> Result<Transaction<'_>, IndexError> {
        let view = self.connection.unchecked_transaction()?;
        if Filled::read(&view)?.generation != wanted.generation {
            return Err(IndexError::BegunAnew);
        }
        Ok(view)
    }
}

/// The next block with records within the bounds and in the time range.
pub(super) fn next_block(
    view: &Connection,
    wanted: &IndexFilter,
    bounds: Bounds,
    order: RecordOrder,
) -> Result<Option<u64>, IndexError> {
    if bounds.is_empty() {
        return Ok(None);
    }
    let mut query = view.prepare_cached(match order {
        RecordOrder::OldestFirst => NEXT_BLOCK,
        RecordOrder::NewestFirst => BLOCK_BEFORE,
    })?;
    let (low, high) = (block_of(bounds.low), block_of(bounds.high));
    let values = params![SqlNumber(low), SqlNumber(high), wanted.since, wanted.until];
    Ok(query.query_row(values, |row| row.get(0)).optional()?.map(|SqlNumber(block)| block))
}

/// One block of an index.
pub(super) struct IndexBlock<'a> {
    pub(super) view: &'a Connection,
    pub(super) block: u64,
}

impl IndexBlock<'_> {
    /// The records that may pass, and the unreadable ones.
    fn candidates(&self, wanted: &IndexFilter, bounds: Bounds) -> Result<Bits, IndexError> {
        let mut set = Bits::between(self.block, bounds.low, bounds.high);
        self.narrow(&mut set, wanted.cheapest_first())?;
        if !set.is_empty() {
            set.remove_all(&self.flagged(IndexFlag::Completes)?);
        }
        let mut unreadable = self.flagged(IndexFlag::Unreadable)?;
        unreadable &= &Bits::between(self.block, bounds.low, bounds.high);
        set |= &unreadable;
        Ok(set)
    }

    /// Keeps only the records for which every condition holds.
    pub(super) fn narrow<'c>(
        &self,
        set: &mut Bits,
        conditions: impl IntoIterator<Item = &'c FieldCondition>,
    ) -> Result<(), IndexError> {
        for FieldCondition(any) in conditions {
            if set.is_empty() {
                return Ok(());
            }
            let mut holds = Bits::NONE;
            for (field, values) in any {
                self.add(&mut holds, *field, values)?;
            }
            *set &= &holds;
        }
        Ok(())
    }

    pub(super) fn flagged(&self, flag: IndexFlag) -> Result<Bits, IndexError> {
        let mut set = Bits::NONE;
        self.add(&mut set, IndexField::Flag, &[flag.number()])?;
        Ok(set)
    }

    /// Adds the records that have one of these values.
    fn add(&self, set: &mut Bits, field: IndexField, values: &[i64]) -> Result<(), IndexError> {
        if values.len() > FEW {
            return self.add_many(set, field, values);
        }
        let mut query = self.view.prepare_cached(MARK)?;
        for value in values {
            let key = params![SqlNumber(self.block), field.number(), value];
            let stored: Option<Vec<u8>> = query.query_row(key, |row| row.get(0)).optional()?;
            if !stored.is_none_or(|stored| set.add_stored(&stored)) {
                return Err(IndexError::Damaged);
            }
        }
        Ok(())
    }

    /// The same for many values: a block has few of them, so it reads all values of the block.
    fn add_many(
        &self,
        set: &mut Bits,
        field: IndexField,
        values: &[i64],
    ) -> Result<(), IndexError> {
        let values: HashSet<i64> = values.iter().copied().collect();
        let mut query = self.view.prepare_cached(MARKS_OF_FIELD)?;
        let mut rows = query.query(params![SqlNumber(self.block), field.number()])?;
        while let Some(row) = rows.next()? {
            let stored: Vec<u8> = row.get(1)?;
            if values.contains(&row.get(0)?) && !set.add_stored(&stored) {
                return Err(IndexError::Damaged);
            }
        }
        Ok(())
    }
}

/// Up to this many values are looked up one by one.
const FEW: usize = 16;

pub(super) const MARK: &str =
    "SELECT bits FROM marks WHERE block = ?1 AND field = ?2 AND value = ?3";
pub(super) const MARKS_OF_FIELD: &str =
    "SELECT value, bits FROM marks WHERE block = ?1 AND field = ?2";
pub(super) const NEXT_BLOCK: &str = "SELECT block FROM blocks WHERE block BETWEEN ?1 AND ?2 \
     AND latest >= ?3 AND earliest <= ?4 ORDER BY block LIMIT 1";
pub(super) const BLOCK_BEFORE: &str = "SELECT block FROM blocks WHERE block BETWEEN ?1 AND ?2 \
     AND latest >= ?3 AND earliest <= ?4 ORDER BY block DESC LIMIT 1";
