//! Gemini's streamGenerateContent, for Gemini CLI.

use std::fmt::Write;

use callgate_testkit::upstream::Answer;
use serde_json::{Value, json};

use super::Said;

pub(super) fn stream(turn: &[Said]) -> Answer {
    let mut out = String::new();
    for (place, said) in turn.iter().enumerate() {
        let content = json!({ "role": "model", "parts": [part(said)] });
        let mut candidate = json!({ "index": 0, "content": content });
        if place + 1 == turn.len() {
            candidate["finishReason"] = json!("STOP");
        }
        let usage =
            json!({ "promptTokenCount": 10, "candidatesTokenCount": 20, "totalTokenCount": 30 });
        let chunk = json!({ "candidates": [candidate], "usageMetadata": usage,
            "modelVersion": "scripted", "responseId": "r_1" });
        write!(out, "data: {chunk}\r\n\r\n").unwrap();
    }
    Answer::stream(out)
}

fn part(said: &Said) -> Value {
    match said {
        Said::Text(text) => json!({ "text": text }),
        Said::Thought(_) => json!({ "text": "Hm.", "thought": true }),
        Said::Call { id, tool, input } => json!({
            "functionCall": { "id": id, "name": tool.name, "args": input },
            "thoughtSignature": signature(id),
        }),
        Said::Search { .. } | Said::Program { .. } => panic!("this model cannot say that"),
    }
}

/// What a call is signed with: clients decode it and write it again.
fn signature(id: &str) -> String {
    let mut text: String = id.chars().filter(char::is_ascii_alphanumeric).collect();
    while !text.len().is_multiple_of(4) {
        text.push('A');
    }
    text
}
