//! OpenAI Responses, with the state that the API keeps: responses, and conversations.
//!
//! A request continues from what it carries itself, from a stored response, or from a conversation.
//! Whatever it continues from, every call in it must have its output, and every output its call.

mod events;
mod state;

use serde_json::{Value, json};

use super::{Provider, ProviderRefusal, ScriptedTurn, TurnPart, farewell};
use crate::upstream::{Answer, Request};

pub(super) use state::State;

use state::{StoredResponse, conversation_object};

/// The answer to a request below `/responses` or `/conversations`; `rest` is its path from there.
pub(super) fn answer(
    provider: &Provider,
    request: &Request,
    rest: &str,
) -> Result<Answer, ProviderRefusal> {
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    let mut state = provider.state.lock().map_err(|_| ProviderRefusal("broken".to_owned()))?;
    match (request.method.as_str(), segments.as_slice()) {
        ("POST", ["responses"]) => create(provider, &mut state, &request.json()),
        ("POST", ["responses", "input_tokens"]) => count(provider, &state, &request.json()),
        ("POST", ["responses", "compact"]) => compact(provider, &state, &request.json()),
        ("GET", ["responses", id]) => Ok(read(state.response(id)?, query)),
        ("DELETE", ["responses", id]) => {
            let deleted = json!({ "id": id, "object": "response", "deleted": true });
            Ok(match state.forget(id) {
                Ok(()) => json_answer(&deleted),
                Err(ProviderRefusal(message)) => {
                    Answer::json(404, json!({ "error": { "message": message } }).to_string())
                }
            })
        }
        ("POST", ["responses", id, "cancel"]) => Ok(read(state.response(id)?, "")),
        ("GET", ["responses", id, "input_items"]) => Ok(list(&state.response(id)?.input)),
        ("POST", ["conversations"]) => Ok(json_answer(&state.new_conversation())),
        ("GET", ["conversations", id]) => {
            state.conversation(id)?;
            Ok(json_answer(&conversation_object(id)))
        }
        ("GET", ["conversations", id, "items"]) => Ok(list(state.conversation(id)?)),
        _ => Err(ProviderRefusal(format!("no such path: {} {path}", request.method))),
    }
}

/// What a request continues from, and what it adds.
struct Asked {
    before: Vec<Value>,
    input: Vec<Value>,
    conversation: Option<String>,
    previous: Option<String>,
}

impl Asked {
    fn of(state: &State, body: &Value) -> Result<Self, ProviderRefusal> {
        let previous = body["previous_response_id"].as_str().map(str::to_owned);
        let conversation = body["conversation"].as_str().or(body["conversation"]["id"].as_str());
        let conversation = conversation.map(str::to_owned);
        let before = match (&previous, &conversation) {
            (Some(id), None) => state.response(id)?.all(),
            (None, Some(id)) => state.conversation(id)?.to_vec(),
            (None, None) => Vec::new(),
            (Some(_), Some(_)) => {
                return Err(ProviderRefusal("Mutually exclusive parameters".to_owned()));
            }
        };
        let input = input(&body["input"])?;
        let input = input.iter().map(|item| state.referred(item)).collect::<Result<_, _>>()?;
        Ok(Self { before, input, conversation, previous })
    }

    fn all(&self) -> Vec<Value> {
        self.before.iter().chain(&self.input).cloned().collect()
    }
}

fn create(provider: &Provider, state: &mut State, body: &Value) -> Result<Answer, ProviderRefusal> {
    let asked = Asked::of(state, body)?;
    let items = asked.all();
    let turn = next_turn(provider, &items)?;
    state.knows_thinking(&items)?;
    let id = state.next_id("resp");
    let is_stored = body["store"] != false;
    let seals = body["include"].to_string().contains("reasoning.encrypted_content");
    let mut output: Vec<Value> = turn.iter().enumerate().map(item_of).collect();
    for (place, item) in output.iter_mut().enumerate() {
        match item["type"].as_str().unwrap_or_default() {
            "message" => item["id"] = format!("msg_{}_{place}", id.replace('_', "")).into(),
            "reasoning" if is_stored && !seals => item["encrypted_content"] = Value::Null,
            _ => {}
        }
    }
    if let Some(conversation) = &asked.conversation {
        let added = asked.input.iter().chain(&output).cloned().collect();
        state.append(conversation, added)?;
    }
    let response = json!({ "id": id, "object": "response", "created_at": 1, "status": "completed",
        "model": "scripted", "error": null, "incomplete_details": null, "instructions": null,
        "metadata": {}, "parallel_tool_calls": true, "tool_choice": "auto", "tools": [],
        "temperature": 1.0, "top_p": 1.0, "store": is_stored,
        "previous_response_id": asked.previous,
        "conversation": asked.conversation.map(|id| json!({ "id": id })),
        "output": output,
        "usage": { "input_tokens": 10, "output_tokens": 20, "total_tokens": 30,
            "input_tokens_details": { "cached_tokens": 0 },
            "output_tokens_details": { "reasoning_tokens": 0 } } });
    let stored = StoredResponse { input: items, response };
    let answer = match body["stream"].as_bool() {
        Some(true) => events::stream(&stored.response, None),
        _ => json_answer(&stored.response),
    };
    if is_stored {
        state.keep(&id, stored);
    }
    Ok(answer)
}

/// A stored response: whole, or its events from one on.
fn read(stored: &StoredResponse, query: &str) -> Answer {
    let named = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(found, _)| *found == name).map(|(_, value)| value)
    };
    match named("stream") {
        Some("true") => {
            let after = named("starting_after").and_then(|number| number.parse().ok());
            events::stream(&stored.response, after)
        }
        _ => json_answer(&stored.response),
    }
}

fn count(provider: &Provider, state: &State, body: &Value) -> Result<Answer, ProviderRefusal> {
    next_turn(provider, &Asked::of(state, body)?.all())?;
    Ok(json_answer(&json!({ "object": "response.input_tokens", "input_tokens": 10 })))
}

/// What a conversation comes down to: here all of it, and a mark.
fn compact(provider: &Provider, state: &State, body: &Value) -> Result<Answer, ProviderRefusal> {
    let mut output = Asked::of(state, body)?.all();
    next_turn(provider, &output)?;
    output.push(json!({ "type": "compaction", "id": "cmp_1", "encrypted_content": "sealed" }));
    Ok(json_answer(&json!({ "id": "resp_compact", "object": "response.compaction",
        "created_at": 1, "output": output,
        "usage": { "input_tokens": 10, "output_tokens": 20, "total_tokens": 30 } })))
}

fn json_answer(body: &Value) -> Answer {
    Answer::json(200, body.to_string())
}

fn list(items: &[Value]) -> Answer {
    json_answer(&json!({ "object": "list", "data": items, "has_more": false,
        "first_id": null, "last_id": null }))
}

fn input(given: &Value) -> Result<Vec<Value>, ProviderRefusal> {
    match given {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(vec![json!({ "type": "message", "role": "user",
            "content": [{ "type": "input_text", "text": text }] })]),
        Value::Array(items) => Ok(items.clone()),
        other => Err(ProviderRefusal(format!("Invalid type for 'input': {other}"))),
    }
}

/// Checks everything that a request continues from, and gives the turn that follows it.
fn next_turn(provider: &Provider, items: &[Value]) -> Result<ScriptedTurn, ProviderRefusal> {
    let first = items.iter().find(|item| item["role"] == "user");
    let first = first.ok_or_else(|| ProviderRefusal("no user message".into()))?;
    let turns = provider.turns(&said(&first["content"]))?;
    all_answered(items)?;
    let found: Vec<Value> = items.iter().filter(|item| is_of_model(item)).map(bare).collect();
    let mut expected = Vec::new();
    for given in 0.. {
        if expected == found {
            return Ok(turns.get(given).cloned().unwrap_or_else(farewell));
        }
        if expected.len() >= found.len() {
            break;
        }
        let turn = turns.get(given).cloned().unwrap_or_else(farewell);
        expected.extend(turn.iter().enumerate().map(|place| bare(&item_of(place))));
    }
    Err(ProviderRefusal(format!("These are not the items that were given: {found:?}")))
}

/// Every call has its output, every output its call, and each of them once.
fn all_answered(items: &[Value]) -> Result<(), ProviderRefusal> {
    let mut open: Vec<&str> = Vec::new();
    for item in items {
        let id = item["call_id"].as_str().unwrap_or_default();
        match item["type"].as_str().unwrap_or_default() {
            "function_call" => open.push(id),
            "function_call_output" => {
                let call = open.iter().position(|open| *open == id).ok_or_else(|| {
                    ProviderRefusal(format!(
                        "No tool call found for function call output with call_id {id}."
                    ))
                })?;
                open.remove(call);
            }
            _ => {}
        }
    }
    match open.first() {
        Some(id) => Err(ProviderRefusal(format!("No tool output found for function call {id}."))),
        None => Ok(()),
    }
}

fn is_of_model(item: &Value) -> bool {
    let kind = item["type"].as_str().unwrap_or("message");
    item["role"] == "assistant" || matches!(kind, "function_call" | "reasoning")
}

/// What of an item must be the same when it comes back.
fn bare(item: &Value) -> Value {
    match item["type"].as_str().unwrap_or("message") {
        "function_call" => json!([item["call_id"], item["name"], item["arguments"]]),
        "reasoning" => json!(["reasoning", sealed(item)]),
        _ => json!(said(&item["content"])),
    }
}

/// The thought in an item: sealed in it, or known by its id.
fn sealed(item: &Value) -> &str {
    let of_id = || item["id"].as_str().and_then(|id| id.splitn(3, '_').nth(2));
    item["encrypted_content"].as_str().or_else(of_id).unwrap_or_default()
}

/// The text of a message, a string or parts.
fn said(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// A block as an item of the output.
fn item_of((place, block): (usize, &TurnPart)) -> Value {
    match block {
        TurnPart::Thinking { signature: sealed, .. } | TurnPart::Redacted(sealed) => json!({
            "type": "reasoning", "id": format!("rs_{place}_{sealed}"), "summary": [],
            "encrypted_content": sealed, "status": null }),
        TurnPart::Text(text) => json!({
            "type": "message", "id": format!("msg_{place}"), "role": "assistant",
            "status": "completed",
            "content": [{ "type": "output_text", "text": text, "annotations": [], "logprobs": [] }] }),
        TurnPart::Call { id, name, input } => json!({
            "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
            "arguments": input, "status": "completed" }),
    }
}
