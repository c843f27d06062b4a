//! What the conformance suite says, and how two of its reports differ.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// What the suite said of each scenario.
pub(super) struct Report(pub(super) BTreeMap<String, Vec<Check>>);

/// One thing that was looked at: what of it, whether it was right, and what the suite noted about it,
/// answers of the server among that.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Check {
    pub(super) id: String,
    pub(super) status: String,
    /// It could not be looked at, for the server has not what the suite wants for that.
    pub(super) untestable: bool,
    noted: Value,
}

/// The one scenario in which callgate may pass and the server fail: it looks at `Host` and `Origin` for
/// servers that do not.
const STRICTER: &str = "server-dns-rebinding-protection";

/// What is another one each time (some are asked how far they are until they are done), what belongs to a connection, and what says which web pages may read
/// the answer: callgate does not let a server say that.
const VOLATILE: [&str; 22] = [
    "requestState",
    "io.modelcontextprotocol/subscriptionId",
    "subscriptionId",
    "taskId",
    "sessionId",
    "eventId",
    "id",
    "lastEventId",
    "lastEventIdUsed",
    "mcp-session-id",
    "last-event-id",
    "date",
    "connection",
    "keep-alive",
    "content-length",
    "transfer-encoding",
    "x-powered-by",
    "server",
    "x-callgate-request",
    "access-control-allow-origin",
    "access-control-expose-headers",
    "messagesValidated",
];

/// How many checks passed and failed.
#[derive(Debug, PartialEq)]
pub(super) struct Total {
    pub(super) passed: usize,
    pub(super) failed: usize,
}

impl Report {
    /// One folder for each scenario, named by it and the time.
    pub(super) fn read(folder: &Path, url: &str) -> Self {
        let scenario = |folder: fs::DirEntry| {
            let name = folder.file_name().into_string().unwrap();
            let time = name.len().checked_sub("-2026-11-15T16-35-16-307Z".len()).expect("a time");
            // There is none where the suite itself gave up.
            let checks =
                fs::read_to_string(folder.path().join("checks.json")).unwrap_or("[]".into());
            let checks: Vec<Value> = serde_json::from_str(&checks).unwrap();
            (name[..time].to_owned(), checks.iter().map(|check| Check::of(check, url)).collect())
        };
        Self(fs::read_dir(folder).unwrap().map(|entry| scenario(entry.unwrap())).collect())
    }

    pub(super) fn total(&self) -> Total {
        let count = |status: &str| self.0.values().flatten().filter(|c| c.status == status).count();
        Total { passed: count("SUCCESS"), failed: count("FAILURE") }
    }

    /// Where the other one, through callgate, differs; a line for each.
    pub(super) fn against(&self, through: &Self) -> Vec<String> {
        let scenarios: BTreeSet<&String> = self.0.keys().chain(through.0.keys()).collect();
        let mut lines = Vec::new();
        for scenario in scenarios {
            let checks = |report: &Self| report.0.get(scenario).cloned().unwrap_or_default();
            let (mut direct, mut through) = (checks(self), checks(through));
            if scenario == STRICTER && through.iter().all(|check| check.status == "SUCCESS") {
                continue;
            }
            for (direct, through) in direct.iter_mut().zip(&mut through) {
                overlook(&mut direct.noted, &mut through.noted);
            }
            let lost = direct.iter().filter(|check| !through.contains(check));
            lines.extend(lost.map(|check| format!("{scenario}: direct only: {check:?}")));
            let found = through.iter().filter(|check| !direct.contains(check));
            lines
                .extend(found.map(|check| format!("{scenario}: through callgate only: {check:?}")));
            if direct.len() != through.len() {
                lines.push(format!("{scenario}: {} and {} checks", direct.len(), through.len()));
            }
        }
        lines
    }
}

impl Check {
    fn of(check: &Value, url: &str) -> Self {
        let text = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
        let untestable = text("errorMessage").starts_with("Not testable");
        let noted = lasting(&check["details"], url);
        Self { id: text("id"), status: text("status"), untestable, noted }
    }
}

/// What was noted, without what is another one each time.
fn lasting(noted: &Value, url: &str) -> Value {
    match noted {
        Value::Object(entries) => {
            let entries = entries.iter().filter(|(key, _)| !VOLATILE.contains(&key.as_str()));
            Value::Object(entries.map(|(key, value)| (key.clone(), lasting(value, url))).collect())
        }
        Value::Array(values) => values.iter().map(|value| lasting(value, url)).collect(),
        Value::String(text) if !url.is_empty() => text.replace(url, "the server").into(),
        other => other.clone(),
    }
}

/// Takes out the words of an error where callgate refuses in the server's place. Its code stays.
fn overlook(direct: &mut Value, through: &mut Value) {
    match (direct, through) {
        (Value::Object(direct), Value::Object(through)) => {
            let said = through.get("message").and_then(Value::as_str).unwrap_or_default();
            if said.starts_with("callgate did not forward this request") {
                for entries in [&mut *direct, &mut *through] {
                    entries.remove("message");
                    entries.remove("data");
                }
            }
            for (key, through) in through {
                direct.get_mut(key).into_iter().for_each(|direct| overlook(direct, through));
            }
        }
        (Value::Array(direct), Value::Array(through)) => {
            direct.iter_mut().zip(through).for_each(|(direct, through)| overlook(direct, through));
        }
        _ => {}
    }
}

impl fmt::Display for Total {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>4} passed {:>3} failed", self.passed, self.failed)
    }
}
