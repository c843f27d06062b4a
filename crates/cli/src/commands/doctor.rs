//! `callgate doctor`: what runs here, what it enforces, and what nothing does.

mod api;
pub(crate) mod gateway;
mod mcp;
mod store;

use std::path::Path;

use anyhow::Result;
use callgate_call::Surface;
use callgate_config::{Error, Rejected, Resolved, word_for};
use callgate_dialect::Dialect;
use callgate_proxy::Mode;
use serde::Serialize;

use crate::args;
use crate::exit::Exit;
use crate::render::{self, count, printable};
use crate::report;
use crate::served::SERVED;

/// Everything that was found.
#[derive(Debug, Serialize)]
struct Report {
    /// Whether all of it works. A gateway that does not run is no fault.
    ok: bool,
    config: Option<String>,
    policies: Vec<String>,
    rules: usize,
    /// Why the policies cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    policy_error: Option<String>,
    warnings: usize,
    /// Files that other users can change, with what to do about it.
    exposed: Vec<String>,
    /// Variables that the config names and that are not set here.
    missing_variables: Vec<String>,
    store: store::State,
    gateway: gateway::State,
    api: api::State,
    mcp: mcp::State,
    enforced: Vec<String>,
    not_enforced: Vec<String>,
}

pub(crate) fn run(args: &args::Doctor, config: Option<&Path>) -> Result<Exit> {
    let report = match callgate_config::load(config, &SERVED) {
        Ok(resolved) => examine(&resolved, None),
        // Whether the rest works can be told all the same.
        Err(Error::Rejected(rejected)) if rejected.what == "policy" => {
            let report = examine(&callgate_config::settings(config)?, Some(&rejected));
            if !args.json {
                render::error(&Error::Rejected(rejected).into());
            }
            report
        }
        Err(error) => return rejected(error, args.json),
    };
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

fn examine(resolved: &Resolved, broken: Option<&Rejected>) -> Report {
    let store = store::examine(&resolved.audit.store);
    let gateway = gateway::examine(resolved.proxy.listen);
    let api = api::examine(resolved);
    let mcp = mcp::examine(resolved);
    let (enforced, not_enforced) = match broken {
        Some(_) => (Vec::new(), not_served("a gateway does not start with a rejected policy")),
        None => enforcement(resolved),
    };
    let compiled = resolved.policies.compiled.as_ref();
    Report {
        ok: store.works() && gateway.works() && api.works() && mcp.works() && broken.is_none(),
        policy_error: broken.map(Rejected::to_string),
        config: resolved.path.as_ref().map(|path| path.display().to_string()),
        policies: resolved.policies.origins.clone(),
        rules: compiled.map_or(0, |policies| policies.rule_count()),
        warnings: resolved.policies.warnings.len(),
        exposed: exposed(resolved),
        missing_variables: resolved.missing.iter().map(|missing| missing.name.clone()).collect(),
        store,
        gateway,
        api,
        mcp,
        enforced,
        not_enforced,
    }
}

fn exposed(resolved: &Resolved) -> Vec<String> {
    let files = resolved.policies.exposed.iter();
    files.map(|exposed| format!("{exposed}; run `{}`", exposed.fix())).collect()
}

/// What a gateway with this config judges, and what nothing does.
fn enforcement(resolved: &Resolved) -> (Vec<String>, Vec<String>) {
    let [calls, offers] = SEEN;
    let Some(policies) = &resolved.policies.compiled else {
        return (vec![mcp::enforced(resolved)], not_served("there are no policies"));
    };
    let mut enforced = Vec::new();
    let mut not = Vec::new();
    if resolved.proxy.mode == Mode::Off {
        let why = format!("`gateway.mode` is `{}`", word_for(Mode::Off));
        not.extend(SEEN.map(|what| format!("{what}: {why}")));
    } else {
        for dialect in Dialect::ALL {
            let speaks = resolved.proxy.providers.iter().filter(|one| one.supports(dialect));
            let names: Vec<&str> = speaks.map(|provider| provider.name.as_str()).collect();
            if !names.is_empty() {
                enforced.push(format!("{calls}: {} ({})", dialect.as_str(), names.join(", ")));
            }
        }
        match policies.concern(Surface::Inbound) {
            true => enforced.push(offers.to_owned()),
            false => not.push(format!("{offers}: no rule names the surface `inbound`")),
        }
    }
    enforced.push(mcp::enforced(resolved));
    not.extend(beyond());
    (enforced, not)
}

/// What a gateway sees.
const SEEN: [&str; 2] =
    ["calls in responses that go through the gateway", "tools that requests offer"];

/// Everything that nothing judges, if the gateway does not.
fn not_served(why: &str) -> Vec<String> {
    SEEN.iter().map(|what| format!("{what}: {why}")).chain(beyond()).collect()
}

/// What no gateway sees.
fn beyond() -> impl Iterator<Item = String> {
    let around = [
        "agents that do not go through the gateway",
        "MCP servers that an agent starts or reaches by itself",
    ];
    let later = ["agents' hooks", "connections"];
    let later = later.into_iter().map(|what| format!("{what}: not in this version"));
    around.into_iter().map(str::to_owned).chain(later)
}

fn shown(report: &Report) -> String {
    let mut text = String::new();
    let mut row = |label: &str, value: &str| {
        text.push_str(&format!("{label:<9} {}\n", printable(value)));
    };
    row("config", report.config.as_deref().unwrap_or("none found: the defaults hold"));
    let policies = match (&report.policy_error, report.policies.as_slice()) {
        (Some(error), _) => error.clone(),
        (None, []) => "none: nothing is judged".to_owned(),
        (None, list) => format!("{} ({})", list.join(", "), count(report.rules, "rule")),
    };
    row("policies", &policies);
    if report.warnings > 0 {
        let warnings = count(report.warnings, "warning");
        row("", &format!("{warnings}; `callgate config check` shows them"));
    }
    for exposed in &report.exposed {
        row("", exposed);
    }
    for name in &report.missing_variables {
        row("", &format!("the variable {name} is not set here; the gateway needs it"));
    }
    for line in report.store.lines() {
        row("store", &line);
    }
    row("gateway", &report.gateway.line());
    for line in report.gateway.restarts() {
        row("", &line);
    }
    row("api", &report.api.line());
    for line in report.mcp.lines() {
        row("mcp", &line);
    }
    for what in &report.enforced {
        row("enforced", what);
    }
    for what in &report.not_enforced {
        row("not", what);
    }
    text
}
