//! What a gateway says when it starts: what it does, and what to set where.

use std::fmt::Write as _;
use std::net::SocketAddr;

use callgate_config::Resolved;
use callgate_decide::Decider;
use callgate_dialect::Dialect;
use callgate_proxy::Mode;
use callgate_store::{Durability, Location};

use crate::render;

pub(crate) fn text(
    resolved: &Resolved,
    address: SocketAddr,
    decider: &Decider,
    api: &str,
) -> String {
    let mut text = format!("callgate {}\n", env!("CARGO_PKG_VERSION"));
    let config = resolved
        .path
        .as_ref()
        .map_or("none, built-in defaults".to_owned(), |path| path.display().to_string());
    row(&mut text, "config", &config);
    row(&mut text, "policies", &policies(resolved, decider));
    row(&mut text, "records", &records(resolved));
    row(&mut text, "api", api);
    if !resolved.policies.warnings.is_empty() {
        let warnings = render::count(resolved.policies.warnings.len(), "warning");
        row(&mut text, "", &format!("{warnings}: see `callgate config check`"));
    }
    let _ = writeln!(text, "listening on http://{address}\n");
    text.push_str(&settings(resolved, address));
    if !address.ip().is_loopback() {
        text.push_str(
            "\nOn this address every request needs a gateway key, in the header x-callgate-key:\n  \
             callgate keys add NAME\n",
        );
    }
    text
}

fn row(text: &mut String, name: &str, value: &str) {
    let line = format!("  {name:<9} {value}");
    let _ = writeln!(text, "{}", line.trim_end());
}

fn policies(resolved: &Resolved, decider: &Decider) -> String {
    if resolved.proxy.mode == Mode::Off {
        return "gateway.mode is off: responses are copied, not judged".to_owned();
    }
    if !decider.judges() {
        return "none: responses are copied, not judged".to_owned();
    }
    resolved.policies.origins.join(", ")
}

fn records(resolved: &Resolved) -> String {
    let store = match &resolved.audit.store {
        Location::Sqlite(path) => path.display().to_string(),
        Location::Memory => "in memory, lost at the end".to_owned(),
    };
    match resolved.audit.durability {
        Durability::Disk => format!("{store} (on disk before a call is released)"),
        Durability::Process => format!("{store} (written before a call is released)"),
    }
}

/// The clients of each dialect, and where they look for the address of their API.
const CLIENTS: [(Dialect, &str, &str, &str); 6] = [
    (Dialect::Anthropic, "Claude Code, Anthropic SDKs", "ANTHROPIC_BASE_URL", ""),
    (Dialect::OpenAiChat, "OpenAI SDKs", "OPENAI_BASE_URL", "/v1"),
    (Dialect::Gemini, "Gemini CLI, Google SDKs", "GOOGLE_GEMINI_BASE_URL", ""),
    (Dialect::Ollama, "Ollama", "OLLAMA_HOST", ""),
    (Dialect::Cohere, "Cohere SDKs", "CO_API_URL", ""),
    (Dialect::Converse, "AWS SDKs (Bedrock)", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "/bedrock"),
];

/// What to set for each agent and SDK.
fn settings(resolved: &Resolved, address: SocketAddr) -> String {
    let mut text = String::new();
    // A gateway that listens everywhere is reached by a name that only the operator knows.
    let address = match address.ip().is_unspecified() {
        true => format!("THIS-MACHINE:{}", address.port()),
        false => address.to_string(),
    };
    for (dialect, label, variable, path) in CLIENTS {
        if resolved.proxy.providers.iter().any(|provider| provider.supports(dialect)) {
            row(&mut text, label, "");
            let _ = writeln!(text, "    export {variable}=http://{address}{path}");
        }
    }
    row(&mut text, "one provider of several", "");
    for provider in &resolved.proxy.providers {
        let _ = writeln!(
            text,
            "    http://{address}/{}  ({})",
            provider.name,
            provider.dialect.as_str()
        );
    }
    let servers: Vec<_> = resolved.mcp_servers.iter().filter(|it| it.url.is_some()).collect();
    if !servers.is_empty() {
        row(&mut text, "MCP servers", "");
    }
    for server in servers {
        let _ =
            writeln!(text, "    http://{address}/mcp/{}  ({})", server.id, server.kind.as_str());
    }
    row(&mut text, "watch the calls", "");
    text.push_str("    callgate tail\n");
    text
}
