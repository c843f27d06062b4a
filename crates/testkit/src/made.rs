//! Responses made by hand in every dialect: one text, then calls, streamed in pieces or whole.

use callgate_dialect::Dialect;
use callgate_wire::{Framing, Style};
use serde_json::{Value, json};

/// What a response says.
#[derive(Debug)]
pub struct Said<'a> {
    /// Its text.
    pub text: &'a str,
    /// Its calls.
    pub calls: &'a [Called<'a>],
}

/// A call in it.
#[derive(Debug)]
pub struct Called<'a> {
    /// Its id, where the dialect has one.
    pub id: &'a str,
    /// The tool.
    pub name: &'a str,
    /// The arguments, which are JSON.
    pub arguments: &'a str,
}

/// Each way in which this can be said in a dialect, by name: in many pieces, in few, whole.
pub fn bodies(dialect: Dialect, said: &Said<'_>) -> Vec<(&'static str, Vec<u8>)> {
    let mut bodies = vec![("whole", whole(dialect, said))];
    for (name, size) in [("pieces", 3), ("large pieces", 64)] {
        bodies.push((name, stream(dialect, said, size)));
    }
    if dialect == Dialect::Gemini {
        bodies.push(("array", gemini_array(said)));
    }
    bodies
}

/// Text in pieces of this many characters.
fn pieces(text: &str, size: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(size).map(|piece| piece.iter().collect()).collect()
}

fn parsed(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap_or(Value::Null)
}

/// It as one body.
pub fn whole(dialect: Dialect, said: &Said<'_>) -> Vec<u8> {
    document(dialect, said).to_string().into_bytes()
}

fn document(dialect: Dialect, said: &Said<'_>) -> Value {
    let calls = said.calls.iter();
    match dialect {
        Dialect::Anthropic | Dialect::Invoke => {
            let mut content = vec![json!({ "type": "text", "text": said.text })];
            content.extend(calls.map(|Called { id, name, arguments }| {
                json!({ "type": "tool_use", "id": id, "name": name, "input": parsed(arguments) })
            }));
            json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
                "content": content, "stop_reason": "tool_use", "stop_sequence": null,
                "usage": { "input_tokens": 1, "output_tokens": 1 } })
        }
        Dialect::OpenAiChat => {
            let calls: Vec<Value> = calls.map(function).collect();
            let message = json!({ "role": "assistant", "content": said.text, "tool_calls": calls });
            let choice = json!({ "index": 0, "message": message, "finish_reason": "tool_calls" });
            json!({ "id": "c", "object": "chat.completion", "created": 1, "model": "m",
                "choices": [choice] })
        }
        Dialect::Responses => response(said, "completed"),
        Dialect::Gemini => gemini(said, true),
        Dialect::Interactions => {
            let content = json!([{ "type": "text", "text": said.text }]);
            let mut steps = vec![json!({ "type": "model_output", "content": content })];
            steps.extend(calls.map(|Called { id, name, arguments }| {
                json!({ "type": "function_call", "id": id, "name": name,
                    "arguments": parsed(arguments) })
            }));
            json!({ "id": "i_1", "object": "interaction", "model": "m", "status": "requires_action",
                "steps": steps })
        }
        Dialect::Ollama => ollama(said.text, said.calls, true),
        Dialect::Cohere => {
            let calls: Vec<Value> = calls.map(function).collect();
            let content = json!([{ "type": "text", "text": said.text }]);
            json!({ "id": "c", "finish_reason": "TOOL_CALL",
                "message": { "role": "assistant", "content": content, "tool_calls": calls } })
        }
        Dialect::Converse => {
            let mut content = vec![json!({ "text": said.text })];
            content.extend(calls.map(|Called { id, name, arguments }| {
                json!({ "toolUse": { "toolUseId": id, "name": name, "input": parsed(arguments) } })
            }));
            json!({ "output": { "message": { "role": "assistant", "content": content } },
                "stopReason": "tool_use",
                "usage": { "inputTokens": 1, "outputTokens": 1, "totalTokens": 2 } })
        }
    }
}

fn function(Called { id, name, arguments }: &Called<'_>) -> Value {
    json!({ "id": id, "type": "function",
        "function": { "name": name, "arguments": arguments } })
}

fn response(said: &Said<'_>, status: &str) -> Value {
    json!({ "id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": "m",
        "output": items(said), "parallel_tool_calls": true, "tool_choice": "auto", "tools": [] })
}

fn items(said: &Said<'_>) -> Vec<Value> {
    let text = json!({ "type": "output_text", "text": said.text, "annotations": [] });
    let mut items = vec![json!({ "id": "msg_1", "type": "message", "role": "assistant",
        "status": "completed", "content": [text] })];
    items.extend(said.calls.iter().map(|Called { id, name, arguments }| {
        json!({ "id": format!("fc_{id}"), "type": "function_call", "call_id": id,
            "name": name, "arguments": arguments, "status": "completed" })
    }));
    items
}

fn gemini(said: &Said<'_>, has_calls: bool) -> Value {
    let mut parts = Vec::new();
    if !said.text.is_empty() {
        parts.push(json!({ "text": said.text }));
    }
    for Called { id, name, arguments } in said.calls.iter().filter(|_| has_calls) {
        let call = json!({ "id": id, "name": name, "args": parsed(arguments) });
        parts.push(json!({ "functionCall": call }));
    }
    let content = json!({ "role": "model", "parts": parts });
    let mut candidate = json!({ "index": 0, "content": content });
    if has_calls {
        candidate["finishReason"] = "STOP".into();
    }
    json!({ "candidates": [candidate], "modelVersion": "m" })
}

fn ollama(text: &str, calls: &[Called<'_>], done: bool) -> Value {
    let mut message = json!({ "role": "assistant", "content": text });
    if !calls.is_empty() {
        let call = |Called { name, arguments, .. }: &Called<'_>| json!({ "function": { "name": name, "arguments": parsed(arguments) } });
        message["tool_calls"] = calls.iter().map(call).collect();
    }
    let mut line = json!({ "model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message,
        "done": done });
    if done {
        line["done_reason"] = "stop".into();
    }
    line
}

/// It as a stream, its text and arguments in pieces of this many characters.
pub fn stream(dialect: Dialect, said: &Said<'_>, size: usize) -> Vec<u8> {
    let (framing, events) = match dialect {
        Dialect::Anthropic => (Framing::Sse, messages(said, size)),
        Dialect::OpenAiChat => (Framing::Sse, chat(said, size)),
        Dialect::Responses => (Framing::Sse, responses(said, size)),
        Dialect::Gemini => (Framing::Sse, gemini_chunks(said, size)),
        Dialect::Interactions => (Framing::Sse, interactions(said, size)),
        Dialect::Ollama => (Framing::Lines, lines(said, size)),
        Dialect::Cohere => (Framing::Sse, cohere(said, size)),
        Dialect::Converse => (Framing::EventStream, converse(said, size)),
        Dialect::Invoke => (Framing::EventStream, messages(said, size)),
    };
    framed(dialect, framing, events)
}

/// Events, each with its name, as a dialect streams them.
pub fn events(dialect: Dialect, events: Vec<(String, Value)>) -> Vec<u8> {
    let framing = match dialect {
        Dialect::Ollama => Framing::Lines,
        Dialect::Converse | Dialect::Invoke => Framing::EventStream,
        _ => Framing::Sse,
    };
    framed(dialect, framing, events)
}

fn framed(dialect: Dialect, framing: Framing, events: Events) -> Vec<u8> {
    let style = Style::default_of(framing);
    let mut out = Vec::new();
    for (name, data) in events {
        let data = data.to_string();
        match dialect {
            Dialect::Invoke => {
                let data = json!({ "bytes": base64(data.as_bytes()) });
                style.event(Some("chunk"), &data.to_string(), &mut out);
            }
            Dialect::OpenAiChat | Dialect::Gemini => style.event(None, &data, &mut out),
            _ => style.event(Some(&name), &data, &mut out),
        }
    }
    if dialect == Dialect::OpenAiChat {
        out.extend_from_slice(b"data: [DONE]\n\n");
    }
    out
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| (bits << 8) | u32::from(*group.get(at).unwrap_or(&0)));
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at)) as usize & 63];
            out.push(if at > group.len() { '=' } else { char::from(letter) });
        }
    }
    out
}

type Events = Vec<(String, Value)>;

/// Events whose name is in a member of their data.
fn named(key: &str, data: Vec<Value>) -> Events {
    let name = |data: &Value| data[key].as_str().unwrap_or_default().to_owned();
    data.into_iter().map(|data| (name(&data), data)).collect()
}

fn messages(said: &Said<'_>, size: usize) -> Events {
    let start = json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": 1, "output_tokens": 1 } });
    let mut events = vec![json!({ "type": "message_start", "message": start })];
    let mut block = |index: usize, start: Value, deltas: Vec<Value>| {
        events
            .push(json!({ "type": "content_block_start", "index": index, "content_block": start }));
        events.extend(
            deltas.into_iter().map(
                |delta| json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            ),
        );
        events.push(json!({ "type": "content_block_stop", "index": index }));
    };
    let text = |piece| json!({ "type": "text_delta", "text": piece });
    let texts = pieces(said.text, size).into_iter().map(text).collect();
    block(0, json!({ "type": "text", "text": "" }), texts);
    for (place, Called { id, name, arguments }) in said.calls.iter().enumerate() {
        let start = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
        let piece = |piece| json!({ "type": "input_json_delta", "partial_json": piece });
        block(place + 1, start, pieces(arguments, size).into_iter().map(piece).collect());
    }
    let end = json!({ "stop_reason": "tool_use", "stop_sequence": null });
    events.push(json!({ "type": "message_delta", "delta": end, "usage": { "output_tokens": 1 } }));
    events.push(json!({ "type": "message_stop" }));
    named("type", events)
}

fn chat(said: &Said<'_>, size: usize) -> Events {
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        json!({ "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [choice] })
    };
    let mut events = vec![chunk(json!({ "role": "assistant", "content": "" }), Value::Null)];
    for piece in pieces(said.text, size) {
        events.push(chunk(json!({ "content": piece }), Value::Null));
    }
    for (index, call) in said.calls.iter().enumerate() {
        let mut start = function(&Called { arguments: "", ..*call });
        start["index"] = index.into();
        events.push(chunk(json!({ "tool_calls": [start] }), Value::Null));
        for piece in pieces(call.arguments, size) {
            let piece = json!({ "index": index, "function": { "arguments": piece } });
            events.push(chunk(json!({ "tool_calls": [piece] }), Value::Null));
        }
    }
    events.push(chunk(json!({}), "tool_calls".into()));
    named("object", events)
}

fn responses(said: &Said<'_>, size: usize) -> Events {
    let mut begun = response(said, "in_progress");
    begun["output"] = json!([]);
    let mut events = vec![json!({ "type": "response.created", "response": begun })];
    for (index, item) in items(said).into_iter().enumerate() {
        let mut added = item.clone();
        let (list, kind, text) = match item["type"] == "message" {
            true => ("content", "output_text", said.text),
            false => ("arguments", "function_call_arguments", item["arguments"].as_str().unwrap()),
        };
        added[list] = if list == "content" { json!([]) } else { "".into() };
        added["status"] = "in_progress".into();
        let at = json!({ "item_id": item["id"], "output_index": index, "content_index": 0 });
        let event = |kind: String, key: &str, value: Value| {
            let mut event = at.clone();
            event["type"] = kind.into();
            event[key] = value;
            event
        };
        let part = |text: &str| json!({ "type": "output_text", "text": text, "annotations": [] });
        events.push(event("response.output_item.added".into(), "item", added));
        if list == "content" {
            events.push(event("response.content_part.added".into(), "part", part("")));
        }
        for piece in pieces(text, size) {
            events.push(event(format!("response.{kind}.delta"), "delta", piece.into()));
        }
        let whole = if list == "content" { "text" } else { "arguments" };
        events.push(event(format!("response.{kind}.done"), whole, text.into()));
        if list == "content" {
            events.push(event("response.content_part.done".into(), "part", part(text)));
        }
        events.push(event("response.output_item.done".into(), "item", item));
    }
    let whole = response(said, "completed");
    events.push(json!({ "type": "response.completed", "response": whole }));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = number.into();
    }
    named("type", events)
}

fn gemini_list(said: &Said<'_>, size: usize) -> Vec<Value> {
    let texts = pieces(said.text, size);
    let mut chunks: Vec<Value> =
        texts.iter().map(|text| gemini(&Said { text, calls: &[] }, false)).collect();
    chunks.push(gemini(&Said { text: "", calls: said.calls }, true));
    chunks
}

fn gemini_chunks(said: &Said<'_>, size: usize) -> Events {
    named("modelVersion", gemini_list(said, size))
}

fn gemini_array(said: &Said<'_>) -> Vec<u8> {
    let chunks: Vec<String> = gemini_list(said, 8).iter().map(Value::to_string).collect();
    format!("[{}\n]", chunks.join("\n,\r\n")).into_bytes()
}

fn interactions(said: &Said<'_>, size: usize) -> Events {
    let interaction = |status: &str| json!({ "id": "i_1", "object": "interaction", "model": "m", "status": status });
    let mut events = vec![
        json!({ "event_type": "interaction.created", "interaction": interaction("in_progress") }),
    ];
    let mut step =
        |index: usize, step: Value, deltas: Vec<Value>| {
            events.push(json!({ "event_type": "step.start", "index": index, "step": step }));
            events.extend(deltas.into_iter().map(
                |delta| json!({ "event_type": "step.delta", "index": index, "delta": delta }),
            ));
            events.push(json!({ "event_type": "step.stop", "index": index }));
        };
    let text = |piece| json!({ "type": "text", "text": piece });
    let texts = pieces(said.text, size).into_iter().map(text).collect();
    step(0, json!({ "type": "model_output" }), texts);
    for (place, Called { id, name, arguments }) in said.calls.iter().enumerate() {
        let start = json!({ "type": "function_call", "id": id, "name": name, "arguments": {} });
        let piece = |piece| json!({ "type": "arguments_delta", "arguments": piece });
        step(place + 1, start, pieces(arguments, size).into_iter().map(piece).collect());
    }
    events.push(json!({ "event_type": "interaction.completed",
        "interaction": interaction("requires_action") }));
    named("event_type", events)
}

fn lines(said: &Said<'_>, size: usize) -> Events {
    let texts = pieces(said.text, size);
    let mut lines: Vec<Value> = texts.iter().map(|text| ollama(text, &[], false)).collect();
    lines.push(ollama("", said.calls, false));
    lines.push(ollama("", &[], true));
    named("model", lines)
}

fn cohere(said: &Said<'_>, size: usize) -> Events {
    let content = json!({ "type": "text", "text": "" });
    let mut events = vec![
        json!({ "type": "message-start", "id": "c",
            "delta": { "message": { "role": "assistant", "content": [], "tool_calls": [] } } }),
        json!({ "type": "content-start", "index": 0, "delta": { "message": { "content": content } } }),
    ];
    for piece in pieces(said.text, size) {
        events.push(json!({ "type": "content-delta", "index": 0,
            "delta": { "message": { "content": { "text": piece } } } }));
    }
    events.push(json!({ "type": "content-end", "index": 0 }));
    for (index, call) in said.calls.iter().enumerate() {
        let start = function(&Called { arguments: "", ..*call });
        events.push(json!({ "type": "tool-call-start", "index": index,
            "delta": { "message": { "tool_calls": start } } }));
        for piece in pieces(call.arguments, size) {
            let piece = json!({ "function": { "arguments": piece } });
            events.push(json!({ "type": "tool-call-delta", "index": index,
                "delta": { "message": { "tool_calls": piece } } }));
        }
        events.push(json!({ "type": "tool-call-end", "index": index }));
    }
    events.push(json!({ "type": "message-end", "delta": { "finish_reason": "TOOL_CALL" } }));
    named("type", events)
}

fn converse(said: &Said<'_>, size: usize) -> Events {
    let mut events: Events = Vec::new();
    let mut event = |name: &str, data: Value| events.push((name.to_owned(), data));
    event("messageStart", json!({ "role": "assistant" }));
    for piece in pieces(said.text, size) {
        event("contentBlockDelta", json!({ "contentBlockIndex": 0, "delta": { "text": piece } }));
    }
    event("contentBlockStop", json!({ "contentBlockIndex": 0 }));
    for (place, Called { id, name, arguments }) in said.calls.iter().enumerate() {
        let index = place + 1;
        let start = json!({ "toolUse": { "toolUseId": id, "name": name } });
        event("contentBlockStart", json!({ "contentBlockIndex": index, "start": start }));
        for piece in pieces(arguments, size) {
            let delta = json!({ "toolUse": { "input": piece } });
            event("contentBlockDelta", json!({ "contentBlockIndex": index, "delta": delta }));
        }
        event("contentBlockStop", json!({ "contentBlockIndex": index }));
    }
    event("messageStop", json!({ "stopReason": "tool_use" }));
    events
}
