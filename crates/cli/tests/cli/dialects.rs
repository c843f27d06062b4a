//! `callgate filter` in the dialects that have shapes of their own.

use serde_json::{Value, json};

use crate::support::{Ran, Test};

fn filter(dialect: &str) -> Test {
    Test::new(&["filter", "--policy", "policy.yaml", "--dialect", dialect])
}

/// The data of every event that left.
fn events(ran: &Ran) -> Vec<Value> {
    let data = ran.stdout.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// A Cohere answer: a plan, then calls of these tools.
fn cohere(calls: &[(&str, &str)]) -> String {
    let event =
        |data: Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap());
    let said = |message: Value| json!({ "message": message });
    let mut stream = event(json!({"id": "m", "type": "message-start", "delta": said(json!({
        "role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}))}));
    stream +=
        &event(json!({"type": "tool-plan-delta", "delta": said(json!({"tool_plan": "First."}))}));
    for (index, (tool, arguments)) in calls.iter().enumerate() {
        let call = |function: Value| said(json!({"tool_calls": {"function": function}}));
        let mut open = call(json!({"name": tool, "arguments": ""}));
        open["message"]["tool_calls"]["id"] = json!(format!("{tool}_{index}"));
        open["message"]["tool_calls"]["type"] = json!("function");
        stream += &event(json!({"type": "tool-call-start", "index": index, "delta": open}));
        let (head, tail) = arguments.split_at(arguments.len() / 2);
        for piece in [head, tail] {
            let delta = call(json!({"arguments": piece}));
            stream += &event(json!({"type": "tool-call-delta", "index": index, "delta": delta}));
        }
        stream += &event(json!({"type": "tool-call-end", "index": index}));
    }
    let end = json!({"finish_reason": "TOOL_CALL", "usage": {"tokens": {"output_tokens": 9}}});
    stream + &event(json!({"type": "message-end", "delta": end})) + "data: [DONE]\n\n"
}

const DANGER: (&str, &str) = ("Bash", r#"{"command":"rm -rf /"}"#);
const HARMLESS: (&str, &str) = ("Bash", r#"{"command":"ls"}"#);

#[test]
fn cohere_passes_what_is_allowed_and_says_what_is_denied() {
    let stream = cohere(&[HARMLESS, HARMLESS]);
    let ran = filter("cohere").stdin(stream.clone()).run();
    assert_eq!((ran.code, ran.stdout), (0, stream));

    let ran = filter("cohere").stdin(cohere(&[DANGER])).run();
    assert_eq!(ran.stderr, "deny   Bash  test/no-rm  Nothing is removed for good.\n");
    let events = events(&ran);
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let want =
        ["message-start", "tool-plan-delta", "content-start", "content-delta", "content-end"];
    assert_eq!(kinds, [&want[..], &["message-end"]].concat());
    let text = events[3]["delta"]["message"]["content"]["text"].as_str().unwrap();
    assert!(text.contains("Nothing is removed for good."), "{text}");
    assert_eq!(events[5]["delta"]["finish_reason"], "COMPLETE");
    assert_eq!(events[5]["delta"]["usage"]["tokens"]["output_tokens"], 9);
    assert!(ran.stdout.ends_with("data: [DONE]\n\n"));
}

#[test]
fn cohere_numbers_the_calls_that_are_left() {
    let ran = filter("cohere").stdin(cohere(&[DANGER, HARMLESS])).run();
    let left: Vec<Value> = events(&ran)
        .into_iter()
        .filter(|event| event["type"].as_str().unwrap().starts_with("tool-call"))
        .collect();
    assert_eq!(left.len(), 4);
    assert!(left.iter().all(|event| event["index"] == 0), "{left:?}");
    assert_eq!(left[0]["delta"]["message"]["tool_calls"]["id"], "Bash_1");
    assert_eq!(events(&ran).last().unwrap()["delta"]["finish_reason"], "TOOL_CALL");
}

#[test]
fn cohere_bodies_are_judged_too() {
    let body = |command: &str| {
        let arguments = json!({ "command": command }).to_string();
        let function = json!({"name": "Bash", "arguments": arguments});
        let call = json!({"id": "Bash_1", "type": "function", "function": function});
        json!({"id": "m", "message": {"role": "assistant", "tool_plan": "First.",
            "tool_calls": [call]}, "finish_reason": "TOOL_CALL"})
    };
    let harmless = body("ls").to_string();
    assert_eq!(filter("cohere").stdin(harmless.clone()).run().stdout, harmless);
    let ran = filter("cohere").stdin(body("rm -rf /").to_string()).run();
    let left: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(left["finish_reason"], "COMPLETE");
    assert_eq!(left["message"]["tool_plan"], "First.");
    assert_eq!(left["message"].get("tool_calls"), None);
    let text = left["message"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Nothing is removed for good."), "{text}");
}
