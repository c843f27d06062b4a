//! Ollama's own chat. The server takes any history; this one insists on what it said.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Provider, ProviderRefusal, ScriptedTurn, TurnPart, farewell, pieces};
use crate::upstream::Answer;

#[derive(Deserialize)]
struct Body {
    stream: Option<bool>,
    messages: Vec<Message>,
}

#[derive(Debug, Deserialize)]
struct Message {
    role: String,
    #[serde(default)]
    content: String,
    #[serde(default)]
    tool_calls: Option<Vec<Call>>,
    #[serde(default)]
    tool_name: Option<String>,
    #[serde(default)]
    tool_call_id: Option<String>,
}

/// Not every client sends the id back.
#[derive(Debug, Deserialize)]
struct Call {
    #[serde(default)]
    id: Option<String>,
    function: Function,
}

#[derive(Debug, Deserialize)]
struct Function {
    name: String,
    arguments: Value,
}

/// An error is a word of its own here, and not an object.
pub(super) fn answer(provider: &Provider, body: &[u8]) -> Answer {
    let given = serde_json::from_slice::<Body>(body)
        .map_err(|error| ProviderRefusal(format!("body: {error}")))
        .and_then(|body| Ok((body.stream, next_turn(provider, &body.messages)?)));
    match given {
        Ok((Some(false), turn)) => Answer::json(200, line(&text(&turn), &calls(&turn), true)),
        Ok((_, turn)) => stream(&turn),
        Err(ProviderRefusal(message)) => Answer::json(400, json!({ "error": message }).to_string()),
    }
}

/// Checks the history, and gives the turn that follows it.
fn next_turn(provider: &Provider, messages: &[Message]) -> Result<ScriptedTurn, ProviderRefusal> {
    let first = messages.iter().find(|message| message.role == "user");
    let first = first.ok_or_else(|| ProviderRefusal("no user message".into()))?;
    let turns = provider.turns(&first.content)?;
    let mut given = 0;
    // Calls without a result yet: id and name of each.
    let mut open: Vec<(String, String)> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        if message.role == "tool" {
            let Some(place) = open.iter().position(|call| is_result(message, call)) else {
                return Err(ProviderRefusal(format!(
                    "messages[{at}]: unexpected result {message:?}"
                )));
            };
            open.remove(place);
            continue;
        }
        all_answered(&open)?;
        if message.role == "assistant" {
            let turn = turns.get(given).cloned().unwrap_or_else(farewell);
            is_turn(at, message, &turn)?;
            open.extend(
                calls(&turn).iter().map(|(id, name, _)| (id.to_string(), name.to_string())),
            );
            given += 1;
        }
    }
    all_answered(&open)?;
    Ok(turns.get(given).cloned().unwrap_or_else(farewell))
}

/// A result names its call by its id, or by its tool.
fn is_result(message: &Message, (id, name): &(String, String)) -> bool {
    let is_named = message.tool_name.as_ref() == Some(name);
    is_named && message.tool_call_id.as_ref().is_none_or(|of| of == id)
}

fn all_answered(open: &[(String, String)]) -> Result<(), ProviderRefusal> {
    match open {
        [] => Ok(()),
        open => Err(ProviderRefusal(format!("expected results of {open:?}"))),
    }
}

/// Whether a message is the turn that was given.
fn is_turn(at: usize, message: &Message, turn: &[TurnPart]) -> Result<(), ProviderRefusal> {
    let found = message.tool_calls.as_deref().unwrap_or_default();
    let given = calls(turn);
    let is_same = |(found, (id, name, input)): (&Call, &(&str, &str, &str))| {
        found.id.as_ref().is_none_or(|found| found == id)
            && found.function.name == *name
            && serde_json::from_str::<Value>(input).is_ok_and(|it| it == found.function.arguments)
    };
    if found.len() != given.len() || !found.iter().zip(&given).all(is_same) {
        return Err(ProviderRefusal(format!(
            "messages[{at}]: expected {given:?}, found {found:?}"
        )));
    }
    let (expected, found) = (text(turn), &message.content);
    if expected != *found {
        return Err(ProviderRefusal(format!(
            "messages[{at}]: expected {expected:?}, found {found:?}"
        )));
    }
    Ok(())
}

/// Id, name and arguments of each call.
fn calls(turn: &[TurnPart]) -> Vec<(&str, &str, &str)> {
    let mut calls = Vec::new();
    for block in turn {
        if let TurnPart::Call { id, name, input } = block {
            calls.push((id.as_str(), name.as_str(), input.as_str()));
        }
    }
    calls
}

/// The text of a turn. What is thought is not asked for.
fn text(turn: &[TurnPart]) -> String {
    let text = |block: &TurnPart| match block {
        TurnPart::Text(text) => Some(text.clone()),
        TurnPart::Thinking { .. } | TurnPart::Redacted(_) | TurnPart::Call { .. } => None,
    };
    turn.iter().filter_map(text).collect()
}

fn stream(turn: &[TurnPart]) -> Answer {
    let mut out = String::new();
    for piece in pieces(&text(turn)) {
        writeln!(out, "{}", line(&piece, &[], false)).unwrap();
    }
    for call in calls(turn) {
        writeln!(out, "{}", line("", &[call], false)).unwrap();
    }
    writeln!(out, "{}", line("", &[], true)).unwrap();
    Answer::stream(out)
}

/// One line, the arguments to the byte.
fn line(text: &str, calls: &[(&str, &str, &str)], done: bool) -> String {
    let call = |(id, name, input): &(&str, &str, &str)| {
        let (id, name) = (json!(id), json!(name));
        format!(r#"{{"id":{id},"function":{{"name":{name},"arguments":{input}}}}}"#)
    };
    let calls: Vec<String> = calls.iter().map(call).collect();
    let calls = match calls.as_slice() {
        [] => String::new(),
        calls => format!(r#","tool_calls":[{}]"#, calls.join(",")),
    };
    let message = format!(r#"{{"role":"assistant","content":{}{calls}}}"#, json!(text));
    let end = match done {
        true => r#","done_reason":"stop","prompt_eval_count":10,"eval_count":20"#,
        false => "",
    };
    format!(
        r#"{{"model":"scripted","created_at":"2026-01-01T00:00:00Z","message":{message},"done":{done}{end}}}"#
    )
}
