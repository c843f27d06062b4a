//! `callgate doctor`: what runs here, what it enforces, and what nothing does.

mod gateway;
mod store;

use std::path::Path;

use anyhow::Result;
use callgate_call::Surface;
use callgate_config::{Error, Resolved, word_for};
use callgate_dialect::Dialect;
use callgate_proxy::Mode;
use serde::Serialize;

use crate::args;
use crate::exit::Exit;
use crate::render::{self, count, printable};
use crate::report;

/// Everything that was found.
#[derive(Debug, Serialize)]
struct Report {
    /// Whether all of it works. A gateway that does not run is no fault.
    ok: bool,
    config: Option<String>,
    policies: Vec<String>,
    rules: usize,
    warnings: usize,
    /// Variables that the config names and that are not set here.
    missing_variables: Vec<String>,
    store: store::State,
    gateway: gateway::State,
    enforced: Vec<String>,
    not_enforced: Vec<String>,
}

pub(crate) fn run(args: &args::Doctor, config: Option<&Path>) -> Result<Exit> {
    let resolved = match callgate_config::load(config, &[Surface::Response]) {
        Ok(resolved) => resolved,
        Err(error) => return rejected(error, args.json),
    };
    let report = examine(&resolved);
    let text = if args.json { report::line(&report)? } else { shown(&report) };
    render::print(&text)?;
    Ok(if report.ok { Exit::Success } else { Exit::Broken })
}

/// Nothing else can be said while the config is not understood.
fn rejected(error: Error, json: bool) -> Result<Exit> {
    if json {
        let line = serde_json::json!({ "ok": false, "config_error": error.to_string() });
        render::print(&report::line(&line)?)?;
        return Ok(Exit::Error);
    }
    Err(error.into())
}

fn examine(resolved: &Resolved) -> Report {
    let store = store::examine(&resolved.audit.store);
    let gateway = gateway::examine(resolved.proxy.listen);
    let (enforced, not_enforced) = enforcement(resolved);
    let compiled = resolved.policies.compiled.as_ref();
    Report {
        ok: store.works() && gateway.works(),
        config: resolved.path.as_ref().map(|path| path.display().to_string()),
        policies: resolved.policies.origins.clone(),
        rules: compiled.map_or(0, |policies| policies.rules().count()),
        warnings: resolved.policies.warnings.len(),
        missing_variables: resolved.missing.iter().map(|missing| missing.name.clone()).collect(),
        store,
        gateway,
        enforced,
        not_enforced,
    }
}

/// What a gateway with this config judges, and what nothing does.
fn enforcement(resolved: &Resolved) -> (Vec<String>, Vec<String>) {
    let calls = "calls in responses that go through the gateway";
    let mut enforced = Vec::new();
    let mut not = Vec::new();
    if resolved.policies.compiled.is_none() {
        not.push(format!("{calls}: there are no policies"));
    } else if resolved.proxy.mode == Mode::Off {
        not.push(format!("{calls}: `gateway.mode` is `{}`", word_for(Mode::Off)));
    } else {
        for dialect in Dialect::ALL {
            let speaks = resolved.proxy.providers.iter().filter(|one| one.speaks(dialect));
            let names: Vec<&str> = speaks.map(|provider| provider.name.as_str()).collect();
            if !names.is_empty() {
                enforced.push(format!("{calls}: {} ({})", dialect.as_str(), names.join(", ")));
            }
        }
    }
    not.push("agents that do not go through the gateway".to_owned());
    for what in ["tools advertised in requests", "agents' hooks", "MCP servers", "connections"] {
        not.push(format!("{what}: not in this version"));
    }
    (enforced, not)
}

fn shown(report: &Report) -> String {
    let mut text = String::new();
    let mut row = |label: &str, value: &str| {
        text.push_str(&format!("{label:<9} {}\n", printable(value)));
    };
    row("config", report.config.as_deref().unwrap_or("none found: the defaults hold"));
    let policies = match report.policies.as_slice() {
        [] => "none: nothing is judged".to_owned(),
        list => format!("{} ({})", list.join(", "), count(report.rules, "rule")),
    };
    row("policies", &policies);
    if report.warnings > 0 {
        let warnings = count(report.warnings, "warning");
        row("", &format!("{warnings}; `callgate config check` shows them"));
    }
    for name in &report.missing_variables {
        row("", &format!("the variable {name} is not set here; the gateway needs it"));
    }
    for line in report.store.lines() {
        row("store", &line);
    }
    row("gateway", &report.gateway.line());
    for what in &report.enforced {
        row("enforced", what);
    }
    for what in &report.not_enforced {
        row("not", what);
    }
    text
}
