//! Open sessions in SQLite.

use std::time::Duration;

use rusqlite::params;

use callgate_audit::{Record, SessionKey};

use crate::database::{Database, Fault};
use crate::state::sessions::{ActiveSession, IdleSession, SessionStore, micros};
use crate::state::{BeforeCommit, StateDb};

impl SessionStore for StateDb {
    fn touch(
        &self,
        seen: &[ActiveSession],
        now: i64,
        then: BeforeCommit<'_, Vec<Record>>,
    ) -> Result<(), Fault> {
        self.change(|database| {
            let mut begun = Vec::new();
            for session in seen {
                let touch = "UPDATE sessions SET seen = max(seen, ?2) WHERE key = ?1";
                if database.execute(touch, params![session.key, now])? == 0 {
                    begin(database, session, now)?;
                    begun.push(session.started.clone());
                }
            }
            then(begun)
        })
    }
}

fn begin(database: &Database, session: &ActiveSession, now: i64) -> Result<(), Fault> {
    let who = serde_json::to_string(&session.started.who).unwrap_or_default();
    let insert = "INSERT INTO sessions (key, began, seen, who) VALUES (?1, ?2, ?2, ?3)";
    database.execute(insert, params![session.key, now, who]).map(drop)
}

/// Removes the sessions that were idle for that long. `then` gets the records of their ends before
/// they are removed, as in [`SessionStore`].
pub(crate) fn end_idle(
    database: &Database,
    idle: Duration,
    now: i64,
    then: BeforeCommit<'_, Vec<Record>>,
) -> Result<(), Fault> {
    let before = now.saturating_sub(micros(idle));
    // Checked without the write lock, because mostly there is none. Other processes can write
    // between slices.
    let any = "SELECT 1 FROM sessions WHERE seen < ?1 LIMIT 1";
    while database.one(any, [before], |_| Ok(()))?.is_some() {
        database.transaction(|database| {
            let ended = take_idle(database, before)?;
            then(ended.into_iter().map(|session| session.into_record(idle)).collect())
        })?;
    }
    Ok(())
}

fn take_idle(database: &Database, before: i64) -> Result<Vec<IdleSession>, Fault> {
    let mut query = database.connection().prepare_cached(
        "SELECT key, began, seen, who FROM sessions WHERE seen < ?1 ORDER BY seen LIMIT ?2",
    )?;
    let rows = query.query_map(params![before, SLICE], |row| {
        let ended = IdleSession { began: row.get(1)?, seen: row.get(2)?, who: row.get(3)? };
        Ok((row.get::<_, SessionKey>(0)?, ended))
    })?;
    let idle: Vec<(SessionKey, IdleSession)> = rows.collect::<rusqlite::Result<_>>()?;
    for (key, _) in &idle {
        database.execute("DELETE FROM sessions WHERE key = ?1", [key])?;
    }
    Ok(idle.into_iter().map(|(_, ended)| ended).collect())
}

/// Sessions that end in one transaction.
const SLICE: i64 = 256;
