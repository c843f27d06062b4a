//! `callgate filter` with rules about text, and with rules that sanitize.

use serde_json::{Value, json};

use crate::support::{Ran, Test};

const SECRET: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

const POLICY: &str = "policy: p\nrules:\n  - { id: clean, verdict: sanitize, sanitize: { detectors: [secret] }, reason: No keys in calls. }\ntext:\n  - { id: no-keys, detect: [secret], verdict: mask, reason: Keys stay here. }\n  - { id: no-word, keywords: [xyzzy], verdict: block, reason: Not that word. }\n";

fn filter(dialect: &str, body: &str, more: &[&str]) -> Ran {
    Test::new(&["filter", "--policy", "rules.yaml", "--dialect", dialect])
        .file("rules.yaml", POLICY)
        .with(more)
        .stdin(body)
        .run()
}

fn chunk(delta: &Value, finish: &Value) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    format!(
        "data: {}\n\n",
        json!({ "id": "c", "object": "chat.completion.chunk", "choices": [choice] })
    )
}

fn message(content: &Value, reason: &str) -> String {
    json!({ "id": "m", "type": "message", "role": "assistant", "model": "m", "content": content,
        "stop_reason": reason, "usage": { "input_tokens": 1, "output_tokens": 1 } })
    .to_string()
}

#[test]
fn text_is_masked_and_told_without_the_text() {
    let mut stream = String::new();
    for piece in SECRET.as_bytes().chunks(6) {
        let piece = std::str::from_utf8(piece).unwrap();
        stream += &chunk(&json!({ "content": piece }), &Value::Null);
    }
    stream += &chunk(&json!({}), &json!("stop"));
    let body = message(&json!([{ "type": "text", "text": format!("Key {SECRET}") }]), "end_turn");
    for (dialect, body) in [("openai-chat", &stream), ("anthropic", &body)] {
        let ran = filter(dialect, body, &[]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        for out in [&ran.stdout, &ran.stderr] {
            assert!(!out.contains("ghp_") && !out.contains("uvwxyz"), "{out}");
        }
        assert!(ran.stderr.contains("mask") && ran.stderr.contains("p/no-keys"), "{}", ran.stderr);
        let ran = filter(dialect, body, &["--json"]);
        let told: Value = serde_json::from_str(ran.stderr.lines().next().unwrap()).unwrap();
        assert_eq!((&told["event"], &told["action"]), (&json!("guardrail"), &json!("mask")));
        assert_eq!(told["rule"], "no-keys");
    }
}

#[test]
fn a_blocked_response_ends_orderly() {
    let stream = chunk(&json!({ "content": "say xyzzy, then" }), &Value::Null)
        + &chunk(&json!({ "content": " more" }), &Value::Null)
        + &chunk(&json!({}), &json!("stop"));
    let ran = filter("openai-chat", &stream, &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!ran.stdout.contains("xyzzy") && !ran.stdout.contains("more"), "{}", ran.stdout);
    assert!(ran.stdout.contains("content_filter") && ran.stdout.ends_with("data: [DONE]\n\n"));
    assert!(ran.stderr.contains("block") && ran.stderr.contains("Not that word"), "{}", ran.stderr);
    let body = message(&json!([{ "type": "text", "text": "xyzzy" }]), "end_turn");
    let ran = filter("anthropic", &body, &[]);
    let left: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(left["stop_reason"], "refusal", "{left}");
}

#[test]
fn a_call_is_sanitized_and_told_so() {
    let input = json!({ "a": [{ "b": SECRET }], "n": 1 });
    let call = json!({ "index": 0, "id": "c1", "type": "function", "function": { "name": "Bash", "arguments": input.to_string() } });
    let stream = chunk(&json!({ "tool_calls": [call] }), &Value::Null)
        + &chunk(&json!({}), &json!("tool_calls"));
    let body = message(
        &json!([{ "type": "tool_use", "id": "t1", "name": "Bash", "input": input }]),
        "tool_use",
    );
    for (dialect, body) in [("openai-chat", &stream), ("anthropic", &body)] {
        let ran = filter(dialect, body, &[]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stdout.contains("Bash") && !ran.stdout.contains("ghp_"), "{}", ran.stdout);
        assert!(
            ran.stderr.contains("sanitize") && ran.stderr.contains("p/clean"),
            "{}",
            ran.stderr
        );
    }
}
