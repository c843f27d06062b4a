//! What sessions have written into files, in SQLite.

use rusqlite::params;

use crate::database::{Database, Fault};
use crate::state::StateDb;
use crate::state::files::{FileLimits, FileStore, SealedFile};

impl FileStore for StateDb {
    fn files_after(&self, write: i64) -> Result<(Vec<SealedFile>, i64), Fault> {
        self.look(|database| files_after(database, write))
    }
}

fn files_after(database: &Database, write: i64) -> Result<(Vec<SealedFile>, i64), Fault> {
    let sql = "SELECT id, session, nonce, content FROM files WHERE id > ?1 ORDER BY id";
    let mut query = database.connection().prepare_cached(sql)?;
    let mut rows = query.query([write])?;
    let (mut found, mut last) = (Vec::new(), write);
    while let Some(row) = rows.next()? {
        last = row.get(0)?;
        found.push(SealedFile { session: row.get(1)?, nonce: row.get(2)?, content: row.get(3)? });
    }
    Ok((found, last))
}

pub(crate) fn insert(database: &Database, sealed: &SealedFile, now: i64) -> Result<(), Fault> {
    database.execute(
        "INSERT INTO files (session, at, nonce, content) VALUES (?1, ?2, ?3, ?4)",
        params![sealed.session, now, sealed.nonce, sealed.content],
    )?;
    Ok(())
}

/// Removes writes that are too old or too large in total. Returns whether it removed any. `now` is in
/// microseconds.
pub(crate) fn prune(database: &Database, limits: &FileLimits, now: i64) -> Result<bool, Fault> {
    const HOUR: i64 = 60 * 60 * 1_000_000;
    let oldest = now.saturating_sub(limits.hours * HOUR);
    let old = "SELECT 1 FROM files WHERE at < ?1 LIMIT 1";
    let mut removed = database.one(old, [oldest], |_| Ok(()))?.is_some();
    if removed {
        database.execute("DELETE FROM files WHERE at < ?1", [oldest])?;
    }
    let total = "SELECT coalesce(sum(length(content)), 0) FROM files";
    let total = database.one(total, [], |row| row.get::<_, i64>(0))?.unwrap_or(0);
    let most = i64::try_from(limits.bytes).unwrap_or(i64::MAX);
    if total > most {
        database.execute(
            "DELETE FROM files WHERE id IN (SELECT id FROM (SELECT id, \
             sum(length(content)) OVER (ORDER BY id DESC) AS newer FROM files) WHERE newer > ?1)",
            [most],
        )?;
        removed = true;
    }
    Ok(removed)
}
