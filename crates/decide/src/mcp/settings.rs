//! What an operator says about MCP servers.

use std::time::Duration;

use callgate_policy::{Globs, Rate};
use callgate_scan::inspect::Severity;

/// Everything that is said about MCP servers. The default lets every server and tool pass, holds
/// each to its first definition, and tells of what it finds.
#[derive(Debug, Clone)]
pub struct McpSettings {
    /// Whether what the checks below stop is stopped. Otherwise it is only recorded; rules are
    /// enforced in any case.
    pub enforce: bool,
    /// The servers that are declared.
    pub servers: Vec<ServerEntry>,
    /// Only these servers; every server where absent.
    pub allow_servers: Option<Globs>,
    /// Never these servers.
    pub deny_servers: Globs,
    /// Only these tools; every tool where absent.
    pub allow_tools: Option<Vec<ToolRule>>,
    /// Never these tools.
    pub deny_tools: Vec<ToolRule>,
    /// Whether servers that are not declared, and tools that are not in the registry, are refused.
    pub fail_closed: bool,
    /// How many calls a server gets that has no rate of its own.
    pub default_rate: Option<Rate>,
    /// How many calls servers get by their names, declared or not. The first that matches counts.
    pub rates: Vec<(Globs, Rate)>,
    /// Whether limits and rates are counted in the store, by all processes that use it, instead of
    /// in this process.
    pub shared_limits: bool,
    /// How definitions are held to what they were.
    pub pins: PinSettings,
    /// What to do when a server sends a request to the client's model.
    pub sampling: Watch,
    /// What to do when a server asks the user something.
    pub elicitation: Watch,
    /// What to do when a server asks for the client's folders.
    pub roots: Watch,
    /// How text sent by MCP servers is inspected.
    pub inspect: InspectSettings,
    /// What to do with calls that are suspicious in combination.
    pub flows: FlowSettings,
    /// The longest time between a model's call and its execution, where only the arguments tell that they belong together.
    pub join_window: Duration,
}

/// A server that is declared.
#[derive(Debug, Clone)]
pub struct ServerEntry {
    /// Its name, by which rules and records know it.
    pub id: String,
    /// How it is spoken to.
    pub kind: ServerKind,
    /// The program or the URL, as people are shown it.
    pub address: String,
    /// Its tools that read private data.
    pub reads: Globs,
    /// Its tools that send something away.
    pub sends: Globs,
    /// How many calls it gets.
    pub rate: Option<Rate>,
}

/// How a server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerKind {
    /// A program on this machine.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP with server-sent events, the older way.
    Sse,
}

impl ServerKind {
    /// The word used in configurations and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }
}

/// Tools by their servers and names, and perhaps by their definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRule {
    /// The servers.
    pub server: Globs,
    /// The tools.
    pub tool: Globs,
    /// The hash of the tool's definition, as `callgate mcp pins list` shows it. Without it: any definition.
    pub hash: Option<String>,
}

/// How definitions are held to what they were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PinSettings {
    /// What becomes of a definition that is not the trusted one.
    pub on_change: Watch,
    /// Whether the first definition is trusted. Otherwise it waits for a person.
    pub auto_trust_first: bool,
}

/// What becomes of something that is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Watch {
    /// It passes.
    Allow,
    /// It passes, and the record says so.
    Alert,
    /// It is stopped.
    Block,
}

/// How text sent by MCP servers is inspected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InspectSettings {
    /// A finding as bad as this stops what it was found in; none does where absent.
    pub block_at: Option<Severity>,
    /// Whether characters that nobody sees, and sequences that steer a terminal, are taken out.
    pub strip: bool,
}

/// What to do with calls that are suspicious in combination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowSettings {
    /// A tool of one server reads what is private, then one of another server sends.
    pub read_then_send: Watch,
    /// The longest time between the two calls.
    pub window: Duration,
    /// Too many calls of one session in a short time.
    pub burst: Option<Burst>,
    /// What to do when a server offers a tool whose name another server used first.
    pub take_over: Watch,
}

/// How many calls in how long a time are too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burst {
    /// So many are not.
    pub calls: u32,
    /// In this time.
    pub window: Duration,
    /// What becomes of the next one.
    pub then: Watch,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self {
            enforce: true,
            servers: Vec::new(),
            allow_servers: None,
            deny_servers: Globs::default(),
            allow_tools: None,
            deny_tools: Vec::new(),
            fail_closed: false,
            default_rate: None,
            rates: Vec::new(),
            shared_limits: false,
            pins: PinSettings { on_change: Watch::Block, auto_trust_first: true },
            sampling: Watch::Block,
            elicitation: Watch::Alert,
            roots: Watch::Allow,
            inspect: InspectSettings { block_at: Some(Severity::High), strip: true },
            flows: FlowSettings {
                read_then_send: Watch::Alert,
                window: Duration::from_secs(600),
                burst: None,
                take_over: Watch::Alert,
            },
            join_window: Duration::from_secs(600),
        }
    }
}

impl McpSettings {
    /// The entry of a server, if it is declared.
    pub fn server(&self, id: &str) -> Option<&ServerEntry> {
        self.servers.iter().find(|entry| entry.id == id)
    }

    /// How many calls a server gets: its own rate, one for its name, the default.
    pub(crate) fn rate(&self, server: &str) -> Option<Rate> {
        let own = self.server(server).and_then(|entry| entry.rate);
        let named = || self.rates.iter().find(|(servers, _)| servers.matches(server));
        own.or_else(|| named().map(|(_, rate)| *rate)).or(self.default_rate)
    }

    /// Whether it says anything about a call in a model's answer.
    pub(crate) fn restricts_names(&self) -> bool {
        self.fail_closed
            || self.allow_servers.is_some()
            || !self.deny_servers.is_empty()
            || self.allow_tools.is_some()
            || !self.deny_tools.is_empty()
    }
}

impl ToolRule {
    /// Whether the rule names this tool, whatever its definition.
    pub(crate) fn names(&self, server: &str, tool: &str) -> bool {
        self.server.matches(server) && self.tool.matches(tool)
    }

    /// Whether the rule, as one that denies, is about this tool in any spelling.
    pub(crate) fn restricts(&self, server: &str, tool: &str) -> bool {
        self.server.restricts(server) && self.tool.restricts(tool)
    }
}
