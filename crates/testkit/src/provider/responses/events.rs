//! A response as a stream of events.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::provider::pieces;
use crate::upstream::Answer;

/// The events of a response, all or those after a number.
pub(super) fn stream(response: &Value, after: Option<usize>) -> Answer {
    let mut out = String::new();
    for (number, mut event) in events(response).into_iter().enumerate() {
        if after.is_some_and(|after| number <= after) {
            continue;
        }
        event["sequence_number"] = number.into();
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        write!(out, "event: {kind}\ndata: {event}\n\n").unwrap();
    }
    Answer::stream(out)
}

fn events(response: &Value) -> Vec<Value> {
    let mut begun = response.clone();
    begun["status"] = "in_progress".into();
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    let mut events = vec![
        json!({ "type": "response.created", "response": begun }),
        json!({ "type": "response.in_progress", "response": begun }),
    ];
    for (index, item) in response["output"].as_array().into_iter().flatten().enumerate() {
        of_item(index, item, &mut events);
    }
    events.push(json!({ "type": "response.completed", "response": response }));
    events
}

fn of_item(index: usize, item: &Value, events: &mut Vec<Value>) {
    let mut added = item.clone();
    if item["status"].is_string() {
        added["status"] = "in_progress".into();
    }
    let id = item["id"].clone();
    let mut between = Vec::new();
    match item["type"].as_str().unwrap_or_default() {
        "function_call" => {
            added["arguments"] = "".into();
            let arguments = item["arguments"].as_str().unwrap_or_default();
            for piece in pieces(arguments) {
                between.push(json!({ "type": "response.function_call_arguments.delta",
                    "item_id": id, "output_index": index, "delta": piece }));
            }
            between.push(json!({ "type": "response.function_call_arguments.done",
                "item_id": id, "output_index": index, "name": item["name"],
                "arguments": arguments }));
        }
        "message" => {
            added["content"] = json!([]);
            between = of_text(index, item);
        }
        _ => {}
    }
    let event =
        |kind: &str, item: &Value| json!({ "type": kind, "output_index": index, "item": item });
    events.push(event("response.output_item.added", &added));
    events.append(&mut between);
    events.push(event("response.output_item.done", item));
}

fn of_text(index: usize, item: &Value) -> Vec<Value> {
    let text = item["content"][0]["text"].as_str().unwrap_or_default();
    let event = |kind: &str, key: &str, value: Value| {
        let mut event = json!({ "type": format!("response.{kind}"), "item_id": item["id"],
            "output_index": index, "content_index": 0 });
        event[key] = value;
        event
    };
    let part = |text: &str| json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] });
    let mut events = vec![event("content_part.added", "part", part(""))];
    for piece in pieces(text) {
        let mut delta = event("output_text.delta", "delta", piece.into());
        delta["logprobs"] = json!([]);
        events.push(delta);
    }
    let mut done = event("output_text.done", "text", text.into());
    done["logprobs"] = json!([]);
    events.push(done);
    events.push(event("content_part.done", "part", part(text)));
    events
}
