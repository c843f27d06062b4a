//! Reads responses the way clients do.
//!
//! Each reader follows what one kind of client was seen to do with odd streams: last of two equal
//! keys, byte order marks before fields, events without their blank line, calls after the end.
//! They are lenient on purpose: a denied call that any of them can make out has leaked.

mod anywhere;
mod bedrock;
mod cohere;
mod gemini;
mod interactions;
mod ollama;
mod responses;

use std::collections::BTreeMap;

use callgate_dialect::Dialect;
use serde_json::Value;

/// A call some client ends up with: name and arguments.
pub type Call = (String, String);

/// What each kind of client makes of a body.
pub fn readings(dialect: Dialect, body: &[u8]) -> BTreeMap<&'static str, Vec<Call>> {
    let text = String::from_utf8_lossy(body);
    let mut readings = BTreeMap::new();
    if let Ok(document) = serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) {
        readings.insert("whole", whole(dialect, &document));
        let list = document.as_array().map_or(std::slice::from_ref(&document), Vec::as_slice);
        readings.insert(ANYWHERE, anywhere::calls(dialect, list));
        return readings;
    }
    let events = events(&text);
    match dialect {
        Dialect::Anthropic => {
            readings.insert("by place", anthropic_by_place(&events));
            readings.insert("by index", anthropic_by_index(&events));
            readings.insert("last begun", anthropic_last_begun(&events));
            readings.insert("last at a stop", anthropic_last_at_stop(&events));
        }
        Dialect::OpenAiChat => {
            readings.insert("names joined", chat(&events, Names::Join));
            readings.insert("last name", chat(&events, Names::Last));
            readings.insert("ids apart", chat_by_id(&events));
            readings.insert("each piece", chat_pieces(&events));
        }
        Dialect::Cohere => readings.extend(cohere::readings(&events)),
        Dialect::Responses => readings.extend(responses::readings(&events)),
        Dialect::Gemini => readings = gemini::readings(&text),
        Dialect::Ollama => readings = ollama::readings(&text),
        Dialect::Converse | Dialect::Invoke => readings = bedrock::readings(dialect, body),
        Dialect::Interactions => readings = interactions::readings(&text),
    }
    let documents: Vec<Value> = match dialect {
        Dialect::Ollama => lines(&text),
        Dialect::Converse => bedrock::events(body).into_iter().map(|(_, data)| data).collect(),
        Dialect::Invoke => bedrock::chunks(body).into_iter().map(|(_, data)| data).collect(),
        _ => events.into_iter().map(|(_, data)| data).collect(),
    };
    readings.insert(ANYWHERE, anywhere::calls(dialect, &documents));
    readings
}

/// The reader that takes every copy of a call for a call, even in an honest stream.
pub const ANYWHERE: &str = "anywhere";

fn lines(text: &str) -> Vec<Value> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The data of every event, by the laxest reading of the grammar: every line end, marks before a
/// field, no blank line at the end.
pub fn events(text: &str) -> Vec<(String, Value)> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut events = Vec::new();
    let (mut name, mut data): (String, Vec<&str>) = (String::new(), Vec::new());
    for line in text.split('\n').chain([""]) {
        let line = line.trim_start_matches('\u{feff}');
        if line.is_empty() {
            if let Ok(value) = serde_json::from_str(&data.join("\n")) {
                events.push((name.clone(), value));
            }
            (name, data) = (String::new(), Vec::new());
        } else if let Some(value) = line.strip_prefix("data:") {
            data.push(value.strip_prefix(' ').unwrap_or(value));
        } else if let Some(value) = line.strip_prefix("event:") {
            name = value.trim().to_owned();
        }
    }
    events
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn whole(dialect: Dialect, document: &Value) -> Vec<Call> {
    let mut calls = Vec::new();
    match dialect {
        Dialect::Anthropic => {
            for block in document["content"].as_array().into_iter().flatten() {
                calls.extend(block_call(block));
            }
        }
        Dialect::OpenAiChat => {
            // A list of stored completions has them under `data`.
            let stored = document["data"].as_array().into_iter().flatten();
            let documents = std::iter::once(document).chain(stored);
            let choices = documents.filter_map(|document| document["choices"].as_array());
            for choice in choices.flatten() {
                for said in [&choice["message"], &choice["delta"]] {
                    for call in said["tool_calls"].as_array().into_iter().flatten() {
                        calls.push(entry(call));
                    }
                    if said["function_call"].is_object() {
                        let call = &said["function_call"];
                        calls.push((text(&call["name"]), text(&call["arguments"])));
                    }
                }
            }
        }
        Dialect::Cohere => calls.extend(cohere::whole(document)),
        Dialect::Ollama => calls.extend(ollama::whole(document)),
        Dialect::Responses => calls = responses::of_body(document),
        Dialect::Gemini => calls = gemini::whole(document),
        Dialect::Converse | Dialect::Invoke => calls = bedrock::whole(document),
        Dialect::Interactions => calls = interactions::whole(document),
    }
    calls
}

fn block_call(block: &Value) -> Option<Call> {
    let kind = block["type"].as_str().unwrap_or("");
    if kind == "server_tool_use" || kind == "mcp_tool_use" {
        return None;
    }
    let is_call = kind == "tool_use" || (block["name"].is_string() && block.get("input").is_some());
    is_call.then(|| (text(&block["name"]), text(&block["input"])))
}

fn entry(call: &Value) -> Call {
    let inner = if call["custom"].is_object() { &call["custom"] } else { &call["function"] };
    let arguments = if inner["input"].is_null() { &inner["arguments"] } else { &inner["input"] };
    (text(&inner["name"]), text(arguments))
}

#[derive(Default)]
struct Building {
    call: Option<Call>,
    pieces: String,
}

impl Building {
    fn start(block: &Value) -> Self {
        Self { call: block_call(block), pieces: String::new() }
    }

    fn done(self) -> Option<Call> {
        let (name, input) = self.call?;
        let arguments = if self.pieces.is_empty() { input } else { self.pieces };
        Some((name, if arguments.is_empty() { "{}".into() } else { arguments }))
    }
}

/// The SDKs: a start appends, deltas address the place.
fn anthropic_by_place(events: &[(String, Value)]) -> Vec<Call> {
    let mut blocks: Vec<Building> = Vec::new();
    for (_, event) in events {
        match event["type"].as_str() {
            Some("message_start") if blocks.is_empty() => {
                let content = event["message"]["content"].as_array();
                blocks.extend(content.into_iter().flatten().map(Building::start));
            }
            Some("content_block_start") => blocks.push(Building::start(&event["content_block"])),
            Some("content_block_delta") => {
                let place = match event["index"].as_i64() {
                    Some(-1) => blocks.len().checked_sub(1),
                    Some(index) => usize::try_from(index).ok(),
                    None => event["index"].as_f64().map(|index| index as usize),
                };
                if let Some(block) = place.and_then(|place| blocks.get_mut(place)) {
                    block.pieces.push_str(event["delta"]["partial_json"].as_str().unwrap_or(""));
                }
            }
            _ => {}
        }
    }
    blocks.into_iter().filter_map(Building::done).collect()
}

/// Vercel: by the claimed index.
fn anthropic_by_index(events: &[(String, Value)]) -> Vec<Call> {
    let mut open: BTreeMap<String, Building> = BTreeMap::new();
    let mut calls = Vec::new();
    for (_, event) in events {
        // To JavaScript, 0.0 is 0.
        let index = event["index"].to_string().trim_end_matches(".0").to_owned();
        match event["type"].as_str() {
            Some("message_start") => {
                let content = event["message"]["content"].as_array();
                calls.extend(content.into_iter().flatten().filter_map(block_call));
            }
            Some("content_block_start") => {
                let before = open.insert(index, Building::start(&event["content_block"]));
                calls.extend(before.and_then(Building::done));
            }
            Some("content_block_delta") => {
                if let Some(block) = open.get_mut(&index) {
                    block.pieces.push_str(event["delta"]["partial_json"].as_str().unwrap_or(""));
                }
            }
            Some("content_block_stop") => {
                calls.extend(open.remove(&index).and_then(Building::done));
            }
            _ => {}
        }
    }
    calls.extend(open.into_values().filter_map(Building::done));
    calls
}

/// A client that ignores indices: deltas belong to the call that began last, until a block stops.
fn anthropic_last_begun(events: &[(String, Value)]) -> Vec<Call> {
    let mut blocks: Vec<Building> = Vec::new();
    let mut open = false;
    for (_, event) in events {
        match event["type"].as_str() {
            Some("content_block_start") if block_call(&event["content_block"]).is_some() => {
                blocks.push(Building::start(&event["content_block"]));
                open = true;
            }
            Some("content_block_stop") => open = false,
            Some("content_block_delta") if open => {
                if let Some(block) = blocks.last_mut() {
                    block.pieces.push_str(event["delta"]["partial_json"].as_str().unwrap_or(""));
                }
            }
            _ => {}
        }
    }
    blocks.into_iter().filter_map(Building::done).collect()
}

/// The TypeScript SDK's listeners: whichever block stops, they get the one that began last, as far
/// as it has arrived. The message they get in the end has all of them.
fn anthropic_last_at_stop(events: &[(String, Value)]) -> Vec<Call> {
    let mut calls = anthropic_by_place(events);
    for (place, (_, event)) in events.iter().enumerate() {
        if event["type"] != "content_block_stop" {
            continue;
        }
        let so_far = &events[..place];
        let blocks = ["content_block_start", "message_start"];
        let last = so_far.iter().rposition(|(_, event)| {
            event["type"].as_str().is_some_and(|kind| blocks.contains(&kind))
        });
        let last = last.map(|last| &so_far[last].1["content_block"]);
        if last.is_some_and(|block| block_call(block).is_some()) {
            let announced = anthropic_by_place(so_far).pop();
            calls.extend(announced.filter(|call| !calls.contains(call)));
        }
    }
    calls
}

#[derive(Clone, Copy, PartialEq)]
enum Names {
    Join,
    Last,
}

/// Every call piece of a stream: choice, key, id, name, arguments.
fn pieces(events: &[(String, Value)]) -> Vec<(i64, String, String, String, String)> {
    let mut pieces = Vec::new();
    for (_, event) in events {
        for choice in event["choices"].as_array().into_iter().flatten() {
            let lane = choice["index"].as_i64().unwrap_or(0);
            for said in [&choice["delta"], &choice["message"]] {
                for call in said["tool_calls"].as_array().into_iter().flatten() {
                    let (name, arguments) = entry(call);
                    let key = match call["index"].as_i64() {
                        Some(-1) | None => "last".to_owned(),
                        Some(index) => index.to_string(),
                    };
                    pieces.push((lane, key, text(&call["id"]), name, arguments));
                }
                if said["function_call"].is_object() {
                    let call = &said["function_call"];
                    let (name, arguments) = (text(&call["name"]), text(&call["arguments"]));
                    pieces.push((lane, "legacy".into(), String::new(), name, arguments));
                }
            }
        }
    }
    pieces
}

fn chat(events: &[(String, Value)], names: Names) -> Vec<Call> {
    let mut calls: Vec<((i64, String), Call)> = Vec::new();
    for (lane, key, _, name, arguments) in pieces(events) {
        let place = match key.as_str() {
            "last" => calls.len().checked_sub(1),
            _ => calls.iter().position(|(known, _)| *known == (lane, key.clone())),
        };
        match place {
            Some(place) => {
                let call = &mut calls[place].1;
                match names {
                    Names::Join => call.0.push_str(&name),
                    Names::Last if !name.is_empty() => call.0 = name,
                    Names::Last => {}
                }
                call.1.push_str(&arguments);
            }
            None => calls.push(((lane, key), (name, arguments))),
        }
    }
    calls.into_iter().map(|(_, call)| call).collect()
}

/// Another id begins another call; choices are not told apart.
fn chat_by_id(events: &[(String, Value)]) -> Vec<Call> {
    let mut calls: Vec<(String, String, Call)> = Vec::new();
    for (_, key, id, name, arguments) in pieces(events) {
        let known =
            calls.iter().rposition(|(k, known, _)| *k == key && (id.is_empty() || *known == id));
        match known {
            Some(place) => calls[place].2.1.push_str(&arguments),
            None => calls.push((key, id, (name, arguments))),
        }
    }
    calls.into_iter().map(|(_, _, call)| call).collect()
}

/// A loop that takes every name for a call.
fn chat_pieces(events: &[(String, Value)]) -> Vec<Call> {
    pieces(events)
        .into_iter()
        .filter(|(_, _, _, name, _)| !name.is_empty())
        .map(|(_, _, _, name, arguments)| (name, arguments))
        .collect()
}
