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

/// A chunk of Chat Completions.
fn chunk(delta: Value, finish: Value) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    let data = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [choice], "p": "abc"});
    format!("data: {data}\n\n")
}

/// Mistral leaves the index of a call out, and says the whole call with the end.
fn mistral(calls: &[(&str, &str)]) -> String {
    let id = |place: usize| format!("aaaaaaa0{place}");
    let call = |(place, (tool, arguments)): (usize, &(&str, &str))| json!({"id": id(place), "function": {"name": tool, "arguments": arguments}});
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    let thinking = json!([{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]);
    chunk(json!({"role": "assistant", "content": ""}), json!(null))
        + &chunk(json!({"content": thinking}), json!(null))
        + &chunk(json!({"content": [{"type": "text", "text": "So."}]}), json!(null))
        + &chunk(json!({"content": null, "tool_calls": calls}), json!("tool_calls"))
        + "data: [DONE]\n\n"
}

#[test]
fn mistral_keeps_a_call_without_an_index_and_numbers_several() {
    let stream = mistral(&[HARMLESS]);
    assert_eq!(filter("openai-chat").stdin(stream.clone()).run().stdout, stream);

    let ran = filter("openai-chat").stdin(mistral(&[DANGER, HARMLESS, HARMLESS])).run();
    let left = events(&ran);
    let last = &left.last().unwrap()["choices"][0];
    let ids: Vec<&Value> = last["delta"]["tool_calls"].as_array().unwrap().iter().collect();
    assert_eq!(ids.len(), 2);
    assert_eq!((&ids[0]["index"], &ids[0]["id"]), (&json!(0), &json!("aaaaaaa01")));
    assert_eq!((&ids[1]["index"], &ids[1]["id"]), (&json!(1), &json!("aaaaaaa02")));

    let ran = filter("openai-chat").stdin(mistral(&[DANGER])).run();
    let left = events(&ran);
    let last = &left.last().unwrap()["choices"][0];
    assert_eq!((last["delta"].get("tool_calls"), &last["finish_reason"]), (None, &json!("stop")));
    // It is set off from the text before it, which stood in a list.
    let text = last["delta"]["content"].as_str().unwrap();
    assert!(text.starts_with("\n\n") && text.contains("Nothing is removed for good."), "{text}");
}

#[test]
fn the_errors_of_mistral_pass() {
    for body in [
        r#"{"detail":[{"type":"missing","loc":["body"],"msg":"Field required"}]}"#,
        r#"{"object":"error","message":"Invalid model","type":"invalid_model","code":"1500"}"#,
    ] {
        let ran = filter("openai-chat").stdin(body).run();
        assert_eq!((ran.code, ran.stdout.as_str()), (0, body));
    }
}

#[test]
fn the_thoughts_of_a_denied_call_go_with_it() {
    let stream = |arguments: &str| {
        let call = json!({"index": 0, "id": "tool_0_Bash", "type": "function",
            "function": {"name": "Bash", "arguments": arguments}});
        let thought = |id: &str| json!({"type": "reasoning.encrypted", "data": "abc", "id": id});
        let details = json!([thought("tool_0_Bash"), thought("other")]);
        let later = json!([thought("tool_0_Bash")]);
        let delta = json!({"content": "", "tool_calls": [call], "reasoning_details": details});
        chunk(delta, json!(null))
            + &chunk(json!({"content": "", "reasoning_details": later}), json!(null))
            + &chunk(json!({}), json!("tool_calls"))
    };
    let harmless = stream(HARMLESS.1);
    assert_eq!(filter("openai-chat").stdin(harmless.clone()).run().stdout, harmless);
    let ran = filter("openai-chat").stdin(stream(DANGER.1)).run();
    assert!(!ran.stdout.contains("tool_0_Bash"), "{}", ran.stdout);
    assert!(ran.stdout.contains(r#""id":"other""#), "{}", ran.stdout);
}

/// An Ollama answer: a text, then calls of these tools in one line, then the last line.
fn ollama(calls: &[(&str, &str)]) -> String {
    let line = |message: Value, done: bool| {
        let mut line = json!({"model": "m", "created_at": "2026-01-01T00:00:00Z",
            "message": message, "done": done});
        if done {
            line["done_reason"] = json!("stop");
            line["eval_count"] = json!(9);
        }
        format!("{line}\n")
    };
    let call = |(index, (tool, arguments)): (usize, &(&str, &str))| {
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        json!({"function": {"index": index, "name": tool, "arguments": arguments}})
    };
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    line(json!({"role": "assistant", "content": "First."}), false)
        + &line(json!({"role": "assistant", "content": "", "tool_calls": calls}), false)
        + &line(json!({"role": "assistant", "content": ""}), true)
}

fn lines(ran: &Ran) -> Vec<Value> {
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn ollama_passes_what_is_allowed_and_says_what_is_denied() {
    let stream = ollama(&[HARMLESS, HARMLESS]);
    let ran = filter("ollama").stdin(stream.clone()).run();
    assert_eq!((ran.code, ran.stdout), (0, stream));

    let ran = filter("ollama").stdin(ollama(&[DANGER])).run();
    assert_eq!(ran.stderr, "deny   Bash  test/no-rm  Nothing is removed for good.\n");
    let left = lines(&ran);
    assert_eq!(left.len(), 3);
    assert_eq!(left[1]["message"].get("tool_calls"), None);
    let text = left[1]["message"]["content"].as_str().unwrap();
    assert!(text.starts_with("\n\n") && text.contains("Nothing is removed for good."), "{text}");
    assert_eq!((&left[2]["done_reason"], &left[2]["eval_count"]), (&json!("stop"), &json!(9)));
}

#[test]
fn ollama_numbers_the_calls_that_are_left() {
    let ran = filter("ollama").stdin(ollama(&[HARMLESS, DANGER, HARMLESS])).run();
    let calls = lines(&ran)[1]["message"]["tool_calls"].clone();
    let indices: Vec<&Value> =
        calls.as_array().unwrap().iter().map(|call| &call["function"]["index"]).collect();
    assert_eq!(indices, [&json!(0), &json!(1)]);
}

#[test]
fn ollama_bodies_and_prompts_are_judged_too() {
    let call = json!({"function": {"name": "Bash", "arguments": {"command": "rm -rf /"}}});
    let body = json!({"model": "m", "message": {"role": "assistant", "content": "",
        "tool_calls": [call]}, "done_reason": "stop", "done": true});
    let prompt = json!({"model": "m", "response": "", "tool_calls": [call], "done": true});
    for (body, text) in [(body, "/message/content"), (prompt, "/response")] {
        for body in [body.to_string(), format!("{body:#}")] {
            let ran = filter("ollama").stdin(body).run();
            let left: Value = serde_json::from_str(&ran.stdout).unwrap();
            assert!(!ran.stdout.contains("tool_calls"), "{left}");
            let text = left.pointer(text).and_then(Value::as_str).unwrap();
            assert!(text.contains("Nothing is removed for good."), "{text}");
        }
    }
}

#[test]
fn ollama_ends_with_an_error_in_a_line() {
    let stream = ollama(&[HARMLESS]);
    let first = stream.lines().next().unwrap();
    let ran = filter("ollama").stdin(format!("{first}\n{{}}{{}}\n")).run();
    let left = lines(&ran);
    assert_eq!(left[0], serde_json::from_str::<Value>(first).unwrap());
    assert!(left[1]["error"].is_string() && left.len() == 2, "{}", ran.stdout);
}
