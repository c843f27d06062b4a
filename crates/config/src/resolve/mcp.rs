//! The settings about MCP servers.

use std::path::Path;
use std::time::Duration;

use callgate_decide::mcp::{
    Burst, CheckAction, Globs, McpSettings, Rate, ServerEntry, ServerKind, ToolRule,
};
use callgate_document::At;
use url::Url;

use super::or;
use crate::file::mcp::{WrittenMcp, WrittenRate, WrittenServer, WrittenTool};
use crate::policies::relative_to;
use crate::words::Period;

/// A server that is declared: how it is started or reached. What it may do is in the settings of
/// the decisions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// Its name.
    pub id: String,
    /// How it is reached.
    pub kind: ServerKind,
    /// The program, for a server that is started: a name or a path.
    pub command: Option<String>,
    /// The program's arguments.
    pub args: Vec<String>,
    /// Its URL, for a server on the network.
    pub url: Option<Url>,
    /// The variables that the program gets in addition to those that every program needs.
    pub env: Vec<String>,
    /// The variable with the token that is sent to it.
    pub bearer_env: Option<String>,
    /// The SHA-256 of the program's file: 64 digits in small letters.
    pub sha256: Option<String>,
    /// The SHA-256 of its certificate: 64 digits in small letters.
    pub tls_fingerprint: Option<String>,
}

/// More calls than a person could have asked for one by one.
const DEFAULT_BURST_WINDOW: Duration = Duration::from_secs(10);

/// The settings, from those that are one value each.
pub(super) fn settings(written: &WrittenMcp, values: &McpSettings) -> McpSettings {
    let mut settings = McpSettings {
        servers: written.servers.iter().filter_map(entry).collect(),
        allow_servers: written.allow_servers.as_ref().map(globs),
        deny_servers: written.deny_servers.as_ref().map(globs).unwrap_or_default(),
        allow_tools: written.allow_tools.as_deref().map(tools),
        deny_tools: written.deny_tools.as_deref().map(tools).unwrap_or_default(),
        default_rate: written.rate.as_ref().map(rate),
        rates: written.rates.iter().map(|(name, of)| (Globs::new([name]), rate(of))).collect(),
        ..values.clone()
    };
    settings.flows.burst = written.burst.as_ref().map(|burst| Burst {
        calls: count(burst.calls),
        window: or(burst.window.clone(), DEFAULT_BURST_WINDOW),
        then: or(burst.then.clone(), CheckAction::Alert),
    });
    settings
}

fn entry(server: &WrittenServer) -> Option<ServerEntry> {
    let globs_of = |list: &Option<At<Vec<String>>>| list.as_ref().map(globs).unwrap_or_default();
    Some(ServerEntry {
        id: server.id.value.clone(),
        kind: server.kind?,
        address: address(server),
        reads: globs_of(&server.reads),
        sends: globs_of(&server.sends),
        rate: server.rate.as_ref().map(rate),
    })
}

/// How a server is shown to people: without arguments and query, because both may contain a token.
fn address(server: &WrittenServer) -> String {
    match (&server.command, &server.url) {
        (_, Some(url)) => {
            let mut url = url.value.clone();
            url.set_query(None);
            url.to_string()
        }
        (Some(command), None) => command.value.clone(),
        (None, None) => String::new(),
    }
}

/// How the servers are started or reached. A program's path is relative to the config's folder.
pub(super) fn servers(written: &WrittenMcp, config: Option<&Path>) -> Vec<McpServer> {
    let place = |command: &str| match (command.contains('/'), config) {
        (true, Some(config)) => relative_to(config, command).to_string_lossy().into_owned(),
        _ => command.to_owned(),
    };
    let server = |server: &WrittenServer| {
        Some(McpServer {
            id: server.id.value.clone(),
            kind: server.kind?,
            command: server.command.as_ref().map(|command| place(&command.value)),
            args: or(server.args.clone(), Vec::new()),
            url: server.url.as_ref().map(|url| url.value.clone()),
            env: or(server.env.clone(), Vec::new()),
            bearer_env: server.bearer_env.as_ref().map(|at| at.value.clone()),
            sha256: server.sha256.as_ref().map(|at| at.value.clone()),
            tls_fingerprint: server.tls_fingerprint.as_ref().map(|at| at.value.clone()),
        })
    };
    written.servers.iter().filter_map(server).collect()
}

fn globs(list: &At<Vec<String>>) -> Globs {
    Globs::new(&list.value)
}

fn tools(list: &[WrittenTool]) -> Vec<ToolRule> {
    let named = |glob: &Option<At<String>>| {
        Globs::new([glob.as_ref().map_or(ANY_NAME, |at| at.value.as_str())])
    };
    let rule = |tool: &WrittenTool| ToolRule {
        server: named(&tool.server),
        tool: named(&tool.tool),
        hash: tool.hash.as_ref().map(|at| at.value.clone()),
    };
    list.iter().map(rule).collect()
}

/// What an entry in a list of tools means without a server, or without a tool.
const ANY_NAME: &str = "*";

fn rate(written: &WrittenRate) -> Rate {
    Rate {
        calls: count(written.calls),
        seconds: or(written.per.clone(), Period::Minute).seconds(),
        burst: written.burst.as_ref().map_or(count(written.calls), |burst| count(burst.value)),
    }
}

/// The reader has checked that it fits.
fn count(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
