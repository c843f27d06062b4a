//! Gemini generateContent. The signature of a thought is on the call after it.

use std::fmt::Write;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Provider, ProviderRefusal, ScriptedTurn, TurnPart, farewell, pieces};
use crate::upstream::Answer;

#[derive(Deserialize)]
struct Body {
    contents: Vec<Content>,
}

#[derive(Debug, Deserialize)]
struct Content {
    #[serde(default)]
    role: Option<String>,
    #[serde(default)]
    parts: Vec<Part>,
}

/// A part as a client sent it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    text: Option<String>,
    #[serde(default)]
    thought: bool,
    thought_signature: Option<String>,
    function_call: Option<Call>,
    function_response: Option<AnsweredCall>,
}

#[derive(Debug, Deserialize)]
struct Call {
    id: Option<String>,
    name: String,
    args: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
struct AnsweredCall {
    id: Option<String>,
    name: String,
}

/// A call of a turn, with the signature it was given.
struct SignedCall<'a> {
    id: &'a str,
    name: &'a str,
    input: &'a str,
    signature: Option<String>,
}

/// How an answer is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Body,
    Events,
    List,
}

pub(super) fn answer(
    provider: &Provider,
    body: &[u8],
    form: Form,
) -> Result<Answer, ProviderRefusal> {
    let body: Body =
        serde_json::from_slice(body).map_err(|error| ProviderRefusal(format!("body: {error}")))?;
    let turn = next_turn(provider, &body.contents)?;
    Ok(match form {
        Form::Body => whole(&turn),
        Form::Events => stream(&turn),
        Form::List => list(&turn),
    })
}

/// Checks the history, and gives the turn that follows it.
fn next_turn(provider: &Provider, contents: &[Content]) -> Result<ScriptedTurn, ProviderRefusal> {
    let first =
        contents.first().ok_or_else(|| ProviderRefusal("contents is not specified".into()))?;
    let turns = provider.turns(&text(&first.parts))?;
    let mut given = 0;
    let mut open: Vec<SignedCall<'_>> = Vec::new();
    let all: Vec<ScriptedTurn> =
        turns.iter().cloned().chain(std::iter::repeat_n(farewell(), 8)).collect();
    for (at, content) in contents.iter().enumerate() {
        if content.parts.is_empty() {
            return Err(ProviderRefusal(format!(
                "GenerateContentRequest.contents[{at}].parts: contents.parts must not be empty."
            )));
        }
        answers(content, &mut open)?;
        if content.role.as_deref() == Some("model") {
            let turn = all.get(given).ok_or_else(|| ProviderRefusal("too long".into()))?;
            is_turn(at, content, turn)?;
            open = calls(turn);
            given += 1;
        }
    }
    answers(&Content { role: None, parts: Vec::new() }, &mut open)?;
    Ok(all.get(given).cloned().unwrap_or_else(farewell))
}

/// Whether the content after calls answers all of them, and no other has answers.
fn answers(content: &Content, open: &mut Vec<SignedCall<'_>>) -> Result<(), ProviderRefusal> {
    for answered in content.parts.iter().filter_map(|part| part.function_response.as_ref()) {
        let known = open
            .iter()
            .position(|call| answered.id.as_deref() == Some(call.id) && answered.name == call.name);
        let Some(place) = known else {
            return Err(ProviderRefusal(format!(
                "Please ensure that function response turn comes immediately after a function call turn: unexpected {answered:?}"
            )));
        };
        open.remove(place);
    }
    if open.is_empty() {
        return Ok(());
    }
    let missing: Vec<&str> = open.iter().map(|call| call.id).collect();
    Err(ProviderRefusal(format!(
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn: expected {}",
        missing.join(", ")
    )))
}

/// Whether a content is the turn that was given. Thoughts need not come back.
fn is_turn(at: usize, content: &Content, turn: &[TurnPart]) -> Result<(), ProviderRefusal> {
    let found: Vec<&Part> =
        content.parts.iter().filter(|part| part.function_call.is_some()).collect();
    let given = calls(turn);
    for (place, call) in given.iter().enumerate() {
        let part = found.get(place);
        if !part.is_some_and(|part| is_call(part, call)) {
            return Err(ProviderRefusal(format!(
                "contents[{at}]: function call {place}: expected `{}` ({}) with {}, found {part:?}",
                call.name, call.id, call.input
            )));
        }
        if part.and_then(|part| part.thought_signature.as_ref()) != call.signature.as_ref() {
            return Err(ProviderRefusal(format!(
                "Function call is missing a thought_signature in functionCall parts. Function call `default_api:{}`, position {place}: expected {:?}, found {part:?}",
                call.name, call.signature
            )));
        }
    }
    if let Some(more) = found.get(given.len()) {
        return Err(ProviderRefusal(format!("contents[{at}]: unexpected function call {more:?}")));
    }
    let (expected, said) = (said(turn), text(&content.parts));
    if expected != said {
        return Err(ProviderRefusal(format!(
            "contents[{at}]: expected text {expected:?}, found {said:?}"
        )));
    }
    Ok(())
}

fn is_call(part: &Part, given: &SignedCall<'_>) -> bool {
    part.function_call.as_ref().is_some_and(|call| {
        let raw = call.args.as_deref().map_or("{}", RawValue::get);
        call.id.as_deref() == Some(given.id) && call.name == given.name && same(raw, given.input)
    })
}

/// Whether arguments are those that were given. A client writes again what it got, in its own way;
/// what no client could write again must be there to the byte.
fn same(found: &str, given: &str) -> bool {
    let read = |text| serde_json::from_str::<Value>(text).ok();
    let can_be_written = read(given).map(|value| value.to_string()).as_deref() == Some(given);
    found == given || (can_be_written && read(found) == read(given))
}

/// The text of parts, without thoughts.
fn text(parts: &[Part]) -> String {
    parts.iter().filter(|part| !part.thought).filter_map(|part| part.text.as_deref()).collect()
}

/// The text of a turn, without thoughts.
fn said(turn: &[TurnPart]) -> String {
    let text = |block: &TurnPart| match block {
        TurnPart::Text(text) => Some(text.clone()),
        TurnPart::Thinking { .. } | TurnPart::Redacted(_) | TurnPart::Call { .. } => None,
    };
    turn.iter().filter_map(text).collect()
}

/// The calls of a turn. Each is signed with the thought before it, if there is one.
fn calls(turn: &[TurnPart]) -> Vec<SignedCall<'_>> {
    let mut calls = Vec::new();
    let mut signature = None;
    for block in turn {
        match block {
            TurnPart::Thinking { signature: proof, .. } | TurnPart::Redacted(proof) => {
                signature = Some(base64(proof));
            }
            TurnPart::Text(_) => {}
            TurnPart::Call { id, name, input } => {
                calls.push(SignedCall { id, name, input, signature: signature.take() });
            }
        }
    }
    calls
}

/// A signature as clients want it: they decode it and write it again.
fn base64(proof: &str) -> String {
    let mut text: String = proof.chars().filter(char::is_ascii_alphanumeric).collect();
    while !text.len().is_multiple_of(4) {
        text.push('A');
    }
    text
}

/// The parts of a turn as JSON, with the arguments as they are; texts in pieces if it is streamed.
fn parts(turn: &[TurnPart], is_stream: bool) -> Vec<String> {
    let mut given = calls(turn).into_iter();
    let mut parts = Vec::new();
    for block in turn {
        match block {
            TurnPart::Thinking { text, .. } => {
                parts.push(json!({ "text": text, "thought": true }).to_string());
            }
            TurnPart::Redacted(_) => {}
            TurnPart::Text(text) => {
                let texts = if is_stream { pieces(text) } else { vec![text.clone()] };
                parts.extend(texts.into_iter().map(|text| json!({ "text": text }).to_string()));
            }
            TurnPart::Call { .. } => parts.extend(given.next().map(|call| document(&call))),
        }
    }
    parts
}

fn document(call: &SignedCall<'_>) -> String {
    let (id, name) = (Value::from(call.id), Value::from(call.name));
    let signed = call.signature.as_deref();
    let signed = signed.map(|proof| format!(r#","thoughtSignature":{}"#, Value::from(proof)));
    format!(
        r#"{{"functionCall":{{"id":{id},"name":{name},"args":{}}}{}}}"#,
        call.input,
        signed.unwrap_or_default()
    )
}

const USAGE: &str =
    r#""usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":20,"totalTokenCount":30}"#;

fn chunk(parts: &str, finish: &str) -> String {
    format!(
        r#"{{"candidates":[{{"content":{{"parts":[{parts}],"role":"model"}}{finish},"index":0}}],{USAGE},"modelVersion":"scripted","responseId":"r_1"}}"#
    )
}

const STOP: &str = r#","finishReason":"STOP""#;

fn whole(turn: &[TurnPart]) -> Answer {
    Answer::json(200, chunk(&parts(turn, false).join(","), STOP))
}

fn chunks(turn: &[TurnPart]) -> Vec<String> {
    let parts = parts(turn, true);
    let finish = |place: usize| if place + 1 == parts.len() { STOP } else { "" };
    parts.iter().enumerate().map(|(place, part)| chunk(part, finish(place))).collect()
}

fn stream(turn: &[TurnPart]) -> Answer {
    let mut out = String::new();
    for chunk in chunks(turn) {
        write!(out, "data: {chunk}\r\n\r\n").unwrap();
    }
    Answer::stream(out)
}

fn list(turn: &[TurnPart]) -> Answer {
    Answer::json(200, format!("[{}\n]", chunks(turn).join("\n,\r\n")))
}

#[cfg(test)]
mod tests;
