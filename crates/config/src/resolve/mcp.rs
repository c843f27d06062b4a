//! The settings about MCP servers.

use std::path::Path;
use std::time::Duration;

use callgate_decide::mcp::{
    Burst, CheckAction, FlowSettings, Globs, InspectSettings, McpSettings, PinSettings, Rate,
    ServerEntry, ServerKind, ToolRule,
};
use callgate_document::At;
use url::Url;

use super::or;
use crate::file::mcp::{WrittenFlows, WrittenMcp, WrittenRate, WrittenServer, WrittenTool};
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

/// More than the largest known results need. A message is held in memory until it is judged.
const DEFAULT_MESSAGE_LIMIT: usize = 64 << 20;

/// More than one machine's agents have at once.
const DEFAULT_CONVERSATIONS: usize = 4096;

/// Servers that are started by a package manager may download themselves first.
const DEFAULT_LIST_TIMEOUT: Duration = Duration::from_secs(30);

/// More calls than a person could have asked for one by one.
const DEFAULT_BURST_WINDOW: Duration = Duration::from_secs(10);

pub(super) fn list_timeout(written: &WrittenMcp) -> Duration {
    or(written.list_timeout.clone(), DEFAULT_LIST_TIMEOUT)
}

pub(super) fn message_limit(written: &WrittenMcp) -> usize {
    super::number(written.message_limit.clone(), DEFAULT_MESSAGE_LIMIT)
}

pub(super) fn conversations(written: &WrittenMcp) -> usize {
    super::number(written.conversations.clone(), DEFAULT_CONVERSATIONS)
}

pub(super) fn settings(written: &WrittenMcp) -> McpSettings {
    let standard = McpSettings::default();
    McpSettings {
        enforce: or(written.enforce.clone(), standard.enforce),
        servers: written.servers.iter().filter_map(entry).collect(),
        allow_servers: written.allow_servers.as_ref().map(globs),
        deny_servers: written.deny_servers.as_ref().map(globs).unwrap_or_default(),
        allow_tools: written.allow_tools.as_deref().map(tools),
        deny_tools: written.deny_tools.as_deref().map(tools).unwrap_or_default(),
        fail_closed: or(written.fail_closed.clone(), standard.fail_closed),
        default_rate: written.rate.as_ref().map(rate),
        rates: written.rates.iter().map(|(name, of)| (Globs::new([name]), rate(of))).collect(),
        pins: PinSettings {
            on_change: or(written.on_change.clone(), standard.pins.on_change),
            auto_trust_first: or(written.auto_trust_first.clone(), standard.pins.auto_trust_first),
        },
        sampling: or(written.sampling.clone(), standard.sampling),
        elicitation: or(written.elicitation.clone(), standard.elicitation),
        roots: or(written.roots.clone(), standard.roots),
        inspect: InspectSettings {
            block_at: or(written.block_at.clone(), standard.inspect.block_at),
            strip: or(written.strip.clone(), standard.inspect.strip),
        },
        flows: flows(&written.flows, standard.flows),
        join_window: or(written.join_window.clone(), standard.join_window),
        ..standard
    }
}

fn flows(written: &WrittenFlows, standard: FlowSettings) -> FlowSettings {
    let burst = written.burst.as_ref().map(|burst| Burst {
        calls: count(burst.calls),
        window: or(burst.window.clone(), DEFAULT_BURST_WINDOW),
        then: or(burst.then.clone(), CheckAction::Alert),
    });
    FlowSettings {
        read_then_send: or(written.read_then_send.clone(), standard.read_then_send),
        window: or(written.window.clone(), standard.window),
        burst: burst.or(standard.burst),
        take_over: or(written.take_over.clone(), standard.take_over),
    }
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
