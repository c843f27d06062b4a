//! What the beginning of a segment says.

use callgate_audit::{GENESIS, Hash, hex};
use serde::{Deserialize, Serialize};

/// The beginning of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// Its number; its file has the same.
    pub(super) segment: u64,
    /// The record that its first one follows. Whatever an earlier segment holds behind that record was
    /// never confirmed, and does not count.
    pub(super) before: Before,
    /// When it was begun, in microseconds since 1970.
    pub(super) made: i64,
    pub(super) cause: Cause,
}

/// A record, as far as the one behind it has to know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Before {
    pub(super) seq: u64,
    pub(super) hash: Hash,
    pub(super) at: i64,
    pub(super) total: u64,
}

impl Before {
    /// What stands before the first record.
    pub(super) const NOTHING: Self = Self { seq: 0, hash: GENESIS, at: 0, total: 0 };
}

/// Why a segment was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Cause {
    /// There was none.
    First,
    /// The one before it is long enough, or old enough.
    Full,
    /// A sync of the one before it failed: its end may not be on the disk.
    FailedSync,
    /// The one before it does not reach as far as it should: somebody cut it off or changed it, or a power
    /// failure took what was not synced.
    BrokenEnd,
    /// The file that tells how far the journal reaches was missing or unreadable.
    LostHead,
}

#[derive(Debug, Serialize, Deserialize)]
struct Written {
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

impl Header {
    pub(super) fn to_json(self) -> String {
        let Before { seq, hash, at, total } = self.before;
        let written = Written {
            journal: VERSION,
            segment: self.segment,
            after: seq,
            hash: hex(&hash),
            at,
            total,
            made: self.made,
            cause: self.cause,
        };
        // Numbers and words: there is nothing in it that JSON cannot say.
        serde_json::to_string(&written).unwrap_or_default()
    }

    pub(super) fn from_json(text: &[u8]) -> Option<Self> {
        let written: Written = serde_json::from_slice(text).ok()?;
        let Written { journal, segment, after, hash, at, total, made, cause } = written;
        let before = Before { seq: after, hash: unhex(&hash)?, at, total };
        (journal == VERSION).then_some(Self { segment, before, made, cause })
    }

    /// The number of the first record that may be in it.
    pub(super) fn first(&self) -> u64 {
        self.before.seq + 1
    }
}

fn unhex(text: &str) -> Option<Hash> {
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
