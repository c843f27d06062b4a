//! Calls inside calls.

use super::support::*;
use crate::Verdict;

fn wrapped(name: &str, parameters: &str) -> String {
    format!(r#"{{"tool_uses":[{{"recipient_name":"{name}","parameters":{parameters}}}]}}"#)
}

#[test]
fn every_inner_call_is_judged() {
    let policies = rules(&[
        "id: d, tool: bash, verdict: deny, reason: no, when: { arg: command, contains: rm }",
    ]);
    for outer in [
        "multi_tool_use.parallel",
        "parallel",
        "Multi_Tool_Use.Parallel",
        "functions.parallel",
        "functions.multi_tool_use.parallel",
        "multi-tool-use-parallel",
        "mcp__multi_tool_use__parallel",
        "p\u{430}rallel",
    ] {
        for inner in ["bash", "functions.bash", "Functions.Bash", "mcp__x__bash"] {
            let call = call(outer, &wrapped(inner, r#"{"command":"rm x"}"#));
            let judgement = policies.ask(&call);
            assert_eq!(judgement.verdict, Verdict::Deny, "{outer} {inner}");
            assert!(judgement.reason.starts_with("inside a wrapper, `"), "{}", judgement.reason);
            assert!(judgement.permit(&call).is_none());
        }
        assert_eq!(
            policies.verdict(outer, &wrapped("bash", r#"{"command":"ls"}"#)),
            Verdict::Allow
        );
        assert_eq!(policies.by_name(outer), "open");
    }
    let server = rules(&["id: d, tool: github.create_issue, verdict: deny"]);
    for inner in ["github.create_issue", "Functions.github.create_issue"] {
        assert_eq!(server.verdict("parallel", &wrapped(inner, "{}")), Verdict::Deny, "{inner}");
    }
    let text = wrapped("bash", r#""{\"command\":\"rm\"}""#);
    assert_eq!(policies.verdict("parallel", &text), Verdict::Deny, "parameters as text");
    let nested = wrapped("multi_tool_use.parallel", &wrapped("bash", r#"{"command":"rm"}"#));
    assert_eq!(policies.verdict("parallel", &nested), Verdict::Deny);
    assert_eq!(policies.verdict("other", &wrapped("bash", r#"{"command":"rm"}"#)), Verdict::Allow);
}

#[test]
fn a_wrapper_that_cannot_be_read_is_refused_if_anything_could_be() {
    let some = rules(&["id: d, tool: zzz, verdict: deny"]);
    let none = rules(&["id: a, tool: zzz, verdict: allow"]);
    for input in [
        "[",
        "[1]",
        r#"{"tool_uses":"x"}"#,
        r#"{"tool_uses":[1]}"#,
        r#"{"tool_uses":[{"recipient_name":""}]}"#,
        r#"{"tool_uses":[{"recipient_name":"a","recipient_name":"b"}]}"#,
        r#"{"Tool_Uses":[{"recipient_name":"a"}]}"#,
        r#"{"tool_uses":[{"recipient_name":"a","Recipient_Name":"b"}]}"#,
        r#"{"tool_uses":[{"recipient_name":"a","PARAMETERS":{}}]}"#,
    ] {
        let judgement = some.ask(&call("parallel", input));
        assert_eq!(judgement.verdict, Verdict::Deny, "{input}");
        assert_eq!(judgement.rule.as_deref(), Some("d"));
        assert_eq!(none.verdict("parallel", input), Verdict::Allow, "{input}");
    }
    assert_eq!(some.verdict("parallel", r#"{"jobs":2}"#), Verdict::Allow, "wraps nothing");
    assert_eq!(none.by_name("parallel"), "allow");
    let named = rules(&["id: d, tool: parallel, verdict: deny"]);
    assert_eq!(named.by_name("multi_tool_use.parallel"), "deny");
}

/// Each wrapper with a call of `tool` on a server, or of the agent's own `tool`.
#[test]
fn wrappers_of_other_agents() {
    let own = rules(&[
        "id: d, tool: bash, verdict: deny, reason: no, when: { arg: command, contains: rm }",
    ]);
    for outer in ["batch", "Batch", "functions.batch", "BatchTool", "b\u{430}tch"] {
        for (list, name, arguments) in [
            ("tool_calls", "tool", "parameters"),
            ("invocations", "tool_name", "input"),
            ("tool_uses", "recipient_name", "parameters"),
        ] {
            let input = |command: &str| {
                format!(
                    r#"{{"{list}":[{{"{name}":"read","{arguments}":{{}}}},
                    {{"{name}":"bash","{arguments}":{{"command":"{command}"}}}}]}}"#
                )
            };
            assert_eq!(own.verdict(outer, &input("rm x")), Verdict::Deny, "{outer} {list}");
            assert_eq!(own.verdict(outer, &input("ls x")), Verdict::Allow, "{outer} {list}");
        }
    }
    assert_eq!(own.verdict("batch", r#"{"operations":[{"command":"rm"}]}"#), Verdict::Allow);
    assert_eq!(own.verdict("mcp__x__batch", r#"{"tool_calls":[1]}"#), Verdict::Allow);
}

#[test]
fn calls_of_a_servers_tool_by_name() {
    let policies = rules(&[
        "id: d, server: github, tool: delete_repo, verdict: deny",
        "id: r, server: shell, verdict: deny, when: { arg: command, contains: rm }",
    ]);
    for outer in ["CallMcpTool", "call_mcp_tool", "call-mcp-tool", "use_mcp_tool", "useMcpTool"] {
        for (input, expected) in [
            (r#"{"server":"github","toolName":"delete_repo","arguments":{}}"#, Verdict::Deny),
            (r#"{"server":"user-github","toolName":"delete_repo"}"#, Verdict::Deny),
            (r#"{"server":"project-0-my-shop-github","toolName":"delete_repo"}"#, Verdict::Deny),
            (r#"{"ServerName":"GitHub","ToolName":"Delete-Repo","Arguments":{}}"#, Verdict::Deny),
            (r#"{"server_name":"github","tool_name":"delete_repo"}"#, Verdict::Deny),
            (r#"{"server_name":"github","tool_name":"github_delete_repo"}"#, Verdict::Deny),
            (r#"{"toolName":"mcp__github__delete_repo"}"#, Verdict::Deny),
            (
                r#"{"server_name":"shell","tool_name":"x","arguments":"{\"command\":\"rm\"}"}"#,
                Verdict::Deny,
            ),
            (r#"{"server":"shell","tool":"x","params":{"command":"rm x"}}"#, Verdict::Deny),
            (r#"{"server_name":"shell","tool_name":"x","arguments":"rm"}"#, Verdict::Deny),
            (r#"{"server":"shell","toolName":"x","arguments":{"command":"ls"}}"#, Verdict::Allow),
            (r#"{"server":"user-github","toolName":"list_repos"}"#, Verdict::Allow),
            (r#"{"server":"gitlab","toolName":"delete_repo","arguments":{}}"#, Verdict::Allow),
            (r#"{}"#, Verdict::Allow),
            // Ambiguous wrappers.
            (r#"{"server":"gitlab"}"#, Verdict::Deny),
            (r#"{"server":"gitlab","Server":"github","toolName":"x"}"#, Verdict::Deny),
            (r#"{"server":"a","server_name":"github","toolName":"x"}"#, Verdict::Deny),
            (r#"{"server":["a"],"toolName":"x"}"#, Verdict::Deny),
        ] {
            assert_eq!(policies.verdict(outer, input), expected, "{outer} {input}");
        }
        assert_eq!(policies.by_name(outer), "open");
    }
}

/// A rule that allows must name exactly the server of the call.
#[test]
fn a_call_inside_is_allowed_as_a_servers_tool() {
    let rules = "id: w, tool: CallMcpTool, verdict: allow";
    let server = "id: s, server: github, verdict: allow";
    let policies = policies(&policy_text("p", "default: deny", &[rules, server]));
    let input = |server: &str| format!(r#"{{"server":"{server}","toolName":"x"}}"#);
    assert_eq!(policies.verdict("CallMcpTool", &input("github")), Verdict::Allow);
    for server in ["user-github", "gitlab"] {
        assert_eq!(policies.verdict("CallMcpTool", &input(server)), Verdict::Deny, "{server}");
    }
}

#[test]
fn every_call_inside_takes_a_token() {
    let policies = rules(&[
        "id: bash, tool: bash, verdict: deny, limit: { calls: 2, per: minute }",
        "id: all, verdict: deny, limit: { calls: 9, per: minute }",
    ]);
    let item = |name: &str| format!(r#"{{"tool":"{name}","parameters":{{}}}}"#);
    let input = |names: &[&str]| {
        let items: Vec<String> = names.iter().map(|name| item(name)).collect();
        format!(r#"{{"tool_calls":[{}]}}"#, items.join(","))
    };
    for (names, bash, all) in [
        (&["bash", "read", "bash", "bash"][..], 3, 4),
        (&["functions.bash", "bash"], 2, 2),
        (&["read"], 0, 1),
        (&[], 0, 1),
    ] {
        let limits = policies.ask(&call("batch", &input(names))).details.limits;
        let count = |rule: &str| limits.iter().filter(|key| key.rule == rule).count();
        assert_eq!((count("bash"), count("all")), (bash, all), "{names:?}");
    }
    let many = input(&["read"; 300]);
    assert_eq!(policies.verdict("batch", &many), Verdict::Deny, "too many to be read");
}

fn script(text: &str) -> callgate_call::ToolCall {
    let arguments = callgate_call::Arguments::text(text);
    callgate_call::ToolCall { arguments, ..call("exec", "") }
}

/// Codex' `exec`: calls that are written out are judged as calls.
#[test]
fn every_call_in_a_script_is_judged() {
    let policies = rules(&[
        "id: push, tool: mcp__git__push, verdict: deny, when: { arg: branch, equals: main }",
        "id: rm, when: { deletes: '/srv/**' }, verdict: deny",
        "id: patch, when: { writes: '/etc/**' }, verdict: deny",
    ]);
    let rule = |text: &str| policies.ask(&script(text)).rule.clone().unwrap_or_default();
    assert_eq!(rule("await tools.mcp__git__push({branch: 'main'})"), "push");
    assert_eq!(rule("await tools['mcp__git__push']({branch: `main`})"), "push");
    assert_eq!(rule("await tools.mcp__git__push({branch: 'work'})"), "");
    assert_eq!(
        rule(
            "await tools.exec_command({cmd: 'ls'}); await tools.exec_command({cmd: 'rm -rf /srv/a'})"
        ),
        "rm"
    );
    assert_eq!(rule("const cmd = 'rm -rf /srv/a'; await tools.exec_command({cmd})"), "rm");
    assert_eq!(rule("await tools.exec_command({cmd: 'ls'})"), "");
    let patch =
        "await tools.apply_patch(`*** Begin Patch\\n*** Add File: /etc/x\\n+x\\n*** End Patch`)";
    assert_eq!(rule(patch), "patch");
    // A tool of that name which takes a command has no script.
    assert_eq!(policies.verdict("exec", r#"{"command":"ls"}"#), Verdict::Allow);
    assert_eq!(policies.verdict("exec", r#"{"command":"rm -r /srv/a"}"#), Verdict::Deny);
    let judgement = policies.ask(&script("tools.mcp__git__push({branch: 'main'})"));
    assert!(
        judgement.reason.starts_with("inside a wrapper, `mcp__git__push`"),
        "{}",
        judgement.reason
    );
}

/// What a script puts together is unknown for rules on names and arguments, and opaque.
#[test]
fn what_a_script_puts_together() {
    let named = rules(&[
        "id: push, tool: mcp__git__push, verdict: deny, when: { arg: branch, equals: main }",
    ]);
    let is_denied = |policies: &crate::Policies, text: &str| {
        policies.ask(&script(text)).verdict == Verdict::Deny
    };
    assert!(is_denied(&named, "tools['mcp__git' + '__push']({})"), "it may be any tool");
    assert!(is_denied(&named, "tools.mcp__git__push({branch: x})"), "it may be any branch");
    assert!(!is_denied(&named, "tools.exec_command({cmd: 'git push ' + x})"), "it is another tool");
    let opaque = rules(&["id: o, when: { opaque: language }, verdict: deny"]);
    assert!(is_denied(&opaque, "tools['mcp__git' + '__push']({})"));
    assert!(is_denied(&opaque, "tools.exec_command({cmd: 'git push ' + x})"));
    assert!(!is_denied(&opaque, "tools.exec_command({cmd: 'git push'})"));
    let effects = rules(&["id: e, when: { deletes: '/srv/**' }, verdict: deny"]);
    assert!(!is_denied(&effects, "tools[x]({})"), "`opaque` asks about it");
    let closed = policies(
        "policy: p\ndefault: deny\nrules: [{ id: a, tool: [exec, exec_command], verdict: allow }]\n",
    );
    assert!(!is_denied(&closed, "tools.exec_command({cmd: 'ls'})"));
    assert!(is_denied(&closed, "tools.other({})"));
    assert!(is_denied(&closed, "tools[x]({})"));
}
