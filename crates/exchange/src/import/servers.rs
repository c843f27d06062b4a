//! Lists of MCP servers that may be used, as a policy of their own.

use callgate_document::SourceSpan;

use super::context::ImportContext;
use crate::draft::{DraftPolicy, DraftVerdict};

/// Only these servers may be used. A policy of its own, because each policy decides by itself and the
/// strictest counts: allowing a server here does not lift a rule about its tools.
pub(super) fn only(
    context: &mut ImportContext<'_>,
    at: SourceSpan,
    written: &str,
    name: &str,
    servers: Vec<String>,
) -> DraftPolicy {
    let place = context.place(at, written);
    let mut policy = DraftPolicy { name: name.to_owned(), ..DraftPolicy::default() };
    if !servers.is_empty() {
        let mut allowed = context.named_rule("listed-servers", &place, DraftVerdict::Allow);
        allowed.servers = servers;
        allowed.priority = Some(10);
        policy.rules.push(allowed);
    }
    let mut denied = context.named_rule("no-other-servers", "", DraftVerdict::Deny);
    denied.tools = vec!["@mcp".to_owned()];
    denied.reason = Some("This MCP server is not on the list of allowed servers.".to_owned());
    policy.rules.push(denied);
    policy
}

/// Every way in which a name with a server in it, such as `github_get_issue`, may be read, for a rule
/// that restricts.
pub(super) fn spellings(name: &str) -> Vec<String> {
    let mut names = vec![name.to_owned()];
    let bare = name.strip_prefix("mcp_").filter(|bare| !bare.starts_with('_')).unwrap_or(name);
    for (at, _) in bare.match_indices('_').take(MOST_SPELLINGS) {
        let (server, tool) = (bare.get(..at), bare.get(at + 1..));
        if let (Some(server), Some(tool)) = (server, tool)
            && !server.is_empty()
            && !tool.is_empty()
        {
            names.push(format!("mcp__{server}__{tool}"));
        }
    }
    names
}

/// Names have a few underscores.
const MOST_SPELLINGS: usize = 8;
