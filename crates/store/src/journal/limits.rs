//! When a segment is full, and when the oldest one is removed.

use std::time::Duration;

use crate::settings::Retention;

/// How much a journal may hold.
#[derive(Debug, Clone)]
pub(crate) struct JournalLimits {
    age: Option<i64>,
    records: Option<u64>,
    bytes: Option<u64>,
}

/// What the limits need to know about a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SegmentInfo {
    pub(super) number: u64,
    /// The sequence number of its first record.
    pub(super) first: u64,
    /// When it was started: all its records were stored later.
    pub(super) made: i64,
    /// Its length in bytes.
    pub(super) bytes: u64,
}

/// How many segments a journal at its limit has. The oldest segment is removed as a whole, so a
/// journal may hold this fraction less than its limit.
const PARTS: u64 = 16;
/// The longest segment.
const MAX_SEGMENT: u64 = 64 * 1024 * 1024;

impl JournalLimits {
    pub(crate) fn new(retention: &Retention) -> Self {
        let micros = |age: Duration| i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
        let Retention { age, records, bytes } = retention;
        Self { age: age.map(micros), records: *records, bytes: *bytes }
    }

    /// Whether a segment is full. `records` are in it, and `bytes` would be its length after the
    /// write.
    pub(super) fn is_full(&self, made: i64, records: u64, bytes: u64, now: i64) -> bool {
        let part = |limit: u64| (limit / PARTS).max(1);
        let longest = self.bytes.map_or(MAX_SEGMENT, |bytes| part(bytes).min(MAX_SEGMENT));
        records > 0
            && (bytes > longest
                || self.records.is_some_and(|most| records >= part(most))
                || self.age.is_some_and(|age| now.saturating_sub(made) >= age / PARTS as i64))
    }

    /// Whether the oldest segment has to be removed. `records` and `bytes` are those of the whole
    /// journal, including what is about to be written.
    pub(super) fn is_over(&self, oldest: &SegmentInfo, records: u64, bytes: u64, now: i64) -> bool {
        self.records.is_some_and(|most| records > most)
            || self.bytes.is_some_and(|most| bytes > most)
            || self.age.is_some_and(|age| oldest.made < now.saturating_sub(age))
    }
}
