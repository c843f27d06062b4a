//! The operator's settings for MCP servers.

use std::time::Duration;

use callgate_policy::{Globs, Rate};
use callgate_scan::inspect::Severity;

/// All settings for MCP servers. By default every server and tool is allowed, each tool is pinned
/// to its first definition, and findings are reported.
#[derive(Debug, Clone)]
pub struct McpSettings {
    /// Whether the checks below block. Otherwise they only record. Rules are enforced in any case.
    pub enforce: bool,
    /// The declared servers.
    pub servers: Vec<ServerEntry>,
    /// If present, only these servers are allowed.
    pub allow_servers: Option<Globs>,
    /// These servers are always denied.
    pub deny_servers: Globs,
    /// If present, only these tools are allowed.
    pub allow_tools: Option<Vec<ToolRule>>,
    /// These tools are always denied.
    pub deny_tools: Vec<ToolRule>,
    /// Whether undeclared servers, and tools that are not in the registry, are refused.
    pub fail_closed: bool,
    /// The rate limit of servers without one of their own.
    pub default_rate: Option<Rate>,
    /// Rate limits by server name, for declared and other servers. The first match applies.
    pub rates: Vec<(Globs, Rate)>,
    /// Whether limits and rates are counted in the store, for all processes that use it, instead of
    /// per process.
    pub shared_limits: bool,
    /// How definitions are pinned.
    pub pins: PinSettings,
    /// What to do with a server's request to the client's model.
    pub sampling: CheckAction,
    /// What to do with a server's question to the user.
    pub elicitation: CheckAction,
    /// What to do with a server's request for the client's folders.
    pub roots: CheckAction,
    /// How text from servers is inspected.
    pub inspect: InspectSettings,
    /// What to do with suspicious sequences of calls.
    pub flows: FlowSettings,
    /// How long after a model call its execution may come, if they match only by their arguments.
    pub join_window: Duration,
}

/// A declared server.
#[derive(Debug, Clone)]
pub struct ServerEntry {
    /// Its name in rules and records.
    pub id: String,
    /// Its transport.
    pub kind: ServerKind,
    /// The program or the URL, as shown to people.
    pub address: String,
    /// Its tools that read private data.
    pub reads: Globs,
    /// Its tools that send data out.
    pub sends: Globs,
    /// Its rate limit.
    pub rate: Option<Rate>,
}

/// The transport of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerKind {
    /// A program on this machine.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP with server-sent events, the older transport.
    Sse,
}

impl ServerKind {
    /// The word in configurations and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }
}

/// Matches tools by server and name, and optionally by definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRule {
    /// Matches the server.
    pub server: Globs,
    /// Matches the tool.
    pub tool: Globs,
    /// Only this definition, given by the hash that `callgate mcp pins list` shows.
    pub hash: Option<String>,
}

/// How definitions are pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PinSettings {
    /// What to do with a definition that is not the trusted one.
    pub on_change: CheckAction,
    /// Whether the first definition is trusted. Otherwise a person must trust it.
    pub auto_trust_first: bool,
}

/// What to do when a check fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckAction {
    /// Let it pass.
    Allow,
    /// Let it pass and record it.
    Alert,
    /// Block it.
    Block,
}

/// How text from servers is inspected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InspectSettings {
    /// The lowest severity of a finding that blocks its text. `None` blocks nothing.
    pub block_at: Option<Severity>,
    /// Whether invisible characters and terminal control sequences are removed.
    pub strip: bool,
}

/// What to do with suspicious sequences of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowSettings {
    /// A tool of one server reads private data, then a tool of another server sends.
    pub read_then_send: CheckAction,
    /// The longest time between reading and sending.
    pub window: Duration,
    /// Too many calls in one session within a short time.
    pub burst: Option<Burst>,
    /// A server offers a tool under a name that another server offered first.
    pub take_over: CheckAction,
}

/// How many calls within which time are too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burst {
    /// The number of calls that are allowed.
    pub calls: u32,
    /// The time window.
    pub window: Duration,
    /// What to do with the next call.
    pub then: CheckAction,
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
            pins: PinSettings { on_change: CheckAction::Block, auto_trust_first: true },
            sampling: CheckAction::Block,
            elicitation: CheckAction::Alert,
            roots: CheckAction::Allow,
            inspect: InspectSettings { block_at: Some(Severity::High), strip: true },
            flows: FlowSettings {
                read_then_send: CheckAction::Alert,
                window: Duration::from_secs(600),
                burst: None,
                take_over: CheckAction::Alert,
            },
            join_window: Duration::from_secs(600),
        }
    }
}

impl McpSettings {
    /// The declaration of a server, if there is one.
    pub fn server(&self, id: &str) -> Option<&ServerEntry> {
        self.servers.iter().find(|entry| entry.id == id)
    }

    /// The rate limit of a server: its own, otherwise the first that matches its name, otherwise
    /// the default.
    pub(crate) fn rate(&self, server: &str) -> Option<Rate> {
        let own = self.server(server).and_then(|entry| entry.rate);
        let named = || self.rates.iter().find(|(servers, _)| servers.matches(server));
        own.or_else(|| named().map(|(_, rate)| *rate)).or(self.default_rate)
    }

    /// Whether any setting restricts calls in a model's response.
    pub(crate) fn restricts_names(&self) -> bool {
        self.fail_closed
            || self.allow_servers.is_some()
            || !self.deny_servers.is_empty()
            || self.allow_tools.is_some()
            || !self.deny_tools.is_empty()
    }
}

impl ToolRule {
    /// Whether the rule matches this tool, whatever its definition.
    pub(crate) fn names(&self, server: &str, tool: &str) -> bool {
        self.server.matches(server) && self.tool.matches(tool)
    }

    /// Whether the rule, used to deny, matches this tool in any spelling.
    pub(crate) fn restricts(&self, server: &str, tool: &str) -> bool {
        self.server.restricts(server) && self.tool.restricts(tool)
    }
}
