//! When a segment is long enough, and when the oldest one leaves.

use std::time::Duration;

use crate::settings::Retention;

/// How much a journal may hold.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    age: Option<i64>,
    records: Option<u64>,
    bytes: Option<u64>,
}

/// A segment, as far as limits are about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) number: u64,
    /// The number of its first record.
    pub(super) first: u64,
    /// When it was begun: none of its records was stored earlier.
    pub(super) made: i64,
    /// Its length in bytes.
    pub(super) bytes: u64,
}

/// So many segments make up a journal that is at its limit: the oldest leaves as a whole, so a journal may
/// hold this part less than it could.
const PARTS: u64 = 16;
/// The longest segment.
const MAX_SEGMENT: u64 = 64 * 1024 * 1024;

impl Limits {
    pub(crate) fn new(retention: &Retention) -> Self {
        let micros = |age: Duration| i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
        let Retention { age, records, bytes } = retention;
        Self { age: age.map(micros), records: *records, bytes: *bytes }
    }

    /// Whether a segment takes nothing more: it holds `records`, and would have so many `bytes`.
    pub(super) fn is_full(&self, made: i64, records: u64, bytes: u64, now: i64) -> bool {
        let part = |limit: u64| (limit / PARTS).max(1);
        let longest = self.bytes.map_or(MAX_SEGMENT, |bytes| part(bytes).min(MAX_SEGMENT));
        records > 0
            && (bytes > longest
                || self.records.is_some_and(|most| records >= part(most))
                || self.age.is_some_and(|age| now.saturating_sub(made) >= age / PARTS as i64))
    }

    /// Whether the oldest segment has to leave: `records` and `bytes` are of the whole journal, with what
    /// is about to be written.
    pub(super) fn is_over(&self, oldest: &Held, records: u64, bytes: u64, now: i64) -> bool {
        self.records.is_some_and(|most| records > most)
            || self.bytes.is_some_and(|most| bytes > most)
            || self.age.is_some_and(|age| oldest.made < now.saturating_sub(age))
    }
}
