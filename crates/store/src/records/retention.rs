//! Old records leave: from the oldest on, a slice at a time, and the chain stays whole.

use rusqlite::params;

use crate::database::{Database, Fault};
use crate::settings::Retention;
use callgate_audit::Hash;

/// Whether there is more to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// All that had to leave has left.
    Done,
    /// Another slice waits.
    More,
}

/// The newest record that leaves with a slice.
struct Cut {
    seq: i64,
    hash: Hash,
    total: i64,
    records: i64,
}

/// Lets one slice of records leave. `now` is in microseconds since 1970.
pub(crate) fn expire(store: &Database, retention: &Retention, now: i64) -> Result<Progress, Fault> {
    let age = retention.age.map(|age| i64::try_from(age.as_micros()).unwrap_or(i64::MAX));
    let oldest = age.map(|age| now.saturating_sub(age));
    // Look first, without the write lock: mostly there is nothing to do.
    if find_cut(store, retention, oldest)?.is_none() {
        return Ok(Progress::Done);
    }
    store.transaction(|store| match find_cut(store, retention, oldest)? {
        Some(cut) => leave(store, &cut, now),
        None => Ok(Progress::Done),
    })
}

fn find_cut(
    store: &Database,
    retention: &Retention,
    oldest: Option<i64>,
) -> Result<Option<Cut>, Fault> {
    let last = store
        .connection()
        .prepare_cached("SELECT coalesce(max(seq), 0) FROM records")?
        .query_row([], |row| row.get::<_, i64>(0))?;
    let all = store
        .connection()
        .prepare_cached("SELECT coalesce(total, 0) FROM records WHERE seq = ?1")?
        .query_map([last], |row| row.get::<_, i64>(0))?
        .next()
        .transpose()?
        .unwrap_or(0);
    let too_many =
        |seq: i64| retention.records.is_some_and(|max| (last - seq).unsigned_abs() >= max);
    let too_large = |before: i64| {
        retention.bytes.is_some_and(|max| all.saturating_sub(before).unsigned_abs() > max)
    };
    let mut before = first_total(store)?;
    let mut rows = store.connection().prepare_cached(
        // The last record stays in any case: an empty table means that somebody emptied it.
        "SELECT seq, at, total, hash FROM records WHERE seq < ?1 ORDER BY seq LIMIT ?2",
    )?;
    let mut rows = rows.query(params![last, SLICE])?;
    let (mut cut, mut records) = (None, 0);
    while let Some(row) = rows.next()? {
        let (seq, at): (i64, i64) = (row.get(0)?, row.get(1)?);
        let too_old = oldest.is_some_and(|oldest| at < oldest);
        if !(too_old || too_many(seq) || too_large(before)) {
            break;
        }
        records += 1;
        before = row.get(2)?;
        cut = Some(Cut { seq, hash: row.get(3)?, total: before, records });
    }
    Ok(cut)
}

/// The bytes of all records that have left.
fn first_total(store: &Database) -> Result<i64, Fault> {
    Ok(store
        .connection()
        .prepare_cached("SELECT total FROM chain WHERE one = 1")?
        .query_row([], |row| row.get(0))?)
}

fn leave(store: &Database, cut: &Cut, now: i64) -> Result<Progress, Fault> {
    store.execute("DELETE FROM records WHERE seq <= ?1", [cut.seq])?;
    store.execute(
        "UPDATE chain SET seq = ?1, hash = ?2, total = ?3, expired = expired + ?4, time = ?5 \
         WHERE one = 1",
        params![cut.seq, cut.hash, cut.total, cut.records, now],
    )?;
    Ok(if cut.records == SLICE { Progress::More } else { Progress::Done })
}

/// Records that leave in one transaction: few enough that nobody who appends waits long.
const SLICE: i64 = 500;
