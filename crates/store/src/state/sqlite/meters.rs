//! Token buckets in SQLite.

use rusqlite::params;

use crate::database::{Database, Fault};
use crate::state::StateDb;
use crate::state::meters::{Bucket, Level, MeterStore};

impl MeterStore for StateDb {
    fn take(&self, buckets: &[Bucket], now: i64) -> Result<Vec<usize>, Fault> {
        self.change(|database| take(database, buckets, now))
    }

    fn empty(&self, buckets: &[Bucket], now: i64) -> Result<Vec<usize>, Fault> {
        self.look(|database| {
            let mut empty = Vec::new();
            for (place, bucket) in buckets.iter().enumerate() {
                if bucket.filled(level(database, bucket)?, now) < 1.0 {
                    empty.push(place);
                }
            }
            Ok(empty)
        })
    }
}

fn take(database: &Database, buckets: &[Bucket], now: i64) -> Result<Vec<usize>, Fault> {
    let mut empty = Vec::new();
    // A bucket may be in the list twice. Then it has to give two tokens.
    let mut levels: Vec<([u8; 32], f64)> = Vec::with_capacity(buckets.len());
    for (place, bucket) in buckets.iter().enumerate() {
        let known = levels.iter_mut().find(|(key, _)| *key == bucket.key);
        let tokens = match known {
            Some((_, tokens)) => tokens,
            None => {
                levels.push((bucket.key, bucket.filled(level(database, bucket)?, now)));
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
            database.execute(
                "INSERT OR REPLACE INTO buckets (key, tokens, at, full_at) VALUES (?1, ?2, ?3, ?4)",
                params![key, tokens, now, bucket.full_at(tokens, now)],
            )?;
        }
    }
    Ok(empty)
}

fn level(database: &Database, bucket: &Bucket) -> Result<Option<Level>, Fault> {
    database.one("SELECT tokens, at FROM buckets WHERE key = ?1", [bucket.key], |row| {
        Ok(Level { tokens: row.get(0)?, at: row.get(1)? })
    })
}

/// Removes buckets that are full again, and those beyond this many. `now` is in microseconds.
pub(crate) fn prune(database: &Database, most: i64, now: i64) -> Result<(), Fault> {
    let full = "SELECT 1 FROM buckets WHERE full_at <= ?1 LIMIT 1";
    if database.one(full, [now], |_| Ok(()))?.is_some() {
        database.execute("DELETE FROM buckets WHERE full_at <= ?1", [now])?;
    }
    let many = database.one("SELECT count(*) FROM buckets", [], |row| row.get::<_, i64>(0))?;
    let surplus = many.unwrap_or(0).saturating_sub(most);
    if surplus > 0 {
        // Ranks the buckets of each family from the one that is full last, so that the largest
        // families lose the most.
        database.execute(
            "DELETE FROM buckets WHERE key IN (SELECT key FROM (SELECT key, full_at, \
             row_number() OVER (PARTITION BY substr(key, 1, 16) ORDER BY full_at DESC) AS place \
             FROM buckets) ORDER BY place DESC, full_at LIMIT ?1)",
            [surplus],
        )?;
    }
    Ok(())
}
