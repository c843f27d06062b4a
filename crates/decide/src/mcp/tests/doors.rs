//! Calls of MCP tools in a model's answer.

use std::time::Instant;

use callgate_audit::{Action, Kind};
use callgate_call::{Arguments, CallId, Origin, Surface, ToolCall, ToolName};

use super::super::*;
use super::support::*;
use crate::{ByName, Context, Decider, Decision, Hearing, Settings};

const PUSH: &str = r#"{"name":"push","description":"Pushes."}"#;

fn call_of(name: &str) -> ToolCall {
    call_with(name, "{}")
}

fn call_with(name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: CallId::from("call_1"),
        name: ToolName::parse(name).unwrap(),
        arguments: Arguments::json(arguments),
        origin: Origin::at(Surface::Response),
        caller: None,
    }
}

/// What the proxy's door says to a name, then to the whole call: the rule, or nothing.
fn heard(world: &World, name: &str) -> (String, String) {
    heard_call(world, &call_of(name))
}

fn heard_call(world: &World, call: &ToolCall) -> (String, String) {
    let context = || Context::new(Origin::at(Surface::Response));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let mut hearing = world.decider.hearing(context()).unwrap();
    // The first name comes long after the answer has begun.
    let inner = world.decider.inner();
    runtime.block_on(inner.ask(|inner| inner.refresh_books())).unwrap();
    let by_name = match hearing.by_name(0, call) {
        ByName::Deny(denial) => denial.rule.unwrap_or_default(),
        ByName::Stream(permit) => {
            assert!(permit.covers(&call.id, &call.name));
            String::new()
        }
        ByName::NeedArguments => String::new(),
    };
    let pending = world.decider.hearing(context()).unwrap().whole(call.clone());
    let whole = match runtime.block_on(pending) {
        Decision::Deny(denial) => denial.rule.unwrap_or_default(),
        Decision::Allow(permit) => {
            assert!(permit.covers(call));
            String::new()
        }
    };
    (by_name, whole)
}

fn both(rule: &str) -> (String, String) {
    (rule.to_owned(), rule.to_owned())
}

#[test]
fn a_call_of_a_known_tool_is_recorded_with_its_server() {
    let settings = McpSettings { servers: vec![entry("git-hub")], ..McpSettings::default() };
    let world = World::new(settings);
    world.listed("git-hub", &[PUSH]);
    for name in
        ["mcp__git-hub__push", "mcp_git-hub_push", "git-hub-push", "git-hub_push", "git-hub.push"]
    {
        assert_eq!(heard(&world, name), both(""));
        let record = world.last(Kind::McpToolCallIntercepted);
        let tool = record.tool.unwrap();
        assert_eq!((tool.name.as_str(), tool.server.as_deref()), (name, Some("git-hub")));
        assert!(tool.definition_hash.unwrap().starts_with("v1:"));
        let mcp = record.mcp.unwrap();
        assert_eq!(mcp.server_type.as_deref(), Some("stdio"));
        assert_eq!(mcp.address.as_deref(), Some("/usr/bin/git-hub"));
        let resolved = world.decider.resolve_name(&ToolName::parse(name).unwrap()).unwrap();
        assert_eq!((resolved.server.as_str(), resolved.tool.as_str()), ("git-hub", "push"));
    }
    assert_eq!(heard(&world, "Bash"), both(""));
    assert_eq!(world.records().last().unwrap().kind, Kind::ToolCall);
}

#[test]
fn rules_read_the_server_that_is_meant_and_the_name_as_it_is_spelled() {
    let rules = "
  - { id: by-server, server: git-hub, tool: push, verdict: deny, reason: Not there. }
  - { id: by-spelling, tool: other-pull, verdict: deny, reason: Not so. }
";
    let world = World::with_rules(McpSettings::default(), rules);
    world.listed("git-hub", &[PUSH]);
    world.listed("other", &[r#"{"name":"pull","description":"Pulls."}"#]);
    assert_eq!(heard(&world, "git-hub-push"), both("by-server"));
    assert_eq!(heard(&world, "other-pull"), both("by-spelling"));
    assert_eq!(heard(&world, "mcp__other__pull"), both(""));
}

#[test]
fn lists_hold_at_the_proxys_door() {
    let settings = McpSettings {
        deny_servers: globs(&["evil*"]),
        deny_tools: vec![tool_rule("*", "push", None)],
        ..McpSettings::default()
    };
    let world = World::new(settings);
    world.listed("git", &[PUSH, r#"{"name":"pull","description":"Pulls."}"#]);
    assert_eq!(heard(&world, "git-push"), both("mcp.tools"));
    assert_eq!(heard(&world, "git-pull"), both(""));
    // Of a server that was never seen, the spelling tells.
    assert_eq!(heard(&world, "mcp__evil_one__x"), both("mcp.servers"));
    assert_eq!(heard(&world, "mcp__new__push"), both("mcp.tools"));
    assert_eq!(heard(&world, "push"), both(""));
    let allow = McpSettings { allow_servers: Some(globs(&["git"])), ..McpSettings::default() };
    world.decider.set_mcp(allow);
    assert_eq!(heard(&world, "mcp__other__x"), both("mcp.servers"));
    assert_eq!(heard(&world, "mcp__git__x"), both(""));
    assert_eq!(heard(&world, "Bash"), both(""));
    let denied = world
        .records()
        .into_iter()
        .rfind(|it| it.verdict.as_ref().is_some_and(|verdict| verdict.action == Action::Deny));
    assert_eq!(denied.unwrap().verdict.unwrap().rule.as_deref(), Some("mcp.servers"));
}

#[test]
fn fail_closed_is_about_servers_and_strangers_not_an_agents_own_tools() {
    let settings =
        McpSettings { fail_closed: true, servers: vec![entry("git")], ..McpSettings::default() };
    let world = World::new(settings);
    world.listed("git", &[PUSH]);
    world.listed("undeclared", &[PUSH]);
    for (name, rule) in [
        ("git-push", ""),
        ("Bash", ""),
        ("Read", ""),
        ("mcp__git__unknown", "mcp.tools"),
        ("mcp__nobody__x", "mcp.tools"),
        ("transmogrify", "mcp.tools"),
        ("undeclared_push", "mcp.servers"),
    ] {
        assert_eq!(heard(&world, name), both(rule), "{name}");
    }
}

#[test]
fn a_name_that_means_two_tools_obeys_the_stricter() {
    let settings = McpSettings { deny_servers: globs(&["a_b"]), ..McpSettings::default() };
    let world = World::new(settings);
    world.listed("a", &[r#"{"name":"b_c","description":"x"}"#]);
    assert_eq!(heard(&world, "a_b_c"), both(""));
    world.decider.set_mcp(McpSettings::default());
    world.listed("a_b", &[r#"{"name":"c","description":"x"}"#]);
    world.decider.set_mcp(McpSettings { deny_servers: globs(&["a_b"]), ..McpSettings::default() });
    assert!(world.decider.resolve_name(&ToolName::parse("a_b_c").unwrap()).is_none());
    assert_eq!(heard(&world, "a_b_c"), both("mcp.servers"));
    assert!(world.last(Kind::McpToolCallIntercepted).detail.unwrap().contains(" or "));
}

#[test]
fn an_agents_own_tool_is_no_servers() {
    let world = World::new(McpSettings::default());
    // `web_search` is a tool of agents; a server may not make it its own.
    world.listed("web", &[r#"{"name":"search","description":"Searches."}"#]);
    assert!(world.decider.resolve_name(&ToolName::parse("web_search").unwrap()).is_none());
    assert!(world.decider.resolve_name(&ToolName::parse("mcp__web__search").unwrap()).is_some());
}

#[test]
fn lists_hold_without_any_rule() {
    let audit = audit();
    let decider = Decider::new(None, audit.clone(), Settings::default());
    let context = Context::new(Origin::at(Surface::Response));
    assert!(!decider.judges() && decider.hearing(context).is_none());
    decider.set_mcp(McpSettings { deny_servers: globs(&["evil"]), ..McpSettings::default() });
    let world = World { decider, audit };
    assert!(world.decider.judges());
    assert_eq!(heard(&world, "mcp__evil__x"), both("mcp.servers"));
    assert_eq!(heard(&world, "mcp__good__x"), both(""));
}

#[test]
fn lists_hold_for_calls_that_others_carry() {
    let deny = McpSettings {
        deny_servers: globs(&["evil"]),
        deny_tools: vec![tool_rule("*", "push", None)],
        ..McpSettings::default()
    };
    let allow = McpSettings { allow_servers: Some(globs(&["git"])), ..McpSettings::default() };
    let world = World::new(deny);
    let whole = |name: &str, arguments: &str| heard_call(&world, &call_with(name, arguments)).1;
    for (input, rule) in [
        (r#"{"server":"evil","toolName":"x"}"#, "mcp.servers"),
        (r#"{"server":"user-evil","toolName":"x"}"#, "mcp.servers"),
        (r#"{"server":"git","toolName":"push"}"#, "mcp.tools"),
        (r#"{"server":"git","toolName":"pull"}"#, ""),
        (r#"{"server":"git","Server":"evil","toolName":"pull"}"#, "mcp.tools"),
    ] {
        assert_eq!(whole("CallMcpTool", input), rule, "{input}");
    }
    let batch = |tool: &str| format!(r#"{{"tool_calls":[{{"tool":"read"}},{{"tool":"{tool}"}}]}}"#);
    assert_eq!(whole("batch", &batch("mcp__evil__x")), "mcp.servers");
    assert_eq!(whole("batch", &batch("bash")), "");
    world.decider.set_mcp(allow);
    for (server, rule) in [("git", ""), ("user-git", ""), ("other", "mcp.servers")] {
        let input = format!(r#"{{"server":"{server}","toolName":"x"}}"#);
        assert_eq!(whole("CallMcpTool", &input), rule, "{server}");
    }
}

#[test]
fn changed_settings_hold_for_responses_that_begin_later_and_for_calls_of_open_conversations() {
    let world = World::new(McpSettings::default());
    let session = world.listed("git", &[PUSH]);
    let hearing = || world.decider.hearing(Context::new(Origin::at(Surface::Response))).unwrap();
    let streams = |mut hearing: Hearing| {
        matches!(hearing.by_name(0, &call_with("git-push", "{}")), ByName::Stream(_))
    };
    assert_eq!(stopped_by(&session, "push"), "");
    let begun = hearing();
    let deny = McpSettings {
        deny_servers: globs(&["git"]),
        deny_tools: vec![tool_rule("git", "push", None)],
        ..McpSettings::default()
    };
    world.decider.set_mcp(deny);
    assert!(streams(begun), "it began before");
    assert!(!streams(hearing()));
    assert_eq!(stopped_by(&session, "push"), "mcp.servers");
    let refused = |session: &McpSession| session.admitted().is_err();
    assert!(refused(&session) && refused(&session));
    let told = world.records().into_iter().filter(|it| it.kind == Kind::Guardrail).count();
    assert_eq!(told, 1, "it is recorded once for each settings");
    world.decider.set_mcp(McpSettings::default());
    assert!(!refused(&session));
}

/// What another process has pinned is looked up as soon as a name comes that nobody knows, also where no
/// list restricts names: then the whole call finds it done.
#[test]
fn a_name_that_may_be_news_is_looked_up_before_the_call_is_whole() {
    let world = World::new(McpSettings::default());
    let inner = world.decider.inner();
    let (go, goes) = std::sync::mpsc::channel::<()>();
    world.audit.do_later(move |_| _ = goes.recv()).unwrap();
    let begun = Instant::now();
    let mut hearing = world.decider.hearing(Context::new(Origin::at(Surface::Response))).unwrap();
    assert!(!inner.waits_to_refresh());
    assert!(matches!(hearing.by_name(0, &call_of("Bash")), ByName::Stream(_)));
    assert!(!inner.waits_to_refresh(), "a tool that is the agent's own is no news");
    assert!(matches!(hearing.by_name(1, &call_of("git-push")), ByName::Stream(_)));
    assert!(inner.waits_to_refresh());
    assert!(!inner.desk.books.lock().is_fresh_since(begun));
    drop(go);
    world.audit.ask(|_| ()).wait().unwrap();
    assert!(!inner.waits_to_refresh());
    assert!(inner.desk.books.lock().is_fresh_since(begun));
}

#[test]
fn what_somebody_has_looked_up_since_is_not_looked_up_again() {
    let world = World::new(McpSettings::default());
    let inner = world.decider.inner();
    let before = Instant::now();
    inner.refresh_books();
    let after = Instant::now();
    inner.refresh_books_since(before);
    assert!(!inner.desk.books.lock().is_fresh_since(after));
    inner.refresh_books_since(after);
    assert!(inner.desk.books.lock().is_fresh_since(after));
}
