//! `callgate config`: checks the config, and prints its schema.

use std::io;
use std::path::Path;

use anyhow::Result;
use callgate_config::{ConfigError, Protect, ResolvedConfig, word_for};
use callgate_store::{Durability, Location};
use serde_json::{Value, json};

use crate::args::ConfigCommand;
use crate::exit::Exit;
use crate::render::{self, Color, count, printable, talk};
use crate::report::{self, ProblemOutput};
use crate::served::SERVED;

pub(crate) fn run(args: &ConfigCommand, config: Option<&Path>) -> Result<Exit> {
    match args {
        ConfigCommand::Check { strict, json } => check(load(*strict, config), *json),
        ConfigCommand::Schema => {
            let schema = serde_json::to_string_pretty(&callgate_config::schema())?;
            render::print(&format!("{schema}\n"))?;
            Ok(Exit::Success)
        }
    }
}

/// The config; with `strict` only if no other user can change its files.
fn load(strict: bool, config: Option<&Path>) -> Result<ResolvedConfig, ConfigError> {
    let resolved = callgate_config::load(config, &SERVED)?;
    if strict {
        resolved.policies.check_exposed()?;
    }
    Ok(resolved)
}

fn check(loaded: Result<ResolvedConfig, ConfigError>, json: bool) -> Result<Exit> {
    match loaded {
        Ok(resolved) if json => {
            render::print(&report::line(&as_json(&resolved))?)?;
            Ok(Exit::Success)
        }
        Ok(resolved) => {
            show_warnings(&resolved);
            render::warn_of_exposed(&resolved.policies);
            render::print(&shown(&resolved))?;
            Ok(Exit::Success)
        }
        Err(ConfigError::Rejected(rejected)) if json => {
            failed(rejected.problems.iter().map(ProblemOutput::of).collect())
        }
        Err(ConfigError::Exposed { files, .. }) if json => {
            failed(files.iter().map(ProblemOutput::exposed).collect())
        }
        Err(error) => Err(error.into()),
    }
}

fn failed(problems: Vec<ProblemOutput<'_>>) -> Result<Exit> {
    let found = json!({ "ok": false, "problems": problems, "warnings": [] });
    render::print(&report::line(&found)?)?;
    Ok(Exit::Error)
}

fn show_warnings(resolved: &ResolvedConfig) {
    let color = Color::of(&io::stderr()) == Color::On;
    let missing = resolved.missing.iter().map(|missing| &missing.problem);
    let warnings = resolved.policies.warnings.iter().map(|warning| &warning.0);
    for found in warnings.chain(missing) {
        let sources = &resolved.policies.sources;
        if let Some(source) = sources.iter().find(|source| source.name == found.source) {
            let warning = callgate_document::Warning(found.clone());
            talk(&format!("{}\n\n", warning.render(source, color)));
        }
    }
}

fn as_json(resolved: &ResolvedConfig) -> Value {
    let proxy = &resolved.proxy;
    let warnings = resolved.policies.warnings.iter().map(|warning| &warning.0);
    let missing = resolved.missing.iter().map(|missing| &missing.problem);
    let exposed = resolved.policies.exposed.iter().map(ProblemOutput::exposed);
    let warnings: Vec<ProblemOutput<'_>> =
        warnings.chain(missing).map(ProblemOutput::of).chain(exposed).collect();
    let providers = proxy.providers.iter().map(|provider| {
        json!({
            "name": provider.name,
            "base_url": provider.base_url.as_str(),
            "dialect": provider.dialect.as_str(),
            "has_key": provider.api_key.is_some(),
        })
    });
    json!({
        "ok": true,
        "config": resolved.path,
        "listen": proxy.listen.to_string(),
        "store": store(resolved),
        "durability": word_for(resolved.audit.durability),
        "mode": word_for(proxy.mode),
        "providers": providers.collect::<Vec<_>>(),
        "policies": resolved.policies.origins,
        "protect": word_for(resolved.protect),
        "rules": rules(resolved),
        "problems": [],
        "warnings": warnings,
    })
}

fn shown(resolved: &ResolvedConfig) -> String {
    let proxy = &resolved.proxy;
    let mut text = String::new();
    let mut row = |label: &str, value: &str| {
        text.push_str(&format!("{label:<9} {}\n", printable(value)));
    };
    let path = resolved.path.as_ref().map(|path| path.display().to_string());
    row("config", path.as_deref().unwrap_or("(none, using the defaults)"));
    row("listen", &proxy.listen.to_string());
    let kept = match resolved.audit.durability {
        Durability::Disk => "on disk before a call is released",
        Durability::Process => "written before a call is released",
    };
    row("store", &format!("{} ({kept})", store(resolved)));
    row("mode", word_for(proxy.mode));
    for (at, provider) in proxy.providers.iter().enumerate() {
        let key = if provider.api_key.is_some() { ", with its own key" } else { "" };
        let (name, url, dialect) = (&provider.name, &provider.base_url, provider.dialect.as_str());
        let label = if at == 0 { "providers" } else { "" };
        row(label, &format!("{name}: {url} ({dialect}{key})"));
    }
    match (&resolved.policies.compiled, resolved.policies.origins.as_slice()) {
        (None, _) => row("policies", "none: responses are copied and recorded as unjudged"),
        (Some(_), []) => row("policies", "none: calls are judged to protect callgate itself"),
        (Some(_), _) => {
            let rules = count(rules(resolved), "rule");
            row("policies", &format!("{} ({rules})", resolved.policies.origins.join(", ")));
        }
    }
    if resolved.protect == Protect::Off {
        row("protect", "off: agents can change callgate's files and stop it");
    }
    let policies = &resolved.policies;
    let warnings = policies.warnings.len() + resolved.missing.len() + policies.exposed.len();
    match warnings {
        0 => row("", "no problems"),
        n => row("", &format!("no problems, {}", count(n, "warning"))),
    }
    text
}

fn rules(resolved: &ResolvedConfig) -> usize {
    resolved.policies.compiled.as_ref().map_or(0, |policies| policies.rule_count())
}

/// The store as the config names it.
pub(crate) fn store(resolved: &ResolvedConfig) -> String {
    match &resolved.audit.store {
        Location::Sqlite(path) => format!("sqlite:{}", path.display()),
        Location::Memory => "memory".to_owned(),
    }
}
