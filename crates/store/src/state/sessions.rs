//! Open sessions: records when a session starts, and when it ends because it is idle.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;

use callgate_audit::{Record, RecordBody, RecordKind, Sealed, SessionKey};

use crate::database::Fault;
use crate::state::BeforeCommit;

/// A session that has a new record.
#[derive(Debug)]
pub(crate) struct ActiveSession {
    pub(crate) key: SessionKey,
    /// The record of its start, if it starts now.
    pub(crate) started: Record,
}

/// A session that was idle for too long. Times are in microseconds since 1970.
#[derive(Debug)]
pub(crate) struct IdleSession {
    pub(crate) began: i64,
    pub(crate) seen: i64,
    /// Its principal, as JSON.
    pub(crate) who: String,
}

/// The store of open sessions. `then` runs before a change is committed; if it fails, nothing is
/// changed. What it recorded stays recorded even if the commit fails after that: then a start or an
/// end is recorded twice.
pub(crate) trait SessionStore {
    /// Stores that these sessions are alive. `then` gets the records of those that start now.
    fn touch(
        &self,
        seen: &[ActiveSession],
        now: i64,
        then: BeforeCommit<'_, Vec<Record>>,
    ) -> Result<(), Fault>;
}

/// When each session was last stored as alive, so that few records cause a write.
#[derive(Debug, Default)]
pub(crate) struct KnownSessions(Mutex<HashMap<SessionKey, i64>>);

impl KnownSessions {
    /// The sessions of these records that have to be stored as alive. Once per quarter of the idle
    /// time is often enough.
    pub(crate) fn unknown(
        &self,
        records: &[Sealed],
        idle: Duration,
        now: i64,
    ) -> Vec<ActiveSession> {
        let fresh = now.saturating_sub(micros(idle / 4));
        let known = self.0.lock();
        let mut met = HashSet::new();
        let mut unknown = Vec::new();
        for sealed in records {
            let Some(key) = sealed.session else { continue };
            let is_known = known.get(&key).is_some_and(|at| *at > fresh);
            if !is_known && met.insert(key) {
                unknown.push(ActiveSession { key, started: started(sealed) });
            }
        }
        unknown
    }

    /// Notes that these were stored as alive.
    pub(crate) fn remember(&self, seen: &[ActiveSession], now: i64) {
        let mut known = self.0.lock();
        if known.len() + seen.len() > MAX_KNOWN {
            known.clear();
        }
        known.extend(seen.iter().take(MAX_KNOWN).map(|seen| (seen.key, now)));
    }
}

/// The record of the start of a session, made from its first record.
fn started(first: &Sealed) -> Record {
    let body: Option<RecordBody<Record>> = serde_json::from_str(&first.body).ok();
    let mut record = Record::new(RecordKind::SessionStarted);
    if let Some(RecordBody { record: first, .. }) = body {
        record.surface = first.surface;
        record.provider = first.provider;
        (record.who, record.cwd, record.home) = (first.who, first.cwd, first.home);
        // It comes before the first record, so its time must not be later.
        record.time = record.time.min(first.time);
    }
    record
}

impl IdleSession {
    /// The record of its end.
    pub(crate) fn into_record(self, idle: Duration) -> Record {
        let mut record = Record::new(RecordKind::SessionEnded);
        record.who = serde_json::from_str(&self.who).unwrap_or_default();
        let last = Timestamp::from_microsecond(self.seen).unwrap_or_default();
        record.detail = Some(format!(
            "nothing was recorded for {} s; the last time was about {last:.0}",
            idle.as_secs()
        ));
        let lasted = self.seen.saturating_sub(self.began).unsigned_abs() / 1000;
        record.timing.total_ms = Some(lasted);
        record
    }
}

pub(crate) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// How many sessions are remembered. Beyond that, some are stored as alive more often.
const MAX_KNOWN: usize = 4096;
