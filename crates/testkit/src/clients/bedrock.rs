//! Bedrock: binary messages, their checksums unchecked, read as Converse and as what a chunk holds.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use callgate_dialect::Dialect;
use serde_json::Value;

use super::{Building, Call, Names, block_call, chat, chat_by_id, entry, text};
use super::{anthropic_by_index, anthropic_by_place, anthropic_last_at_stop, anthropic_last_begun};

/// What each kind of client makes of a stream.
pub(super) fn readings(dialect: Dialect, body: &[u8]) -> BTreeMap<&'static str, Vec<Call>> {
    let mut readings = BTreeMap::new();
    if dialect == Dialect::Converse {
        let events = events(body);
        readings.insert("by index", by_index(&events));
        readings.insert("last begun", last_begun(&events));
        readings.insert("by shape", by_index(&by_shape(&events)));
        return readings;
    }
    let chunks = chunks(body);
    readings.insert("Messages by place", anthropic_by_place(&chunks));
    readings.insert("Messages by index", anthropic_by_index(&chunks));
    readings.insert("Messages last begun", anthropic_last_begun(&chunks));
    readings.insert("Messages last at a stop", anthropic_last_at_stop(&chunks));
    readings.insert("Nova", by_index(&unwrapped(&chunks)));
    readings.insert("Chat", chat(&chunks, Names::Join));
    readings.insert("Chat by id", chat_by_id(&chunks));
    readings
}

/// The calls in a whole body, whichever model's it is.
pub(super) fn whole(document: &Value) -> Vec<Call> {
    let mut calls = Vec::new();
    let lists = [&document["output"]["message"]["content"], &document["content"]];
    for block in lists.into_iter().filter_map(Value::as_array).flatten() {
        calls.extend(tool_use(&block["toolUse"]).or_else(|| block_call(block)));
    }
    for choice in document["choices"].as_array().into_iter().flatten() {
        for call in choice["message"]["tool_calls"].as_array().into_iter().flatten() {
            calls.push(entry(call));
        }
    }
    calls
}

/// The name and payload of every message that can be made out.
pub(super) fn events(mut body: &[u8]) -> Vec<(String, Value)> {
    let mut events = Vec::new();
    let number = |bytes: Option<&[u8]>| {
        let bytes: Option<[u8; 4]> = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, |bytes| u32::from_be_bytes(bytes) as usize)
    };
    loop {
        let (total, headers) = (number(body.get(..4)), number(body.get(4..8)));
        let Some(message) = body.get(..total).filter(|_| total >= 16) else { return events };
        body = &body[total..];
        let Some(payload) = message.get(12 + headers..total - 4) else { continue };
        let name = name(&message[12..12 + headers]);
        if let Ok(payload) = serde_json::from_slice(payload) {
            events.push((name, payload));
        }
    }
}

/// The last type among the headers. All that matter are text.
fn name(mut headers: &[u8]) -> String {
    let mut name = String::new();
    while let [count, rest @ ..] = headers {
        let Some((key, rest)) = rest.split_at_checked(usize::from(*count)) else { break };
        let [7, high, low, rest @ ..] = rest else { break };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let Some((value, rest)) = rest.split_at_checked(length) else { break };
        if key == b":event-type" {
            name = String::from_utf8_lossy(value).into_owned();
        }
        headers = rest;
    }
    name
}

/// What the chunks of InvokeModel hold.
pub(super) fn chunks(body: &[u8]) -> Vec<(String, Value)> {
    events(body).iter().filter_map(chunk).collect()
}

/// What a chunk holds. Python takes base64 with anything between.
fn chunk((name, payload): &(String, Value)) -> Option<(String, Value)> {
    if name != "chunk" {
        return None;
    }
    let lax = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let lax = GeneralPurpose::new(&base64::alphabet::STANDARD, lax);
    let coded: String = payload["bytes"]
        .as_str()?
        .chars()
        .filter(|c| c.is_alphanumeric() || "+/".contains(*c))
        .collect();
    let bytes = STANDARD.decode(&coded).or_else(|_| lax.decode(&coded)).ok()?;
    Some((String::new(), serde_json::from_slice(&bytes).ok()?))
}

/// The events of Nova, named by their key.
fn unwrapped(chunks: &[(String, Value)]) -> Vec<(String, Value)> {
    let members = chunks.iter().filter_map(|(_, chunk)| chunk.as_object()).flatten();
    members.map(|(name, payload)| (name.clone(), payload.clone())).collect()
}

/// A client that goes by what an event holds, whatever its name.
fn by_shape(events: &[(String, Value)]) -> Vec<(String, Value)> {
    let name = |payload: &Value| match payload {
        payload if payload["start"].is_object() => "contentBlockStart",
        payload if payload["delta"].is_object() => "contentBlockDelta",
        _ => "",
    };
    events.iter().map(|(_, payload)| (name(payload).to_owned(), payload.clone())).collect()
}

fn tool_use(call: &Value) -> Option<Call> {
    let is_of_service = call["type"] == "server_tool_use"
        && call["name"].as_str().is_some_and(|name| name.starts_with("nova_"));
    let is_call = call.is_object() && !is_of_service;
    is_call.then(|| (text(&call["name"]), text(&call["input"])))
}

/// Applications: by the block's index.
fn by_index(events: &[(String, Value)]) -> Vec<Call> {
    let mut open: BTreeMap<String, Building> = BTreeMap::new();
    let mut calls = Vec::new();
    for (name, event) in events {
        let index = event["contentBlockIndex"].to_string();
        match name.as_str() {
            "contentBlockStart" => {
                let call = tool_use(&event["start"]["toolUse"]);
                let before = open.insert(index, Building { call, pieces: String::new() });
                calls.extend(before.and_then(Building::done));
            }
            "contentBlockDelta" => {
                if let Some(block) = open.get_mut(&index) {
                    let input = event["delta"]["toolUse"]["input"].as_str();
                    block.pieces.push_str(input.unwrap_or(""));
                }
            }
            "contentBlockStop" => calls.extend(open.remove(&index).and_then(Building::done)),
            _ => {}
        }
    }
    calls.extend(open.into_values().filter_map(Building::done));
    calls
}

/// A loop with one call in hand: pieces belong to the call that began last.
fn last_begun(events: &[(String, Value)]) -> Vec<Call> {
    let mut calls: Vec<Building> = Vec::new();
    for (name, event) in events {
        if let ("contentBlockStart", Some(call)) =
            (name.as_str(), tool_use(&event["start"]["toolUse"]))
        {
            calls.push(Building { call: Some(call), pieces: String::new() });
        }
        if let (Some(input), Some(call)) =
            (event["delta"]["toolUse"]["input"].as_str(), calls.last_mut())
        {
            call.pieces.push_str(input);
        }
    }
    calls.into_iter().filter_map(Building::done).collect()
}
