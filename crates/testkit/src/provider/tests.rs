use serde_json::Value;

use super::*;
use crate::clients;
use callgate_dialect::Dialect;

fn provider() -> Provider {
    let turn = vec![
        TurnPart::thinking("Hm.", "sig-1"),
        TurnPart::text("Two things."),
        TurnPart::call("a", "read", r#"{"path":"x"}"#),
        TurnPart::call("b", "delete", r#"{"path": "y", "n": 1.0}"#),
    ];
    Provider::default().script("two", vec![turn])
}

fn ask(path: &str, body: &Value) -> (u16, Vec<u8>) {
    let request =
        Request { path: path.into(), body: body.to_string().into_bytes(), ..Request::default() };
    let answer = provider().answer(&request);
    (answer.status, answer.body())
}

const FIRST: &str = "[script two #1] Please.";

#[test]
fn turns_are_the_same_streamed_and_whole() {
    let calls = [("read", r#"{"path":"x"}"#), ("delete", r#"{"path": "y", "n": 1.0}"#)];
    let calls = calls.map(|(name, input)| (name.to_owned(), input.to_owned()));
    for (path, dialect) in
        [("/v1/messages", Dialect::Anthropic), ("/v1/chat/completions", Dialect::OpenAiChat)]
    {
        for is_stream in [true, false] {
            let messages = json!([{ "role": "user", "content": FIRST }]);
            let (status, body) = ask(path, &json!({ "messages": messages, "stream": is_stream }));
            assert_eq!(status, 200);
            for (reading, seen) in clients::readings(dialect, &body) {
                let names: Vec<&str> = seen.iter().map(|(name, _)| name.as_str()).collect();
                assert_eq!(names, ["read", "delete"], "{dialect:?} {reading}");
                let loose = ["whole", "each piece", clients::ANYWHERE].contains(&reading);
                assert!(loose || seen == calls, "{dialect:?} {reading}: {seen:?}");
            }
        }
    }
}

/// An Anthropic history: what the assistant said, and what followed.
fn anthropic(assistant: Value, user: Value) -> (u16, String) {
    let messages = json!([
        { "role": "user", "content": FIRST },
        { "role": "assistant", "content": assistant },
        { "role": "user", "content": user },
    ]);
    let (status, body) = ask("/v1/messages", &json!({ "messages": messages }));
    (status, String::from_utf8(body).unwrap())
}

fn blocks() -> Vec<Value> {
    let raw = r#"[{"type":"thinking","thinking":"Hm.","signature":"sig-1"},
        {"type":"text","text":"Two things."},
        {"type":"tool_use","id":"a","name":"read","input":{"path":"x"}}]"#;
    serde_json::from_str(raw).unwrap()
}

/// The call whose bytes JSON values do not keep.
const CALL_B: &str =
    r#"{"type":"tool_use","id":"b","name":"delete","input":{"path": "y", "n": 1.0}}"#;

fn anthropic_raw(assistant: &str, user: &Value) -> (u16, String) {
    let body = format!(
        r#"{{"messages":[{{"role":"user","content":"{FIRST}"}},{{"role":"assistant","content":[{assistant}]}},{{"role":"user","content":{user}}}]}}"#
    );
    let request =
        Request { path: "/v1/messages".into(), body: body.into_bytes(), ..Request::default() };
    let answer = provider().answer(&request);
    (answer.status, String::from_utf8(answer.body()).unwrap())
}

fn all(blocks: &[Value]) -> String {
    blocks.iter().map(|block| format!("{block},")).collect::<String>() + CALL_B
}

fn result(id: &str) -> Value {
    json!({ "type": "tool_result", "tool_use_id": id, "content": "done" })
}

#[test]
fn anthropic_takes_the_turn_it_gave() {
    let user = json!([result("b"), result("a"), { "type": "text", "text": "Go on." }]);
    let (status, body) = anthropic_raw(&all(&blocks()), &user);
    assert_eq!((status, body.contains("That was all.")), (200, true), "{body}");
}

#[test]
fn anthropic_refuses_any_other() {
    let results = json!([result("a"), result("b")]);
    let whole = all(&blocks());
    let without_thinking = all(&blocks()[1..]);
    let forged = whole.replace("sig-1", "sig-2");
    let otherwise = whole.replace("1.0", "1");
    let moved = format!("{},{CALL_B},{},{}", blocks()[0], blocks()[1], blocks()[2]);
    let behind = format!(r#"{whole},{{"type":"text","text":"more"}}"#);
    for (assistant, words) in [
        (without_thinking, "cannot be modified"),
        (forged, "cannot be modified"),
        (otherwise, "cannot be modified"),
        (moved, "unexpected `text` block after `tool_use`"),
        (behind, "unexpected `text` block after `tool_use`"),
    ] {
        let (status, body) = anthropic_raw(&assistant, &results);
        assert_eq!((status, body.contains(words)), (400, true), "{body}");
    }
    for (user, words) in [
        (json!([result("a")]), "without `tool_result` blocks immediately after: b"),
        (json!("Go on."), "without `tool_result` blocks immediately after: a, b"),
        (json!([result("a"), result("b"), result("c")]), "unexpected `tool_use_id`"),
        (
            json!([{ "type": "text", "text": "Hm." }, result("a"), result("b")]),
            "unexpected `tool_use_id`",
        ),
    ] {
        let (status, body) = anthropic_raw(&whole, &user);
        assert_eq!((status, body.contains(words)), (400, true), "{body}");
    }
}

#[test]
fn anthropic_refuses_a_turn_without_the_removed_call() {
    // What a client sends after a gateway removed a call and does not put it back.
    let (status, body) = anthropic(blocks().into(), json!([result("a")]));
    assert_eq!((status, body.contains("Expected `tool_use` b")), (400, true), "{body}");
}

fn chat(assistant: Value, behind: &[Value]) -> (u16, String) {
    let mut messages = vec![json!({ "role": "user", "content": FIRST }), assistant];
    messages.extend_from_slice(behind);
    let (status, body) = ask("/v1/chat/completions", &json!({ "messages": messages }));
    (status, String::from_utf8(body).unwrap())
}

fn chat_call(id: &str, name: &str, arguments: &str) -> Value {
    json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
}

fn chat_turn() -> Value {
    let calls = [
        chat_call("a", "read", r#"{"path":"x"}"#),
        chat_call("b", "delete", r#"{"path": "y", "n": 1.0}"#),
    ];
    json!({ "role": "assistant", "content": "Two things.", "tool_calls": calls })
}

fn chat_result(id: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": id, "content": "done" })
}

#[test]
fn chat_takes_the_turn_it_gave() {
    let user = json!({ "role": "user", "content": "Go on." });
    for behind in
        [vec![chat_result("b"), chat_result("a")], vec![chat_result("a"), chat_result("b"), user]]
    {
        let (status, body) = chat(chat_turn(), &behind);
        assert_eq!((status, body.contains("That was all.")), (200, true), "{body}");
    }
}

#[test]
fn chat_refuses_any_other() {
    let both = [chat_result("a"), chat_result("b")];
    let mut otherwise = chat_turn();
    otherwise["tool_calls"][1]["function"]["arguments"] = r#"{"path":"y","n":1.0}"#.into();
    let mut removed = chat_turn();
    removed["tool_calls"].as_array_mut().unwrap().pop();
    let mut renamed = chat_turn();
    renamed["content"] = "Two things. callgate: blocked".into();
    let user = json!({ "role": "user", "content": "Go on." });
    for (assistant, behind, words) in [
        (otherwise, &both[..], "expected b (delete)"),
        (removed, &both[..1], "expected b (delete)"),
        (renamed, &both[..], "Invalid 'messages[1].content'"),
        (chat_turn(), &both[..1], "did not have response messages: b"),
        (
            chat_turn(),
            &[user, both[0].clone(), both[1].clone()][..],
            "did not have response messages: a, b",
        ),
        (
            chat_turn(),
            &[both[0].clone(), both[1].clone(), chat_result("c")][..],
            "must be a response to a preceeding message",
        ),
    ] {
        let (status, body) = chat(assistant, behind);
        assert_eq!((status, body.contains(words)), (400, true), "{body}");
    }
}
