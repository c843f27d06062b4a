//! Small hostile responses that `docs/bypasses.md` names. Each holds a call `evil`, with an id that
//! ends in `_evil`.

use serde_json::{Value, json};

/// Name, dialect, body.
pub(crate) type Probe = (&'static str, &'static str, Vec<u8>);

/// Every probe.
pub(crate) fn probes() -> Vec<Probe> {
    let mut all = Vec::new();
    for (name, body) in anthropic_probes() {
        all.push((name, "anthropic", body.into_bytes()));
    }
    for (name, body) in chat_probes() {
        all.push((name, "openai-chat", body.into_bytes()));
    }
    let message = json!({
        "type": "message", "role": "assistant", "content": [tool_use()], "stop_reason": "tool_use",
    });
    let completion = completion(json!({ "role": "assistant", "tool_calls": [entry()] }));
    let utf16 = |text: String| text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let with_mark: Vec<u8> = utf16(format!("\u{FEFF}{completion}"));
    all.push(("utf-16", "anthropic", utf16(message.to_string())));
    all.push(("utf-16-with-mark", "openai-chat", with_mark));
    all
}

const ARGUMENTS: &str = r#"{"cmd":"rm"}"#;

fn tool_use() -> Value {
    json!({"type": "tool_use", "id": "toolu_evil", "name": "evil", "input": {}})
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

/// A message around these events.
fn message(events: &[String]) -> String {
    let message = json!({
        "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    let end = json!({
        "type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null},
        "usage": {"output_tokens": 3},
    });
    event(&json!({"type": "message_start", "message": message}))
        + &events.concat()
        + &event(&end)
        + &event(&json!({"type": "message_stop"}))
}

fn start(index: Value, block: Value) -> String {
    event(&json!({"type": "content_block_start", "index": index, "content_block": block}))
}

fn delta(index: Value, json: &str) -> String {
    let delta = json!({"type": "input_json_delta", "partial_json": json});
    event(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
}

fn stop(index: Value) -> String {
    event(&json!({"type": "content_block_stop", "index": index}))
}

fn anthropic_probes() -> Vec<(&'static str, String)> {
    let n = |n: i64| json!(n);
    let text = json!("0");
    let safe = json!({"type": "tool_use", "id": "toolu_1", "name": "safe", "input": {}});
    let new = json!({"type": "quantum_action", "id": "toolu_evil", "name": "evil", "input": {}});
    let unknown = json!({
        "type": "new_event", "payload": {"name": "evil", "input": {"id": "toolu_evil"}},
    });
    let raw = json!({"type": "content_block_start", "index": 0, "content_block": tool_use()});
    let empty = json!({"type": "text", "text": ""});
    let cases = json!({
        "type": "content_block_start", "index": 0, "content_block": empty,
        "Content_Block": tool_use(),
    });
    vec![
        (
            "block-index-as-text",
            message(&[start(text.clone(), tool_use()), delta(text.clone(), ARGUMENTS), stop(text)]),
        ),
        (
            "block-index-far-away",
            message(&[start(n(7), tool_use()), delta(n(0), ARGUMENTS), stop(n(0))]),
        ),
        (
            "blocks-interleaved",
            message(&[
                start(n(0), safe),
                start(n(1), tool_use()),
                delta(n(0), r#"{"a""#),
                delta(n(1), ARGUMENTS),
                delta(n(0), ":1}"),
                stop(n(0)),
                stop(n(1)),
            ]),
        ),
        ("block-never-stops", message(&[start(n(0), tool_use()), delta(n(0), ARGUMENTS)])),
        ("new-block-type", message(&[start(n(0), new), delta(n(0), ARGUMENTS), stop(n(0))])),
        ("new-event-with-call", message(&[event(&unknown)])),
        ("line-without-field", message(&[format!("{raw}\n\n")])),
        ("line-split-by-u2028", message(&[format!(": x\u{2028}data: {raw}\n\n")])),
        ("key-in-other-case", message(&[event(&cases), stop(n(0))])),
    ]
}

fn entry() -> Value {
    let function = json!({"name": "evil", "arguments": ARGUMENTS});
    json!({"index": 0, "id": "call_evil", "type": "function", "function": function})
}

/// The call with one member changed; `null` takes it out.
fn entry_with(key: &str, value: Value) -> Value {
    let mut entry = entry();
    match value {
        Value::Null => drop(entry.as_object_mut().unwrap().remove(key)),
        value => entry[key] = value,
    }
    entry
}

fn named(name: &str, arguments: &str) -> Value {
    entry_with("function", json!({"name": name, "arguments": arguments}))
}

fn chunk(choice: Value) -> String {
    let data = json!({"id": "c", "object": "chat.completion.chunk", "choices": [choice]});
    format!("data: {data}\n\n")
}

fn calls(entry: Value) -> String {
    chunk(json!({"index": 0, "delta": {"tool_calls": [entry]}, "finish_reason": null}))
}

fn says(text: &str) -> String {
    let delta = json!({"role": "assistant", "content": text});
    chunk(json!({"index": 0, "delta": delta, "finish_reason": null}))
}

fn finish(why: &str) -> String {
    chunk(json!({"index": 0, "delta": {}, "finish_reason": why}))
}

/// A whole stream around these chunks.
fn stream(chunks: &[String]) -> String {
    says("Hm.") + &chunks.concat() + &finish("tool_calls") + DONE
}

const DONE: &str = "data: [DONE]\n\n";

fn completion(message: Value) -> String {
    let choice = json!({"index": 0, "message": message, "finish_reason": "tool_calls"});
    json!({"id": "c", "object": "chat.completion", "choices": [choice]}).to_string()
}

fn chat_probes() -> Vec<(&'static str, String)> {
    let safe = |index: i64| {
        let function = json!({"name": "safe", "arguments": "{}"});
        calls(json!({"index": index, "id": "call_1", "type": "function", "function": function}))
    };
    let in_message = json!({"role": "assistant", "tool_calls": [entry()]});
    let second = json!({"index": 1, "delta": {"tool_calls": [entry()]}, "finish_reason": null});
    let late = json!({"index": 0, "id": "call_evil", "function": {"arguments": ARGUMENTS}});
    let object = json!({"name": "evil", "arguments": {"cmd": "rm"}});
    let custom = json!({
        "index": 0, "id": "call_evil", "type": "custom", "custom": {"name": "evil", "input": "rm"},
    });
    let both = json!({
        "index": 0, "delta": {"content": "a"}, "message": in_message, "finish_reason": null,
    });
    let with_finish =
        json!({"index": 0, "delta": {"tool_calls": [entry()]}, "finish_reason": "tool_calls"});
    let inner = json!({"recipient_name": "functions.evil", "parameters": {"cmd": "rm"}});
    let wrapped = json!({ "tool_uses": [inner] }).to_string();
    let plain = json!({"choices": [{"index": 0, "delta": {"tool_calls": [entry()]}}]});
    let stray = json!({
        "choices": [{"index": 0, "delta": {"content": "x"}}],
        "plan": {"name": "evil", "arguments": {"id": "call_evil"}},
    });
    let twice = r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_evil",
        "function":{"name":"safe","name":"evil","arguments":"{}"}}]}}]}"#
        .replace('\n', "");
    vec![
        (
            "after-done",
            says("Hm.") + &finish("stop") + DONE + &calls(entry()) + &finish("tool_calls") + DONE,
        ),
        ("done-with-a-tail", stream(&[format!("data: [DONE]{plain}\n\n")])),
        (
            "message-for-delta",
            stream(&[chunk(json!({"index": 0, "message": in_message, "finish_reason": null}))]),
        ),
        ("delta-and-message", stream(&[chunk(both)])),
        ("second-choice", stream(&[chunk(second)])),
        ("index-as-text", stream(&[calls(entry_with("index", json!("0")))])),
        ("index-negative", stream(&[safe(0), calls(entry_with("index", json!(-1)))])),
        ("index-reversed", stream(&[calls(entry_with("index", json!(1))), safe(0)])),
        ("id-missing", stream(&[calls(entry_with("id", Value::Null))])),
        (
            "id-late",
            stream(&[
                calls(json!({"index": 0, "function": {"name": "evil", "arguments": ""}})),
                calls(late),
            ]),
        ),
        ("two-ids-on-one-index", stream(&[safe(0), calls(entry())])),
        ("custom-tool", stream(&[calls(custom)])),
        ("arguments-as-object", stream(&[calls(entry_with("function", object))])),
        ("call-with-finish", says("Hm.") + &chunk(with_finish) + DONE),
        ("call-after-finish", says("Hm.") + &finish("stop") + &calls(entry()) + DONE),
        ("no-finish", says("Hm.") + &calls(entry()) + DONE),
        ("wrapped-call", stream(&[calls(named("multi_tool_use.parallel", &wrapped))])),
        ("name-twice-in-one-object", stream(&[format!("data: {twice}\n\n")])),
        ("name-with-spaces-and-case", stream(&[calls(named(" EVIL ", ARGUMENTS))])),
        ("name-with-invisible-character", stream(&[calls(named("ev\u{200b}il", ARGUMENTS))])),
        ("call-in-an-unknown-field", stream(&[format!("data: {stray}\n\n")])),
        ("chat-line-without-field", stream(&[format!("{plain}\n\n")])),
        ("field-in-other-case", stream(&[format!("Data: {plain}\n\n")])),
        ("two-spaces", stream(&[format!("data:  {plain}\n\n")])),
        ("half-a-surrogate", stream(&[calls(named("evil", r#"{"cmd":"\ud83d"}"#))])),
    ]
}
