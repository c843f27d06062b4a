//! Which servers and tools may be spoken to at all.

use callgate_audit::Code;
use callgate_policy::NameReadings;

use super::check::{Check, Objection};
use super::settings::{McpSettings, ToolRule};

/// A tool, as far as lists are about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) server: &'a str,
    pub(crate) tool: &'a str,
    /// The hash of its definition, if it has been seen.
    pub(crate) hash: Option<&'a str>,
}

/// What the lists have against a server.
pub(crate) fn server(settings: &McpSettings, server: &str) -> Option<Objection> {
    let stop = |reason: String, hint: &str| Some(Objection::block(Check::Server, reason, hint));
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

/// What the lists have against a tool.
pub(crate) fn tool(settings: &McpSettings, subject: Subject<'_>) -> Option<Objection> {
    let Subject { server, tool, hash } = subject;
    let stop = |reason: String, hint: &str| Some(Objection::block(Check::Tool, reason, hint));
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
                    "The tool `{tool}` of `{server}` is not as the list of allowed tools has it: its definition is another."
                ),
                "Ask the operator to compare it: `callgate mcp pins list` shows the hash it has now.",
            );
            return changed.map(|it| it.coded(Code::PinChanged));
        }
    }
    if settings.fail_closed && hash.is_none() {
        let unknown = stop(
            format!(
                "Nothing is known of a tool `{tool}` of `{server}`, and `mcp.fail_closed` is on."
            ),
            "Use a tool that the server lists.",
        );
        return unknown.map(|it| it.coded(Code::UnknownTool));
    }
    None
}

/// What the list of denied servers has against one.
pub(crate) fn denied_server(settings: &McpSettings, server: &str) -> Option<Objection> {
    settings.deny_servers.restricts(server).then(|| server_is_denied(server))
}

fn server_is_denied(server: &str) -> Objection {
    Objection::block(
        Check::Server,
        format!("The server `{server}` is on the list of denied servers."),
        "Use another server, or ask the operator whether this one may be used.",
    )
}

/// What the lists of denied servers and tools have against a name that no known server has, in any way
/// to read it.
pub(crate) fn denied_name(settings: &McpSettings, name: &NameReadings) -> Option<Objection> {
    if let Some(reading) = name.find(&settings.deny_servers, None) {
        return Some(server_is_denied(reading.server));
    }
    let tool = |rule: &ToolRule| name.find(&rule.server, Some(&rule.tool));
    let reading = settings.deny_tools.iter().find_map(tool)?;
    Some(tool_is_denied(reading.server, reading.tool))
}

/// What the list of denied tools has against one.
pub(crate) fn denied_tool(settings: &McpSettings, subject: Subject<'_>) -> Option<Objection> {
    let Subject { server, tool, hash } = subject;
    // Of a definition that nobody has seen it is not known whether it is the denied one.
    let denied = |rule: &ToolRule| {
        rule.restricts(server, tool)
            && rule.hash.as_deref().is_none_or(|denied| hash.is_none_or(|hash| hash == denied))
    };
    settings.deny_tools.iter().any(denied).then(|| tool_is_denied(server, tool))
}

fn tool_is_denied(server: &str, tool: &str) -> Objection {
    Objection::block(
        Check::Tool,
        format!("The tool `{tool}` of `{server}` is on the list of denied tools."),
        "Use another tool, or ask the operator whether this one may be used.",
    )
}
