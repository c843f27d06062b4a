//! `callgate mcp tools`: what servers offer, and what was found in it.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use callgate_registry::{ItemKind, Pin};
use callgate_scan::inspect::{Finding, OtherTools, Severity, inspect_definition};
use serde_json::{Value, json};

use super::store;
use crate::args;
use crate::exit::Exit;
use crate::render::{self, talk};
use crate::report;
use crate::table::Listing;

pub(super) fn run(args: &args::ToolsArgs, config: Option<&Path>) -> Result<Exit> {
    let pins = store::pins(config)?;
    let mut inspector = Inspector::new(&pins);
    let asked = pins.iter().filter(|pin| {
        let identity = &pin.identity;
        identity.kind == ItemKind::Tool
            && store::fits(args.server.as_deref(), &identity.server)
            && store::fits(args.tool.as_deref(), &identity.name)
    });
    let tools: Vec<(&Pin, Vec<Finding>)> =
        asked.map(|pin| (pin, inspector.findings(pin))).collect();
    if args.json {
        let lines = tools.iter().map(|(pin, findings)| report::line(&as_json(pin, findings)));
        render::print(&lines.collect::<Result<String, _>>()?)?;
        return Ok(Exit::Success);
    }
    if tools.is_empty() {
        talk("no tools match; a server must list its tools before they are known\n");
        return Ok(Exit::Success);
    }
    let head = ["server", "tool", "state", "hash", "first seen", "last seen", "findings"];
    let mut table = Listing::new(head).least(1, 16).whole(2).whole(3).fit(args.wide.fit());
    for (pin, findings) in &tools {
        table.row([
            pin.identity.server.clone(),
            pin.identity.name.clone(),
            pin.status().to_string(),
            pin.seen().hash.short().to_owned(),
            store::shown(pin.first_seen),
            store::shown(pin.last_seen),
            summary(findings),
        ]);
    }
    render::print(&table.text())?;
    Ok(Exit::Success)
}

/// Looks into definitions as the gate does: with the names of all other servers' tools.
struct Inspector<'p> {
    pins: &'p [Pin],
    others: BTreeMap<&'p str, OtherTools>,
}

impl<'p> Inspector<'p> {
    fn new(pins: &'p [Pin]) -> Self {
        Self { pins, others: BTreeMap::new() }
    }

    fn findings(&mut self, pin: &'p Pin) -> Vec<Finding> {
        let server = pin.identity.server.as_str();
        let known = self.others.entry(server).or_insert_with(|| {
            let tools = self.pins.iter().filter(|pin| pin.identity.kind == ItemKind::Tool);
            let (own, others): (Vec<&Pin>, Vec<&Pin>) =
                tools.partition(|pin| pin.identity.server == server);
            let name = |pin: &Pin| pin.identity.name.clone();
            OtherTools::new(others.into_iter().map(name)).with_own(own.into_iter().map(name))
        });
        inspect_definition(&pin.seen().definition, known)
    }
}

/// The worst first: `high: directive, sensitive-path`.
fn summary(findings: &[Finding]) -> String {
    let mut of: BTreeMap<Severity, Vec<&str>> = BTreeMap::new();
    for finding in findings {
        let classes = of.entry(finding.severity).or_default();
        if !classes.contains(&finding.class.word()) {
            classes.push(finding.class.word());
        }
    }
    let parts =
        of.iter().rev().map(|(severity, classes)| format!("{severity}: {}", classes.join(", ")));
    parts.collect::<Vec<_>>().join("; ")
}

fn as_json(pin: &Pin, findings: &[Finding]) -> Value {
    let findings = findings.iter().map(|finding| {
        json!({
            "class": finding.class.word(),
            "severity": finding.severity.word(),
            "path": finding.path,
            "detail": finding.detail,
        })
    });
    json!({
        "server": pin.identity.server,
        "tool": pin.identity.name,
        "state": pin.status().as_str(),
        "hash": pin.seen().hash.as_str(),
        "pinned_hash": pin.version.hash.as_str(),
        "first_seen": store::exact(pin.first_seen),
        "last_seen": store::exact(pin.last_seen),
        "findings": findings.collect::<Vec<_>>(),
    })
}
