//! Token buckets that several processes share.

use crate::database::Fault;
use crate::error::StoreError;
use crate::shared::now;
use crate::store::Store;

/// A token bucket. It starts full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// Which bucket it is, see [`Bucket::key`].
    pub key: [u8; 32],
    /// The most tokens it can hold.
    pub burst: u32,
    /// How many tokens are refilled…
    pub calls: u32,
    /// …in this many seconds.
    pub seconds: u32,
}

impl Bucket {
    /// How many buckets that are not full are kept. A hostile client may name a new session with
    /// each call. Beyond this many, the largest families lose buckets: first those that will be
    /// full soonest, so that buckets that are nearly empty stay the longest.
    pub const MAX_KEPT: i64 = 65_536;

    /// The key of a bucket, from two hashes: one of its limit and the caller, which is its family,
    /// and one of everything it counts by. The table is sorted by key, so the buckets of a family
    /// are found together.
    pub fn key(family: &[u8; 32], bucket: &[u8; 32]) -> [u8; 32] {
        halves(family, bucket)
    }

    /// How many tokens it holds at that time. `now` is in microseconds, here and below.
    pub(crate) fn filled(&self, level: Option<Level>, now: i64) -> f64 {
        let burst = f64::from(self.burst);
        let Some(level) = level else { return burst };
        // A clock that was set back neither refills nor drains a bucket.
        let elapsed = now.saturating_sub(level.at).max(0);
        (level.tokens.max(0.0) + self.per_microsecond() * elapsed as f64).min(burst)
    }

    fn per_microsecond(&self) -> f64 {
        f64::from(self.calls) / (f64::from(self.seconds.max(1)) * 1e6)
    }

    /// When it will be full again; from then on the row is not needed.
    pub(crate) fn full_at(&self, tokens: f64, now: i64) -> i64 {
        let missing = (f64::from(self.burst) - tokens).max(0.0);
        // Saturates: a bucket that is never refilled is never full.
        now.saturating_add((missing / self.per_microsecond()).ceil() as i64)
    }
}

/// The tokens left in a bucket, and when that was.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level {
    pub(crate) tokens: f64,
    pub(crate) at: i64,
}

/// The store of token buckets. Times are in microseconds since 1970.
pub(crate) trait MeterStore {
    /// Takes a token from each bucket, or none at all: then it returns the indices of the empty
    /// ones. Concurrent calls run one after the other.
    fn take(&self, buckets: &[Bucket], now: i64) -> Result<Vec<usize>, Fault>;

    /// The indices of the buckets without a token. Takes nothing.
    fn empty(&self, buckets: &[Bucket], now: i64) -> Result<Vec<usize>, Fault>;
}

impl Store {
    /// Takes a token from each bucket, or none at all: then it returns the indices of the empty
    /// ones. However many processes call this at once, no bucket gives more tokens than it has.
    pub fn take_tokens(&self, buckets: &[Bucket]) -> Result<Vec<usize>, StoreError> {
        match buckets {
            [] => Ok(Vec::new()),
            buckets => Ok(self.shared().state.take(buckets, now())?),
        }
    }

    /// The indices of the buckets without a token. Takes nothing.
    pub fn empty_buckets(&self, buckets: &[Bucket]) -> Result<Vec<usize>, StoreError> {
        match buckets {
            [] => Ok(Vec::new()),
            buckets => Ok(self.shared().state.empty(buckets, now())?),
        }
    }
}

/// A key whose first half is from one hash and whose second half is from another: 128 bits of each
/// are enough, because a collision takes 2^64 attempts.
pub(crate) fn halves(first: &[u8; 32], second: &[u8; 32]) -> [u8; 32] {
    let mut key = [0; 32];
    let (start, end) = key.split_at_mut(16);
    start.copy_from_slice(first.first_chunk::<16>().unwrap_or(&[0; 16]));
    end.copy_from_slice(second.first_chunk::<16>().unwrap_or(&[0; 16]));
    key
}
