//! OpenAI Responses, for Codex.

use std::fmt::Write;

use callgate_testkit::upstream::Answer;
use serde_json::{Value, json};

use super::Said;

pub(super) fn stream(turn: &[Said]) -> Answer {
    let output: Vec<Value> = turn.iter().enumerate().map(item).collect();
    let response = |status: &str, output: &[Value]| {
        json!({ "id": "resp_1", "object": "response", "created_at": 1, "status": status,
            "model": "scripted", "output": output,
            "usage": { "input_tokens": 10, "output_tokens": 20, "total_tokens": 30,
                "input_tokens_details": { "cached_tokens": 0 },
                "output_tokens_details": { "reasoning_tokens": 0 } } })
    };
    let mut events =
        vec![json!({ "type": "response.created", "response": response("in_progress", &[]) })];
    for (index, (item, said)) in output.iter().zip(turn).enumerate() {
        let event = |kind: &str| json!({ "type": kind, "output_index": index, "item": item });
        events.push(event("response.output_item.added"));
        if let Said::Text(text) = said {
            *events.last_mut().unwrap().pointer_mut("/item/content").unwrap() = json!([]);
            events.extend(text_events(index, &item["id"], text));
        }
        events.push(event("response.output_item.done"));
    }
    events
        .push(json!({ "type": "response.completed", "response": response("completed", &output) }));
    let mut out = String::new();
    for event in events {
        write!(out, "event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()).unwrap();
    }
    Answer::stream(out)
}

/// A text as it comes between the beginning and the end of its item.
fn text_events(index: usize, id: &Value, text: &str) -> [Value; 4] {
    let part = |text: &str| json!({ "type": "output_text", "text": text, "annotations": [] });
    [
        json!({ "type": "response.content_part.added", "part": part("") }),
        json!({ "type": "response.output_text.delta", "delta": text }),
        json!({ "type": "response.output_text.done", "text": text }),
        json!({ "type": "response.content_part.done", "part": part(text) }),
    ]
    .map(|mut event| {
        event["output_index"] = json!(index);
        event["content_index"] = json!(0);
        event["item_id"] = id.clone();
        event
    })
}

fn item((place, said): (usize, &Said)) -> Value {
    match said {
        Said::Text(text) => json!({ "type": "message", "id": format!("msg_{place}"),
            "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }] }),
        Said::Thought(proof) => json!({ "type": "reasoning", "id": format!("rs_{proof}"),
            "summary": [], "encrypted_content": proof }),
        Said::Call { id, tool, input } => {
            let mut item = json!({ "type": "function_call", "id": format!("fc_{place}"),
                "call_id": id, "name": tool.name, "arguments": input.to_string(),
                "status": "completed" });
            if let Some(namespace) = &tool.namespace {
                item["namespace"] = json!(namespace);
            }
            item
        }
        Said::Search { id, query } => json!({ "type": "tool_search_call",
            "id": format!("tsc_{place}"), "call_id": id, "execution": "client",
            "status": "completed", "arguments": { "query": query, "limit": 20 } }),
        Said::Program { id, text } => json!({ "type": "custom_tool_call",
            "id": format!("ctc_{place}"), "call_id": id, "name": "exec", "input": text,
            "status": "completed" }),
    }
}
