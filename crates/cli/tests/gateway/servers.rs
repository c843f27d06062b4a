//! Calls of MCP servers' tools in a model's answer, and what the config says of servers.

use callgate_testkit::http::Ask;
use callgate_testkit::upstream::Upstream;
use serde_json::json;

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

/// Lists and rules find a tool however an agent spells it, also where its server never came by here.
#[test]
fn every_spelling_of_a_tool_is_stopped_in_answers_and_offers() {
    const RULES: &str = "policy: p
rules:
  - { id: keep, surface: [response, inbound], server: github, tool: delete_repo, verdict: deny, reason: Repositories stay. }
";
    for name in [
        "mcp__plugin_x_github__delete_repo",
        "functions.mcp__github__delete_repo",
        "github_delete_repo",
        "github-delete_repo",
        "mcp.github.delete_repo",
        "mcp__github__delete-repo",
        "mcp__g\u{456}thub__delete_repo",
        "github_delete_repo_notes",
    ] {
        let denied = !name.ends_with("notes");
        let upstream = Upstream::always(whole_turns(name, "{}")[1].1.clone());
        let listed = "mcp: { deny_tools: [{ server: github, tool: delete_repo }] }";
        for (policy, settings) in [(RULES, ""), (ALLOW, listed)] {
            let gateway = gateway(&upstream, policy, settings);
            let reply = ask(CHAT).send(gateway.address());
            let passed = reply.json()["choices"][0]["message"].get("tool_calls").is_some();
            assert_eq!(passed, !denied, "{name} {settings}: {}", reply.text());
        }
        let gateway = gateway(&upstream, RULES, "");
        let tool = json!({ "type": "function", "function": { "name": name } });
        let body = json!({ "model": "m", "messages": [], "tools": [tool] }).to_string();
        let ask = Ask::post(CHAT, body).header("authorization", "Bearer none");
        let status = ask.send(gateway.address()).status;
        assert_eq!(status, if denied { 400 } else { 200 }, "{name}");
    }
}
