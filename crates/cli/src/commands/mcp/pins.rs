//! `callgate mcp pins`: the definitions that servers are held to.

mod diff;
mod list;
mod reset;
mod trust;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use callgate_audit::{ChangeTarget, McpFacts, Record, RecordKind, RecordedChange, RecordedTool};
use callgate_registry::{ItemIdentity, ItemKind, Pin, PinState, PinStatus};

use super::store;
use crate::args::{DefinitionArgs, PinsCommand};
use crate::exit::Exit;
use crate::operator::operator;
use crate::render::hinted;

pub(super) fn run(args: &PinsCommand, config: Option<&Path>) -> Result<Exit> {
    match args {
        PinsCommand::List(args) => list::run(args, config),
        PinsCommand::Diff { server, pick, json } => {
            diff::run(server.as_deref(), pick, *json, config)
        }
        PinsCommand::Trust { server, pick, all, hash } => {
            pick.require_choice(*all, server, config)?;
            trust::run(server, pick, hash.as_deref(), config)
        }
        PinsCommand::Reset { server, pick, all } => {
            pick.require_choice(*all, server, config)?;
            reset::run(server, pick, config)
        }
    }
}

impl DefinitionArgs {
    /// Refuses to change everything of a server unless the user asks for `--all`.
    fn require_choice(&self, all: bool, server: &str, config: Option<&Path>) -> Result<()> {
        let chosen = self.tool.is_some() || self.prompt.is_some() || self.instructions;
        if all || chosen {
            return Ok(());
        }
        let pins = store::pins(config)?;
        let own = pins.iter().filter(|pin| pin.identity.server == server);
        let choices: Vec<String> = own.map(|pin| choice(&pin.identity)).collect();
        match choices.as_slice() {
            [] => Err(unknown(self, server)),
            choices => Err(hinted(
                format!("choose a definition of `{server}`, or all of them"),
                format!("add `--all`, or one of: {}", choices.join(", ")),
            )),
        }
    }

    /// Whether this is what was asked for; without a choice, everything is.
    fn fits(&self, identity: &ItemIdentity) -> bool {
        match (&self.tool, &self.prompt, self.instructions) {
            (Some(tool), ..) => identity.kind == ItemKind::Tool && identity.name == *tool,
            (_, Some(prompt), _) => identity.kind == ItemKind::Prompt && identity.name == *prompt,
            (.., true) => identity.kind == ItemKind::Instructions,
            (None, None, false) => true,
        }
    }

    /// The chosen definition as `server/tool`.
    fn shown_name(&self, server: &str) -> String {
        match (&self.tool, &self.prompt, self.instructions) {
            (Some(tool), ..) => ItemIdentity::tool(server, tool).to_string(),
            (_, Some(prompt), _) => format!("{server}/prompt:{prompt}"),
            (.., true) => format!("{server}/instructions"),
            (None, None, false) => server.to_owned(),
        }
    }
}

/// What of a server, as flags: to be pasted into a shell.
fn flags(identity: &ItemIdentity) -> String {
    let ItemIdentity { server, kind, name } = identity;
    let server = quoted(server);
    match kind {
        ItemKind::Tool => format!("--server {server} --tool {}", quoted(name)),
        ItemKind::Prompt => format!("--server {server} --prompt {}", quoted(name)),
        ItemKind::Instructions => format!("--server {server} --instructions"),
    }
}

/// The flag that chooses a definition of a server.
fn choice(identity: &ItemIdentity) -> String {
    match identity.kind {
        ItemKind::Tool => format!("--tool {}", quoted(&identity.name)),
        ItemKind::Prompt => format!("--prompt {}", quoted(&identity.name)),
        ItemKind::Instructions => "--instructions".to_owned(),
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

/// None of the requested items is known.
fn unknown(pick: &DefinitionArgs, server: &str) -> anyhow::Error {
    hinted(
        format!("`{}` is unknown", pick.shown_name(server)),
        "run `callgate mcp pins list` to see what is known; a server must list its tools first",
    )
}

/// The record of a person's change to a pin, with the states before and after; `None` if it is
/// forgotten.
fn change(action: &str, before: &Pin, after: Option<&Pin>) -> Record {
    let identity = &before.identity;
    let change = RecordedChange {
        what: ChangeTarget::Pin,
        name: identity.to_string(),
        action: action.to_owned(),
        before: fields(before),
        after: after.map(fields).unwrap_or_default(),
    };
    let name = match identity.kind {
        ItemKind::Tool => identity.name.clone(),
        ItemKind::Prompt => format!("prompt:{}", identity.name),
        ItemKind::Instructions => "instructions".to_owned(),
    };
    let tool = RecordedTool {
        name,
        server: Some(identity.server.clone()),
        definition_hash: Some(before.seen().hash.as_str().to_owned()),
        ..RecordedTool::default()
    };
    let state = after.map_or(PinStatus::Unseen, Pin::status);
    let mcp = McpFacts { pin: Some(state.as_str().to_owned()), ..McpFacts::default() };
    Record {
        who: operator(),
        tool: Some(tool),
        mcp: Some(mcp),
        change: Some(change),
        ..Record::new(RecordKind::Change)
    }
}

/// The fields of a pin in a record: the hash of the definition, and how its server is started.
fn fields(pin: &Pin) -> BTreeMap<String, String> {
    let seen = match &pin.state {
        PinState::Changed(seen) => Some(seen),
        PinState::Trusted | PinState::Quarantined => None,
    };
    let fields = [
        ("state", Some(pin.status().as_str().to_owned())),
        ("hash", Some(pin.version.hash.as_str().to_owned())),
        ("from", Some(pin.version.launch.shown().to_owned())),
        ("seen_hash", seen.map(|seen| seen.hash.as_str().to_owned())),
        ("seen_from", seen.map(|seen| seen.launch.shown().to_owned())),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
