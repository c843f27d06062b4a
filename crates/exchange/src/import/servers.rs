//! Lists of MCP servers that may be used, as a policy of their own.

use callgate_policy::Span;

use super::context::Context;
use crate::draft::{Decision, DraftPolicy};

/// Only these servers may be used. A policy of its own, because each policy decides by itself and the
/// strictest counts: allowing a server here does not lift a rule about its tools.
pub(super) fn only(
    context: &mut Context<'_>,
    at: Span,
    written: &str,
    name: &str,
    servers: Vec<String>,
) -> DraftPolicy {
    let place = context.place(at, written);
    let mut policy = DraftPolicy { name: name.to_owned(), ..DraftPolicy::default() };
    if !servers.is_empty() {
        let mut allowed = context.named_rule("listed-servers", &place, Decision::Allow);
        allowed.servers = servers;
        allowed.priority = Some(10);
        policy.rules.push(allowed);
    }
    let mut denied = context.named_rule("no-other-servers", "", Decision::Deny);
    denied.tools = vec!["@mcp".to_owned()];
    denied.reason = Some("This MCP server is not on the list of allowed servers.".to_owned());
    policy.rules.push(denied);
    policy
}
