//! A response that does not have the form of its API is refused, with an error in the form of that
//! API.

use callgate_dialect::Dialect;
use callgate_gate::{Ending, Malformed, Note, OnDeny, RequestedForm, Settings};
use callgate_testkit::corpus;
use callgate_testkit::drive::{self, Run};
use serde_json::{Value, json};

const CHAT: Dialect = Dialect::OpenAiChat;
const MESSAGES: Dialect = Dialect::Anthropic;
const RESPONSES: Dialect = Dialect::Responses;

fn run_with(settings: Settings, dialect: Dialect, body: &str) -> Run {
    let run =
        |chunks: Vec<&[u8]>| drive::run(dialect, settings.clone(), &drive::allow_all(), chunks);
    let whole = run(vec![body.as_bytes()]);
    let bytes = run(body.as_bytes().chunks(1).collect());
    assert_eq!((whole.text(), &whole.ending), (bytes.text(), &bytes.ending), "cuts matter: {body}");
    whole
}

fn run(dialect: Dialect, body: &str) -> Run {
    run_with(drive::settings(OnDeny::Explain), dialect, body)
}

/// Whether the output is one error in the API's own form.
fn is_error_body(dialect: Dialect, text: &str) -> bool {
    let Ok(body) = serde_json::from_str::<Value>(text) else { return false };
    match dialect {
        MESSAGES => body["error"]["message"].is_string() && body["type"] == "error",
        _ => body["error"]["message"].is_string(),
    }
}

fn is_error_event(dialect: Dialect, text: &str) -> bool {
    let data = text.lines().find_map(|line| line.strip_prefix("data: "));
    data.is_some_and(|data| is_error_body(dialect, data))
}

fn message() -> Value {
    json!({ "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [] })
}

fn completion(message: Value) -> Value {
    let choice = json!({ "index": 0, "message": message, "finish_reason": "stop" });
    json!({ "id": "c", "object": "chat.completion", "choices": [choice] })
}

fn chunk(words: &str) -> String {
    let choice = json!({ "index": 0, "delta": { "content": words } });
    let data = json!({ "object": "chat.completion.chunk", "choices": [choice] });
    format!("data: {data}\n\n")
}

/// Nothing of a call in another API's form leaves, even if every call is allowed.
#[test]
fn calls_of_another_api_do_not_leave() {
    let mut seen = 0;
    for case in corpus::all() {
        let is_foreign = ["body_of_", "stream_of_", "stream_changes_api", "page_of_messages"]
            .iter()
            .any(|shape| case.name.contains(shape));
        if !is_foreign {
            continue;
        }
        seen += 1;
        let run = run(case.dialect, &String::from_utf8(case.body).unwrap());
        let text = run.text();
        assert!(!text.contains("evil"), "{}: {text}", case.name);
        // The other APIs have their own tests for the form of an error.
        let is_ours = [CHAT, MESSAGES, RESPONSES].contains(&case.dialect);
        if case.name.contains("changes") || !is_ours {
            continue;
        }
        match case.is_stream {
            true => assert!(is_error_event(case.dialect, &text), "{}: {text}", case.name),
            false => assert!(is_error_body(case.dialect, &text), "{}: {text}", case.name),
        }
        assert!(matches!(run.ending, Ending::Error(_)), "{}", case.name);
    }
    assert!(seen >= 20, "{seen}");
}

#[test]
fn bodies_of_the_right_shape_pass_with_whatever_else_they_hold() {
    let mut extra = completion(json!({ "role": "assistant", "content": "hi" }));
    extra["citations"] = json!(["a", { "b": 1 }]);
    let mut odd = message();
    odd["candidates"] = json!([]);
    for (dialect, body) in [
        (CHAT, extra),
        (CHAT, json!({ "choices": [] })),
        (CHAT, json!({ "error": { "message": "no" } })),
        (CHAT, json!({ "error": "no", "error_type": "overloaded" })),
        (CHAT, json!({ "object": "error", "message": "no", "code": 400 })),
        (CHAT, json!({ "object": "list", "data": [], "has_more": false })),
        (MESSAGES, message()),
        (MESSAGES, odd),
        (MESSAGES, json!({ "type": "error", "error": { "type": "e", "message": "no" } })),
        (MESSAGES, json!({ "error": { "message": "no" } })),
        (RESPONSES, json!({ "object": "response", "output": [], "extra": { "a": 1 } })),
        (RESPONSES, json!({ "object": "response", "status": "queued" })),
        (RESPONSES, json!({ "object": "list", "data": [], "has_more": false })),
        (RESPONSES, json!({ "object": "conversation", "id": "conv_1" })),
        (RESPONSES, json!({ "error": { "message": "no" } })),
    ] {
        let run = run(dialect, &body.to_string());
        assert_eq!((run.text(), run.ending), (body.to_string(), Ending::Clean));
    }
}

#[test]
fn other_bodies_are_refused() {
    for (dialect, body) in [
        (CHAT, json!({})),
        (CHAT, json!({ "choices": null, "error": null })),
        (CHAT, json!({ "choices": {} })),
        (CHAT, json!({ "message": { "role": "assistant", "content": "hi" }, "done": true })),
        (CHAT, json!({ "object": "list", "data": [completion(json!({})), { "id": "x" }] })),
        (CHAT, json!({ "object": "list", "data": [1] })),
        (CHAT, json!([completion(json!({}))])),
        (MESSAGES, json!({})),
        (MESSAGES, json!({ "type": "message" })),
        (MESSAGES, json!({ "type": "message", "content": "hi" })),
        (MESSAGES, json!({ "type": "agent.message", "content": [], "error": "x" })),
        (MESSAGES, json!({ "content": [] })),
        (MESSAGES, json!([message()])),
        (RESPONSES, json!({})),
        (RESPONSES, json!({ "output": [] })),
        (RESPONSES, json!({ "object": "list" })),
        (RESPONSES, json!({ "object": "response", "output": [], "data": [] })),
        (RESPONSES, json!({ "output": [], "error": "no" })),
        (RESPONSES, message()),
        (RESPONSES, json!([{ "object": "response", "output": [] }])),
    ] {
        let run = run(dialect, &body.to_string());
        assert!(is_error_body(dialect, &run.text()), "{body}: {}", run.text());
        assert!(matches!(run.ending, Ending::Error(_)), "{body}");
    }
}

/// Stored completions: each call is judged, and a denied one affects only its own completion.
#[test]
fn a_page_of_completions_is_read_like_its_completions() {
    let call = |name: &str, id: &str| {
        let function = json!({ "name": name, "arguments": "{}" });
        let call = json!({ "id": id, "type": "function", "function": function });
        let said = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
        let mut completion = completion(said);
        completion["choices"][0]["finish_reason"] = json!("tool_calls");
        completion
    };
    let page = json!({ "object": "list", "has_more": true,
        "data": [call("safe", "call_1"), call("evil", "call_2")] });
    let policies = drive::deny_names(&["evil"]);
    let settings = drive::settings(OnDeny::Explain);
    let run = drive::run(CHAT, settings, &policies, [page.to_string().as_bytes()]);
    let left: Value = serde_json::from_str(&run.text()).unwrap();
    assert_eq!(left["data"][0], page["data"][0]);
    let denied = &left["data"][1]["choices"][0];
    assert_eq!(
        (&denied["finish_reason"], &denied["message"]["tool_calls"]),
        (&json!("stop"), &Value::Null)
    );
    assert!(denied["message"]["content"].as_str().unwrap().contains("evil"));
    assert_eq!(left["has_more"], true);
}

#[test]
fn odd_openings_of_real_streams_pass() {
    let azure = json!({ "choices": [], "id": "", "model": "", "prompt_filter_results": [] });
    let ping = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
    let start = json!({ "type": "message_start", "message": message() });
    let start = format!("event: message_start\ndata: {start}\n\n");
    for (dialect, stream) in [
        (CHAT, format!("data: {azure}\n\n{}data: [DONE]\n\n", chunk("hi"))),
        (CHAT, format!(": OPENROUTER PROCESSING\n\n{}", chunk("hi"))),
        (CHAT, "data: {\"error\":{\"message\":\"no\"}}\n\n".to_owned()),
        (CHAT, "data: [DONE]\n\n".to_owned()),
        (CHAT, format!("\n\ndata:\n\n{}", chunk("hi"))),
        // After a chunk, a frame without a call passes.
        (CHAT, format!("{}data: {{\"type\":\"ping\"}}\n\n{}", chunk("a"), chunk("b"))),
        (CHAT, format!("{}data: {{\"usage\":{{\"total_tokens\":1}}}}\n\n", chunk("a"))),
        (MESSAGES, format!("{ping}{start}")),
        (MESSAGES, "event: new_event\ndata: {\"type\":\"new_event\"}\n\n".to_owned()),
        (MESSAGES, "event: error\ndata: {\"type\":\"error\",\"error\":{}}\n\n".to_owned()),
        (MESSAGES, format!("{start}data: {{\"x\":1}}\n\n")),
        (RESPONSES, "data: {\"type\":\"response.in_progress\",\"response\":{}}\n\n".to_owned()),
        (
            RESPONSES,
            "data: {\"type\":\"response.new\"}\n\ndata: {\"type\":\"keepalive\"}\n\n".to_owned(),
        ),
        (RESPONSES, "event: error\ndata: {\"type\":\"error\",\"error\":{}}\n\n".to_owned()),
    ] {
        let run = run(dialect, &stream);
        assert_eq!((run.text(), run.ending), (stream, Ending::Clean));
    }
}

#[test]
fn other_streams_end_with_an_error() {
    for (dialect, data) in [
        (CHAT, json!({ "type": "message_start", "message": {} })),
        (CHAT, json!({ "type": "response.created" })),
        (CHAT, json!({ "candidates": [] })),
        (CHAT, json!({ "usage": {} })),
        (CHAT, json!({})),
        (MESSAGES, json!({ "choices": [] })),
        (MESSAGES, json!({ "type": "response.created" })),
        (MESSAGES, json!({ "type": "message-start" })),
        (MESSAGES, json!({ "type": "" })),
        (MESSAGES, json!({ "candidates": [] })),
        (RESPONSES, json!({ "choices": [] })),
        (RESPONSES, json!({ "type": "message_start", "message": {} })),
        (RESPONSES, json!({ "type": "keepalive" })),
        (RESPONSES, json!({ "candidates": [] })),
    ] {
        let run = run(dialect, &format!(": hello\n\ndata: {data}\n\ndata: {{\"type\":\"x\"}}\n\n"));
        let text = run.text();
        let rest = text.strip_prefix(": hello\n\n").unwrap();
        assert!(is_error_event(dialect, rest), "{data}: {text}");
        assert!(!text.contains(&data.to_string()), "{data}: {text}");
        assert!(matches!(run.ending, Ending::Error(why) if why.contains(dialect.as_str())));
    }
}

#[test]
fn a_response_of_no_api_is_refused_with_an_error() {
    for dialect in [MESSAGES, CHAT, RESPONSES] {
        for (body, why) in [
            ("", "it is empty"),
            (" \n\r\n", "it is empty"),
            ("\u{FEFF}", "it is empty"),
            ("<!DOCTYPE html>\n<html>\n\n<body>no</body></html>\n", "neither"),
            ("upstream connect error", "neither"),
            ("data: hello\n\n", "neither"),
            ("event: x\n\n", "neither"),
        ] {
            let mut settings = drive::settings(OnDeny::Explain);
            for requested in [RequestedForm::Unknown, RequestedForm::Body, RequestedForm::Stream] {
                settings.requested_form = requested;
                let run = run_with(settings.clone(), dialect, body);
                let text = run.text();
                let Ending::Error(said) = &run.ending else { panic!("{body}: {text}") };
                assert!(said.contains(why) && text.contains(why), "{body}: {text}");
                assert!(!text.contains("html") && !text.contains("hello"), "{body}: {text}");
                let in_form = is_error_body(dialect, &text) != is_error_event(dialect, &text);
                assert!(in_form, "{body}: {text}");
                if body.is_empty() {
                    assert_eq!(
                        is_error_event(dialect, &text),
                        requested == RequestedForm::Stream,
                        "{text}"
                    );
                }
            }
        }
        // After a comment has left, only an event can report the error.
        let run = run(dialect, ": still here\n\n");
        let rest = run.text().replace(": still here\n\n", "");
        assert!(is_error_event(dialect, &rest), "{rest}");
    }
}

#[test]
fn an_operator_who_lets_unreadable_things_pass_gets_them() {
    let settings = Settings { malformed: Malformed::Pass, ..drive::settings(OnDeny::Explain) };
    for body in ["{\"candidates\":[]}", "data: {\"candidates\":[]}\n\n"] {
        let run = run_with(settings.clone(), CHAT, body);
        assert_eq!((run.text().as_str(), run.ending), (body, Ending::Clean));
        assert!(run.notes.iter().any(|note| matches!(note, Note::PassedUnread { .. })));
        assert!(!run.notes.iter().any(|note| matches!(note, Note::Withheld { .. })));
    }
    assert!(matches!(run_with(settings, CHAT, "").ending, Ending::Error(_)));
}

/// Some clients add such a piece to the input that was there, and others ignore it.
#[test]
fn custom_input_of_an_added_item_does_not_continue_in_a_piece() {
    let event = |data: Value| format!("data: {data}\n\n");
    let added = json!({
        "type": "response.output_item.added", "output_index": 0,
        "item": { "type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "run", "input": "ls " },
    });
    let piece = |delta: &str| json!({ "type": "response.custom_tool_call_input.delta", "output_index": 0, "delta": delta });
    let completed =
        json!({ "type": "response.completed", "response": { "id": "resp_1", "output": [] } });
    for (delta, leaves) in [("; rm -rf /", false), ("", true)] {
        let parts = [event(added.clone()), event(piece(delta)), event(completed.clone())];
        let seen = run(RESPONSES, &parts.concat());
        assert_eq!(seen.text().contains("\"ls \""), leaves, "{}", seen.text());
        assert!(!seen.text().contains("rm -rf"), "{}", seen.text());
    }
}
