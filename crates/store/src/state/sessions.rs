//! Which sessions are under way: their first record, and when nothing more came, their end.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;

use callgate_audit::{Body, Kind, Record, Sealed, SessionKey};

use crate::database::Fault;
use crate::state::Then;

/// A session of which something is about to be recorded.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) key: SessionKey,
    /// The record of its begin, if it begins now.
    pub(crate) started: Record,
}

/// A session of which nothing more came. Times are in microseconds since 1970.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) began: i64,
    pub(crate) seen: i64,
    /// Whose it was, as JSON.
    pub(crate) who: String,
}

/// Where the sessions that are under way are kept. `then` runs before a change holds; if it fails,
/// nothing is changed. What it records is on record also if the change cannot be kept after that: then a
/// begin or an end is told twice.
pub(crate) trait Sessions {
    /// Keeps that these sessions are alive. `then` is given the records of those that begin now.
    fn touch(&self, seen: &[Seen], now: i64, then: Then<'_, Vec<Record>>) -> Result<(), Fault>;
}

/// When each session was last written down as alive, so that few records have to.
#[derive(Debug, Default)]
pub(crate) struct KnownSessions(Mutex<HashMap<SessionKey, i64>>);

impl KnownSessions {
    /// The sessions of these records that are not known to be alive. A quarter of the time after which
    /// one ends is soon enough to keep that it is.
    pub(crate) fn unknown(&self, records: &[Sealed], idle: Duration, now: i64) -> Vec<Seen> {
        let fresh = now.saturating_sub(micros(idle / 4));
        let known = self.0.lock();
        let mut met = HashSet::new();
        let mut unknown = Vec::new();
        for sealed in records {
            let Some(key) = sealed.session else { continue };
            let is_known = known.get(&key).is_some_and(|at| *at > fresh);
            if !is_known && met.insert(key) {
                unknown.push(Seen { key, started: started(sealed) });
            }
        }
        unknown
    }

    /// It is written down that these are alive.
    pub(crate) fn remember(&self, seen: &[Seen], now: i64) {
        let mut known = self.0.lock();
        if known.len() + seen.len() > MAX_KNOWN {
            known.clear();
        }
        known.extend(seen.iter().take(MAX_KNOWN).map(|seen| (seen.key, now)));
    }
}

/// The record of the begin of a session, made of its first record.
fn started(first: &Sealed) -> Record {
    let body: Option<Body<Record>> = serde_json::from_str(&first.body).ok();
    let mut record = Record::new(Kind::SessionStarted);
    if let Some(Body { record: first, .. }) = body {
        record.surface = first.surface;
        record.provider = first.provider;
        (record.who, record.cwd, record.home) = (first.who, first.cwd, first.home);
        // It is recorded in front of the first record, so it did not happen behind it.
        record.time = record.time.min(first.time);
    }
    record
}

impl Ended {
    /// The record of its end.
    pub(crate) fn into_record(self, idle: Duration) -> Record {
        let mut record = Record::new(Kind::SessionEnded);
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

/// Sessions remembered at once. More only means that some are written down more often.
const MAX_KNOWN: usize = 4096;
