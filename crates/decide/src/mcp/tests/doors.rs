//! Calls of MCP tools in a model's response.

use std::time::Instant;

use callgate_audit::{CallOutcome, RecordKind};
use callgate_call::{Arguments, CallId, Origin, Surface, ToolCall, ToolName};

use super::super::*;
use super::support::*;
use crate::tests::nth;
use crate::{Decider, Decision, NameDecision, RequestContext, ResponseDecider, Settings};

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

/// The rule that denies a name, and the one that denies the complete call; empty if nothing does.
fn denied_by(world: &World, name: &str) -> (String, String) {
    denied_call_by(world, &call_of(name))
}

fn denied_call_by(world: &World, call: &ToolCall) -> (String, String) {
    let context = || RequestContext::new(Origin::at(Surface::Response));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let mut response_decider = world.decider.response_decider(context()).unwrap();
    // The first name arrives long after the response has begun.
    let inner = world.decider.inner();
    runtime.block_on(inner.query_store(|inner| inner.refresh_cache())).unwrap();
    let by_name = match response_decider.decide_by_name(nth(0), call) {
        NameDecision::Deny(denial) => denial.rule.unwrap_or_default(),
        NameDecision::Stream(permit) => {
            assert!(permit.covers(&call.id, &call.name));
            String::new()
        }
        NameDecision::NeedArguments => String::new(),
    };
    let pending = world.decider.response_decider(context()).unwrap().decide(call.clone());
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
        assert_eq!(denied_by(&world, name), both(""));
        let record = world.last(RecordKind::McpToolCallIntercepted);
        let tool = record.tool.unwrap();
        assert_eq!((tool.name.as_str(), tool.server.as_deref()), (name, Some("git-hub")));
        assert!(tool.definition_hash.unwrap().starts_with("v1:"));
        let mcp = record.mcp.unwrap();
        assert_eq!(mcp.server_type.as_deref(), Some("stdio"));
        assert_eq!(mcp.address.as_deref(), Some("/usr/bin/git-hub"));
        let resolved = world.decider.resolve_name(&ToolName::parse(name).unwrap()).unwrap();
        assert_eq!((resolved.server.as_str(), resolved.tool.as_str()), ("git-hub", "push"));
    }
    assert_eq!(denied_by(&world, "Bash"), both(""));
    assert_eq!(world.records().last().unwrap().kind, RecordKind::ToolCall);
}

#[test]
fn rules_match_the_resolved_server_and_the_name_as_it_is_spelled() {
    let rules = "
  - { id: by-server, server: git-hub, tool: push, verdict: deny, reason: Not there. }
  - { id: by-spelling, tool: other-pull, verdict: deny, reason: Not so. }
";
    let world = World::with_rules(McpSettings::default(), rules);
    world.listed("git-hub", &[PUSH]);
    world.listed("other", &[r#"{"name":"pull","description":"Pulls."}"#]);
    assert_eq!(denied_by(&world, "git-hub-push"), both("by-server"));
    assert_eq!(denied_by(&world, "other-pull"), both("by-spelling"));
    assert_eq!(denied_by(&world, "mcp__other__pull"), both(""));
}

#[test]
fn lists_apply_at_the_proxy() {
    let settings = McpSettings {
        deny_servers: globs(&["evil*"]),
        deny_tools: vec![tool_rule("*", "push", None)],
        ..McpSettings::default()
    };
    let world = World::new(settings);
    world.listed("git", &[PUSH, r#"{"name":"pull","description":"Pulls."}"#]);
    assert_eq!(denied_by(&world, "git-push"), both("mcp.tools"));
    assert_eq!(denied_by(&world, "git-pull"), both(""));
    // For a server that was never seen, the spelling decides.
    assert_eq!(denied_by(&world, "mcp__evil_one__x"), both("mcp.servers"));
    assert_eq!(denied_by(&world, "mcp__new__push"), both("mcp.tools"));
    assert_eq!(denied_by(&world, "push"), both(""));
    let allow = McpSettings { allow_servers: Some(globs(&["git"])), ..McpSettings::default() };
    world.decider.set_mcp(allow);
    assert_eq!(denied_by(&world, "mcp__other__x"), both("mcp.servers"));
    assert_eq!(denied_by(&world, "mcp__git__x"), both(""));
    assert_eq!(denied_by(&world, "Bash"), both(""));
    let denied = world
        .records()
        .into_iter()
        .rfind(|it| it.verdict.as_ref().is_some_and(|verdict| verdict.action == CallOutcome::Deny));
    assert_eq!(denied.unwrap().verdict.unwrap().rule.as_deref(), Some("mcp.servers"));
}

#[test]
fn fail_closed_covers_servers_and_unknown_tools_but_not_an_agents_own_tools() {
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
        assert_eq!(denied_by(&world, name), both(rule), "{name}");
    }
}

#[test]
fn a_name_that_means_two_tools_obeys_the_stricter() {
    let settings = McpSettings { deny_servers: globs(&["a_b"]), ..McpSettings::default() };
    let world = World::new(settings);
    world.listed("a", &[r#"{"name":"b_c","description":"x"}"#]);
    assert_eq!(denied_by(&world, "a_b_c"), both(""));
    world.decider.set_mcp(McpSettings::default());
    world.listed("a_b", &[r#"{"name":"c","description":"x"}"#]);
    world.decider.set_mcp(McpSettings { deny_servers: globs(&["a_b"]), ..McpSettings::default() });
    assert!(world.decider.resolve_name(&ToolName::parse("a_b_c").unwrap()).is_none());
    assert_eq!(denied_by(&world, "a_b_c"), both("mcp.servers"));
    assert!(world.last(RecordKind::McpToolCallIntercepted).detail.unwrap().contains(" or "));
}

#[test]
fn an_agents_own_tool_is_not_a_servers_tool() {
    let world = World::new(McpSettings::default());
    // `web_search` is an agent's own tool; a server cannot claim it.
    world.listed("web", &[r#"{"name":"search","description":"Searches."}"#]);
    assert!(world.decider.resolve_name(&ToolName::parse("web_search").unwrap()).is_none());
    assert!(world.decider.resolve_name(&ToolName::parse("mcp__web__search").unwrap()).is_some());
}

#[test]
fn lists_apply_without_any_rule() {
    let audit = audit();
    let decider = Decider::new(None, audit.clone(), Settings::default());
    let context = RequestContext::new(Origin::at(Surface::Response));
    assert!(!decider.judges() && decider.response_decider(context).is_none());
    decider.set_mcp(McpSettings { deny_servers: globs(&["evil"]), ..McpSettings::default() });
    let world = World { decider, audit };
    assert!(world.decider.judges());
    assert_eq!(denied_by(&world, "mcp__evil__x"), both("mcp.servers"));
    assert_eq!(denied_by(&world, "mcp__good__x"), both(""));
}

#[test]
fn lists_apply_to_calls_inside_other_calls() {
    let deny = McpSettings {
        deny_servers: globs(&["evil"]),
        deny_tools: vec![tool_rule("*", "push", None)],
        ..McpSettings::default()
    };
    let allow = McpSettings { allow_servers: Some(globs(&["git"])), ..McpSettings::default() };
    let world = World::new(deny);
    let whole = |name: &str, arguments: &str| denied_call_by(&world, &call_with(name, arguments)).1;
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
fn changed_settings_apply_to_later_responses_and_to_calls_of_open_sessions() {
    let world = World::new(McpSettings::default());
    let session = world.listed("git", &[PUSH]);
    let response_decider = || {
        world.decider.response_decider(RequestContext::new(Origin::at(Surface::Response))).unwrap()
    };
    let streams = |mut response_decider: ResponseDecider| {
        matches!(
            response_decider.decide_by_name(nth(0), &call_with("git-push", "{}")),
            NameDecision::Stream(_)
        )
    };
    assert_eq!(stopped_by(&session, "push"), "");
    let begun = response_decider();
    let deny = McpSettings {
        deny_servers: globs(&["git"]),
        deny_tools: vec![tool_rule("git", "push", None)],
        ..McpSettings::default()
    };
    world.decider.set_mcp(deny);
    assert!(streams(begun), "it began before");
    assert!(!streams(response_decider()));
    assert_eq!(stopped_by(&session, "push"), "mcp.servers");
    let refused = |session: &McpSession| session.admitted().is_err();
    assert!(refused(&session) && refused(&session));
    let model_message =
        world.records().into_iter().filter(|it| it.kind == RecordKind::Guardrail).count();
    assert_eq!(model_message, 1, "it is recorded once for each settings");
    world.decider.set_mcp(McpSettings::default());
    assert!(!refused(&session));
}

/// A name that nobody knows triggers a refresh as soon as it arrives, even if no list restricts
/// names. The complete call then finds it done.
#[test]
fn a_name_that_may_be_outdated_triggers_a_refresh_before_the_call_is_complete() {
    let world = World::new(McpSettings::default());
    let inner = world.decider.inner();
    let (go, goes) = std::sync::mpsc::channel::<()>();
    world.audit.do_later(move |_| _ = goes.recv()).unwrap();
    let begun = Instant::now();
    let mut response_decider =
        world.decider.response_decider(RequestContext::new(Origin::at(Surface::Response))).unwrap();
    assert!(!inner.is_refresh_pending());
    assert!(matches!(
        response_decider.decide_by_name(nth(0), &call_of("Bash")),
        NameDecision::Stream(_)
    ));
    assert!(!inner.is_refresh_pending(), "a tool that is the agent's own is no news");
    assert!(matches!(
        response_decider.decide_by_name(nth(1), &call_of("git-push")),
        NameDecision::Stream(_)
    ));
    assert!(inner.is_refresh_pending());
    assert!(!inner.mcp_state.cache.lock().is_fresh_since(begun));
    drop(go);
    world.audit.ask(|_| ()).wait().unwrap();
    assert!(!inner.is_refresh_pending());
    assert!(inner.mcp_state.cache.lock().is_fresh_since(begun));
}

#[test]
fn a_refresh_is_skipped_if_another_one_ran_since() {
    let world = World::new(McpSettings::default());
    let inner = world.decider.inner();
    let before = Instant::now();
    inner.refresh_cache();
    let after = Instant::now();
    inner.refresh_cache_since(before);
    assert!(!inner.mcp_state.cache.lock().is_fresh_since(after));
    inner.refresh_cache_since(after);
    assert!(inner.mcp_state.cache.lock().is_fresh_since(after));
}
