//! `check` and `policy explain` with what an agent gives its hook, and with a recorded call.

use callgate_audit::CallOutcome;
use serde_json::{Value, json};

use crate::records::{call, store};
use crate::support::{Ran, Test};

/// Denies commands that remove, files that are read, and a tool of a server; and says for whom.
const POLICY: &str = r#"
policy: p
rules:
  - { id: no-rm, when: { runs: rm }, verdict: deny, reason: no }
  - { id: no-env, when: { reads: "**/.env" }, verdict: deny, reason: no }
  - { id: no-key, when: { writes: "**/key" }, verdict: deny, reason: no }
  - { id: no-push, tool: push, server: git, verdict: deny, reason: no }
  - { id: of-cursor, agent: cursor, when: { runs: whoami }, verdict: deny, reason: no }
  - { id: in-tmp, when: { all: [{ arg: context.cwd, equals: /tmp/x }, { runs: pwd }] }, verdict: deny, reason: no }
  - { id: at-hook, surface: hook, when: { runs: id }, verdict: deny, reason: no }
"#;

fn check(input: &Value) -> Ran {
    let words = ["check", "--policy", "p.yaml", "--json", "--no-disk", "-"];
    Test::new(&words).file("p.yaml", POLICY).stdin(input.to_string()).run()
}

#[track_caller]
fn decides(input: Value, rule: &str) {
    let ran = check(&input);
    assert_eq!(ran.code, 1, "{input}: {}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.json()[0]["rule"], rule, "{input}: {}", ran.stdout);
}

#[test]
fn the_hooks_of_every_agent_are_calls() {
    let rm = json!({ "command": "rm -r build" });
    let claude = json!({
        "session_id": "s", "transcript_path": "/t", "cwd": "/tmp/x", "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": rm,
        "tool_use_id": "toolu_1",
    });
    let pwd = json!({ "command": "pwd" });
    let with = |base: &Value, key: &str, value: Value| {
        let mut changed = base.clone();
        changed[key] = value;
        changed
    };
    decides(claude.clone(), "no-rm");
    decides(with(&claude, "tool_input", pwd.clone()), "in-tmp");
    decides(with(&claude, "tool_input", json!({ "command": "id" })), "at-hook");
    decides(with(&claude, "turn_id", json!("t")), "no-rm");
    decides(with(&claude, "tool_name", json!("mcp__git__push")), "no-push");
    let gemini = json!({
        "session_id": "s", "cwd": "/tmp/x", "hook_event_name": "BeforeTool", "timestamp": "t",
        "tool_name": "run_shell_command", "tool_input": rm,
    });
    decides(gemini.clone(), "no-rm");
    let mcp = json!({ "server_name": "git", "tool_name": "push", "command": "git-mcp" });
    let at_server = with(&gemini, "mcp_context", mcp);
    decides(with(&at_server, "tool_name", json!("mcp_git_push")), "no-push");
    let copilot = json!({
        "sessionId": "s", "timestamp": 1, "cwd": "/tmp/x", "toolName": "bash",
        "toolArgs": rm.to_string(),
    });
    decides(copilot.clone(), "no-rm");
    decides(with(&copilot, "toolArgs", pwd), "in-tmp");
    let cursor = json!({
        "conversation_id": "c", "generation_id": "g", "cursor_version": "2",
        "workspace_roots": ["/tmp/x"], "hook_event_name": "beforeShellExecution",
        "command": "whoami",
    });
    decides(cursor.clone(), "of-cursor");
    decides(with(&cursor, "command", json!("pwd")), "in-tmp");
    let read = with(&cursor, "hook_event_name", json!("beforeReadFile"));
    decides(with(&read, "file_path", json!("/tmp/x/.env")), "no-env");
    let windsurf = |action: &str, info: Value| {
        json!({
            "agent_action_name": action, "trajectory_id": "t", "execution_id": "e",
            "timestamp": "t", "tool_info": info,
        })
    };
    let command = json!({ "command_line": "pwd", "cwd": "/tmp/x" });
    decides(windsurf("pre_run_command", command), "in-tmp");
    decides(windsurf("pre_read_code", json!({ "file_path": "/a/.env" })), "no-env");
    let edits = json!([{ "old_string": "a", "new_string": "b" }]);
    let edit = json!({ "file_path": "/a/key", "edits": edits });
    decides(windsurf("pre_write_code", edit), "no-key");
    let push = json!({
        "mcp_server_name": "git", "mcp_tool_name": "push", "mcp_tool_arguments": {},
    });
    decides(windsurf("pre_mcp_tool_use", push), "no-push");
    let goose = json!({
        "event": "PreToolUse", "session_id": "s", "matcher_context": "developer__shell",
        "tool_name": "developer__shell", "tool_input": { "command": "rm x" },
    });
    decides(goose, "no-rm");
}

#[test]
fn a_hook_without_a_call_is_an_error() {
    let start = json!({ "session_id": "s", "hook_event_name": "SessionStart" });
    let ran = check(&start);
    let message = "error: the input of `SessionStart` is not about a tool call\n\
                   hint: hooks such as PreToolUse, BeforeTool, preToolUse and pre_run_command are\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (2, message));
    let shell = json!({ "hook_event_name": "beforeShellExecution" });
    let ran = check(&shell);
    assert_eq!(ran.stderr, "error: the input of `beforeShellExecution` has no `command`\n");
}

#[test]
fn lines_of_hooks_keep_their_session() {
    let line = |tool: &str, input: Value| {
        let base = json!({
            "session_id": "s", "cwd": "/w", "hook_event_name": "PreToolUse",
            "permission_mode": "default", "tool_name": tool, "tool_input": input,
        });
        format!("{base}\n")
    };
    let write = json!({ "file_path": "/w/x.sh", "content": "rm -r /data" });
    let lines = line("Write", write) + &line("Bash", json!({ "command": "sh x.sh" }));
    let words = ["check", "--policy", "p.yaml", "--no-disk", "--jsonl", "-"];
    let ran = Test::new(&words).file("p.yaml", POLICY).stdin(lines).run();
    let verdicts: Vec<Value> = ran.json().iter().map(|it| it["verdict"].clone()).collect();
    assert_eq!(verdicts, ["allow", "deny"], "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn explaining_what_a_hook_was_given() {
    let input = json!({
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": "rm x" },
    });
    let words = ["policy", "explain", "p.yaml", "--no-disk"];
    let ran = Test::new(&words).file("p.yaml", POLICY).stdin(input.to_string()).run();
    assert!(ran.stdout.contains("p/no-rm: deny, priority 100"), "{}{}", ran.stdout, ran.stderr);
    // `-` is stdin, as for `callgate check`.
    let test = Test::new(&[&words[..], &["-"]].concat()).file("p.yaml", POLICY);
    assert_eq!(test.stdin(input.to_string()).run().stdout, ran.stdout);
}

/// A session that writes a script, in record 2, and runs it, in record 3; then a call with a secret.
fn recorded(args: &[&str]) -> Test {
    let test = Test::new(args).file("p.yaml", POLICY);
    let audit = store(&test.path());
    let write = json!({ "file_path": "/w/x.sh", "content": "rm -r /data" }).to_string();
    let secret = ["ghp_16C7e42F292c6912E7", "710c838347Ae178B4a"].concat();
    let calls = [("Write", write), ("Bash", json!({ "command": "sh /w/x.sh" }).to_string())];
    let lost = ("Bash", json!({ "command": format!("deploy {secret}") }).to_string());
    for (tool, input) in calls.into_iter().chain([lost]) {
        audit.append(call(tool, &input, CallOutcome::Allow)).wait().unwrap();
    }
    test
}

#[test]
fn a_recorded_call_is_judged_with_what_its_session_did_before() {
    let ran = recorded(&["check", "--policy", "p.yaml", "--record", "3", "--json"]).run();
    assert_eq!((ran.code, &ran.json()[0]["rule"]), (1, &json!("no-rm")), "{}", ran.stdout);
    let ran = recorded(&["policy", "explain", "p.yaml", "--record", "3"]).run();
    assert!(ran.stdout.contains("matches: decided"), "{}{}", ran.stdout, ran.stderr);
    let ran = recorded(&["check", "--policy", "p.yaml", "--record", "2"]).run();
    assert_eq!(ran.code, 0, "{}", ran.stdout);
}

#[test]
fn a_record_that_cannot_be_judged_says_why() {
    let ran = recorded(&["check", "--record", "4"]).run();
    let error = "error: record 4 cannot be judged again: a secret in the arguments was redacted\n\
                 hint: `callgate calls show 4` shows what is on record\n";
    ran.sees(2, "", error);
    let error = "error: record 1 is not a call: it is a `session_started`\n\
                 hint: `callgate calls` lists the calls\n";
    recorded(&["check", "--record", "1"]).run().sees(2, "", error);
}
