//! Cohere, version 2.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Provider, ProviderRefusal, ScriptedTurn, TurnPart, farewell, pieces};
use crate::made::Called;
use crate::upstream::Answer;

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    stream: bool,
    messages: Vec<Message>,
}

#[derive(Debug, Deserialize)]
struct Message {
    role: String,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    tool_plan: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<Call>>,
    #[serde(default)]
    tool_call_id: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Call {
    id: String,
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
    Ok(match body.stream {
        true => stream(&turn),
        false => whole(&turn),
    })
}

fn function(call: &Called<'_>, arguments: &str) -> Value {
    json!({ "id": call.id, "type": "function",
        "function": { "name": call.name, "arguments": arguments } })
}

fn usage() -> Value {
    let counts = json!({ "input_tokens": 10, "output_tokens": 20 });
    json!({ "billed_units": counts, "tokens": counts })
}

fn finish_reason(turn: &[TurnPart]) -> &'static str {
    if calls(turn).is_empty() { "COMPLETE" } else { "TOOL_CALL" }
}

fn whole(turn: &[TurnPart]) -> Answer {
    let mut message = json!({ "role": "assistant" });
    let (calls, text) = (calls(turn), text(turn));
    if let Some(plan) = plan(turn) {
        message["tool_plan"] = plan.into();
    }
    if !text.is_empty() {
        message["content"] = json!([{ "type": "text", "text": text }]);
    }
    if !calls.is_empty() {
        let calls = calls.iter().map(|call| function(call, call.arguments));
        message["tool_calls"] = calls.collect();
    }
    let body = json!({ "id": "c", "finish_reason": finish_reason(turn), "message": message,
        "usage": usage() });
    Answer::json(200, body.to_string())
}

fn stream(turn: &[TurnPart]) -> Answer {
    let mut out = String::new();
    let mut event = |kind: &str, index: Option<usize>, delta: Value| {
        let mut data = json!({ "type": kind, "delta": delta });
        if let Some(index) = index {
            data["index"] = index.into();
        }
        write!(out, "event: {kind}\ndata: {data}\n\n").unwrap();
    };
    let said = |key: &str, value: Value| {
        let mut message = json!({});
        message[key] = value;
        json!({ "message": message })
    };
    event("message-start", None, said("role", "assistant".into()));
    for piece in pieces(&plan(turn).unwrap_or_default()) {
        event("tool-plan-delta", None, said("tool_plan", piece.into()));
    }
    let text = text(turn);
    if !text.is_empty() {
        let start = json!({ "type": "text", "text": "" });
        event("content-start", Some(0), said("content", start));
        for piece in pieces(&text) {
            event("content-delta", Some(0), said("content", json!({ "text": piece })));
        }
        event("content-end", Some(0), json!({}));
    }
    for (index, call) in calls(turn).iter().enumerate() {
        event("tool-call-start", Some(index), said("tool_calls", function(call, "")));
        for piece in pieces(call.arguments) {
            let piece = json!({ "function": { "arguments": piece } });
            event("tool-call-delta", Some(index), said("tool_calls", piece));
        }
        event("tool-call-end", Some(index), json!({}));
    }
    let end = json!({ "finish_reason": finish_reason(turn), "usage": usage() });
    event("message-end", None, end);
    out.push_str("data: [DONE]\n\n");
    Answer::stream(out)
}

/// What the model plans to do with its calls.
fn plan(turn: &[TurnPart]) -> Option<String> {
    if calls(turn).is_empty() {
        return None;
    }
    let thought = |block: &TurnPart| match block {
        TurnPart::Thinking { text, .. } => Some(text.clone()),
        TurnPart::Redacted(_) | TurnPart::Text(_) | TurnPart::Call { .. } => None,
    };
    turn.iter().find_map(thought)
}

/// Checks the history, and gives the turn that follows it. Clients send a turn back with its calls
/// and its plan or with its text, not with all of them: what is there is compared.
fn next_turn(provider: &Provider, messages: &[Message]) -> Result<ScriptedTurn, ProviderRefusal> {
    let first = messages.iter().find(|message| message.role == "user");
    let first = first.and_then(|message| message.content.as_str());
    let turns = provider.turns(first.ok_or_else(|| ProviderRefusal("no user message".into()))?)?;
    let mut given = 0;
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        if message.role == "tool" {
            let id = message.tool_call_id.as_deref().unwrap_or_default();
            if !open.remove(id) {
                return Err(ProviderRefusal(format!(
                    "messages[{at}]: unexpected tool_call_id {id}"
                )));
            }
            continue;
        }
        all_answered(&open)?;
        if message.role == "assistant" {
            is_turn(at, message, turns.get(given).unwrap_or(&farewell()))?;
            open.extend(message.tool_calls.iter().flatten().map(|call| call.id.as_str()));
            given += 1;
        }
    }
    all_answered(&open)?;
    Ok(turns.get(given).cloned().unwrap_or_else(farewell))
}

fn all_answered(open: &BTreeSet<&str>) -> Result<(), ProviderRefusal> {
    if open.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = open.iter().copied().collect();
    Err(ProviderRefusal(format!(
        "expected tool results for tool calls with ids {}",
        ids.join(", ")
    )))
}

/// Whether a message has the calls of the turn that was given, or else its text.
fn is_turn(at: usize, message: &Message, turn: &[TurnPart]) -> Result<(), ProviderRefusal> {
    let found = message.tool_calls.as_deref().unwrap_or_default();
    let given = calls(turn);
    let is_same = |(found, given): (&Call, &Called<'_>)| {
        found.id == given.id
            && found.function.name == given.name
            && found.function.arguments == given.arguments
    };
    if found.len() != given.len() || !found.iter().zip(&given).all(is_same) {
        return Err(ProviderRefusal(format!(
            "messages[{at}]: expected {given:?}, found {found:?}"
        )));
    }
    let is_planned = |found: &String| found.is_empty() || plan(turn).as_ref() == Some(found);
    if !message.tool_plan.as_ref().is_none_or(is_planned) {
        let found = &message.tool_plan;
        return Err(ProviderRefusal(format!(
            "messages[{at}]: expected {:?}, found {found:?}",
            plan(turn)
        )));
    }
    if given.is_empty() && message.content.to_string().len() < 3 {
        return Err(ProviderRefusal(format!("messages[{at}]: expected content or tool calls")));
    }
    Ok(())
}

fn calls(turn: &[TurnPart]) -> Vec<Called<'_>> {
    let mut calls = Vec::new();
    for block in turn {
        if let TurnPart::Call { id, name, input } = block {
            calls.push(Called { id, name, arguments: input });
        }
    }
    calls
}

fn text(turn: &[TurnPart]) -> String {
    let text = |block: &TurnPart| match block {
        TurnPart::Text(text) => Some(text.clone()),
        TurnPart::Thinking { .. } | TurnPart::Redacted(_) | TurnPart::Call { .. } => None,
    };
    turn.iter().filter_map(text).collect()
}
