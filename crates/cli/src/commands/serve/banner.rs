//! What a gateway reports when it starts: its settings, and what to set in agents and SDKs.

use std::fmt::Write as _;
use std::net::SocketAddr;

use callgate_config::{Protect, ResolvedConfig, word_for};
use callgate_decide::Decider;
use callgate_dialect::Dialect;
use callgate_proxy::InspectionMode;
use callgate_store::{Durability, Location};

use super::logging;
use crate::args::LogFormat;
use crate::render;

/// Everything the banner shows.
pub(super) struct Facts<'a> {
    resolved: &'a ResolvedConfig,
    address: SocketAddr,
    config: String,
    policies: String,
    records: String,
    api: &'a str,
}

impl<'a> Facts<'a> {
    pub(super) fn of(
        resolved: &'a ResolvedConfig,
        address: SocketAddr,
        decider: &Decider,
        api: &'a str,
    ) -> Self {
        let config = resolved.path.as_ref().map(|path| path.display().to_string());
        Self {
            resolved,
            address,
            config: config.unwrap_or_else(|| "none, built-in defaults".to_owned()),
            policies: policies(resolved, decider),
            records: records(resolved),
            api,
        }
    }
}

/// Shows it to people, or logs one line for programs.
pub(super) fn show(facts: &Facts<'_>, format: LogFormat) {
    match format {
        LogFormat::Text => logging::talk(&text(facts)),
        LogFormat::Json => tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            config = facts.config,
            policies = facts.policies,
            protect = word_for(facts.resolved.protect),
            records = facts.records,
            api = facts.api,
            warnings = facts.resolved.policies.warnings.len(),
            "listening on http://{}",
            facts.address
        ),
    }
}

fn text(facts: &Facts<'_>) -> String {
    let Facts { resolved, address, .. } = facts;
    let mut text = format!("callgate {}\n", env!("CARGO_PKG_VERSION"));
    row(&mut text, "config", &facts.config);
    row(&mut text, "policies", &facts.policies);
    if resolved.protect == Protect::Off {
        row(&mut text, "protect", "off: agents can change callgate's files and stop it");
    }
    row(&mut text, "records", &facts.records);
    row(&mut text, "api", facts.api);
    if !resolved.policies.warnings.is_empty() {
        let warnings = render::count(resolved.policies.warnings.len(), "warning");
        row(&mut text, "", &format!("{warnings}: run `callgate config check` to see them"));
    }
    let _ = writeln!(text, "listening on http://{address}\n");
    text.push_str(&settings(resolved, *address));
    if !address.ip().is_loopback() {
        text.push_str(
            "\nEvery request to this address needs a gateway key in the header x-callgate-key:\n  \
             callgate keys add NAME\n",
        );
    }
    text.push_str("\nDenied calls are printed here; `callgate tail` shows every call.\n");
    text
}

fn row(text: &mut String, name: &str, value: &str) {
    let line = format!("  {name:<9} {value}");
    let _ = writeln!(text, "{}", line.trim_end());
}

fn policies(resolved: &ResolvedConfig, decider: &Decider) -> String {
    if resolved.proxy.mode == InspectionMode::Off {
        return "gateway.mode is off: responses are copied, not judged".to_owned();
    }
    let list = resolved.policies.origins.join(", ");
    match (list.is_empty(), resolved.protect) {
        _ if !decider.judges() => "none: responses are copied, not judged".to_owned(),
        (true, Protect::On) => "none: calls are judged to protect callgate itself".to_owned(),
        (true, Protect::Off) => "none".to_owned(),
        (false, _) => list,
    }
}

fn records(resolved: &ResolvedConfig) -> String {
    let store = match &resolved.audit.store {
        Location::Sqlite(path) => path.display().to_string(),
        Location::Memory => "in memory, lost when the gateway stops".to_owned(),
    };
    match resolved.audit.durability {
        Durability::Disk => format!("{store} (on disk before a call is released)"),
        Durability::Process => format!("{store} (written before a call is released)"),
    }
}

/// The clients of each dialect, and the variable in which they look for the address of their API.
const CLIENTS: [(Dialect, &str, &str, &str); 6] = [
    (Dialect::Anthropic, "Claude Code, Anthropic SDKs", "ANTHROPIC_BASE_URL", ""),
    (Dialect::OpenAiChat, "OpenAI SDKs", "OPENAI_BASE_URL", "/v1"),
    (Dialect::Gemini, "Gemini CLI, Google SDKs", "GOOGLE_GEMINI_BASE_URL", ""),
    (Dialect::Ollama, "Ollama", "OLLAMA_HOST", ""),
    (Dialect::Cohere, "Cohere SDKs", "CO_API_URL", ""),
    (Dialect::Converse, "AWS SDKs (Bedrock)", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "/bedrock"),
];

/// What to set for each agent and SDK.
fn settings(resolved: &ResolvedConfig, address: SocketAddr) -> String {
    // A gateway that listens on every address is reached by a name that only the operator knows.
    let address = match address.ip().is_unspecified() {
        true => format!("THIS-MACHINE:{}", address.port()),
        false => address.to_string(),
    };
    let mut text = String::new();
    for (dialect, label, variable, path) in CLIENTS {
        if resolved.proxy.providers.iter().any(|provider| provider.supports(dialect)) {
            let _ = writeln!(text, "  {label}\n    export {variable}=http://{address}{path}");
        }
    }
    let names: Vec<&str> = resolved.proxy.providers.iter().map(|it| it.name.as_str()).collect();
    if names.len() > 1 {
        let _ = writeln!(text, "  one provider of several, by its name\n    http://{address}/NAME");
        text.push_str(&wrapped(&names));
    }
    let servers: Vec<_> = resolved.mcp_servers.iter().filter(|it| it.url.is_some()).collect();
    if !servers.is_empty() {
        text.push_str("  MCP servers\n");
    }
    for server in servers {
        let _ =
            writeln!(text, "    http://{address}/mcp/{}  ({})", server.id, server.kind.as_str());
    }
    text
}

/// Names on lines of at most 80 columns.
fn wrapped(names: &[&str]) -> String {
    let mut text = String::new();
    let mut line = String::from("    NAME:");
    for (at, name) in names.iter().enumerate() {
        let comma = if at + 1 < names.len() { "," } else { "" };
        if line.len() + name.len() + 2 > 80 {
            let _ = writeln!(text, "{line}");
            line = " ".repeat(9);
        }
        let _ = write!(line, " {name}{comma}");
    }
    let _ = writeln!(text, "{line}");
    text
}
