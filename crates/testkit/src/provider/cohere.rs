//! Cohere, version 2.

use std::collections::BTreeSet;

use callgate_dialect::Dialect;
use serde::Deserialize;
use serde_json::Value;

use super::{Block, Provider, Refusal, Turn, farewell};
use crate::made::{self, Called, Said};
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

pub(super) fn answer(provider: &Provider, body: &[u8]) -> Result<Answer, Refusal> {
    let body: Body =
        serde_json::from_slice(body).map_err(|error| Refusal(format!("body: {error}")))?;
    let turn = next_turn(provider, &body.messages)?;
    let calls = calls(&turn);
    let said = Said { text: &text(&turn), calls: &calls };
    Ok(match body.stream {
        true => Answer::stream(made::stream(Dialect::Cohere, &said, 7)),
        false => Answer::json(200, made::whole(Dialect::Cohere, &said)),
    })
}

/// Checks the history, and gives the turn that follows it. Clients send a turn back with its calls
/// or with its text, not with both: only the calls are compared.
fn next_turn(provider: &Provider, messages: &[Message]) -> Result<Turn, Refusal> {
    let first = messages.iter().find(|message| message.role == "user");
    let first = first.and_then(|message| message.content.as_str());
    let turns = provider.turns(first.ok_or_else(|| Refusal("no user message".into()))?)?;
    let mut given = 0;
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        if message.role == "tool" {
            let id = message.tool_call_id.as_deref().unwrap_or_default();
            if !open.remove(id) {
                return Err(Refusal(format!("messages[{at}]: unexpected tool_call_id {id}")));
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

fn all_answered(open: &BTreeSet<&str>) -> Result<(), Refusal> {
    if open.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = open.iter().copied().collect();
    Err(Refusal(format!("expected tool results for tool calls with ids {}", ids.join(", "))))
}

/// Whether a message has the calls of the turn that was given, or else its text.
fn is_turn(at: usize, message: &Message, turn: &[Block]) -> Result<(), Refusal> {
    let found = message.tool_calls.as_deref().unwrap_or_default();
    let given = calls(turn);
    let is_same = |(found, given): (&Call, &Called<'_>)| {
        found.id == given.id
            && found.function.name == given.name
            && found.function.arguments == given.arguments
    };
    if found.len() != given.len() || !found.iter().zip(&given).all(is_same) {
        return Err(Refusal(format!("messages[{at}]: expected {given:?}, found {found:?}")));
    }
    if given.is_empty() && message.content.to_string().len() < 3 {
        return Err(Refusal(format!("messages[{at}]: expected content or tool calls")));
    }
    Ok(())
}

fn calls(turn: &[Block]) -> Vec<Called<'_>> {
    let mut calls = Vec::new();
    for block in turn {
        if let Block::Call { id, name, input } = block {
            calls.push(Called { id, name, arguments: input });
        }
    }
    calls
}

fn text(turn: &[Block]) -> String {
    let text = |block: &Block| match block {
        Block::Text(text) => Some(text.clone()),
        Block::Thinking { .. } | Block::Redacted(_) | Block::Call { .. } => None,
    };
    turn.iter().filter_map(text).collect()
}
