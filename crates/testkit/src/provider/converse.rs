//! Bedrock Converse. Its checks are those of the models of Anthropic behind it.

use callgate_dialect::Dialect;
use serde_json::{Value, json};

use super::{Provider, ProviderRefusal, ScriptedTurn, TurnPart, farewell, pieces};
use crate::made;
use crate::upstream::Answer;

/// How an answer is asked for: by the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Stream,
    Body,
}

pub(super) fn answer(
    provider: &Provider,
    body: &Value,
    form: Form,
) -> Result<Answer, ProviderRefusal> {
    let none = Vec::new();
    let turn = next_turn(provider, body["messages"].as_array().unwrap_or(&none))?;
    Ok(match form {
        Form::Stream => stream(&turn),
        Form::Body => whole(&turn),
    })
}

/// Checks the history, and gives the turn that follows it.
fn next_turn(provider: &Provider, messages: &[Value]) -> Result<ScriptedTurn, ProviderRefusal> {
    let first = messages.first().and_then(|message| message["content"][0]["text"].as_str());
    let turns = provider.turns(first.ok_or_else(|| ProviderRefusal("no user message".into()))?)?;
    let mut given = 0;
    for (at, message) in messages.iter().enumerate() {
        let expected = if at.is_multiple_of(2) { "user" } else { "assistant" };
        if message["role"] != expected {
            return Err(ProviderRefusal(format!("messages.{at}: roles must alternate")));
        }
        let blocks = message["content"].as_array().cloned().unwrap_or_default();
        if blocks.is_empty() || blocks.iter().any(|block| block["text"] == "") {
            return Err(ProviderRefusal(format!("messages.{at}: the text field is blank")));
        }
        if expected == "assistant" {
            let turn = turns.get(given).cloned().unwrap_or_else(farewell);
            let turn: Vec<Value> = turn.iter().map(block_of).collect();
            if blocks != turn {
                return Err(ProviderRefusal(format!(
                    "messages.{at}.content: `thinking` blocks cannot be modified. \
                     Expected {turn:?}, found {blocks:?}"
                )));
            }
            given += 1;
        } else {
            let before = at.checked_sub(1).and_then(|before| messages.get(before));
            results(at, before, &blocks)?;
        }
    }
    Ok(turns.get(given).cloned().unwrap_or_else(farewell))
}

/// Every call has its result, at the start of the next message.
fn results(at: usize, before: Option<&Value>, blocks: &[Value]) -> Result<(), ProviderRefusal> {
    let calls = before.and_then(|before| before["content"].as_array()).into_iter().flatten();
    let calls: Vec<&Value> = calls.map(|block| &block["toolUse"]["toolUseId"]).collect();
    let calls: Vec<&Value> = calls.into_iter().filter(|id| !id.is_null()).collect();
    let found: Vec<&Value> = blocks.iter().map(|block| &block["toolResult"]["toolUseId"]).collect();
    let opening = found.iter().take_while(|id| !id.is_null()).count();
    let answered = found.get(..opening).unwrap_or_default();
    let behind = found.iter().skip(opening).any(|id| !id.is_null());
    let is_paired = answered.len() == calls.len() && calls.iter().all(|id| answered.contains(id));
    match is_paired && !behind {
        true => Ok(()),
        false => Err(ProviderRefusal(format!(
            "Expected toolResult blocks at messages.{at}.content for the following Ids: {calls:?}, \
             found {answered:?}"
        ))),
    }
}

/// A block as a request has it.
fn block_of(block: &TurnPart) -> Value {
    match block {
        TurnPart::Thinking { text, signature } => {
            let text = json!({ "text": text, "signature": signature });
            json!({ "reasoningContent": { "reasoningText": text } })
        }
        TurnPart::Redacted(data) => json!({ "reasoningContent": { "redactedContent": data } }),
        TurnPart::Text(text) => json!({ "text": text }),
        TurnPart::Call { id, name, input } => {
            let input: Value = serde_json::from_str(input).unwrap_or_default();
            json!({ "toolUse": { "toolUseId": id, "name": name, "input": input } })
        }
    }
}

fn stop_reason(turn: &[TurnPart]) -> &'static str {
    let calls = turn.iter().any(|block| matches!(block, TurnPart::Call { .. }));
    if calls { "tool_use" } else { "end_turn" }
}

fn usage() -> Value {
    json!({ "inputTokens": 10, "outputTokens": 20, "totalTokens": 30 })
}

fn whole(turn: &[TurnPart]) -> Answer {
    let blocks: Vec<Value> = turn.iter().map(block_of).collect();
    let message = json!({ "role": "assistant", "content": blocks });
    let body = json!({ "output": { "message": message }, "stopReason": stop_reason(turn),
        "usage": usage(), "metrics": { "latencyMs": 1 } });
    Answer::json(200, body.to_string())
}

fn stream(turn: &[TurnPart]) -> Answer {
    let mut events: Vec<(String, Value)> = Vec::new();
    let mut event = |name: &str, data: Value| events.push((name.to_owned(), data));
    event("messageStart", json!({ "role": "assistant", "p": "abcd" }));
    for (index, block) in turn.iter().enumerate() {
        let mut delta = |delta: Value| {
            let data = json!({ "contentBlockIndex": index, "delta": delta, "p": "abc" });
            event("contentBlockDelta", data);
        };
        match block {
            TurnPart::Text(text) => {
                pieces(text).into_iter().for_each(|piece| delta(json!({ "text": piece })));
            }
            TurnPart::Thinking { text, signature } => {
                delta(json!({ "reasoningContent": { "text": text } }));
                delta(json!({ "reasoningContent": { "signature": signature } }));
            }
            TurnPart::Redacted(data) => {
                delta(json!({ "reasoningContent": { "redactedContent": data } }));
            }
            TurnPart::Call { id, name, input } => {
                let start = json!({ "toolUse": { "toolUseId": id, "name": name } });
                let data = json!({ "contentBlockIndex": index, "start": start, "p": "a" });
                event("contentBlockStart", data);
                for piece in pieces(input) {
                    let delta = json!({ "toolUse": { "input": piece } });
                    let data = json!({ "contentBlockIndex": index, "delta": delta });
                    event("contentBlockDelta", data);
                }
            }
        }
        event("contentBlockStop", json!({ "contentBlockIndex": index }));
    }
    event("messageStop", json!({ "stopReason": stop_reason(turn) }));
    event("metadata", json!({ "usage": usage(), "metrics": { "latencyMs": 1 } }));
    Answer::new(200)
        .header("content-type", "application/vnd.amazon.eventstream")
        .send(made::events(Dialect::Converse, events))
}
