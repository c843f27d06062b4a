//! Clients of Cohere's version 2.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Call, text};

/// What each kind of client makes of a stream.
pub(super) fn readings(events: &[(String, Value)]) -> BTreeMap<&'static str, Vec<Call>> {
    BTreeMap::from([
        ("by index", by_index(events)),
        ("last begun", last_begun(events)),
        ("by event name", by_index(&under_their_names(events))),
        ("merged deltas", merged(events)),
    ])
}

/// The calls of a whole body, and of an event that someone takes for one.
pub(super) fn whole(document: &Value) -> Vec<Call> {
    let messages = [&document["message"], &document["delta"]["message"]];
    messages.into_iter().flat_map(of_message).collect()
}

fn of_message(message: &Value) -> Vec<Call> {
    let calls = &message["tool_calls"];
    let one = calls.is_object().then_some(calls);
    let list = calls.as_array().into_iter().flatten().chain(one);
    list.filter(|call| call["function"]["name"].is_string()).map(call).collect()
}

/// No arguments are the word `null`, or nothing.
fn call(call: &Value) -> Call {
    (text(&call["function"]["name"]), arguments(text(&call["function"]["arguments"])))
}

fn arguments(text: String) -> String {
    if text.is_empty() || text == "null" { "{}".into() } else { text }
}

fn piece(event: &Value) -> String {
    text(&event["delta"]["message"]["tool_calls"]["function"]["arguments"])
}

/// A client that keeps a call for every index; a second start on one is a second call.
fn by_index(events: &[(String, Value)]) -> Vec<Call> {
    let mut calls: Vec<(String, Call)> = Vec::new();
    for (_, event) in events {
        let index = event["index"].to_string();
        let started = &event["delta"]["message"]["tool_calls"];
        match event["type"].as_str() {
            Some("tool-call-start") => {
                let name = text(&started["function"]["name"]);
                calls.push((index, (name, piece(event))));
            }
            Some("tool-call-delta") => {
                let known = calls.iter_mut().rev().find(|(known, _)| *known == index);
                if let Some((_, call)) = known {
                    call.0.push_str(&text(&started["function"]["name"]));
                    call.1.push_str(&piece(event));
                }
            }
            _ => {}
        }
    }
    calls.into_iter().map(|(_, (name, text))| (name, arguments(text))).collect()
}

/// The Vercel SDK: one call at a time, whatever its index; it counts once it has ended.
fn last_begun(events: &[(String, Value)]) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut pending: Option<Call> = None;
    for (_, event) in events {
        match event["type"].as_str() {
            Some("tool-call-start") => {
                let started = &event["delta"]["message"]["tool_calls"]["function"];
                pending = Some((text(&started["name"]), piece(event)));
            }
            Some("tool-call-delta") => {
                if let Some(call) = &mut pending {
                    call.1.push_str(&piece(event));
                }
            }
            Some("tool-call-end") => {
                calls.extend(pending.take().map(|(name, text)| (name, arguments(text))));
            }
            _ => {}
        }
    }
    calls
}

/// The events as a client sees them that goes by their names.
fn under_their_names(events: &[(String, Value)]) -> Vec<(String, Value)> {
    let mut events = events.to_vec();
    for (name, event) in &mut events {
        if !name.is_empty() && event.is_object() {
            event["type"] = Value::from(name.as_str());
        }
    }
    events
}

/// A client that takes a named call wherever an event has one, and adds nameless pieces to the last.
fn merged(events: &[(String, Value)]) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    for (_, event) in events {
        let named = whole(event);
        match calls.last_mut() {
            Some(last) if named.is_empty() => last.1.push_str(&piece(event)),
            _ => {}
        }
        let raw = |(name, text): Call| (name, if text == "{}" { String::new() } else { text });
        calls.extend(named.into_iter().map(raw));
    }
    calls.into_iter().map(|(name, text)| (name, arguments(text))).collect()
}
