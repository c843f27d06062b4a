//! Calls of MCP servers' tools in a model's answer, and what the config says of servers.

use callgate_testkit::upstream::Upstream;

use crate::support::{ALLOW, CHAT, ask, gateway, whole_turns};

#[test]
fn lists_of_servers_and_tools_count_for_calls_in_answers() {
    let table = [
        ("", true),
        ("mcp: { deny_servers: [\"note*\"] }", false),
        ("mcp: { deny_servers: [\"note*\"], enforce: false }", true),
        ("mcp: { deny_tools: [{ server: notes, tool: get_note }] }", false),
        ("mcp: { allow_servers: [other] }", false),
        ("mcp: { allow_servers: [notes] }", true),
        ("mcp: { fail_closed: true }", false),
    ];
    let upstream = Upstream::always(whole_turns("mcp__notes__get_note", "{}")[1].1.clone());
    for (settings, passes) in table {
        let gateway = gateway(&upstream, ALLOW, settings);
        let reply = ask(CHAT).send(gateway.address());
        assert_eq!(reply.status, 200, "{}", reply.text());
        let passed = reply.json()["choices"][0]["message"].get("tool_calls").is_some();
        assert_eq!(passed, passes, "{settings}: {}", reply.text());
    }
}
