//! The lists of allowed and denied servers and tools.

use callgate_audit::ReasonCode;
use callgate_call::ToolName;
use callgate_effects::Catalogue;
use callgate_policy::{NameReader, NameReadings};

use super::settings::{McpSettings, ToolRule};
use crate::checks::{Check, CheckFailure};

/// A tool, as the lists identify it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListedTool<'a> {
    pub(crate) server: &'a str,
    pub(crate) tool: &'a str,
    /// The hash of its definition, if the definition has been seen.
    pub(crate) hash: Option<&'a str>,
}

/// Why a list of servers or tools refuses a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRefusal {
    /// The rule that the denial names.
    pub rule: &'static str,
    /// Why.
    pub reason: String,
    /// What to do instead.
    pub hint: String,
}

/// Whether the lists of servers and tools refuse a call of this name. Pins and hashes are not
/// checked, nor whether a server has listed the tool.
pub fn refused_by_lists(settings: &McpSettings, name: &ToolName) -> Option<ListRefusal> {
    if !settings.enforce {
        return None;
    }
    let listed = McpSettings { fail_closed: false, ..settings.clone() };
    let failure = match name.readings().as_slice() {
        [reading] => {
            let subject = ListedTool { server: reading.server, tool: reading.tool, hash: None };
            server(settings, reading.server).or_else(|| tool(&listed, subject))
        }
        _ => denied_name(settings, &NameReader::new(&Catalogue::builtin()).read(name)),
    }?;
    let CheckFailure { check, reason, hint, .. } = failure;
    Some(ListRefusal { rule: check.word(), reason, hint: hint.unwrap_or_default() })
}

/// Checks a server against the lists.
pub(crate) fn server(settings: &McpSettings, server: &str) -> Option<CheckFailure> {
    let stop = |reason: String, hint: &str| Some(CheckFailure::block(Check::Server, reason, hint));
    let denied = denied_server(settings, server);
    if denied.is_some() {
        return denied;
    }
    if settings.allow_servers.as_ref().is_some_and(|allowed| !allowed.matches(server)) {
        return stop(
            format!("The server `{server}` is not on the list of allowed servers."),
            "Use another server, or ask the operator to add this one.",
        );
    }
    if settings.fail_closed && settings.server(server).is_none() {
        return stop(
            format!("The server `{server}` is not declared, and `mcp.fail_closed` is on."),
            "Use another server, or ask the operator to declare it under `mcp.servers`.",
        );
    }
    None
}

/// Checks a tool against the lists.
pub(crate) fn tool(settings: &McpSettings, subject: ListedTool<'_>) -> Option<CheckFailure> {
    let ListedTool { server, tool, hash } = subject;
    let stop = |reason: String, hint: &str| Some(CheckFailure::block(Check::Tool, reason, hint));
    let denied = denied_tool(settings, subject);
    if denied.is_some() {
        return denied;
    }
    if let Some(allowed) = &settings.allow_tools {
        let mut named = allowed.iter().filter(|rule| rule.names(server, tool)).peekable();
        if named.peek().is_none() {
            return stop(
                format!("The tool `{tool}` of `{server}` is not on the list of allowed tools."),
                "Use another tool, or ask the operator to add this one.",
            );
        }
        let fits = |rule: &ToolRule| rule.hash.is_none() || rule.hash.as_deref() == hash;
        if !named.any(fits) {
            let changed = stop(
                format!(
                    "The tool `{tool}` of `{server}` has a different definition from the one on the list of allowed tools."
                ),
                "Ask the operator to compare the two: `callgate mcp pins list` shows the current hash.",
            );
            return changed.map(|it| it.with_code(ReasonCode::PinChanged));
        }
    }
    if settings.fail_closed && hash.is_none() {
        let unknown = stop(
            format!(
                "The server `{server}` has not listed a tool `{tool}`, and `mcp.fail_closed` is on."
            ),
            "Use a tool that the server lists.",
        );
        return unknown.map(|it| it.with_code(ReasonCode::UnknownTool));
    }
    None
}

/// Checks a server against the list of denied servers.
pub(crate) fn denied_server(settings: &McpSettings, server: &str) -> Option<CheckFailure> {
    settings.deny_servers.restricts(server).then(|| server_is_denied(server))
}

fn server_is_denied(server: &str) -> CheckFailure {
    CheckFailure::block(
        Check::Server,
        format!("The server `{server}` is on the list of denied servers."),
        "Use another server, or ask the operator whether this one may be used.",
    )
}

/// Checks a name that no known server offers against the lists of denied servers and tools, in
/// every way to read it.
pub(crate) fn denied_name(settings: &McpSettings, name: &NameReadings) -> Option<CheckFailure> {
    if let Some(reading) = name.find(&settings.deny_servers, None) {
        return Some(server_is_denied(reading.server));
    }
    let tool = |rule: &ToolRule| name.find(&rule.server, Some(&rule.tool));
    let reading = settings.deny_tools.iter().find_map(tool)?;
    Some(tool_is_denied(reading.server, reading.tool))
}

/// Checks a tool against the list of denied tools.
pub(crate) fn denied_tool(settings: &McpSettings, subject: ListedTool<'_>) -> Option<CheckFailure> {
    let ListedTool { server, tool, hash } = subject;
    // Without a definition it is unknown whether this is the denied one.
    let denied = |rule: &ToolRule| {
        rule.restricts(server, tool)
            && rule.hash.as_deref().is_none_or(|denied| hash.is_none_or(|hash| hash == denied))
    };
    settings.deny_tools.iter().any(denied).then(|| tool_is_denied(server, tool))
}

fn tool_is_denied(server: &str, tool: &str) -> CheckFailure {
    CheckFailure::block(
        Check::Tool,
        format!("The tool `{tool}` of `{server}` is on the list of denied tools."),
        "Use another tool, or ask the operator whether this one may be used.",
    )
}
