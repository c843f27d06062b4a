//! Token buckets that several processes take from.

use crate::database::Fault;
use crate::error::StoreError;
use crate::shared::now;
use crate::store::Store;

/// A token bucket. It begins full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// Which bucket it is, see [`Bucket::key`].
    pub key: [u8; 32],
    /// How many tokens it holds at most.
    pub burst: u32,
    /// So many tokens come back…
    pub calls: u32,
    /// …in so many seconds.
    pub seconds: u32,
}

impl Bucket {
    /// How many buckets that are not full are kept. A hostile client may name a new session with
    /// each call. Beyond this many, the largest families lose buckets: first the ones that will be
    /// full soonest, so that those whose limit is nearly used up stay the longest.
    pub const MAX_KEPT: i64 = 65_536;

    /// The key of a bucket, from two hashes: one over its limit and the caller it belongs to, which
    /// is its family, and one over everything it counts by. The table is sorted by it, so the
    /// buckets of a family are found together.
    pub fn key(family: &[u8; 32], bucket: &[u8; 32]) -> [u8; 32] {
        halves(family, bucket)
    }

    /// How many tokens it holds at that time. `now` is in microseconds, here and below.
    pub(crate) fn filled(&self, level: Option<Level>, now: i64) -> f64 {
        let burst = f64::from(self.burst);
        let Some(level) = level else { return burst };
        // A clock that was set back gives nothing, and takes nothing.
        let elapsed = now.saturating_sub(level.at).max(0);
        (level.tokens.max(0.0) + self.per_microsecond() * elapsed as f64).min(burst)
    }

    fn per_microsecond(&self) -> f64 {
        f64::from(self.calls) / (f64::from(self.seconds.max(1)) * 1e6)
    }

    /// When it will be full again; then it and none are the same.
    pub(crate) fn full_at(&self, tokens: f64, now: i64) -> i64 {
        let missing = (f64::from(self.burst) - tokens).max(0.0);
        // Saturates: a bucket that nothing comes back to is never full.
        now.saturating_add((missing / self.per_microsecond()).ceil() as i64)
    }
}

/// What was left in a bucket, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level {
    pub(crate) tokens: f64,
    pub(crate) at: i64,
}

/// Where token buckets are kept. Times are in microseconds since 1970.
pub(crate) trait Meters {
    /// Takes a token from each bucket, or none at all: then the answer says which of them were empty, by
    /// their places. Whoever else asks meanwhile comes before or after, never in between.
    fn take(&self, buckets: &[Bucket], now: i64) -> Result<Vec<usize>, Fault>;

    /// Which of these have no token, by their places. Nothing is taken.
    fn empty(&self, buckets: &[Bucket], now: i64) -> Result<Vec<usize>, Fault>;
}

impl Store {
    /// Takes a token from each bucket, or none at all: then the answer says which of them were
    /// empty, by their places. However many processes ask at once, no more tokens are given than
    /// there are.
    pub fn take_tokens(&self, buckets: &[Bucket]) -> Result<Vec<usize>, StoreError> {
        match buckets {
            [] => Ok(Vec::new()),
            buckets => Ok(self.shared().state.take(buckets, now())?),
        }
    }

    /// Which of these buckets have no token, by their places. Nothing is taken.
    pub fn empty_buckets(&self, buckets: &[Bucket]) -> Result<Vec<usize>, StoreError> {
        match buckets {
            [] => Ok(Vec::new()),
            buckets => Ok(self.shared().state.empty(buckets, now())?),
        }
    }
}

/// A key of which the first half is one hash and the second half another: 128 bits of each are
/// enough, for a collision takes 2^64 attempts.
pub(crate) fn halves(first: &[u8; 32], second: &[u8; 32]) -> [u8; 32] {
    let mut key = [0; 32];
    let (start, end) = key.split_at_mut(16);
    start.copy_from_slice(first.first_chunk::<16>().unwrap_or(&[0; 16]));
    end.copy_from_slice(second.first_chunk::<16>().unwrap_or(&[0; 16]));
    key
}
