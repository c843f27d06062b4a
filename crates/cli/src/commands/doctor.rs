//! `callgate doctor`: reports what runs here, what is enforced, and what is not.

mod api;
mod enforcement;
pub(crate) mod gateway;
mod mcp;
mod store;

use std::io;
use std::path::Path;

use anyhow::Result;
use callgate_config::{ConfigError, Protect, Rejected, ResolvedConfig, word_for};
use serde::Serialize;

use crate::args;
use crate::exit::Exit;
use crate::render::{self, Color, count, printable};
use crate::report;
use crate::served::SERVED;
use enforcement::PoliciesOnDisk;

/// Everything that was found.
#[derive(Debug, Serialize)]
struct DoctorReport {
    /// Whether all of it works. A gateway that is not running is not a fault.
    ok: bool,
    config: Option<String>,
    policies: Vec<String>,
    /// Whether callgate protects itself: `on` or `off`.
    protect: &'static str,
    rules: usize,
    /// Why the policies cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    policy_error: Option<String>,
    warnings: usize,
    /// Files that other users can change, with what to do about it.
    exposed: Vec<String>,
    /// Variables that the config names and that are not set here.
    missing_variables: Vec<String>,
    store: store::StoreReport,
    gateway: gateway::GatewayReport,
    api: api::ApiReport,
    mcp: mcp::McpReport,
    enforced: Vec<String>,
    /// What is judged as soon as the gateway runs.
    inactive: Vec<String>,
    not_enforced: Vec<String>,
}

pub(crate) fn run(args: &args::DoctorArgs, config: Option<&Path>) -> Result<Exit> {
    let report = match callgate_config::load(config, &SERVED) {
        Ok(resolved) => examine(&resolved, None),
        // Everything else can still be examined.
        Err(ConfigError::Rejected(rejected)) if rejected.what == "policy" => {
            let report = examine(&callgate_config::settings(config)?, Some(&rejected));
            if !args.json {
                render::error(&ConfigError::Rejected(rejected).into());
            }
            report
        }
        Err(error) => return rejected(error, args.json),
    };
    let color = Color::of(&io::stdout());
    let text = if args.json { report::line(&report)? } else { shown(&report, color) };
    render::print(&text)?;
    Ok(if report.ok { Exit::Success } else { Exit::Broken })
}

/// Without a readable config there is nothing else to examine.
fn rejected(error: ConfigError, json: bool) -> Result<Exit> {
    if json {
        let line = serde_json::json!({ "ok": false, "config_error": error.to_string() });
        render::print(&report::line(&line)?)?;
        return Ok(Exit::Error);
    }
    Err(error.into())
}

fn examine(resolved: &ResolvedConfig, broken: Option<&Rejected>) -> DoctorReport {
    let store = store::examine(&resolved.audit.store);
    let gateway = gateway::examine(resolved.proxy.listen);
    let policies = if broken.is_some() { PoliciesOnDisk::Rejected } else { PoliciesOnDisk::Valid };
    let api = api::examine(resolved, policies);
    let mcp = mcp::examine(resolved);
    let found = enforcement::examine(resolved, policies, gateway.running());
    let compiled = resolved.policies.compiled.as_ref();
    DoctorReport {
        ok: store.works() && gateway.works() && api.works() && mcp.works() && broken.is_none(),
        policy_error: broken.map(Rejected::to_string),
        config: resolved.path.as_ref().map(|path| path.display().to_string()),
        policies: resolved.policies.origins.clone(),
        protect: word_for(resolved.protect),
        rules: compiled.map_or(0, |policies| policies.rule_count()),
        warnings: resolved.policies.warnings.len(),
        exposed: exposed(resolved),
        missing_variables: resolved.missing.iter().map(|missing| missing.name.clone()).collect(),
        store,
        gateway,
        api,
        mcp,
        enforced: found.enforced,
        inactive: found.inactive,
        not_enforced: found.not_enforced,
    }
}

fn exposed(resolved: &ResolvedConfig) -> Vec<String> {
    let files = resolved.policies.exposed.iter();
    files.map(|exposed| format!("{exposed}; run `{}`", exposed.fix())).collect()
}

fn shown(report: &DoctorReport, color: Color) -> String {
    let mut text = String::new();
    let mut row = |label: &str, value: &str| {
        let label = match label {
            "enforced" => color.good(&format!("{label:<9}")),
            "inactive" | "not" => color.warning(&format!("{label:<9}")),
            label => format!("{label:<9}"),
        };
        text.push_str(&format!("{label} {}\n", printable(value)));
    };
    row("config", report.config.as_deref().unwrap_or("none found, using the defaults"));
    let policies = match (&report.policy_error, report.policies.as_slice()) {
        (Some(error), _) => error.clone(),
        (None, []) if report.protect == word_for(Protect::On) => {
            "none: calls are judged to protect callgate itself".to_owned()
        }
        (None, []) => "none: nothing is judged".to_owned(),
        (None, list) => format!("{} ({})", list.join(", "), count(report.rules, "rule")),
    };
    row("policies", &policies);
    if report.protect == word_for(Protect::Off) {
        row("protect", "off: agents can change callgate's files and stop it");
    }
    if report.warnings > 0 {
        let warnings = count(report.warnings, "warning");
        row("", &format!("{warnings}: run `callgate config check` to see them"));
    }
    for exposed in &report.exposed {
        row("", exposed);
    }
    for name in &report.missing_variables {
        row("", &format!("the variable {name} is not set here; the gateway needs it"));
    }
    for (at, line) in report.store.lines().iter().enumerate() {
        row(if at == 0 { "store" } else { "" }, line);
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
    for what in &report.inactive {
        row("inactive", what);
    }
    for what in &report.not_enforced {
        row("not", what);
    }
    text
}
