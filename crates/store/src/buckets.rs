//! Token buckets that several processes take from.

use rusqlite::params;

use crate::database::{Database, Fault};
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

    fn filled(&self, level: Option<Level>, now: i64) -> f64 {
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
    fn full_at(&self, tokens: f64, now: i64) -> i64 {
        let missing = (f64::from(self.burst) - tokens).max(0.0);
        // Saturates: a bucket that nothing comes back to is never full.
        now.saturating_add((missing / self.per_microsecond()).ceil() as i64)
    }
}

#[derive(Debug, Clone, Copy)]
struct Level {
    tokens: f64,
    at: i64,
}

impl Store {
    /// Takes a token from each bucket, or none at all: then the answer says which of them were
    /// empty, by their places. However many processes ask at once, no more tokens are given than
    /// there are.
    pub fn take_tokens(&self, buckets: &[Bucket]) -> Result<Vec<usize>, StoreError> {
        if buckets.is_empty() {
            return Ok(Vec::new());
        }
        self.shared()
            .with_appending(|store| store.transaction(|store| take(store, buckets, now())))
            .map_err(|fault| StoreError::Failed(fault.why()))
    }
}

impl Store {
    /// Which of these buckets have no token, by their places. Nothing is taken.
    pub fn empty_buckets(&self, buckets: &[Bucket]) -> Result<Vec<usize>, StoreError> {
        if buckets.is_empty() {
            return Ok(Vec::new());
        }
        let look = |store: &Database| -> Result<Vec<usize>, Fault> {
            let mut empty = Vec::new();
            for (place, bucket) in buckets.iter().enumerate() {
                if bucket.filled(level(store, bucket)?, now()) < 1.0 {
                    empty.push(place);
                }
            }
            Ok(empty)
        };
        let failed = |fault: Fault| StoreError::Failed(fault.why());
        self.shared().with_looking(|store| look(store).map_err(failed))
    }
}

/// `now` is in microseconds.
pub(crate) fn take(store: &Database, buckets: &[Bucket], now: i64) -> Result<Vec<usize>, Fault> {
    let mut empty = Vec::new();
    // A bucket may stand there twice. Then it is asked for two tokens.
    let mut levels: Vec<([u8; 32], f64)> = Vec::with_capacity(buckets.len());
    for (place, bucket) in buckets.iter().enumerate() {
        let known = levels.iter_mut().find(|(key, _)| *key == bucket.key);
        let tokens = match known {
            Some((_, tokens)) => tokens,
            None => {
                levels.push((bucket.key, bucket.filled(level(store, bucket)?, now)));
                let Some((_, tokens)) = levels.last_mut() else { continue };
                tokens
            }
        };
        if *tokens < 1.0 {
            empty.push(place);
        }
        *tokens -= 1.0;
    }
    if empty.is_empty() {
        for (key, tokens) in levels {
            let Some(bucket) = buckets.iter().find(|bucket| bucket.key == key) else { continue };
            store.execute(
                "INSERT OR REPLACE INTO buckets (key, tokens, at, full_at) VALUES (?1, ?2, ?3, ?4)",
                params![key, tokens, now, bucket.full_at(tokens, now)],
            )?;
        }
    }
    Ok(empty)
}

fn level(store: &Database, bucket: &Bucket) -> Result<Option<Level>, Fault> {
    store.one("SELECT tokens, at FROM buckets WHERE key = ?1", [bucket.key], |row| {
        Ok(Level { tokens: row.get(0)?, at: row.get(1)? })
    })
}

/// Forgets buckets that are full again, and those beyond so many. `now` is in microseconds.
pub(crate) fn prune(store: &Database, most: i64, now: i64) -> Result<(), Fault> {
    let full = "SELECT 1 FROM buckets WHERE full_at <= ?1 LIMIT 1";
    if store.one(full, [now], |_| Ok(()))?.is_some() {
        store.execute("DELETE FROM buckets WHERE full_at <= ?1", [now])?;
    }
    let many = store.one("SELECT count(*) FROM buckets", [], |row| row.get::<_, i64>(0))?;
    let surplus = many.unwrap_or(0).saturating_sub(most);
    if surplus > 0 {
        // Numbered from the latest full of each family, so that the largest families lose the most.
        store.execute(
            "DELETE FROM buckets WHERE key IN (SELECT key FROM (SELECT key, full_at, \
             row_number() OVER (PARTITION BY substr(key, 1, 16) ORDER BY full_at DESC) AS place \
             FROM buckets) ORDER BY place DESC, full_at LIMIT ?1)",
            [surplus],
        )?;
    }
    Ok(())
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
