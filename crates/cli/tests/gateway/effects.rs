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

/// A script with calls, as newer models of Codex send it.
fn script(text: &str) -> (&'static str, Answer) {
    responses(&json!({
        "type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "exec",
        "input": text, "status": "completed",
    }))
}

/// The same, streamed.
fn streamed_script(text: &str) -> (&'static str, Answer) {
    let item = |input: &str, status: &str| {
        json!({ "type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "exec",
            "input": input, "status": status })
    };
    let response = |status: &str, output: Value| {
        json!({ "id": "resp_1", "object": "response", "created_at": 1, "status": status,
            "model": "m", "output": output })
    };
    let done = item(text, "completed");
    let delta = "response.custom_tool_call_input.delta";
    let input_done = "response.custom_tool_call_input.done";
    let events = [
        json!({ "type": "response.created", "response": response("in_progress", json!([])) }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": item("", "in_progress") }),
        json!({ "type": delta, "item_id": "ctc_1", "output_index": 0, "delta": text }),
        json!({ "type": input_done, "item_id": "ctc_1", "output_index": 0, "input": text }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": done }),
        json!({ "type": "response.completed", "response": response("completed", json!([done])) }),
    ];
    let frame = |(number, mut event): (usize, Value)| {
        event["sequence_number"] = json!(number);
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())
    };
    let text: String = events.into_iter().enumerate().map(frame).collect();
    (RESPONSES, Answer::stream(text))
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

/// Rules about the tools that a script calls, and about what they do.
#[test]
fn the_calls_of_a_script_are_judged_streamed_and_whole() {
    let policy = "policy: p\nrules:\n  - { id: no-push, tool: mcp__git__push, when: { arg: branch, equals: main }, verdict: deny }\n  - { id: no-srv, when: { deletes: [\"/srv/**\"] }, verdict: deny }\n  - { id: no-hidden, when: { opaque: language }, verdict: deny }\n";
    for (text, rule) in [
        ("const r = await tools.exec_command({cmd: \"ls -l\"});\ntext(r.output)", ""),
        (
            "await tools.exec_command({cmd: \"ls\"}); await tools.exec_command({cmd: 'rm -rf /srv/a'})",
            "no-srv",
        ),
        ("await tools.mcp__git__push({branch: \"main\"})", "no-push"),
        ("await tools.mcp__git__push({branch: \"work\"})", ""),
        ("await tools['exec_' + 'command']({cmd: \"ls\"})", "no-hidden"),
        ("await tools.exec_command({cmd: \"rm \" + names.join(\" \")})", "no-hidden"),
    ] {
        for (path, answer) in [script(text), streamed_script(text)] {
            let upstream = Upstream::always(answer);
            let gateway = gateway(&upstream, policy, "");
            let body = json!({ "model": "m", "input": "hi" }).to_string();
            let ask = Ask::post(path, body).header("authorization", "Bearer none");
            let reply = ask.send(gateway.address());
            assert_eq!(reply.status, 200, "{text}: {}", reply.text());
            assert_eq!(reply.text().contains("custom_tool_call"), rule.is_empty(), "{text}");
            assert!(gateway.wait_until(|gateway| gateway.calls().len() == 1), "{text}");
            let verdict = gateway.calls()[0]["verdict"].clone();
            let denied = verdict["rule"].as_str().filter(|_| verdict["action"] == "deny");
            // Of two rules that deny, the first in the file is named.
            let named = denied.unwrap_or_default();
            let is_right = named == rule || (!rule.is_empty() && named == "no-push");
            assert!(is_right, "{text}: {verdict}");
        }
    }
}
