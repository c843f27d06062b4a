//! The MCP servers that are declared, and the definitions that wait for a person.

use callgate_config::{McpServer, ResolvedConfig};
use callgate_decide::mcp::{ServerKind, pin_of};
use callgate_mcp::Program;
use callgate_registry as registry;
use callgate_store::RecordReader;
use serde::Serialize;

use super::gateway::GatewayRunning;
use crate::render::count;

/// What was found.
#[derive(Debug, Default, Serialize)]
pub(super) struct McpReport {
    servers: Vec<ServerReport>,
    /// The number of definitions that changed or are not trusted yet.
    waiting: usize,
}

/// A server that is declared.
#[derive(Debug, Serialize)]
struct ServerReport {
    server: String,
    #[serde(rename = "type")]
    kind: &'static str,
    address: String,
    /// What keeps it from being started.
    problems: Vec<String>,
    /// What may.
    notes: Vec<String>,
}

pub(super) fn examine(resolved: &ResolvedConfig) -> McpReport {
    let servers = resolved.mcp_servers.iter().map(|server| {
        let entry = resolved.mcp.server(&server.id);
        let address = entry.map(|entry| entry.address.clone()).unwrap_or_default();
        match server.kind {
            ServerKind::Stdio => program(server, address),
            ServerKind::Http | ServerKind::Sse => network(server, address),
        }
    });
    McpReport { servers: servers.collect(), waiting: waiting(resolved) }
}

/// A program must be there, and be the file that is pinned.
fn program(server: &McpServer, address: String) -> ServerReport {
    let mut found = ServerReport::new(server, address);
    let path = std::env::var_os("PATH");
    let command = server.command.as_deref().unwrap_or_default();
    match Program::find(command, path.as_deref()) {
        Ok(program) => {
            found.address = program.path.display().to_string();
            let checked = server.sha256.as_ref().map(|pinned| program.check(pinned));
            found.problems.extend(checked.and_then(Result::err).map(|error| error.to_string()));
        }
        Err(error) => found.problems.push(error.to_string()),
    }
    let unset = server.env.iter().filter(|name| !is_set(name));
    let note = |name: &String| {
        format!("the variable {name} is not set here; set it where the agent starts the server")
    };
    found.notes.extend(unset.map(note));
    found
}

/// The token that is sent to a server on the network, and why sign-in does not work.
fn network(server: &McpServer, address: String) -> ServerReport {
    let mut found = ServerReport::new(server, address);
    let token = match &server.bearer_env {
        Some(name) if is_set(name) => format!("a fixed token from {name} is sent to it"),
        Some(name) => format!("its token is missing: {name} is not set here"),
        None => "no token is sent to it; name one with `bearer_env`".to_owned(),
    };
    found.notes.push(token);
    found.notes.push(
        "OAuth sign-in does not work through callgate; use a fixed token, from `bearer_env` or as the \
         client's own `Authorization`"
            .to_owned(),
    );
    found
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// 0 if the store cannot be read, which is reported elsewhere.
fn waiting(resolved: &ResolvedConfig) -> usize {
    let pins = RecordReader::open(&resolved.audit.store).ok().and_then(|reader| reader.pins().ok());
    let pins = pins.unwrap_or_default().into_iter().filter_map(pin_of);
    pins.filter(|pin| pin.status() != registry::PinStatus::Trusted).count()
}

/// What is judged at servers. Those on the network are reached through the gateway.
pub(super) fn enforced(resolved: &ResolvedConfig, gateway: GatewayRunning) -> String {
    let through = match gateway {
        GatewayRunning::Yes => ", or that are reached through the gateway",
        GatewayRunning::No | GatewayRunning::SomethingElse => "",
    };
    let servers = "definitions and calls of MCP servers that `callgate mcp wrap` starts";
    let only_rules = "by rules; `mcp.enforce` is `false`, so the rest is only recorded";
    match resolved.mcp.enforce {
        true => format!("{servers}{through}"),
        false => format!("{servers}{through}: {only_rules}"),
    }
}

impl ServerReport {
    fn new(server: &McpServer, address: String) -> Self {
        Self {
            server: server.id.clone(),
            kind: server.kind.as_str(),
            address,
            problems: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn lines(&self) -> Vec<String> {
        let Self { server, kind, address, problems, notes } = self;
        let first = match problems.as_slice() {
            [] => format!("{server} ({kind}): {address}"),
            problems => format!("{server} ({kind}): {}", problems.join("; ")),
        };
        let notes = notes.iter().map(|note| format!("{server}: {note}"));
        std::iter::once(first).chain(notes).collect()
    }
}

impl McpReport {
    pub(super) fn works(&self) -> bool {
        self.servers.iter().all(|server| server.problems.is_empty())
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.servers.iter().flat_map(ServerReport::lines).collect();
        if self.waiting > 0 {
            let them = count(self.waiting, "definition");
            lines.push(format!("{them} to review: run `callgate mcp pins diff`"));
        }
        lines
    }
}
