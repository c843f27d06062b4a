//! Anthropic Messages.

use std::fmt::Write;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Provider, ProviderRefusal, ScriptedTurn, TurnPart, farewell, pieces};
use crate::upstream::Answer;

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    stream: bool,
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: Box<RawValue>,
}

/// A block as a client sent it.
#[derive(Debug, Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    data: Option<String>,
    id: Option<String>,
    name: Option<String>,
    input: Option<Box<RawValue>>,
    tool_use_id: Option<String>,
}

pub(super) fn answer(provider: &Provider, body: &[u8]) -> Result<Answer, ProviderRefusal> {
    let body = parse(body)?;
    let turn = next_turn(provider, &body.messages)?;
    Ok(if body.stream { stream(&turn) } else { whole(&turn) })
}

/// `count_tokens`: the same checks, and a number.
pub(super) fn count(provider: &Provider, body: &[u8]) -> Result<Answer, ProviderRefusal> {
    next_turn(provider, &parse(body)?.messages)?;
    Ok(Answer::json(200, r#"{"input_tokens":10}"#))
}

fn parse(body: &[u8]) -> Result<Body, ProviderRefusal> {
    serde_json::from_slice(body).map_err(|error| ProviderRefusal(format!("body: {error}")))
}

/// Checks the history, and gives the turn that follows it.
fn next_turn(provider: &Provider, messages: &[Message]) -> Result<ScriptedTurn, ProviderRefusal> {
    let messages: Vec<(&str, Vec<Part>)> = messages
        .iter()
        .enumerate()
        .map(|(at, message)| Ok((message.role.as_str(), parts(at, message)?)))
        .collect::<Result<_, _>>()?;
    let first =
        messages.first().ok_or_else(|| say("messages: at least one message is required"))?;
    let turns = provider.turns(&texts(&first.1))?;
    let mut given = 0;
    for (at, (role, parts)) in messages.iter().enumerate() {
        alternates(&messages, at)?;
        match *role {
            "assistant" => {
                let turn = turns.get(given).cloned().unwrap_or_else(farewell);
                is_turn(at, parts, &turn)?;
                given += 1;
            }
            _ => results(at, at.checked_sub(1).map(|before| &*messages[before].1), parts)?,
        }
    }
    if messages.last().is_some_and(|(role, _)| *role == "assistant") {
        return Err(say(
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        ));
    }
    Ok(turns.get(given).cloned().unwrap_or_else(farewell))
}

/// The blocks of a message; a string is one text.
fn parts(at: usize, message: &Message) -> Result<Vec<Part>, ProviderRefusal> {
    let raw = message.content.get();
    let raw = match serde_json::from_str::<String>(raw) {
        Ok(text) => json!([{ "type": "text", "text": text }]).to_string(),
        Err(_) => raw.to_owned(),
    };
    let parts: Vec<Part> = serde_json::from_str(&raw)
        .map_err(|error| ProviderRefusal(format!("messages.{at}.content: {error}")))?;
    if parts.is_empty() {
        let rule = "all messages must have non-empty content except for the optional final assistant message";
        return Err(ProviderRefusal(format!("messages.{at}: {rule}")));
    }
    if parts.iter().any(|part| part.kind == "text" && part.text.as_deref() == Some("")) {
        return Err(say("messages: text content blocks must be non-empty"));
    }
    Ok(parts)
}

fn alternates(messages: &[(&str, Vec<Part>)], at: usize) -> Result<(), ProviderRefusal> {
    let expected = if at.is_multiple_of(2) { "user" } else { "assistant" };
    if messages[at].0 == expected {
        return Ok(());
    }
    Err(match at {
        0 => say("messages: first message must use the \"user\" role"),
        _ => ProviderRefusal(format!(
            "messages: roles must alternate between \"user\" and \"assistant\", but found multiple \"{}\" roles in a row",
            messages[at].0
        )),
    })
}

/// Whether a message is the turn that was given.
fn is_turn(at: usize, parts: &[Part], turn: &[TurnPart]) -> Result<(), ProviderRefusal> {
    // Before the comparison, for its own words.
    let call = parts.iter().position(|part| part.kind == "tool_use");
    if let Some(call) = call
        && let Some(text) = parts.iter().skip(call).position(|part| part.kind == "text")
    {
        let place = call + text;
        return Err(ProviderRefusal(format!(
            "messages.{at}.content.{place}: unexpected `text` block after `tool_use`"
        )));
    }
    for (place, block) in turn.iter().enumerate() {
        let found = parts.get(place);
        if !found.is_some_and(|part| is_block(part, block)) {
            return Err(not_as_given(at, place, found, block));
        }
    }
    match parts.get(turn.len()) {
        None => Ok(()),
        Some(more) => {
            let place = turn.len();
            Err(ProviderRefusal(format!(
                "messages.{at}.content.{place}: unexpected `{}` block",
                more.kind
            )))
        }
    }
}

fn is_block(part: &Part, block: &TurnPart) -> bool {
    match block {
        TurnPart::Text(text) => part.kind == "text" && part.text.as_ref() == Some(text),
        TurnPart::Redacted(data) => {
            part.kind == "redacted_thinking" && part.data.as_ref() == Some(data)
        }
        TurnPart::Thinking { text, signature } => {
            part.kind == "thinking"
                && part.thinking.as_ref() == Some(text)
                && part.signature.as_ref() == Some(signature)
        }
        TurnPart::Call { id, name, input } => {
            part.kind == "tool_use"
                && part.id.as_ref() == Some(id)
                && part.name.as_ref() == Some(name)
                && part.input.as_ref().is_some_and(|raw| raw.get() == input)
        }
    }
}

/// What a provider says about a turn that is not what it gave: thinking is bound to all before it.
fn not_as_given(
    at: usize,
    place: usize,
    found: Option<&Part>,
    block: &TurnPart,
) -> ProviderRefusal {
    let wanted = match block {
        TurnPart::Thinking { .. } => "`thinking`".to_owned(),
        TurnPart::Redacted(_) => "`redacted_thinking`".to_owned(),
        TurnPart::Text(text) => format!("the text `{text}`"),
        TurnPart::Call { id, input, .. } => format!("`tool_use` {id} with input {input}"),
    };
    ProviderRefusal(format!(
        "messages.{at}.content.{place}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. \
         These blocks must remain as they were in the original response. Expected {wanted}, found {found:?}"
    ))
}

/// Whether the results of a user message fit the calls of the message before it.
fn results(at: usize, before: Option<&[Part]>, parts: &[Part]) -> Result<(), ProviderRefusal> {
    let calls: Vec<&str> = before
        .into_iter()
        .flatten()
        .filter(|part| part.kind == "tool_use")
        .filter_map(|part| part.id.as_deref())
        .collect();
    let opening = parts.iter().take_while(|part| part.kind == "tool_result").count();
    let mut answered = Vec::new();
    for (place, part) in parts.iter().enumerate().filter(|(_, part)| part.kind == "tool_result") {
        let id = part.tool_use_id.as_deref().unwrap_or_default();
        if place >= opening || !calls.contains(&id) || answered.contains(&id) {
            return Err(ProviderRefusal(format!(
                "messages.{at}.content.{place}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. \
                 Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            )));
        }
        answered.push(id);
    }
    let missing: Vec<&str> = calls.into_iter().filter(|id| !answered.contains(id)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(ProviderRefusal(format!(
        "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. \
         Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
        at - 1,
        missing.join(", ")
    )))
}

fn texts(parts: &[Part]) -> String {
    parts.iter().filter_map(|part| part.text.as_deref()).collect()
}

fn say(words: &str) -> ProviderRefusal {
    ProviderRefusal(words.to_owned())
}

fn stop_reason(turn: &[TurnPart]) -> &'static str {
    let calls = turn.iter().any(|block| matches!(block, TurnPart::Call { .. }));
    if calls { "tool_use" } else { "end_turn" }
}

/// The block as JSON, with the input as it is.
fn document(block: &TurnPart) -> String {
    let quote = |text: &str| Value::from(text).to_string();
    match block {
        TurnPart::Thinking { text, signature } => format!(
            r#"{{"type":"thinking","thinking":{},"signature":{}}}"#,
            quote(text),
            quote(signature)
        ),
        TurnPart::Redacted(data) => {
            format!(r#"{{"type":"redacted_thinking","data":{}}}"#, quote(data))
        }
        TurnPart::Text(text) => format!(r#"{{"type":"text","text":{}}}"#, quote(text)),
        TurnPart::Call { id, name, input } => {
            let (id, name) = (quote(id), quote(name));
            format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{input}}}"#)
        }
    }
}

fn whole(turn: &[TurnPart]) -> Answer {
    let content: Vec<String> = turn.iter().map(document).collect();
    Answer::json(
        200,
        format!(
            r#"{{"id":"msg_1","type":"message","role":"assistant","model":"scripted","content":[{}],"stop_reason":"{}","stop_sequence":null,"usage":{{"input_tokens":10,"output_tokens":20}}}}"#,
            content.join(","),
            stop_reason(turn)
        ),
    )
}

fn stream(turn: &[TurnPart]) -> Answer {
    let mut out = String::new();
    let mut event = |data: Value| {
        let name = data["type"].as_str().unwrap_or_default().to_owned();
        write!(out, "event: {name}\ndata: {data}\n\n").unwrap();
    };
    event(json!({ "type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [],
        "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": 10, "output_tokens": 1 } } }));
    for (index, block) in turn.iter().enumerate() {
        let (start, deltas) = streamed(block);
        event(json!({ "type": "content_block_start", "index": index, "content_block": start }));
        for delta in deltas {
            event(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
        event(json!({ "type": "content_block_stop", "index": index }));
    }
    event(json!({ "type": "message_delta",
        "delta": { "stop_reason": stop_reason(turn), "stop_sequence": null },
        "usage": { "output_tokens": 20 } }));
    event(json!({ "type": "message_stop" }));
    Answer::stream(out)
}

/// A block as its start and its deltas.
fn streamed(block: &TurnPart) -> (Value, Vec<Value>) {
    match block {
        TurnPart::Redacted(data) => {
            (json!({ "type": "redacted_thinking", "data": data }), Vec::new())
        }
        TurnPart::Thinking { text, signature } => {
            let start = json!({ "type": "thinking", "thinking": "", "signature": "" });
            let thought = |piece| json!({ "type": "thinking_delta", "thinking": piece });
            let mut deltas: Vec<Value> = pieces(text).into_iter().map(thought).collect();
            deltas.push(json!({ "type": "signature_delta", "signature": signature }));
            (start, deltas)
        }
        TurnPart::Text(text) => {
            let said = |piece| json!({ "type": "text_delta", "text": piece });
            (json!({ "type": "text", "text": "" }), pieces(text).into_iter().map(said).collect())
        }
        TurnPart::Call { id, name, input } => {
            let start = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
            let piece = |piece| json!({ "type": "input_json_delta", "partial_json": piece });
            let first = std::iter::once(String::new());
            (start, first.chain(pieces(input)).map(piece).collect())
        }
    }
}
