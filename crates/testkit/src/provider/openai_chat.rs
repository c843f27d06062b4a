//! OpenAI Chat Completions.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Provider, ProviderRefusal, ScriptedTurn, TurnPart, farewell, pieces};
use crate::upstream::Answer;

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    stream: bool,
    #[serde(default)]
    stream_options: Value,
    messages: Vec<Message>,
}

#[derive(Debug, Deserialize)]
struct Message {
    role: String,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    tool_calls: Option<Vec<Call>>,
    #[serde(default)]
    tool_call_id: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Call {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    function: Function,
}

#[derive(Debug, Deserialize)]
struct Function {
    name: String,
    arguments: String,
}

pub(super) fn answer(provider: &Provider, body: &[u8]) -> Result<Answer, ProviderRefusal> {
    let body: Body =
        serde_json::from_slice(body).map_err(|error| ProviderRefusal(format!("body: {error}")))?;
    let turn = next_turn(provider, &body.messages)?;
    let given = body.messages.iter().filter(|message| message.role == "assistant").count();
    let usage = if body.stream_options["include_usage"] == true { usage() } else { Value::Null };
    Ok(if body.stream { stream(&turn, given, &usage) } else { whole(&turn, given) })
}

/// Checks the history, and gives the turn that follows it.
fn next_turn(provider: &Provider, messages: &[Message]) -> Result<ScriptedTurn, ProviderRefusal> {
    let first = messages.iter().find(|message| message.role == "user");
    let first = first.ok_or_else(|| ProviderRefusal("no user message".into()))?;
    let turns = provider.turns(&said(&first.content))?;
    let mut given = 0;
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        if message.role == "tool" {
            answers(at, message, &mut open)?;
            continue;
        }
        all_answered(&open)?;
        if message.role == "assistant" {
            let turn = turns.get(given).cloned().unwrap_or_else(farewell);
            is_turn(at, message, &turn)?;
            open.extend(message.tool_calls.iter().flatten().map(|call| call.id.as_str()));
            given += 1;
        }
    }
    all_answered(&open)?;
    Ok(turns.get(given).cloned().unwrap_or_else(farewell))
}

fn answers(at: usize, message: &Message, open: &mut BTreeSet<&str>) -> Result<(), ProviderRefusal> {
    let id = message.tool_call_id.as_deref().unwrap_or_default();
    if open.remove(id) {
        return Ok(());
    }
    Err(ProviderRefusal(format!(
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'. \
         (messages.[{at}].role, tool_call_id {id})"
    )))
}

fn all_answered(open: &BTreeSet<&str>) -> Result<(), ProviderRefusal> {
    if open.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = open.iter().copied().collect();
    Err(ProviderRefusal(format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. \
         The following tool_call_ids did not have response messages: {}",
        ids.join(", ")
    )))
}

/// Whether a message is the turn that was given.
fn is_turn(at: usize, message: &Message, turn: &[TurnPart]) -> Result<(), ProviderRefusal> {
    let calls = message.tool_calls.as_deref().unwrap_or_default();
    let mut place = 0;
    for block in turn {
        if let TurnPart::Call { id, name, input } = block {
            let call = calls.get(place);
            let is_same = call.is_some_and(|call| {
                call.kind == "function"
                    && call.id == *id
                    && call.function.name == *name
                    && call.function.arguments == *input
            });
            if !is_same {
                return Err(ProviderRefusal(format!(
                    "Invalid 'messages[{at}].tool_calls[{place}]': expected {id} ({name}) with arguments {input}, found {call:?}"
                )));
            }
            place += 1;
        }
    }
    if let Some(call) = calls.get(place) {
        let message = format!("Invalid 'messages[{at}].tool_calls[{place}]': unexpected {call:?}");
        return Err(ProviderRefusal(message));
    }
    let (expected, found) = (text(turn), said(&message.content));
    if expected != found {
        return Err(ProviderRefusal(format!(
            "Invalid 'messages[{at}].content': expected {expected:?}, found {found:?}"
        )));
    }
    if calls.is_empty() && found.is_empty() {
        return Err(ProviderRefusal(format!(
            "Invalid value for 'content': expected a string, got null. (messages.[{at}])"
        )));
    }
    Ok(())
}

/// The text of a message, a string or parts.
fn said(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// The text of a turn. The format has no place for thoughts.
fn text(turn: &[TurnPart]) -> String {
    let text = |block: &TurnPart| match block {
        TurnPart::Text(text) => Some(text.clone()),
        TurnPart::Thinking { .. } | TurnPart::Redacted(_) | TurnPart::Call { .. } => None,
    };
    turn.iter().filter_map(text).collect()
}

/// The calls of a turn, each without its arguments, and those.
fn calls(turn: &[TurnPart]) -> Vec<(Value, &str)> {
    let mut calls = Vec::new();
    for block in turn {
        if let TurnPart::Call { id, name, input } = block {
            let function = json!({ "name": name, "arguments": "" });
            let call = json!({ "id": id, "type": "function", "function": function });
            calls.push((call, input.as_str()));
        }
    }
    calls
}

fn finish_reason(turn: &[TurnPart]) -> &'static str {
    if calls(turn).is_empty() { "stop" } else { "tool_calls" }
}

fn content(turn: &[TurnPart]) -> Value {
    Some(text(turn)).filter(|text| !text.is_empty()).map_or(Value::Null, Value::from)
}

fn usage() -> Value {
    json!({ "prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30 })
}

/// What identifies an answer behind this many others.
fn id(given: usize) -> String {
    format!("chatcmpl-{}", given + 1)
}

fn whole(turn: &[TurnPart], given: usize) -> Answer {
    let mut message = json!({ "role": "assistant", "content": content(turn), "refusal": null });
    let calls: Vec<Value> = calls(turn)
        .into_iter()
        .map(|(mut call, input)| {
            call["function"]["arguments"] = input.into();
            call
        })
        .collect();
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let choice = json!({ "index": 0, "message": message, "logprobs": null,
        "finish_reason": finish_reason(turn) });
    let body = json!({ "id": id(given), "object": "chat.completion", "created": 1 + given,
        "model": "scripted", "choices": [choice], "usage": usage() });
    Answer::json(200, body.to_string())
}

fn stream(turn: &[TurnPart], given: usize, usage: &Value) -> Answer {
    let mut out = String::new();
    let data = |choices: Value| {
        json!({ "id": id(given), "object": "chat.completion.chunk", "created": 1 + given,
            "model": "scripted", "choices": choices })
    };
    let mut chunk = |delta: Value, finish: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        write!(out, "data: {}\n\n", data(json!([choice]))).unwrap();
    };
    chunk(
        json!({ "role": "assistant", "content": content(turn).as_str().map(|_| "") }),
        Value::Null,
    );
    for piece in pieces(&text(turn)) {
        chunk(json!({ "content": piece }), Value::Null);
    }
    for (index, (mut call, input)) in calls(turn).into_iter().enumerate() {
        call["index"] = index.into();
        chunk(json!({ "tool_calls": [call] }), Value::Null);
        for piece in pieces(input) {
            let piece = json!({ "index": index, "function": { "arguments": piece } });
            chunk(json!({ "tool_calls": [piece] }), Value::Null);
        }
    }
    chunk(json!({}), finish_reason(turn).into());
    if !usage.is_null() {
        let mut last = data(json!([]));
        last["usage"] = usage.clone();
        write!(out, "data: {last}\n\n").unwrap();
    }
    out.push_str("data: [DONE]\n\n");
    Answer::stream(out)
}
