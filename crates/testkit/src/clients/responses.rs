//! Clients of the Responses API: each believes another copy of a call.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Call, text};

/// What each kind of client makes of a stream.
pub(super) fn readings(events: &[(String, Value)]) -> BTreeMap<&'static str, Vec<Call>> {
    BTreeMap::from([
        ("whole response", whole_response(events)),
        ("items done", items_done(events)),
        ("pieces", pieces(events)),
        ("by place", by_place(events)),
        ("by place, older", by_place_of_old(events)),
    ])
}

/// The calls of a response, of a list of items, or of several of either.
pub(super) fn of_body(document: &Value) -> Vec<Call> {
    let lists = [&document["output"], &document["data"]];
    lists.into_iter().filter_map(Value::as_array).flatten().filter_map(call).collect()
}

/// The call an item is, if a client is to run it.
fn call(item: &Value) -> Option<Call> {
    let kind = item["type"].as_str().unwrap_or("");
    let is_none = match kind {
        "mcp_call"
        | "web_search_call"
        | "file_search_call"
        | "code_interpreter_call"
        | "image_generation_call"
        | "program" => true,
        "tool_search_call" => item["execution"] == "server",
        // No call whatever else it has.
        "message" | "reasoning" => true,
        _ => kind.ends_with("_output"),
    };
    let is_call = kind.ends_with("_call")
        || kind.ends_with("_request")
        || item["call_id"].is_string()
        || (item["name"].is_string() && item.get("arguments").is_some());
    if is_none || !is_call {
        return None;
    }
    let bare = kind.trim_end_matches("_call").trim_end_matches("_request");
    let name = match item["name"].as_str() {
        Some(name) if !name.is_empty() => name,
        _ if kind == "function_call" || kind == "custom_tool_call" => "",
        _ => bare,
    };
    let keys = ["arguments", "input", "action", "actions", "operation"];
    let arguments = keys.iter().map(|key| &item[*key]).find(|value| !value.is_null());
    Some((name.to_owned(), arguments.map(text).unwrap_or_default()))
}

/// The official helpers: the response that ends the stream, else the items that were done. What
/// stood in the response before its end counts too.
fn whole_response(events: &[(String, Value)]) -> Vec<Call> {
    let ends = |event: &Value| {
        let kind = event["type"].as_str().unwrap_or("");
        ["completed", "incomplete", "failed"].iter().any(|end| kind == format!("response.{end}"))
    };
    let outputs = events.iter().filter_map(|(_, event)| {
        event["response"]["output"].as_array().map(|list| (ends(event), list))
    });
    let (mut last, mut before) = (None, Vec::new());
    for (is_end, list) in outputs {
        let calls: Vec<Call> = list.iter().filter_map(call).collect();
        match is_end {
            true => last = Some(calls),
            false => before.extend(calls),
        }
    }
    let mut calls = last.unwrap_or_else(|| items_done(events));
    for call in before {
        if !calls.contains(&call) {
            calls.push(call);
        }
    }
    calls
}

/// Codex and Vercel: an item runs as soon as it is done.
fn items_done(events: &[(String, Value)]) -> Vec<Call> {
    let done = events.iter().filter(|(_, event)| event["type"] == "response.output_item.done");
    done.filter_map(|(_, event)| call(&event["item"])).collect()
}

/// The events whose list of items replaces the one that was made so far.
const EVERY_LIST: [&str; 6] = [
    "response.created",
    "response.queued",
    "response.in_progress",
    "response.completed",
    "response.failed",
    "response.incomplete",
];

/// openai-node 6.45 to 7.4: a list that an item is appended to when it is added, and in which
/// `output_index` is a place.
fn by_place(events: &[(String, Value)]) -> Vec<Call> {
    let mut items: Vec<Value> = Vec::new();
    for (_, event) in events {
        let kind = event["type"].as_str().unwrap_or("");
        let list = event["response"]["output"].as_array();
        if let Some(list) = list.filter(|_| EVERY_LIST.contains(&kind)) {
            items.clone_from(list);
        } else if kind == "response.output_item.added" {
            items.push(event["item"].clone());
        } else if let Some(item) = at_place(&mut items, &event["output_index"]) {
            add_to(item, kind, event);
        }
    }
    items.iter().filter_map(call).collect()
}

/// openai-node before 6.45: the same, but it reads only the first list and the last, and of the
/// events of a call only the pieces.
fn by_place_of_old(events: &[(String, Value)]) -> Vec<Call> {
    let mut begun = false;
    let is_read = |kind: &str| match kind {
        "response.created" => !std::mem::replace(&mut begun, true),
        "response.completed" | "response.output_item.added" => true,
        _ => kind.ends_with(".delta"),
    };
    let mut is_read = is_read;
    let events = events.iter().filter(|(_, event)| is_read(event["type"].as_str().unwrap_or("")));
    by_place(&events.cloned().collect::<Vec<_>>())
}

/// The item that an index of any spelling means to a list in JavaScript.
fn at_place<'a>(items: &'a mut [Value], index: &Value) -> Option<&'a mut Value> {
    let place = match index {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => number.as_f64().filter(|number| number.fract() == 0.0),
        _ => None,
    };
    items.get_mut(place.filter(|place: &f64| *place >= 0.0)? as usize)
}

fn add_to(item: &mut Value, kind: &str, event: &Value) {
    let key = if item["type"] == "custom_tool_call" { "input" } else { "arguments" };
    let of_kind = kind.strip_prefix("response.").unwrap_or(kind);
    let fits = match of_kind.split('.').next() {
        Some("function_call_arguments") => item["type"] == "function_call",
        Some("custom_tool_call_input") => item["type"] == "custom_tool_call",
        _ => false,
    };
    if of_kind == "output_item.done" {
        *item = event["item"].clone();
    } else if fits && of_kind.ends_with(".delta") {
        item[key] = format!("{}{}", text(&item[key]), text(&event["delta"])).into();
    } else if fits && of_kind.ends_with(".done") {
        item[key] = event[key].clone();
    }
}

/// A program that adds up the pieces itself, by index.
fn pieces(events: &[(String, Value)]) -> Vec<Call> {
    let mut calls: Vec<(Value, Call)> = Vec::new();
    for (_, event) in events {
        let kind = event["type"].as_str().unwrap_or("");
        if kind == "response.output_item.added" {
            if let Some(call) = call(&event["item"]) {
                calls.push((event["output_index"].clone(), call));
            }
            continue;
        }
        let index = &event["output_index"];
        let Some((_, call)) = calls.iter_mut().rev().find(|(known, _)| known == index) else {
            continue;
        };
        if kind.ends_with("_arguments.delta") || kind.ends_with("_input.delta") {
            call.1.push_str(event["delta"].as_str().unwrap_or(""));
        } else if call.1.is_empty() {
            call.1 = text(&event["arguments"]);
        }
    }
    calls.into_iter().map(|(_, call)| call).collect()
}
