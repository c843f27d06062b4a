//! The newest decisions: the resource `audit://recent`, and the tool `recent_decisions`.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::Result;
use callgate_audit::{CallOutcome, Filter, RecordKind, StoredRecord};
use callgate_control::clean;
use callgate_mcp::{CallResult, Changes};
use callgate_store::Location;
use serde::{Deserialize, Serialize};

use super::known::{LoadedRules, PolicyContent, answered};
use super::offer::RECENT;
use crate::records;
use crate::render::{Color, hinted, verdict_words};
use crate::when;

/// How many the resource holds: a screenful or two.
const RESOURCE: usize = records::DEFAULT_LIMIT;
/// How many decisions the tool returns by default.
pub(super) const DEFAULT: usize = 20;
/// The most it returns: more would only fill a model's context.
pub(super) const MOST: usize = 200;
/// How much of an input is returned; `explain` returns all that was recorded.
const MAX_INPUT: usize = 500;

/// What the tool is given.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecentQuery {
    limit: Option<usize>,
    verdict: Option<String>,
    tool: Option<String>,
    server: Option<String>,
    session: Option<String>,
    since: Option<String>,
}

#[derive(Debug, Serialize)]
struct RecentDecisions {
    decisions: Vec<RecentDecision>,
    /// Whether there may be older decisions.
    more: bool,
}

/// A record in short; `explain` returns the whole.
#[derive(Debug, Serialize)]
struct RecentDecision {
    id: String,
    time: String,
    #[serde(rename = "type")]
    kind: &'static str,
    surface: Option<&'static str>,
    verdict: Option<&'static str>,
    policy: Option<String>,
    rule: Option<String>,
    reason: Option<String>,
    hint: Option<String>,
    tool: Option<String>,
    server: Option<String>,
    /// The beginning of the arguments.
    input: Option<String>,
    session: Option<String>,
    agent: Option<String>,
    model: Option<String>,
}

pub(super) fn resource(now: &LoadedRules) -> Result<String> {
    let found = find(now, Filter::default(), RESOURCE)?;
    Ok(clean(&serde_json::to_string(&RecentDecisions::of(&found, RESOURCE))?))
}

pub(super) fn call(now: &LoadedRules, arguments: &str) -> Result<CallResult> {
    let asked: RecentQuery = serde_json::from_str(arguments).map_err(|error| {
        let hint = "limit is a number; verdict, tool, server, session and since are strings";
        hinted(format!("the arguments cannot be read: {error}"), hint)
    })?;
    let limit = asked.limit.unwrap_or(DEFAULT);
    if limit == 0 || limit > MOST {
        return Err(hinted(
            format!("`limit` is {limit}"),
            format!("ask for 1 to {MOST}, and narrow it down with the other filters"),
        ));
    }
    let found = find(now, asked.filter()?, limit)?;
    let text = match found.as_slice() {
        [] => "no decisions match\n".to_owned(),
        found => found.iter().map(line).collect(),
    };
    let decisions = serde_json::to_string(&RecentDecisions::of(&found, limit))?;
    Ok(answered(clean(&decisions), &text))
}

impl RecentQuery {
    fn filter(self) -> Result<Filter> {
        let verdict = self.verdict.map(|word| {
            CallOutcome::from_word(&word).ok_or_else(|| {
                let known = CallOutcome::ALL.map(CallOutcome::as_str).join(", ");
                hinted(format!("unknown verdict `{word}`"), format!("the verdicts are {known}"))
            })
        });
        let since = self.since.map(|text| {
            when::parse(&text).map_err(|hint| hinted(format!("cannot read `since`: {text}"), hint))
        });
        Ok(Filter {
            verdict: verdict.transpose()?,
            since: since.transpose()?,
            tool: self.tool,
            server: self.server,
            session: self.session,
            ..Filter::default()
        })
    }
}

/// The newest calls that pass. Before the first one was recorded there is no store.
fn find(now: &LoadedRules, filter: Filter, limit: usize) -> Result<Vec<StoredRecord>> {
    let kinds = RecordKind::ALL.iter().copied().filter(|kind| kind.is_call()).collect();
    let Some(reader) = records::opened_if_there(&now.store)? else { return Ok(Vec::new()) };
    Ok(reader.records(&Filter { kinds, limit: Some(limit), ..filter })?)
}

impl RecentDecisions {
    fn of(found: &[StoredRecord], limit: usize) -> Self {
        Self {
            decisions: found.iter().map(RecentDecision::of).collect(),
            more: found.len() == limit,
        }
    }
}

impl RecentDecision {
    fn of(stored: &StoredRecord) -> Self {
        let record = &stored.record;
        let (tool, verdict) = (record.tool.as_ref(), record.verdict.as_ref());
        let cut = |text: &str| text.chars().take(MAX_INPUT).collect::<String>();
        Self {
            id: record.id.to_string(),
            time: record.time.to_string(),
            kind: record.kind.as_str(),
            surface: record.surface.map(|surface| surface.as_str()),
            verdict: verdict.map(|verdict| verdict.action.as_str()),
            policy: verdict.and_then(|verdict| verdict.policy.clone()),
            rule: verdict.and_then(|verdict| verdict.rule.clone()),
            reason: verdict.and_then(|verdict| verdict.reason.clone()),
            hint: verdict.and_then(|verdict| verdict.hint.clone()),
            tool: tool.map(|tool| tool.name.clone()),
            server: tool.and_then(|tool| tool.server.clone()),
            input: tool.and_then(|tool| tool.input.as_deref()).map(cut),
            session: record.who.session.clone(),
            agent: record.who.agent.clone(),
            model: record.model.clone(),
        }
    }
}

/// A decision on a line, for a model.
fn line(stored: &StoredRecord) -> String {
    let (tool, rule, why) = (records::tool(stored), records::rule(stored), records::why(stored));
    let words = verdict_words(records::verdict(stored), &tool, &rule, &why, Color::Off);
    format!("{}  {}  {words}", stored.record.time, stored.record.id)
}

/// How often it is looked whether something was recorded.
const LOOK: Duration = Duration::from_secs(1);

/// Notifies when something was recorded, as long as the process runs. The store is opened only if
/// its files have changed.
pub(super) fn watch(known: Arc<PolicyContent>, changes: Changes) -> io::Result<()> {
    let mut seen = (stamp(&known.now().store), last(&known));
    let look = move || {
        loop {
            std::thread::sleep(LOOK);
            let stamp = stamp(&known.now().store);
            if stamp == seen.0 {
                continue;
            }
            let before = std::mem::replace(&mut seen, (stamp, last(&known))).1;
            if seen.1 != before {
                changes.notify(&[RECENT]);
            }
        }
    };
    std::thread::Builder::new().name("records".to_owned()).spawn(look).map(drop)
}

/// The size and the time of each file of the store: its write-ahead log is written first.
fn stamp(store: &Location) -> Vec<Option<(u64, SystemTime)>> {
    let Location::Sqlite(path) = store else { return Vec::new() };
    let mut log = path.clone().into_os_string();
    log.push("-wal");
    let of = |path: &Path| {
        let file = std::fs::metadata(path).ok()?;
        Some((file.len(), file.modified().ok()?))
    };
    vec![of(path), of(log.as_ref())]
}

/// The number of the newest record; `None` if there is no store.
fn last(known: &PolicyContent) -> Option<u64> {
    let reader = records::opened_if_there(&known.now().store).ok().flatten()?;
    reader.last().ok()
}
