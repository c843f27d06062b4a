//! Gemini Interactions, which the API keeps: a request continues from the one it names. Every call
//! in that must have its result, and every result its call.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use super::{Provider, ProviderRefusal, TurnPart, farewell, pieces};
use crate::upstream::{Answer, Request};

/// Every interaction: all steps up to its end, and itself.
#[derive(Debug, Default)]
pub(crate) struct StoredInteractions(BTreeMap<String, (Vec<Value>, Value)>);

/// The answer to a request; `rest` is its path from `/interactions` on.
pub(super) fn answer(
    provider: &Provider,
    request: &Request,
    rest: &str,
) -> Result<Answer, ProviderRefusal> {
    let path = rest.split('?').next().unwrap_or_default();
    let segments: Vec<&str> = path.split('/').skip(2).collect();
    let mut kept =
        provider.interactions.lock().map_err(|_| ProviderRefusal("broken".to_owned()))?;
    match (request.method.as_str(), segments.as_slice()) {
        ("POST", []) => create(provider, &mut kept, &request.json()),
        ("GET", [id]) | ("POST", [id, "cancel"]) => {
            let streamed = rest.contains("stream=true");
            Ok(told(&kept.find(id)?.1, streamed))
        }
        _ => Err(ProviderRefusal(format!("no such path: {} {path}", request.method))),
    }
}

impl StoredInteractions {
    fn find(&self, id: &str) -> Result<&(Vec<Value>, Value), ProviderRefusal> {
        self.0.get(id).ok_or_else(|| ProviderRefusal(format!("Interaction {id} not found.")))
    }
}

fn create(
    provider: &Provider,
    kept: &mut StoredInteractions,
    body: &Value,
) -> Result<Answer, ProviderRefusal> {
    let mut steps = match body["previous_interaction_id"].as_str() {
        Some(id) => kept.find(id)?.0.clone(),
        None => Vec::new(),
    };
    steps.extend(input(&body["input"])?);
    all_answered(&steps)?;
    let first = steps.iter().find_map(|step| step["content"][0]["text"].as_str());
    let turns = provider.turns(first.unwrap_or_default())?;
    let given = steps.iter().filter(|step| step["last"] == true).count();
    let turn = turns.get(given).cloned().unwrap_or_else(farewell);
    let said: Vec<Value> = turn.iter().map(step_of).collect();
    let waits = said.iter().any(|step| step["type"] == "function_call");
    let id = format!("v1_interaction{}", kept.0.len() + 1);
    let interaction = json!({ "id": id, "object": "interaction", "model": "scripted",
        "status": if waits { "requires_action" } else { "completed" }, "steps": said,
        "usage": { "total_input_tokens": 10, "total_output_tokens": 20, "total_tokens": 30 } });
    steps.extend(said);
    if let Some(last) = steps.last_mut() {
        // How many turns were given.
        last["last"] = true.into();
    }
    kept.0.insert(id, (steps, interaction.clone()));
    Ok(told(&interaction, body["stream"] == true))
}

fn input(given: &Value) -> Result<Vec<Value>, ProviderRefusal> {
    match given {
        Value::String(text) => Ok(vec![json!({ "type": "user_input",
            "content": [{ "type": "text", "text": text }] })]),
        Value::Array(steps) => Ok(steps.clone()),
        other => Err(ProviderRefusal(format!("Invalid input: {other}"))),
    }
}

fn all_answered(steps: &[Value]) -> Result<(), ProviderRefusal> {
    let mut open: Vec<&str> = Vec::new();
    for step in steps {
        let text = |key: &str| step[key].as_str().unwrap_or_default();
        match text("type") {
            "function_call" => open.push(text("id")),
            "function_result" => {
                let call = open.iter().position(|open| *open == text("call_id"));
                let call = call.ok_or_else(|| {
                    ProviderRefusal(format!("No call {} is open.", text("call_id")))
                })?;
                open.remove(call);
            }
            _ => {}
        }
    }
    match open.first() {
        Some(id) => Err(ProviderRefusal(format!("The function call {id} has no function result."))),
        None => Ok(()),
    }
}

fn step_of(block: &TurnPart) -> Value {
    match block {
        TurnPart::Thinking { signature, .. } | TurnPart::Redacted(signature) => {
            json!({ "type": "thought", "signature": signature })
        }
        TurnPart::Text(text) => {
            json!({ "type": "model_output", "content": [{ "type": "text", "text": text }] })
        }
        TurnPart::Call { id, name, input } => {
            let arguments: Value = serde_json::from_str(input).unwrap_or_default();
            json!({ "type": "function_call", "id": id, "name": name, "arguments": arguments })
        }
    }
}

fn told(interaction: &Value, streamed: bool) -> Answer {
    if !streamed {
        return Answer::json(200, interaction.to_string());
    }
    let mut out = String::new();
    let mut say = |kind: &str, mut event: Value| {
        event["event_type"] = kind.into();
        write!(out, "event: {kind}\ndata: {event}\n\n").unwrap();
    };
    let mut bare = interaction.clone();
    let steps = bare["steps"].take();
    if let Some(bare) = bare.as_object_mut() {
        bare.remove("steps");
    }
    let mut begun = bare.clone();
    begun["status"] = "in_progress".into();
    say("interaction.created", json!({ "interaction": begun }));
    for (index, step) in steps.as_array().into_iter().flatten().enumerate() {
        let (start, deltas) = of_step(step);
        say("step.start", json!({ "index": index, "step": start }));
        for delta in deltas {
            say("step.delta", json!({ "index": index, "delta": delta }));
        }
        say("step.stop", json!({ "index": index }));
    }
    say("interaction.completed", json!({ "interaction": bare }));
    out.push_str("event: done\ndata: [DONE]\n\n");
    Answer::stream(out)
}

/// A step as it starts, and what is added to it.
fn of_step(step: &Value) -> (Value, Vec<Value>) {
    match step["type"].as_str().unwrap_or_default() {
        "function_call" => {
            let mut start = step.clone();
            start["arguments"] = json!({});
            let text = step["arguments"].to_string();
            let delta = |piece| json!({ "type": "arguments_delta", "arguments": piece });
            (start, pieces(&text).into_iter().map(delta).collect())
        }
        "model_output" => {
            let text = step["content"][0]["text"].as_str().unwrap_or_default();
            let delta = |piece| json!({ "type": "text", "text": piece });
            (json!({ "type": "model_output" }), pieces(text).into_iter().map(delta).collect())
        }
        _ => {
            let delta = json!({ "type": "thought_signature", "signature": step["signature"] });
            (json!({ "type": "thought" }), vec![delta])
        }
    }
}
