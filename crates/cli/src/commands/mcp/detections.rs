//! `callgate mcp detections`: findings in text from servers, and suspicious sequences of calls.

use std::path::Path;

use anyhow::Result;
use callgate_audit::{CallOutcome, RecordKind, StoredRecord};
use serde_json::{Value, json};

use super::found::{self, find, subject};
use crate::args::{self, Detected};
use crate::exit::Exit;
use crate::records;
use crate::render::{self, talk};
use crate::report;
use crate::table::Listing;

/// One detection of a record.
#[derive(Debug)]
struct Detection {
    /// A class of findings, or `flow`.
    kind: String,
    severity: String,
    path: String,
    detail: String,
}

pub(super) fn run(args: &args::DetectionsArgs, config: Option<&Path>) -> Result<Exit> {
    let kinds = args::MCP_CALLS.into_iter().chain(args::MCP_EVENTS);
    // It repeats the call's own record.
    let kinds = kinds.filter(|kind| *kind != RecordKind::UncorrelatedExecution).collect();
    let found = find(&args.filters, kinds, config, |stored| {
        detections(stored).iter().any(|it| it.is_wanted(&args.kinds))
    })?;
    let all = found.iter().flat_map(|stored| {
        detections(stored).into_iter().map(move |detection| (stored, detection))
    });
    let all: Vec<_> = all.filter(|(_, detection)| detection.is_wanted(&args.kinds)).collect();
    if args.json {
        let lines = all.iter().map(|(stored, detection)| report::line(&detection.to_json(stored)));
        render::print(&lines.collect::<Result<String, _>>()?)?;
        return Ok(Exit::Success);
    }
    if all.is_empty() {
        talk("no detections match\n");
        return Ok(Exit::Success);
    }
    let fit = args.wide.fit();
    let head = ["record", "time", "severity", "type", "verdict", "server", "tool", "what", "id"];
    let mut table = Listing::new(head).whole(0).whole(1).whole(4).least(7, 16).painted(4).fit(fit);
    for (stored, detection) in &all {
        let (server, tool) = subject(stored);
        table.row([
            records::number(stored),
            records::time(stored, fit),
            detection.severity.clone(),
            detection.kind.clone(),
            verdict(stored).to_owned(),
            server,
            tool,
            detection.what(),
            records::id(stored, fit),
        ]);
    }
    render::print(&table.text())?;
    found::note_limit(&args.filters, found.len());
    Ok(Exit::Success)
}

/// Whether the record that holds the detection was stopped, in the words of policies.
fn verdict(stored: &StoredRecord) -> &'static str {
    let action = if found::is_denied(stored) { CallOutcome::Deny } else { CallOutcome::Allow };
    action.as_str()
}

/// Everything that was detected in the subject of a record.
fn detections(stored: &StoredRecord) -> Vec<Detection> {
    let facts = stored.record.mcp.as_ref();
    let findings = facts.map(|facts| facts.findings.as_slice()).unwrap_or_default();
    let findings = findings.iter().map(|finding| Detection {
        kind: finding.class.clone(),
        severity: finding.severity.clone(),
        path: finding.path.clone(),
        detail: finding.detail.clone(),
    });
    let flows = flows(stored).into_iter().map(|detail| Detection {
        kind: Detected::FLOW.to_owned(),
        severity: String::new(),
        path: String::new(),
        detail,
    });
    findings.chain(flows).collect()
}

/// How records call the check of flows.
const FLOWS: &str = "mcp.flows";

/// The objections of the flow check to a call, whether or not they decided.
fn flows(stored: &StoredRecord) -> Vec<String> {
    let Some(verdict) = &stored.record.verdict else { return Vec::new() };
    let decided = (verdict.rule.as_deref() == Some(FLOWS)).then(|| verdict.reason.clone());
    let audited = verdict.audits.iter().filter(|hit| hit.rule.as_deref() == Some(FLOWS));
    decided.flatten().into_iter().chain(audited.map(|hit| hit.reason.clone())).collect()
}

impl Detection {
    fn is_wanted(&self, wanted: &[Detected]) -> bool {
        let is = |wanted: &Detected| match wanted {
            Detected::Flow => self.kind == Detected::FLOW,
            Detected::Finding(class) => self.kind == class.word(),
        };
        wanted.is_empty() || wanted.iter().any(is)
    }

    fn what(&self) -> String {
        match self.path.as_str() {
            "" => self.detail.clone(),
            path => format!("{path}: {}", self.detail),
        }
    }

    fn to_json(&self, stored: &StoredRecord) -> Value {
        let record = &stored.record;
        let facts = record.mcp.as_ref();
        let (server, tool) = subject(stored);
        let earlier = facts.map(|facts| facts.earlier.as_slice()).unwrap_or_default();
        let earlier: Vec<String> = earlier.iter().map(ToString::to_string).collect();
        let is_flow = self.kind == Detected::FLOW;
        json!({
            "time": record.time.to_string(),
            "record": record.id.to_string(),
            "record_type": record.kind.as_str(),
            "session": record.who.session,
            "server": server,
            "tool": tool,
            "type": self.kind,
            "severity": Some(&self.severity).filter(|it| !it.is_empty()),
            "path": Some(&self.path).filter(|it| !it.is_empty()),
            "detail": self.detail,
            "place": facts.and_then(|facts| facts.place.as_ref()),
            "verdict": verdict(stored),
            "earlier": if is_flow { earlier } else { Vec::new() },
        })
    }
}
