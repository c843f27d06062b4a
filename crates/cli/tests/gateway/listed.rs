//! Removed calls in the next request, in the dialects whose messages list their calls.

use callgate_testkit::http::Ask;
use callgate_testkit::upstream::{Answer, Upstream};
use serde_json::{Value, json};

use crate::support::{DENY, gateway};

/// Answers a first request with a denied call, and any other with a text.
fn upstream(call: Value, text: Value) -> Upstream {
    Upstream::start(move |request| {
        let first = request.json()["messages"].as_array().is_some_and(|list| list.len() == 1);
        Answer::json(200, if first { call.to_string() } else { text.to_string() })
    })
}

/// The messages of the second request, as the upstream gets them.
fn second(path: &str, call: Value, text: Value, settings: &str) -> (Value, Vec<Value>) {
    let upstream = upstream(call, text);
    let gateway = gateway(&upstream, DENY, settings);
    let ask = |messages: Value| {
        let body = json!({"model": "any", "stream": false, "messages": messages});
        Ask::post(path, body.to_string())
            .header("authorization", "Bearer none")
            .send(gateway.address())
            .json()
    };
    let user = json!({"role": "user", "content": "hi"});
    let turn = ask(json!([user]))["message"].clone();
    assert!(turn.get("tool_calls").is_none(), "{turn}");
    ask(json!([user, turn, {"role": "user", "content": "Why?"}]));
    let sent = upstream.requests().last().unwrap().json();
    (turn, sent["messages"].as_array().unwrap().clone())
}

#[test]
fn a_call_denied_in_cohere_is_in_the_next_request() {
    let call = json!({"id": "delete_all_1", "type": "function",
        "function": {"name": "delete_all", "arguments": "{\"path\":\"/\"}"}});
    let message = |rest: Value| {
        let mut body = json!({"id": "m", "message": rest, "finish_reason": "TOOL_CALL"});
        body["message"]["role"] = json!("assistant");
        body
    };
    for settings in ["on_deny: explain", "on_deny: silent"] {
        let first = message(json!({"tool_plan": "I will.", "tool_calls": [call]}));
        let text = message(json!({"content": [{"type": "text", "text": "Well."}]}));
        let (turn, sent) = second("/v2/chat", first, text, settings);
        assert_eq!(turn["tool_plan"], "I will.");
        let want = json!({"role": "assistant", "tool_plan": "I will.", "tool_calls": [call]});
        assert_eq!(sent[1], want, "{settings}");
        assert_eq!((&sent[2]["role"], &sent[2]["tool_call_id"]), (&json!("tool"), &call["id"]));
        assert_eq!(sent[3]["content"], "Why?");
    }
}

#[test]
fn a_call_denied_in_ollama_is_in_the_next_request() {
    let call = json!({"function": {"name": "delete_all", "arguments": {"path": "/"}}});
    let body = |message: Value| json!({"model": "any", "message": message, "done": true, "done_reason": "stop"});
    for settings in ["on_deny: explain", "on_deny: silent"] {
        let first = body(json!({"role": "assistant", "content": "", "tool_calls": [call]}));
        let text = body(json!({"role": "assistant", "content": "Well."}));
        let (_, sent) = second("/api/chat", first, text, settings);
        let want = json!({"role": "assistant", "content": "", "tool_calls": [call]});
        assert_eq!(sent[1], want, "{settings}");
        assert_eq!(
            (&sent[2]["role"], &sent[2]["tool_name"]),
            (&json!("tool"), &json!("delete_all"))
        );
        assert_eq!(sent[3]["content"], "Why?");
    }
}
