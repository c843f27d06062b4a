//! `callgate mcp servers`: declared and seen.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use callgate_config::McpServer;
use callgate_decide::mcp::{McpSettings, ServerKind};
use callgate_registry::{ItemKind, Pin, PinStatus};
use serde_json::{Value, json};

use super::store;
use crate::args;
use crate::exit::Exit;
use crate::render::{self, talk};
use crate::report;
use crate::table::Listing;

/// What is known about one server.
#[derive(Debug, Default)]
struct ServerSummary {
    declared: bool,
    kind: Option<ServerKind>,
    address: String,
    tools: usize,
    /// The number of its definitions in each state.
    states: BTreeMap<PinStatus, usize>,
    /// In microseconds since 1970.
    last_seen: Option<i64>,
}

pub(super) fn run(args: &args::ServersArgs, config: Option<&Path>) -> Result<Exit> {
    let (settings, declared) = callgate_config::mcp_settings(config)?;
    let mut servers = gather(&settings, &declared, &store::pins_if_there(config)?);
    servers.retain(|name, server| {
        store::fits(args.server.as_deref(), name)
            && args.kind.is_none_or(|kind| server.kind == Some(kind))
    });
    if args.json {
        let lines = servers.iter().map(|(name, server)| report::line(&server.to_json(name)));
        render::print(&lines.collect::<Result<String, _>>()?)?;
        return Ok(Exit::Success);
    }
    if servers.is_empty() {
        talk(
            "no servers; declare them under `mcp.servers` in the config, or put one behind callgate with `callgate mcp wrap`\n",
        );
        return Ok(Exit::Success);
    }
    let head = ["server", "type", "address", "declared", "tools", "state", "last seen"];
    let mut table = Listing::new(head).whole(1).least(0, 12).fit(args.wide.fit());
    for (name, server) in &servers {
        table.row([
            name.clone(),
            server.kind.map_or("", ServerKind::as_str).to_owned(),
            server.address.clone(),
            if server.declared { "yes" } else { "no" }.to_owned(),
            server.tools.to_string(),
            server.state(),
            server.last_seen.map(store::shown).unwrap_or_default(),
        ]);
    }
    render::print(&table.text())?;
    Ok(Exit::Success)
}

fn gather(
    settings: &McpSettings,
    declared: &[McpServer],
    pins: &[Pin],
) -> BTreeMap<String, ServerSummary> {
    let mut servers: BTreeMap<String, ServerSummary> = BTreeMap::new();
    for server in declared {
        let address = settings.server(&server.id).map(|entry| entry.address.clone());
        let known = ServerSummary {
            declared: true,
            kind: Some(server.kind),
            address: address.unwrap_or_default(),
            ..ServerSummary::default()
        };
        servers.insert(server.id.clone(), known);
    }
    for pin in pins {
        servers.entry(pin.identity.server.clone()).or_default().add(pin);
    }
    servers
}

impl ServerSummary {
    fn add(&mut self, pin: &Pin) {
        if !self.declared {
            let shown = pin.seen().launch.shown();
            // Its type is not declared: a program, unless its address is a URL.
            let kind = if shown.contains("://") { ServerKind::Http } else { ServerKind::Stdio };
            self.kind = Some(kind);
            self.address = shown.to_owned();
        }
        self.tools += usize::from(pin.identity.kind == ItemKind::Tool);
        *self.states.entry(pin.status()).or_default() += 1;
        self.last_seen = self.last_seen.max(Some(pin.last_seen));
    }

    /// The state of its definitions: trusted, or how many are not.
    fn state(&self) -> String {
        let waiting = [PinStatus::Changed, PinStatus::Quarantined];
        let some: Vec<String> = waiting
            .iter()
            .filter_map(|state| Some(format!("{} {state}", self.states.get(state)?)))
            .collect();
        match (self.states.is_empty(), some.is_empty()) {
            (true, _) => PinStatus::Unseen.to_string(),
            (false, true) => PinStatus::Trusted.to_string(),
            (false, false) => some.join(", "),
        }
    }

    fn to_json(&self, name: &str) -> Value {
        let states: BTreeMap<&str, usize> =
            self.states.iter().map(|(state, count)| (state.as_str(), *count)).collect();
        json!({
            "server": name,
            "type": self.kind.map(ServerKind::as_str),
            "address": self.address,
            "declared": self.declared,
            "tools": self.tools,
            "states": states,
            "last_seen": self.last_seen.and_then(store::exact),
        })
    }
}
