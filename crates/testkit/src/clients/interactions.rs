//! How clients of Gemini Interactions read: by the index of a step, by its start, and by anything
//! that looks like a call.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Call, events, text};

/// What each kind of client makes of a stream.
pub(super) fn readings(body: &str) -> BTreeMap<&'static str, Vec<Call>> {
    let events: Vec<Value> = events(body).into_iter().map(|(_, event)| event).collect();
    BTreeMap::from([
        ("stopped", by_index(&events, Ends::AtItsStop)),
        ("started", by_index(&events, Ends::Anywhere)),
        ("each piece", events.iter().flat_map(anything).collect()),
    ])
}

/// The calls of a whole interaction.
pub(super) fn whole(document: &Value) -> Vec<Call> {
    anything(document)
}

#[derive(Clone, Copy, PartialEq)]
enum Ends {
    /// A call counts when its step stops; its arguments are those that came in pieces.
    AtItsStop,
    /// It counts as soon as it starts, with whatever arguments come.
    Anywhere,
}

pub(super) const HOSTED: [&str; 6] = [
    "mcp_server_tool_call",
    "google_search_call",
    "code_execution_call",
    "url_context_call",
    "file_search_call",
    "google_maps_call",
];

fn is_call(step: &Value) -> bool {
    let kind = step["type"].as_str().unwrap_or("");
    let named = step["name"].is_string() && !step["arguments"].is_null();
    !HOSTED.contains(&kind) && (kind.ends_with("_call") || named)
}

fn name(step: &Value) -> String {
    match step["name"].as_str() {
        Some(name) => name.to_owned(),
        None => step["type"].as_str().unwrap_or("").trim_end_matches("_call").to_owned(),
    }
}

fn by_index(events: &[Value], ends: Ends) -> Vec<Call> {
    let mut open: BTreeMap<String, (Call, String)> = BTreeMap::new();
    let mut calls = Vec::new();
    for event in events {
        let index = event["index"].to_string();
        match event["event_type"].as_str() {
            Some("step.start") if is_call(&event["step"]) => {
                let step = &event["step"];
                let before =
                    open.insert(index, ((name(step), text(&step["arguments"])), String::new()));
                calls
                    .extend(before.filter(|_| ends == Ends::Anywhere).map(|call| done(call, ends)));
            }
            Some("step.delta") => {
                if let Some((_, pieces)) = open.get_mut(&index) {
                    pieces.push_str(event["delta"]["arguments"].as_str().unwrap_or(""));
                }
            }
            Some("step.stop") => calls.extend(open.remove(&index).map(|call| done(call, ends))),
            _ => {}
        }
    }
    if ends == Ends::Anywhere {
        calls.extend(open.into_values().map(|call| done(call, ends)));
    }
    calls
}

fn done(((name, whole), pieces): (Call, String), ends: Ends) -> Call {
    let arguments = match (pieces.is_empty(), ends) {
        (false, _) => pieces,
        (true, Ends::AtItsStop) => "{}".to_owned(),
        (true, Ends::Anywhere) => whole,
    };
    (name, if arguments.is_empty() { "{}".to_owned() } else { arguments })
}

/// Every object that looks like a call, wherever it is.
fn anything(value: &Value) -> Vec<Call> {
    match value {
        Value::Object(object) => {
            // What a tool gave back is nothing to run.
            let members = object.iter().filter(|(key, _)| *key != "result");
            let mut calls: Vec<Call> = members.flat_map(|(_, value)| anything(value)).collect();
            if is_call(value) {
                calls.push((name(value), text(&value["arguments"])));
            }
            calls
        }
        Value::Array(list) => list.iter().flat_map(anything).collect(),
        _ => Vec::new(),
    }
}
