//! `callgate mcp pins`: the definitions that servers are held to.

mod diff;
mod list;
mod reset;
mod trust;

use std::path::Path;

use anyhow::Result;
use callgate_audit::{Action, Audit, Kind, McpFacts, Record, Tool, Verdict};
use callgate_registry::{Identity, ItemKind, Pin, State};

use crate::args::{Pick, Pins};
use crate::exit::Exit;
use crate::render::hinted;

pub(super) fn run(args: &Pins, config: Option<&Path>) -> Result<Exit> {
    match args {
        Pins::List(args) => list::run(args, config),
        Pins::Diff { server, pick, json } => diff::run(server.as_deref(), pick, *json, config),
        Pins::Trust { server, pick, hash, .. } => trust::run(server, pick, hash.as_deref(), config),
        Pins::Reset { server, pick, .. } => reset::run(server, pick, config),
    }
}

impl Pick {
    /// Whether this is what was asked for; without a choice, everything is.
    fn fits(&self, identity: &Identity) -> bool {
        match (&self.tool, &self.prompt, self.instructions) {
            (Some(tool), ..) => identity.kind == ItemKind::Tool && identity.name == *tool,
            (_, Some(prompt), _) => identity.kind == ItemKind::Prompt && identity.name == *prompt,
            (.., true) => identity.kind == ItemKind::Instructions,
            (None, None, false) => true,
        }
    }

    /// What was asked for, in words.
    fn told(&self, server: &str) -> String {
        match (&self.tool, &self.prompt, self.instructions) {
            (Some(tool), ..) => Identity::tool(server, tool).to_string(),
            (_, Some(prompt), _) => format!("{server}/prompt:{prompt}"),
            (.., true) => format!("{server}/instructions"),
            (None, None, false) => server.to_owned(),
        }
    }
}

/// What of a server, as flags: to be pasted into a shell.
fn flags(identity: &Identity) -> String {
    let Identity { server, kind, name } = identity;
    let server = quoted(server);
    match kind {
        ItemKind::Tool => format!("--server {server} --tool {}", quoted(name)),
        ItemKind::Prompt => format!("--server {server} --prompt {}", quoted(name)),
        ItemKind::Instructions => format!("--server {server} --instructions"),
    }
}

/// A word for a shell: a server chooses the names of its tools.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Nothing of what was asked for is known.
fn unknown(pick: &Pick, server: &str) -> anyhow::Error {
    hinted(
        format!("nothing is known of `{}`", pick.told(server)),
        "`callgate mcp pins list` shows what is; it is known once the server has listed it",
    )
}

/// Records what a person did to a pin.
fn record(audit: &Audit, pin: &Pin, state: State, done: &str) -> Result<()> {
    let mut record = Record::new(Kind::McpToolChanged);
    let name = match pin.identity.kind {
        ItemKind::Tool => pin.identity.name.clone(),
        ItemKind::Prompt => format!("prompt:{}", pin.identity.name),
        ItemKind::Instructions => "instructions".to_owned(),
    };
    record.tool = Some(Tool {
        name,
        server: Some(pin.identity.server.clone()),
        definition_hash: Some(pin.seen().hash.as_str().to_owned()),
        ..Tool::default()
    });
    record.verdict = Some(Verdict { reason: Some(done.to_owned()), ..Verdict::new(Action::Allow) });
    record.mcp = Some(McpFacts { pin: Some(state.as_str().to_owned()), ..McpFacts::default() });
    record.detail = Some(done.to_owned());
    audit.append(record).wait()?;
    Ok(())
}
