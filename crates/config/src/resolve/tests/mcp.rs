//! What `mcp:` comes to.

use std::time::Duration;

use callgate_decide::mcp::{Burst, CheckAction, Rate, ServerKind, Severity};

use super::*;

const WHOLE: &str = r#"
mcp:
  enforce: false
  servers:
    github:
      type: stdio
      command: bin/github-mcp-server
      args: [stdio, "", 3]
      env: [GITHUB_TOKEN]
      sha256: "sha256:9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08"
      reads: ["get_*"]
      sends: ["create_*"]
      rate: { calls: 60, per: hour, burst: 10 }
    Docs.Old: { type: sse, url: "https://mcp.example.com/sse?team=a", bearer_env: PATH }
    time: { command: mcp-server-time }
  allow_servers: [github, "docs*"]
  deny_servers: [test]
  allow_tools: [{ server: github, tool: "get_*" }, { tool: search }]
  deny_tools: [{ server: github }]
  fail_closed: true
  rate: { calls: 600 }
  rates: { "test-*": { calls: 5, per: second } }
  pins: { on_change: alert, auto_trust_first: false }
  sampling: allow
  elicitation: block
  roots: alert
  inspect: { block_at: none, strip: false }
  flows: { read_then_send: block, window: 1h, burst: { calls: 20 }, take_over: allow }
  join_window: 1m
  list_timeout: 2m
  message_limit: 1MiB
  conversations: 7
"#;

#[test]
fn a_whole_section() {
    let place = Place::with(WHOLE);
    let resolved = place.load().unwrap();
    let mcp = &resolved.mcp;
    assert!(!mcp.enforce && mcp.fail_closed && !mcp.inspect.strip && !mcp.pins.auto_trust_first);
    let entries: Vec<_> =
        mcp.servers.iter().map(|one| (one.id.as_str(), one.kind, one.address.as_str())).collect();
    let docs = ("Docs.Old", ServerKind::Sse, "https://mcp.example.com/sse");
    let github = ("github", ServerKind::Stdio, "bin/github-mcp-server");
    assert_eq!(entries, [github, docs, ("time", ServerKind::Stdio, "mcp-server-time")]);
    let github = &mcp.servers[0];
    assert!(github.reads.matches("get_file") && !github.reads.matches("create_issue"));
    assert!(github.sends.matches("create_issue") && !mcp.servers[2].sends.matches("create_issue"));
    assert_eq!(github.rate, Some(Rate { calls: 60, seconds: 3_600, burst: 10 }));
    assert_eq!(mcp.default_rate, Some(Rate { calls: 600, seconds: 60, burst: 600 }));
    let (named, rate) = &mcp.rates[0];
    assert!(named.matches("test-1") && !named.matches("github"));
    assert_eq!(*rate, Rate { calls: 5, seconds: 1, burst: 5 });
    let allowed = mcp.allow_servers.as_ref().unwrap();
    assert!(allowed.matches("docs-2") && !allowed.matches("time"));
    assert!(mcp.deny_servers.matches("test"));
    let tools = mcp.allow_tools.as_deref().unwrap();
    assert!(tools[1].server.matches("any") && tools[1].tool.matches("search"));
    assert!(mcp.deny_tools[0].server.matches("github") && mcp.deny_tools[0].tool.matches("any"));
    assert_eq!(mcp.pins.on_change, CheckAction::Alert);
    assert_eq!((mcp.sampling, mcp.elicitation), (CheckAction::Allow, CheckAction::Block));
    assert_eq!((mcp.roots, mcp.inspect.block_at), (CheckAction::Alert, None));
    let burst = Burst { calls: 20, window: Duration::from_secs(10), then: CheckAction::Alert };
    assert_eq!(mcp.flows.burst, Some(burst));
    assert_eq!(mcp.flows.window, Duration::from_secs(3_600));
    assert_eq!(
        (mcp.flows.read_then_send, mcp.flows.take_over),
        (CheckAction::Block, CheckAction::Allow)
    );
    assert_eq!((mcp.join_window, resolved.mcp_message_limit), (Duration::from_secs(60), 1 << 20));
    assert_eq!(resolved.mcp_list_timeout, Duration::from_secs(120));
    assert_eq!(resolved.mcp_conversations, 7);
}

#[test]
fn how_servers_are_started_and_reached() {
    let place = Place::with(WHOLE);
    let servers = place.load().unwrap().mcp_servers;
    let relative = place.dir.path().join("bin/github-mcp-server");
    let github = &servers[0];
    assert_eq!(github.command.as_deref(), relative.to_str(), "a path is relative to the config");
    assert_eq!(
        (github.args.as_slice(), github.env.as_slice()),
        (["stdio", "", "3"].map(str::to_owned).as_slice(), ["GITHUB_TOKEN".to_owned()].as_slice())
    );
    let digits = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    assert_eq!(github.sha256.as_deref(), Some(digits));
    let docs = &servers[1];
    assert_eq!(docs.url.as_ref().unwrap().as_str(), "https://mcp.example.com/sse?team=a");
    assert_eq!((docs.bearer_env.as_deref(), &docs.command), (Some("PATH"), &None));
    assert_eq!(servers[2].command.as_deref(), Some("mcp-server-time"), "a name is looked for");
    let (settings, alone) =
        crate::mcp_settings(Some(&place.dir.path().join("callgate.yaml"))).unwrap();
    assert_eq!((alone, settings.servers.len()), (servers, 3));
}

#[test]
fn a_token_that_is_not_set() {
    let text = "mcp:\n  servers:\n    docs: { url: 'https://x.com', bearer_env: CALLGATE_TEST_UNSET }\n    local: { command: x, env: [CALLGATE_TEST_UNSET_TOO] }\n";
    let place = Place::with(text);
    let missing = place.load().unwrap().missing;
    // What a program gets is what the agent that starts it has: not the gateway's to know.
    assert_eq!(missing.len(), 1);
    let message = "callgate.yaml:3:47 the variable CALLGATE_TEST_UNSET is not set";
    assert_eq!(place.place(&missing[0].problem), message);
    let hint = "set it to the server's token where the gateway starts";
    assert_eq!(missing[0].problem.hint.as_deref(), Some(hint));
}

/// What agentsh's published `sandbox.mcp` section says can be said here: each of its settings on
/// the left, the same in ours, and what it comes to.
#[test]
fn everything_that_agentsh_says_can_be_said() {
    let hash = format!("v1:{}", "0a".repeat(32));
    let mcp = |text: &str| {
        let text = format!("mcp: {{ {text} }}").replace("HASH", &hash);
        Place::with(&text).load().unwrap_or_else(|error| panic!("{text}: {error}")).mcp
    };
    // enforce_policy: false
    assert!(mcp("").enforce && !mcp("enforce: false").enforce);
    // fail_closed: true
    assert!(mcp("fail_closed: true").fail_closed && !mcp("").fail_closed);

    // tool_policy: allowlist, allowed_tools: [{ server, tool, content_hash }]
    let allowed = mcp("allow_tools: [{ server: fs, tool: read_file, hash: HASH }]").allow_tools;
    let rule = &allowed.as_deref().unwrap()[0];
    assert!(rule.server.matches("fs") && !rule.server.matches("other"));
    assert!(rule.tool.matches("read_file") && !rule.tool.matches("write_file"));
    assert_eq!(rule.hash.as_deref(), Some(hash.as_str()));
    // server: "*", tool: "*"
    let any = mcp("allow_tools: [{ server: '*', tool: '*' }]").allow_tools.unwrap();
    assert!(any[0].server.matches("a") && any[0].tool.matches("b") && any[0].hash.is_none());
    // tool_policy: denylist, denied_tools: [{ server, tool }]
    let denied = mcp("deny_tools: [{ server: fs, tool: 'delete_*' }]");
    assert!(denied.allow_tools.is_none() && denied.deny_tools[0].tool.matches("delete_file"));
    // tool_policy: none
    let none = mcp("");
    assert!(none.allow_tools.is_none() && none.deny_tools.is_empty());

    // servers: [{ id, type: stdio, command, args }]
    let stdio = mcp("servers: { a: { type: stdio, command: x, args: [y] } }");
    assert_eq!(stdio.server("a").unwrap().kind, ServerKind::Stdio);
    // servers: [{ id, type: http | sse, url, tls_fingerprint }]
    for (word, kind) in [("http", ServerKind::Http), ("sse", ServerKind::Sse)] {
        let digits = "0".repeat(64);
        let url = "url: 'https://x.com/mcp'";
        let text =
            format!("servers: {{ a: {{ type: {word}, {url}, tls_fingerprint: '{digits}' }} }}");
        assert_eq!(mcp(&text).server("a").unwrap().kind, kind);
    }
    // server_policy: allowlist, allowed_servers: [{ id }]; denylist, denied_servers: [{ id }]
    let servers = mcp("allow_servers: [a, 'b*'], deny_servers: ['*-test']");
    assert!(servers.allow_servers.unwrap().matches("b2"));
    assert!(servers.deny_servers.matches("b-test"));

    // version_pinning: { enabled: true, on_change, auto_trust_first }
    for (word, watch) in [
        ("block", CheckAction::Block),
        ("alert", CheckAction::Alert),
        ("allow", CheckAction::Allow),
    ] {
        let pins = mcp(&format!("pins: {{ on_change: {word}, auto_trust_first: false }}")).pins;
        assert_eq!((pins.on_change, pins.auto_trust_first), (watch, false));
    }
    // version_pinning: { enabled: false }
    assert_eq!(mcp("pins: { on_change: allow }").pins.on_change, CheckAction::Allow);

    // rate_limits: { default_rpm, default_burst }
    let rate = mcp("rate: { calls: 60, per: minute, burst: 10 }").default_rate;
    assert_eq!(rate, Some(Rate { calls: 60, seconds: 60, burst: 10 }));
    // rate_limits: { per_server: { x: { calls_per_minute, burst } } }
    let (servers, rate) = &mcp("rates: { weather: { calls: 10, burst: 3 } }").rates[0];
    assert!(servers.matches("weather") && !servers.matches("other"));
    assert_eq!(*rate, Rate { calls: 10, seconds: 60, burst: 3 });
    // rate_limits: { enabled: false }
    assert!(mcp("").default_rate.is_none() && mcp("").rates.is_empty());

    // cross_server: { read_then_send, burst, shadow_tool }
    let flows = mcp(
        "flows: { read_then_send: block, window: 30s, burst: { calls: 10, window: 5s, then: block }, take_over: block }",
    )
    .flows;
    assert_eq!((flows.read_then_send, flows.window), (CheckAction::Block, Duration::from_secs(30)));
    let burst = Burst { calls: 10, window: Duration::from_secs(5), then: CheckAction::Block };
    assert_eq!((flows.burst, flows.take_over), (Some(burst), CheckAction::Block));
    assert_eq!(mcp("inspect: { block_at: critical }").inspect.block_at, Some(Severity::Critical));
}
