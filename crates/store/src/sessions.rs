//! Which sessions are under way: their first record, and when nothing more came, their end.

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use rusqlite::params;

use crate::database::{Database, Fault, Item};
use callgate_audit::{Body, Sealed, SessionKey};
use callgate_audit::{Kind, Record};

/// When each session was last written down as alive, so that few records have to.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<HashMap<SessionKey, i64>>);

/// Sessions remembered at once. More only means that some are written down more often.
const MAX_KNOWN: usize = 4096;
/// Sessions that end in one transaction.
const SLICE: i64 = 256;

/// What a batch of records says about sessions.
#[derive(Debug, Default)]
pub(crate) struct Alive {
    /// Records of sessions that began with it.
    pub(crate) begun: Vec<Item>,
    touched: Vec<SessionKey>,
}

impl Sessions {
    /// Writes down that the sessions of these records are alive, inside the transaction that writes
    /// the records.
    pub(crate) fn touch(
        &self,
        store: &Database,
        items: &[&Item],
        idle: Duration,
        now: i64,
    ) -> Result<Alive, Fault> {
        let fresh = now.saturating_sub(micros(idle / 4));
        let mut alive = Alive::default();
        for item in items {
            let Item::Record(sealed) = item else { continue };
            let Some(key) = sealed.session else { continue };
            let is_known = self.0.lock().get(&key).is_some_and(|at| *at > fresh);
            if is_known || alive.touched.contains(&key) {
                continue;
            }
            let touch = "UPDATE sessions SET seen = max(seen, ?2) WHERE key = ?1";
            if store.execute(touch, params![key, now])? == 0 {
                alive.begun.push(Item::Record(begin(store, key, sealed, now)?));
            }
            alive.touched.push(key);
        }
        Ok(alive)
    }

    /// The transaction is through.
    pub(crate) fn remember(&self, alive: &Alive, now: i64) {
        let mut known = self.0.lock();
        if known.len() + alive.touched.len() > MAX_KNOWN {
            known.clear();
        }
        known.extend(alive.touched.iter().map(|key| (*key, now)));
    }
}

fn begin(store: &Database, key: SessionKey, first: &Sealed, now: i64) -> Result<Sealed, Fault> {
    let body: Option<Body<Record>> = serde_json::from_str(&first.body).ok();
    let first = body.map(|body| body.record);
    let mut record = Record::new(Kind::SessionStarted);
    if let Some(first) = first {
        record.surface = first.surface;
        record.provider = first.provider;
        (record.who, record.cwd, record.home) = (first.who, first.cwd, first.home);
        // It is recorded in front of the first record, so it did not happen behind it.
        record.time = record.time.min(first.time);
    }
    let who = serde_json::to_string(&record.who).unwrap_or_default();
    store.execute(
        "INSERT INTO sessions (key, began, seen, who) VALUES (?1, ?2, ?2, ?3)",
        params![key, now, who],
    )?;
    Ok(Sealed::new(record))
}

/// Records the end of sessions of which nothing was recorded for that long.
pub(crate) fn end_idle(store: &Database, idle: Duration, now: i64) -> Result<(), Fault> {
    let before = now.saturating_sub(micros(idle));
    let mut any = store.connection().prepare_cached("SELECT 1 FROM sessions WHERE seen < ?1")?;
    // Between slices others write.
    while any.exists([before])? {
        store.transaction(|store| {
            let ended = take_idle(store, before)?;
            let records: Vec<Item> =
                ended.into_iter().map(|it| Item::Record(it.into_record(idle))).collect();
            store.fill(records.iter(), now)
        })?;
    }
    Ok(())
}

struct Ended {
    key: SessionKey,
    began: i64,
    seen: i64,
    who: String,
}

fn take_idle(store: &Database, before: i64) -> Result<Vec<Ended>, Fault> {
    let mut query = store.connection().prepare_cached(
        "SELECT key, began, seen, who FROM sessions WHERE seen < ?1 ORDER BY seen LIMIT ?2",
    )?;
    let rows = query.query_map(params![before, SLICE], |row| {
        Ok(Ended { key: row.get(0)?, began: row.get(1)?, seen: row.get(2)?, who: row.get(3)? })
    })?;
    let ended: Vec<Ended> = rows.collect::<rusqlite::Result<_>>()?;
    for session in &ended {
        store.execute("DELETE FROM sessions WHERE key = ?1", [session.key])?;
    }
    Ok(ended)
}

impl Ended {
    fn into_record(self, idle: Duration) -> Sealed {
        let mut record = Record::new(Kind::SessionEnded);
        record.who = serde_json::from_str(&self.who).unwrap_or_default();
        let last = Timestamp::from_microsecond(self.seen).unwrap_or_default();
        record.detail = Some(format!(
            "nothing was recorded for {} s; the last time was about {last:.0}",
            idle.as_secs()
        ));
        let lasted = self.seen.saturating_sub(self.began).unsigned_abs() / 1000;
        record.timing.total_ms = Some(lasted);
        Sealed::new(record)
    }
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
