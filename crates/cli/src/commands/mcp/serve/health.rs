//! The resource `config://health`: what is in force, and whether it works.

use anyhow::Result;
use callgate_audit::Filter;
use callgate_control::clean;
use callgate_store::{Location, OpenError, RecordReader};
use serde::Serialize;
use serde_json::{Value, json};

use super::known::{LoadedRules, PolicyContent};
use crate::commands::doctor::gateway;

#[derive(Debug, Serialize)]
struct HealthOutput {
    /// `ok`, or `degraded`: something below is not as the operator wants it.
    status: &'static str,
    version: &'static str,
    config: Option<String>,
    policies: Value,
    store: Value,
    gateway: gateway::GatewayReport,
}

pub(super) fn resource(known: &PolicyContent) -> Result<String> {
    let (now, rejected) = (known.now(), known.rejected());
    let (store, store_works) = store(&now.store);
    let works = rejected.is_none() && store_works;
    let health = HealthOutput {
        status: if works { "ok" } else { "degraded" },
        version: env!("CARGO_PKG_VERSION"),
        config: now.path.as_ref().map(|path| path.display().to_string()),
        policies: policies(&now, rejected.as_deref()),
        store,
        gateway: gateway::examine(now.gateway),
    };
    Ok(clean(&serde_json::to_string(&health)?))
}

/// The policies: whether the latest are in force, or the last good ones.
fn policies(now: &LoadedRules, rejected: Option<&str>) -> Value {
    let state = match (rejected, now.judges) {
        (Some(_), _) => "rejected",
        (None, true) => "current",
        (None, false) => "none",
    };
    json!({
        "state": state,
        "in_force": now.origins,
        "rules": now.rules.policies.rule_count(),
        "warnings": now.warnings,
        "since": now.since.to_string(),
        "rejected": rejected,
    })
}

/// The store, and whether it can be read. A missing store is not an error: a new user has none.
fn store(location: &Location) -> (Value, bool) {
    let Location::Sqlite(path) = location else {
        return (json!({ "state": "memory" }), true);
    };
    let path = path.display().to_string();
    match RecordReader::open(location) {
        Ok(reader) => {
            let newest = Filter { limit: Some(1), ..Filter::default() };
            let newest = reader.records(&newest).ok().and_then(|found| found.into_iter().next());
            let last = newest.map(|stored| stored.record.time.to_string());
            match reader.last() {
                Ok(records) => {
                    let ready = json!({
                        "state": "ready", "path": path, "records": records, "last": last,
                    });
                    (ready, true)
                }
                Err(error) => (broken(&path, &error.to_string()), false),
            }
        }
        Err(OpenError::Missing { .. }) => {
            (json!({ "state": "does not exist yet", "path": path }), true)
        }
        Err(error) => (broken(&path, &error.to_string()), false),
    }
}

fn broken(path: &str, problem: &str) -> Value {
    json!({ "state": "unusable", "path": path, "problem": problem })
}
