//! The header of a segment.

use callgate_audit::{ChainHash, GENESIS, hex};
use serde::{Deserialize, Serialize};

/// The header of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SegmentHeader {
    /// Its number, which is also in its file name.
    pub(super) segment: u64,
    /// The record before its first one. Anything that an earlier segment holds after that record
    /// was never confirmed, and does not count.
    pub(super) before: Previous,
    /// When the segment was started, in microseconds since 1970.
    pub(super) made: i64,
    pub(super) cause: Cause,
}

/// What a record has to know about the record before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Previous {
    pub(super) seq: u64,
    pub(super) hash: ChainHash,
    pub(super) at: i64,
    pub(super) total: u64,
}

impl Previous {
    /// The state before the first record.
    pub(super) const NOTHING: Self = Self { seq: 0, hash: GENESIS, at: 0, total: 0 };
}

/// Why a segment was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Cause {
    /// There was no segment.
    First,
    /// The previous segment is long enough, or old enough.
    Full,
    /// A sync of the previous segment failed: its end may not be on the disk.
    FailedSync,
    /// The previous segment is shorter than it should be: it was truncated or changed, or a power
    /// failure lost what was not synced.
    BrokenEnd,
    /// The head file was missing or unreadable.
    LostHead,
}

#[derive(Debug, Serialize, Deserialize)]
struct HeaderJson {
    journal: u32,
    segment: u64,
    after: u64,
    hash: String,
    at: i64,
    total: u64,
    made: i64,
    cause: Cause,
}

/// The version of the format.
const VERSION: u32 = 1;

impl SegmentHeader {
    pub(super) fn to_json(self) -> String {
        let Previous { seq, hash, at, total } = self.before;
        let written = HeaderJson {
            journal: VERSION,
            segment: self.segment,
            after: seq,
            hash: hex(&hash),
            at,
            total,
            made: self.made,
            cause: self.cause,
        };
        // It only has numbers and words, so JSON can always express it.
        serde_json::to_string(&written).unwrap_or_default()
    }

    pub(super) fn from_json(text: &[u8]) -> Option<Self> {
        let written: HeaderJson = serde_json::from_slice(text).ok()?;
        let HeaderJson { journal, segment, after, hash, at, total, made, cause } = written;
        let before = Previous { seq: after, hash: unhex(&hash)?, at, total };
        (journal == VERSION).then_some(Self { segment, before, made, cause })
    }

    /// The sequence number of the first record that may be in it.
    pub(super) fn first(&self) -> u64 {
        self.before.seq + 1
    }
}

fn unhex(text: &str) -> Option<ChainHash> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|it| u8::try_from(it).ok());
    let mut hash = [0; 32];
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != hash.len() || !rest.is_empty() {
        return None;
    }
    for (place, [high, low]) in hash.iter_mut().zip(pairs) {
        *place = digit(*high)? << 4 | digit(*low)?;
    }
    Some(hash)
}
