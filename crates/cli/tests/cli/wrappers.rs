//! Calls inside of calls, and limits that count them, through `callgate filter`.

use serde_json::{Value, json};

use crate::support::Test;

/// A whole Chat answer with these calls, `call_0` and so on.
fn answer(calls: &[(&str, Value)]) -> String {
    let call = |(at, (name, arguments)): (usize, &(&str, Value))| {
        let function = json!({ "name": name, "arguments": arguments.to_string() });
        json!({ "id": format!("call_{at}"), "type": "function", "function": function })
    };
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    let message = json!({ "role": "assistant", "content": null, "tool_calls": calls });
    let choice = json!({ "index": 0, "message": message, "finish_reason": "tool_calls" });
    json!({ "id": "c", "object": "chat.completion", "choices": [choice] }).to_string()
}

/// Which of the calls leave.
fn left(policy: &str, calls: &[(&str, Value)]) -> Vec<usize> {
    let args = ["filter", "--policy", "policy.yaml", "--dialect", "openai-chat"];
    let ran = Test::new(&args).file("policy.yaml", policy).stdin(answer(calls)).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let all = 0..calls.len();
    all.filter(|at| ran.stdout.contains(&format!("\"call_{at}\""))).collect()
}

fn policy(rule: &str) -> String {
    format!("policy: p\nrules:\n  - {{ id: r, verdict: deny, {rule} }}\n")
}

#[test]
fn every_wrapper_is_taken_apart() {
    let policy = policy("server: github, tool: delete_repo");
    let wrappers = |tool: &str| {
        let spelled = format!("mcp__github__{tool}");
        let by_text = json!({ "server_name": "github", "tool_name": tool, "arguments": "{}" });
        [
            ("batch", json!({ "tool_calls": [{ "tool": spelled, "parameters": {} }] })),
            ("functions.batch", json!({ "tool_calls": [{ "tool": spelled, "parameters": {} }] })),
            ("CallMcpTool", json!({ "server": "user-github", "toolName": tool, "arguments": {} })),
            ("call_mcp_tool", json!({ "ServerName": "github", "ToolName": tool, "Arguments": {} })),
            ("use_mcp_tool", by_text),
            (
                "functions.parallel",
                json!({ "tool_uses": [{ "recipient_name": spelled, "parameters": {} }] }),
            ),
        ]
    };
    for call in wrappers("delete_repo") {
        assert_eq!(left(&policy, std::slice::from_ref(&call)), [0; 0], "{call:?}");
    }
    for call in wrappers("list_repos") {
        assert_eq!(left(&policy, std::slice::from_ref(&call)), [0], "{call:?}");
    }
}

#[test]
fn a_wrapper_takes_a_token_for_each_call() {
    let policy = policy("tool: bash, limit: { calls: 3, per: day }");
    let batch = |calls: usize| {
        let call = json!({ "tool": "bash", "parameters": { "command": "ls" } });
        ("batch", json!({ "tool_calls": vec![call; calls] }))
    };
    let bash = || ("bash", json!({ "command": "ls" }));
    assert_eq!(left(&policy, &[batch(3)]), [0]);
    assert_eq!(left(&policy, &[batch(4), batch(2), batch(2), bash(), bash()]), [1, 3]);
}

#[test]
fn a_limit_counts_every_spelling_in_one_bucket() {
    for by in ["tool", "server"] {
        let policy =
            policy(&format!("server: github, limit: {{ calls: 2, per: day, by: [{by}] }}"));
        let calls = [
            "mcp__github__push",
            "github_push",
            "functions.github.push",
            "mcp__claude_ai_GitHub__push",
            "github____push____mcp",
            "mcp__gitlab__push",
        ];
        let calls = calls.map(|name| (name, json!({})));
        assert_eq!(left(&policy, &calls), [0, 1, 5], "{by}");
    }
}

/// One call of a wrapper may write a script, and the next one run it.
#[test]
fn calls_of_a_wrapper_know_what_those_before_have_written() {
    let policy = policy("when: { deletes: ['/srv/**'] }");
    let check = |call: &Value| {
        let words = ["check", "--no-disk", "--policy", "p.yaml", "-"];
        Test::new(&words).file("p.yaml", &policy).stdin(call.to_string()).run().code
    };
    let write = json!({ "tool": "write", "parameters": { "filePath": "/w/a.sh", "content": "rm -rf /srv/data" } });
    let run = json!({ "tool": "bash", "parameters": { "command": "sh /w/a.sh" } });
    let batch = |calls: &[&Value]| json!({ "tool": "batch", "input": { "tool_calls": calls } });
    assert_eq!(check(&batch(&[&write, &run])), 1);
    assert_eq!(check(&batch(&[&write])), 0);
    assert_eq!(check(&batch(&[&run])), 0);
}

/// A gateway in between may make a function of Codex' `exec`.
#[test]
fn a_script_of_exec_is_read_from_an_argument_too() {
    let policy = policy("when: { deletes: ['/srv/**'] }");
    let check = |input: Value| {
        let call = json!({ "tool": "exec", "input": input }).to_string();
        let words = ["check", "--no-disk", "--policy", "p.yaml", "-"];
        Test::new(&words).file("p.yaml", &policy).stdin(call).run().code
    };
    let script = "await tools.exec_command({ cmd: 'rm -rf /srv/data' })";
    for key in ["code", "script", "input", "source"] {
        assert_eq!(check(json!({ key: script })), 1, "{key}");
    }
    assert_eq!(check(json!(script)), 1);
    assert_eq!(check(json!({ "code": "await tools.exec_command({ cmd: 'ls' })" })), 0);
    assert_eq!(check(json!({ "code": "const t = tools; t[x]()" })), 1, "hidden");
}
