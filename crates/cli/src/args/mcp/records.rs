//! The command line of commands that list servers, tools and their records.

use callgate_audit::RecordKind;
use callgate_config::SettingWord as _;
use callgate_decide::mcp::ServerKind;
use callgate_scan::inspect::FindingClass;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::args::records::{FILTERS, PrincipalFilterArgs, RecordRangeArgs, WideArgs, kind};

/// Records of calls of servers' tools.
pub(crate) const CALLS: [RecordKind; 3] = [
    RecordKind::McpToolCalled,
    RecordKind::McpToolCallIntercepted,
    RecordKind::UncorrelatedExecution,
];

/// The other records about servers, which `mcp events` lists by default.
pub(crate) const EVENTS: [RecordKind; 5] = [
    RecordKind::McpToolSeen,
    RecordKind::McpToolChanged,
    RecordKind::Guardrail,
    RecordKind::McpNetworkConnection,
    RecordKind::Change,
];

#[derive(Debug, Args)]
pub(crate) struct ServersArgs {
    /// Only servers whose name matches; `*` and `?` are wildcards.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) server: Option<String>,

    /// Only servers of this type.
    #[arg(long = "type", help_heading = FILTERS, value_parser = server_kind())]
    pub(crate) kind: Option<ServerKind>,

    #[command(flatten)]
    pub(crate) wide: WideArgs,

    /// Print one JSON object per server.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// Only servers whose name matches; `*` and `?` are wildcards.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) server: Option<String>,

    /// Only tools whose name matches.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) tool: Option<String>,

    #[command(flatten)]
    pub(crate) wide: WideArgs,

    /// Print one JSON object per tool.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct McpCallsArgs {
    /// Only records of this type; can be repeated.
    #[arg(long = "type", help_heading = FILTERS, value_parser = call_kind())]
    pub(crate) kinds: Vec<RecordKind>,

    #[command(flatten)]
    pub(crate) filters: McpFilterArgs,

    #[command(flatten)]
    pub(crate) wide: WideArgs,

    /// Print one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct McpEventsArgs {
    /// Only records of this type; can be repeated.
    #[arg(long = "type", help_heading = FILTERS, value_parser = kind())]
    pub(crate) kinds: Vec<RecordKind>,

    #[command(flatten)]
    pub(crate) filters: McpFilterArgs,

    #[command(flatten)]
    pub(crate) wide: WideArgs,

    /// Print one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DetectionsArgs {
    /// Only findings of this class, or `flow`; can be repeated.
    #[arg(long = "type", help_heading = FILTERS, value_parser = detected())]
    pub(crate) kinds: Vec<Detected>,

    #[command(flatten)]
    pub(crate) filters: McpFilterArgs,

    #[command(flatten)]
    pub(crate) wide: WideArgs,

    /// Print one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What was detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detected {
    /// A finding in a text.
    Finding(FindingClass),
    /// Calls that together mean more than each alone.
    Flow,
}

impl Detected {
    pub(crate) const FLOW: &str = "flow";

    fn from_word(word: &str) -> Option<Self> {
        match word {
            Self::FLOW => Some(Self::Flow),
            word => word.parse().ok().map(Self::Finding),
        }
    }
}

/// Which records.
#[derive(Debug, Args)]
pub(crate) struct McpFilterArgs {
    /// Only this session.
    #[arg(long, help_heading = FILTERS, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// Only servers whose name matches; `*` and `?` are wildcards.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) server: Option<String>,

    /// Only tools whose name matches.
    #[arg(long, help_heading = FILTERS, value_name = "GLOB")]
    pub(crate) tool: Option<String>,

    /// Only with this verdict.
    #[arg(long, alias = "action", help_heading = FILTERS)]
    pub(crate) verdict: Option<Passed>,

    #[command(flatten)]
    pub(crate) by: PrincipalFilterArgs,

    #[command(flatten)]
    pub(crate) part: RecordRangeArgs,
}

/// Whether something passed: events of servers have no finer verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Passed {
    /// It passed.
    Allow,
    /// It was stopped.
    #[value(alias = "block")]
    Deny,
}

fn server_kind() -> impl TypedValueParser<Value = ServerKind> {
    let known = ServerKind::words();
    PossibleValuesParser::new(known.iter().map(|(word, _)| *word)).try_map(move |given| {
        let found = known.iter().find(|(word, _)| *word == given);
        found.map(|(_, kind)| *kind).ok_or("no such type")
    })
}

fn call_kind() -> impl TypedValueParser<Value = RecordKind> {
    PossibleValuesParser::new(CALLS.map(RecordKind::as_str))
        .try_map(|word| RecordKind::from_word(&word).ok_or("no such type"))
}

fn detected() -> impl TypedValueParser<Value = Detected> {
    let words = FindingClass::ALL.iter().map(|class| class.word()).chain([Detected::FLOW]);
    PossibleValuesParser::new(words)
        .try_map(|word| Detected::from_word(&word).ok_or("no such type"))
}
