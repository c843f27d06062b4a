//! Counts records without reading them.

use std::collections::BTreeMap;

use jiff::ToSpan;
use jiff::civil::{Date, date};
use rusqlite::params;

use super::bits::{BLOCK, Bits, position_of};
use super::field::{IndexField, IndexFlag};
use super::filter::{FieldCondition, IndexFilter};
use super::number::SqlNumber;
use super::page::{IndexBlock, next_block};
use super::{Bounds, Index, IndexError, names};
use callgate_audit::{CallOutcome, RecordKind, RecordOrder, Stats};

/// What is left to do after counting one block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// The records that could not be read when they were indexed.
    pub(crate) unreadable: Vec<u64>,
    /// The bounds to continue with; `None` after the last block.
    pub(crate) rest: Option<Bounds>,
}

/// One value of a field in a block.
struct ValueCount {
    value: i64,
    /// The first counted record that has it.
    first: u16,
    count: u64,
}

impl Index {
    /// Counts the first block within the bounds.
    pub(crate) fn count(
        &self,
        wanted: &IndexFilter,
        bounds: Bounds,
        stats: &mut Stats,
    ) -> Result<Counted, IndexError> {
        let view = self.view(wanted)?;
        let next = next_block(&view, wanted, bounds, RecordOrder::OldestFirst)?;
        let Some(number) = next else {
            return Ok(Counted { unreadable: Vec::new(), rest: None });
        };
        let block = IndexBlock { view: &view, block: number };
        let mut unreadable = block.flagged(IndexFlag::Unreadable)?;
        unreadable &= &Bits::between(number, bounds.low, bounds.high);

        let mut set = Bits::between(number, bounds.low, bounds.high);
        set.remove_all(&unreadable);
        set.remove_all(&block.flagged(IndexFlag::Completes)?);
        block.keep_in_time(wanted, &mut set)?;
        block.narrow(&mut set, &wanted.of_turns)?;
        for kind in [RecordKind::Turn, RecordKind::Continued] {
            block.count_answers(kind, &set, stats)?;
        }
        block.narrow(&mut set, &wanted.of_others)?;
        block.count_records(&set, stats)?;

        let seq_at = |position| number * BLOCK + u64::from(position);
        let rest = Some(bounds.after_block(number, RecordOrder::OldestFirst));
        Ok(Counted { unreadable: unreadable.positions().map(seq_at).collect(), rest })
    }
}

impl IndexBlock<'_> {
    /// Keeps only the records in the time range.
    fn keep_in_time(&self, wanted: &IndexFilter, set: &mut Bits) -> Result<(), IndexError> {
        let mut times = self.view.prepare_cached(TIMES)?;
        let (earliest, latest) =
            times.query_row([SqlNumber(self.block)], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if wanted.is_in_time(earliest) && wanted.is_in_time(latest) {
            return Ok(());
        }
        let mut query = self.view.prepare_cached(IN_TIME)?;
        let begin = self.block * BLOCK;
        let values =
            params![SqlNumber(begin), SqlNumber(begin + BLOCK - 1), wanted.since, wanted.until];
        let mut rows = query.query(values)?;
        let mut in_time = Bits::NONE;
        while let Some(row) = rows.next()? {
            in_time.insert(position_of(row.get::<_, SqlNumber>(0)?.0));
        }
        *set &= &in_time;
        Ok(())
    }

    /// Counts the responses of one kind among these records.
    fn count_answers(
        &self,
        kind: RecordKind,
        set: &Bits,
        stats: &mut Stats,
    ) -> Result<(), IndexError> {
        let found = names::find(self.view, IndexField::Kind, kind.as_str())?;
        let mut turns = set.clone();
        let is_turn = FieldCondition(vec![(IndexField::Kind, found.into_iter().collect())]);
        self.narrow(&mut turns, &[is_turn])?;
        if turns.is_empty() {
            return Ok(());
        }
        stats.turns.add_records(kind, turns.count());
        let mut query = self.view.prepare_cached(TOKENS)?;
        let begin = self.block * BLOCK;
        let mut rows = query.query(params![SqlNumber(begin), SqlNumber(begin + BLOCK - 1)])?;
        while let Some(row) = rows.next()? {
            let mut one = Bits::NONE;
            one.insert(position_of(row.get::<_, SqlNumber>(0)?.0));
            one &= &turns;
            if !one.is_empty() {
                let tokens = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
                stats.turns.add_tokens(kind, tokens(1)?, tokens(2)?);
            }
        }
        Ok(())
    }

    /// Counts these records by every counted field.
    fn count_records(&self, set: &Bits, stats: &mut Stats) -> Result<(), IndexError> {
        if set.is_empty() {
            return Ok(());
        }
        stats.records += set.count();
        let mut calls = Bits::NONE;
        let mut query = self.view.prepare_cached(COUNTED_MARKS)?;
        let mut rows =
            query.query(params![SqlNumber(self.block), IndexField::LAST_COUNTED.number()])?;
        let mut values: BTreeMap<IndexField, Vec<ValueCount>> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let Some(field) = IndexField::counted(row.get(0)?) else { continue };
            let (value, stored): (i64, Vec<u8>) = (row.get(1)?, row.get(2)?);
            let mut having = Bits::NONE;
            if !having.add_stored(&stored) {
                return Err(IndexError::Damaged);
            }
            having &= set;
            match field {
                // Kinds come first, so that the set of calls is complete by now.
                IndexField::Kind => self.count_kind(value, &having, stats, &mut calls)?,
                _ => having &= &calls,
            }
            if let Some(first) = having.positions().next() {
                let count = having.count();
                values.entry(field).or_default().push(ValueCount { value, first, count });
            }
        }
        values.into_iter().try_for_each(|(field, values)| self.add_counts(field, values, stats))
    }

    fn count_kind(
        &self,
        value: i64,
        having: &Bits,
        stats: &mut Stats,
        calls: &mut Bits,
    ) -> Result<(), IndexError> {
        if having.is_empty() {
            return Ok(());
        }
        let name = names::text(self.view, value)?.ok_or(IndexError::Damaged)?;
        let kind = RecordKind::from_word(&name).ok_or(IndexError::Damaged)?;
        *stats.kinds.entry(kind).or_default() += having.count();
        if kind.is_call() {
            *calls |= having;
        }
        Ok(())
    }

    /// Adds the counts of one field, with the values in the order of their first record: beyond a
    /// limit, values are counted as "others".
    fn add_counts(
        &self,
        field: IndexField,
        mut values: Vec<ValueCount>,
        stats: &mut Stats,
    ) -> Result<(), IndexError> {
        values.sort_by_key(|value| value.first);
        for ValueCount { value, count, .. } in values {
            let text = || names::text(self.view, value)?.ok_or(IndexError::Damaged);
            match field {
                IndexField::Kind => {}
                IndexField::Action => {
                    let action = CallOutcome::from_word(&text()?).ok_or(IndexError::Damaged)?;
                    *stats.verdicts.entry(action).or_default() += count;
                }
                IndexField::Day => *stats.days.entry(day(value)?).or_default() += count,
                IndexField::Tool => count_name(&mut stats.tools, text()?, count),
                IndexField::Rule => count_name(&mut stats.rules, text()?, count),
                IndexField::Model => count_name(&mut stats.models, text()?, count),
                IndexField::Provider => count_name(&mut stats.providers, text()?, count),
                IndexField::User => count_name(&mut stats.users, text()?, count),
                _ => {}
            }
        }
        Ok(())
    }
}

fn count_name(names: &mut BTreeMap<String, u64>, name: String, count: u64) {
    let full = names.len() >= Stats::MAX_NAMES && !names.contains_key(&name);
    let name = if full { Stats::OTHERS.to_owned() } else { name };
    *names.entry(name).or_default() += count;
}

fn day(number: i64) -> Result<Date, IndexError> {
    let days = i32::try_from(number).map_err(|_| IndexError::Damaged)?;
    date(1970, 1, 1).checked_add(days.days()).map_err(|_| IndexError::Damaged)
}

pub(super) const TIMES: &str = "SELECT earliest, latest FROM blocks WHERE block = ?1";
pub(super) const IN_TIME: &str =
    "SELECT seq FROM entries WHERE seq BETWEEN ?1 AND ?2 AND time BETWEEN ?3 AND ?4";
pub(super) const TOKENS: &str =
    "SELECT seq, tokens_input, tokens_output FROM turns WHERE seq BETWEEN ?1 AND ?2";
pub(super) const COUNTED_MARKS: &str = "SELECT field, value, bits FROM marks \
     WHERE block = ?1 AND field BETWEEN 1 AND ?2 ORDER BY field, value";
