//! One rule on what a call would do holds for the tools of every agent, in the format of its API.

use callgate_testkit::http::Ask;
use callgate_testkit::upstream::{Answer, Upstream};
use serde_json::{Value, json};

use crate::support::{MESSAGES, gateway, whole_turns};

/// The same rule as in `mcp/protect.rs`.
const RULE: &str = include_str!("../one_rule.yaml");

const RESPONSES: &str = "/v1/responses";
const GEMINI: &str = "/v1beta/models/gemini-x:generateContent";

fn messages(tool: &str, input: &Value) -> (&'static str, Answer) {
    (MESSAGES, whole_turns(tool, &input.to_string())[0].1.clone())
}

fn responses(item: &Value) -> (&'static str, Answer) {
    let usage = json!({ "input_tokens": 1, "output_tokens": 1, "total_tokens": 2 });
    let body = json!({
        "id": "resp_1", "object": "response", "created_at": 1, "status": "completed",
        "model": "m", "output": [item], "usage": usage,
    });
    (RESPONSES, Answer::json(200, body.to_string()))
}

/// How Codex runs a command.
fn exec(command: &str) -> (&'static str, Answer) {
    responses(&json!({
        "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "exec_command",
        "arguments": json!({ "cmd": command }).to_string(), "status": "completed",
    }))
}

/// How Codex changes files.
fn patch(file: &str) -> (&'static str, Answer) {
    responses(&json!({
        "type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "apply_patch",
        "input": format!("*** Begin Patch\n*** Update File: {file}\n@@\n-a\n+b\n*** End Patch\n"),
        "status": "completed",
    }))
}

/// How Gemini CLI runs a command.
fn gemini(command: &str) -> (&'static str, Answer) {
    let call = json!({ "name": "run_shell_command", "args": { "command": command } });
    let content = json!({ "role": "model", "parts": [{ "functionCall": call }] });
    let body = json!({
        "candidates": [{ "content": content, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2 },
        "modelVersion": "gemini-x",
    });
    (GEMINI, Answer::json(200, body.to_string()))
}

/// The verdict and the rule on the record of the one call of an answer.
fn judged((path, answer): (&'static str, Answer)) -> (String, String) {
    let upstream = Upstream::always(answer);
    let gateway = gateway(&upstream, RULE, "");
    let body =
        json!({ "model": "m", "max_tokens": 9, "input": "hi", "messages": [], "contents": [] });
    let reply = Ask::post(path, body.to_string()).header("authorization", "Bearer none");
    let reply = reply.send(gateway.address());
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    assert!(gateway.wait_until(|gateway| gateway.calls().len() == 1), "{path}");
    let verdict = gateway.calls()[0]["verdict"].clone();
    let word = |key: &str| verdict[key].as_str().unwrap_or_default().to_owned();
    (word("action"), word("rule"))
}

#[test]
fn one_rule_holds_for_the_tools_of_every_agent() {
    let denied = ("deny".to_owned(), "leave-the-vault-alone".to_owned());
    for answer in [
        messages("Bash", &json!({ "command": "cd /srv && cat vault/plan.txt | head" })),
        messages("Read", &json!({ "file_path": "/srv/vault/plan.txt" })),
        exec("cp /srv/vault/plan.txt /tmp"),
        patch("/srv/vault/plan.txt"),
        gemini("rm -rf /srv/vault"),
        gemini("bash -c 'echo x > /srv/v''ault/plan.txt'"),
    ] {
        assert_eq!(judged(answer), denied);
    }
    for answer in [
        messages("Bash", &json!({ "command": "echo /srv/vault/plan.txt && ls /srv/app" })),
        messages("Read", &json!({ "file_path": "/srv/app/plan.txt" })),
        exec("grep -rn /srv/vault/plan.txt docs"),
        patch("/srv/app/plan.txt"),
        gemini("ls -la"),
    ] {
        assert_eq!(judged(answer).0, "allow");
    }
}
