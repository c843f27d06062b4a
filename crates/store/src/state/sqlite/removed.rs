//! Removed calls in SQLite.

use std::collections::BTreeSet;

use rusqlite::params;

use crate::database::{Database, Fault};
use crate::state::StateDb;
use crate::state::removed::{
    RemovedCallStore, RemovedEntry, RemovedLimits, RemovedQuery, SealedMatches, SealedRemoved,
};

impl RemovedCallStore for StateDb {
    fn find(&self, binding: &[u8; 32], sought: &RemovedQuery) -> Result<SealedMatches, Fault> {
        self.look(|database| find(database, binding, sought))
    }

    fn contains(&self, binding: &[u8; 32], signs: &[[u8; 32]]) -> Result<bool, Fault> {
        self.look(|database| contains(database, binding, signs))
    }

    fn bindings_after(&self, entry: i64) -> Result<(Vec<[u8; 32]>, i64), Fault> {
        self.look(|database| bindings_after(database, entry))
    }
}

pub(crate) fn insert(database: &Database, sealed: &SealedRemoved, now: i64) -> Result<(), Fault> {
    database.execute(
        "INSERT INTO removed (binding, nonce, content, created) VALUES (?1, ?2, ?3, ?4)",
        params![sealed.binding, sealed.nonce, sealed.content, now],
    )?;
    let id = database.connection().last_insert_rowid();
    for sign in &sealed.signs {
        database.execute(
            "INSERT OR IGNORE INTO removed_signs (sign, removed) VALUES (?1, ?2)",
            params![sign, id],
        )?;
    }
    forget_older(database, sealed)
}

/// Of interchangeable entries, only the newest can still be found by their keys.
fn forget_older(database: &Database, sealed: &SealedRemoved) -> Result<(), Fault> {
    let Some(alike) = sealed.alike else { return Ok(()) };
    let older: Vec<i64> = database
        .connection()
        .prepare_cached(
            "SELECT removed FROM removed_signs WHERE sign = ?1 \
                 ORDER BY removed DESC LIMIT -1 OFFSET ?2",
        )?
        .query_map(params![alike, RemovedEntry::MAX_ALIKE as i64], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for id in older {
        for sign in sealed.keys.iter().chain([&alike]) {
            database.execute(
                "DELETE FROM removed_signs WHERE sign = ?1 AND removed = ?2",
                params![sign, id],
            )?;
        }
    }
    Ok(())
}

fn find(
    database: &Database,
    binding: &[u8; 32],
    sought: &RemovedQuery,
) -> Result<SealedMatches, Fault> {
    let mut found = SealedMatches::default();
    let mut ids: BTreeSet<i64> = BTreeSet::new();
    let mut bytes = 0;
    let signs = sought.signs.iter().map(|sign| (sign, RemovedEntry::MAX_FOUND));
    let keys = sought.keys.iter().map(|key| (key, RemovedEntry::MAX_ALIKE));
    for (sign, most) in signs.chain(keys) {
        let rows = rows(database, binding, sign, most + 1)?;
        let size: usize = rows.iter().map(|(_, size)| size).sum();
        let is_crowded = rows.len() > most
            || ids.len() + rows.len() > RemovedEntry::MAX_FOUND
            || bytes + size > RemovedEntry::MAX_FOUND_BYTES;
        if is_crowded {
            found.crowded.push(*sign);
        } else {
            bytes += size;
            ids.extend(rows.iter().map(|(id, _)| id));
        }
    }
    for id in ids {
        let read = "SELECT nonce, content FROM removed WHERE id = ?1";
        let row = database.one(read, [id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        found.contents.extend(row);
    }
    Ok(found)
}

fn contains(database: &Database, binding: &[u8; 32], signs: &[[u8; 32]]) -> Result<bool, Fault> {
    for sign in signs {
        if !rows(database, binding, sign, 1)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The oldest entries under one sign, with their sizes.
fn rows(
    database: &Database,
    binding: &[u8; 32],
    sign: &[u8; 32],
    most: usize,
) -> rusqlite::Result<Vec<(i64, usize)>> {
    let mut query = database.connection().prepare_cached(
        "SELECT removed.id, length(removed.content) FROM removed_signs \
         JOIN removed ON removed.id = removed_signs.removed \
         WHERE removed_signs.sign = ?1 AND removed.binding = ?2 \
         ORDER BY removed_signs.removed LIMIT ?3",
    )?;
    let rows = query.query_map(params![sign, binding, most as i64], |row| {
        Ok((row.get(0)?, usize::try_from(row.get::<_, i64>(1)?).unwrap_or(usize::MAX)))
    })?;
    rows.collect()
}

fn bindings_after(database: &Database, entry: i64) -> Result<(Vec<[u8; 32]>, i64), Fault> {
    let newest = "SELECT coalesce(max(id), 0) FROM removed";
    let newest = database.one(newest, [], |row| row.get(0))?.unwrap_or(0);
    if newest <= entry {
        return Ok((Vec::new(), newest));
    }
    let mut query = database
        .connection()
        .prepare_cached("SELECT DISTINCT binding FROM removed WHERE id > ?1")?;
    let rows = query.query_map([entry], |row| row.get(0))?;
    Ok((rows.collect::<rusqlite::Result<_>>()?, newest))
}

/// Removes entries that are too old, too many or too large in total. `now` is in microseconds.
pub(crate) fn prune(
    database: &Database,
    bounds: &RemovedLimits,
    now: i64,
) -> Result<Pruned, Fault> {
    let Some(last) = last_to_leave(database, bounds, now)? else { return Ok(Pruned::None) };
    let remove = "DELETE FROM removed WHERE id <= ?1";
    database.transaction(|database| database.execute(remove, [last]))?;
    Ok(Pruned::Some)
}

/// Whether any entry was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pruned {
    None,
    Some,
}

fn last_to_leave(
    database: &Database,
    bounds: &RemovedLimits,
    now: i64,
) -> Result<Option<i64>, Fault> {
    const DAY: u64 = 24 * 60 * 60 * 1_000_000;
    let oldest = now.saturating_sub_unsigned(RemovedEntry::MAX_DAYS * DAY);
    let mut rows = database
        .connection()
        .prepare_cached("SELECT id, length(content), created FROM removed ORDER BY id DESC")?;
    let mut rows = rows.query([])?;
    let (mut entries, mut bytes) = (0, 0);
    while let Some(row) = rows.next()? {
        entries += 1;
        bytes += row.get::<_, i64>(1)?.unsigned_abs();
        let old = row.get::<_, i64>(2)? < oldest;
        if old || entries > bounds.entries || bytes > bounds.bytes {
            return Ok(Some(row.get(0)?));
        }
    }
    Ok(None)
}
