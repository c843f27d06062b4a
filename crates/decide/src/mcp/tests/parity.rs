//! Everything that the `sandbox.mcp` section of agentsh can express can be expressed here, and is
//! enforced.
//!
//! | there | here |
//! |---|---|
//! | `enforce_policy` | `enforce` |
//! | `fail_closed` | `fail_closed` |
//! | `tool_policy: allowlist`, `allowed_tools: [{server, tool, content_hash}]` | `allow_tools`, each with its `hash` |
//! | `tool_policy: denylist`, `denied_tools: [{server, tool}]` | `deny_tools` |
//! | server allow and deny lists | `allow_servers`, `deny_servers` |
//! | `version_pinning: {enabled, on_change, auto_trust_first}` | `pins`; not enabled is `on_change: Allow` |
//! | `rate_limits: {enabled, default_rpm, default_burst}` | `default_rate`; not enabled means no limit |
//! | `rate_limits.per_server: {name: {calls_per_minute, burst}}` | `rates` by name, or a server's `rate` |

use super::super::*;
use super::support::*;

const READ: &str = r#"{"name":"read_file","description":"Reads a file."}"#;
const WRITE: &str = r#"{"name":"write_file","description":"Writes a file."}"#;
const WEATHER: &str = r#"{"name":"get_weather","description":"Tells the weather."}"#;

fn hash(tool: &str) -> String {
    let kind = callgate_registry::ItemKind::Tool;
    callgate_registry::Definition::read(kind, tool).unwrap().hash().as_str().to_owned()
}

fn servers(ids: &[&str]) -> Vec<ServerEntry> {
    ids.iter().map(|id| entry(id)).collect()
}

#[test]
fn enforce_policy() {
    let deny_tools = vec![tool_rule("filesystem", "*", None)];
    for (enforce, rule) in [(true, "mcp.tools"), (false, "")] {
        let settings =
            McpSettings { enforce, deny_tools: deny_tools.clone(), ..McpSettings::default() };
        let world = World::new(settings);
        assert_eq!(stopped_by(&world.listed("filesystem", &[READ]), "read_file"), rule);
    }
}

#[test]
fn fail_closed() {
    for (fail_closed, server, tool, rule) in [
        (true, "filesystem", "read_file", ""),
        (true, "filesystem", "never_listed", "mcp.tools"),
        (true, "stranger", "read_file", "mcp.servers"),
        (false, "filesystem", "never_listed", ""),
        (false, "stranger", "read_file", ""),
    ] {
        let servers = servers(&["filesystem"]);
        let world = World::new(McpSettings { fail_closed, servers, ..McpSettings::default() });
        let session = world.listed(server, &[READ]);
        assert_eq!(stopped_by(&session, tool), rule, "{fail_closed} {server} {tool}");
    }
}

#[test]
fn tool_policy_allowlist_with_content_hash() {
    let exact = hash(READ);
    let allow_tools = Some(vec![
        tool_rule("filesystem", "read_file", Some(&exact)),
        tool_rule("*", "get_weather", None),
    ]);
    let world = World::new(McpSettings { allow_tools, ..McpSettings::default() });
    let files = world.listed("filesystem", &[READ, WRITE, WEATHER]);
    for (tool, rule) in [("read_file", ""), ("write_file", "mcp.tools"), ("get_weather", "")] {
        assert_eq!(stopped_by(&files, tool), rule);
    }
    assert_eq!(stopped_by(&world.listed("other", &[READ]), "read_file"), "mcp.tools");
    // A different definition with the same name is not the allowed one.
    let settings = McpSettings {
        allow_tools: Some(vec![tool_rule("filesystem", "read_file", Some(&hash(WRITE)))]),
        ..McpSettings::default()
    };
    let world = World::new(settings);
    let denial = call(&world.listed("filesystem", &[READ]), "read_file").unwrap_err();
    assert!(denial.reason.contains("has a different definition"), "{}", denial.reason);
    // An empty list allows nothing.
    let world = World::new(McpSettings { allow_tools: Some(Vec::new()), ..McpSettings::default() });
    assert_eq!(stopped_by(&world.listed("filesystem", &[READ]), "read_file"), "mcp.tools");
}

#[test]
fn tool_policy_denylist() {
    let deny_tools =
        vec![tool_rule("dangerous-server", "*", None), tool_rule("*", "write_file", None)];
    let world = World::new(McpSettings { deny_tools, ..McpSettings::default() });
    let dangerous = world.listed("dangerous-server", &[READ]);
    let files = world.listed("filesystem", &[READ, WRITE]);
    assert_eq!(stopped_by(&dangerous, "read_file"), "mcp.tools");
    assert_eq!(stopped_by(&files, "write_file"), "mcp.tools");
    assert_eq!(stopped_by(&files, "read_file"), "");
}

#[test]
fn a_denied_tool_stays_denied_where_it_is_also_allowed() {
    let allow_tools = Some(vec![tool_rule("*", "*", None)]);
    let deny_tools = vec![tool_rule("filesystem", "write_file", None)];
    let world = World::new(McpSettings { allow_tools, deny_tools, ..McpSettings::default() });
    assert_eq!(stopped_by(&world.listed("filesystem", &[WRITE]), "write_file"), "mcp.tools");
}

#[test]
fn server_lists() {
    let settings = McpSettings {
        allow_servers: Some(globs(&["file*", "evil-*"])),
        deny_servers: globs(&["evil-*"]),
        ..McpSettings::default()
    };
    let world = World::new(settings);
    for (server, admitted) in [("filesystem", true), ("evil-twin", false), ("other", false)] {
        let session = world.listed(server, &[READ]);
        assert_eq!(session.admitted().is_ok(), admitted, "{server}");
        assert_eq!(stopped_by(&session, "read_file").is_empty(), admitted, "{server}");
    }
}

#[test]
fn version_pinning() {
    let changed = READ.replace("Reads", "Changes");
    for (on_change, auto_trust_first, first, second) in [
        (CheckAction::Block, true, "", "mcp.pins"),
        (CheckAction::Alert, true, "", ""),
        (CheckAction::Allow, true, "", ""),
        (CheckAction::Block, false, "mcp.pins", "mcp.pins"),
    ] {
        let pins = PinSettings { on_change, auto_trust_first };
        let world = World::new(McpSettings { pins, ..McpSettings::default() });
        let session = world.listed("filesystem", &[READ]);
        assert_eq!(stopped_by(&session, "read_file"), first, "{pins:?}");
        session.judge_tools(&[&changed], ListPage::ONLY);
        assert_eq!(stopped_by(&session, "read_file"), second, "{pins:?}");
    }
}

#[test]
fn rate_limits() {
    let settings = McpSettings {
        default_rate: Some(rate(60, 3)),
        rates: vec![(globs(&["slow-server"]), rate(10, 2)), (globs(&["filesystem"]), rate(120, 5))],
        ..McpSettings::default()
    };
    for (server, burst) in [("slow-server", 2), ("filesystem", 5), ("any-other", 3)] {
        let world = World::new(settings.clone());
        let session = world.listed(server, &[READ]);
        let allowed = (0..20).take_while(|_| call(&session, "read_file").is_ok()).count();
        // A token may come back while the calls are made, at a rate of two per second.
        assert!((burst..=burst + 1).contains(&allowed), "{server}: {allowed}");
        assert_eq!(stopped_by(&session, "read_file"), "mcp.rate");
    }
}
