//! The state of the record store.

use std::fs::OpenOptions;
use std::path::Path;

use callgate_audit::{Filter, RecordKind};
use callgate_store::{Location, OpenError, RecordReader, VerifyError};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::when;

/// With more records than this, checking the chain would make `doctor` too slow.
const VERIFIED: u64 = 100_000;

#[derive(Debug, Default, Serialize)]
pub(super) struct StoreReport {
    path: Option<String>,
    state: &'static str,
    records: u64,
    last: Option<String>,
    writable: Option<bool>,
    /// `whole`, `broken` or `not checked`.
    chain: Option<&'static str>,
    /// When policies last came into force that stop less than those before, and what got weaker.
    weakened: Option<(String, Vec<String>)>,
    /// What is wrong.
    problem: Option<String>,
}

pub(super) fn examine(location: &Location) -> StoreReport {
    let Location::Sqlite(path) = location else {
        return StoreReport { state: "memory", ..StoreReport::default() };
    };
    let shown = Some(path.display().to_string());
    match RecordReader::open(location) {
        Ok(reader) => look_into(&reader, path, shown),
        Err(OpenError::Missing { .. }) => {
            StoreReport { path: shown, state: "does not exist yet", ..StoreReport::default() }
        }
        Err(error) => {
            let problem = Some(first_line(&error.to_string()));
            StoreReport { path: shown, state: "unusable", problem, ..StoreReport::default() }
        }
    }
}

fn look_into(reader: &RecordReader, path: &Path, shown: Option<String>) -> StoreReport {
    let newest = Filter { limit: Some(1), ..Filter::default() };
    let last = reader.records(&newest).ok().and_then(|found| found.into_iter().next());
    let mut state = StoreReport {
        path: shown,
        state: "ready",
        last: last.as_ref().map(|stored| when::shown(stored.record.time)),
        // Appending nothing changes nothing.
        weakened: weakened(reader),
        writable: Some(OpenOptions::new().append(true).open(path).is_ok()),
        ..StoreReport::default()
    };
    match reader.last() {
        Ok(records) if records > VERIFIED => {
            state.records = records;
            state.chain = Some("not checked");
        }
        Ok(_) => check(reader, &mut state),
        Err(error) => state.problem = Some(first_line(&error.to_string())),
    }
    state
}

/// The last time, within a month, that the policies got weaker while callgate ran.
fn weakened(reader: &RecordReader) -> Option<(String, Vec<String>)> {
    let since = Timestamp::now().checked_sub(MONTH).ok();
    let filter =
        Filter { kinds: vec![RecordKind::Weakened], since, limit: Some(1), ..Filter::default() };
    let record = reader.records(&filter).ok()?.into_iter().next()?.record;
    Some((when::shown(record.time), record.policies?.weakened))
}

const MONTH: SignedDuration = SignedDuration::from_hours(30 * 24);

fn check(reader: &RecordReader, state: &mut StoreReport) {
    match reader.verify(|_, _| {}) {
        Ok(verified) => {
            state.records = verified.records;
            state.chain = Some("whole");
        }
        Err(VerifyError::Broken(broken)) => {
            state.chain = Some("broken");
            state.problem = Some(broken.to_string());
        }
        Err(VerifyError::Read(error)) => state.problem = Some(first_line(&error.to_string())),
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

impl StoreReport {
    pub(super) fn works(&self) -> bool {
        self.problem.is_none() && self.writable != Some(false)
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let path = self.path.as_deref().unwrap_or("in memory, lost when the gateway stops");
        let mut lines = vec![path.to_owned()];
        if let Some(problem) = &self.problem {
            lines.push(problem.clone());
        }
        if self.writable == Some(false) {
            lines.push("this user cannot write to it; check who owns the file".to_owned());
        }
        match (self.state, self.chain) {
            ("does not exist yet", _) => {
                lines.push("does not exist yet: `callgate serve` creates it".into())
            }
            (_, Some("whole")) => {
                let last = self.last.as_deref().map(|time| format!(", the newest from {time}"));
                let last = last.unwrap_or_default();
                lines.push(format!("{} records{last}; the chain is intact", self.records));
            }
            (_, Some("not checked")) => lines.push(format!(
                "{} records; run `callgate audit verify` to check the chain",
                self.records
            )),
            _ => {}
        }
        if let Some((time, weakened)) = &self.weakened {
            lines.push(format!("the policies became weaker at {time}: {}", weakened.join("; ")));
            lines.push("run `callgate events --type weakened` to see each time".to_owned());
        }
        lines
    }
}
