//! Anthropic Messages, for Claude Code.

use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use callgate_testkit::upstream::Answer;
use serde_json::{Value, json};

use super::Said;

/// How many answers there were.
static ANSWERS: AtomicUsize = AtomicUsize::new(1);

pub(super) fn stream(turn: &[Said]) -> Answer {
    let mut out = String::new();
    // Claude Code takes answers with one id for one message.
    let id = format!("msg_{}", ANSWERS.fetch_add(1, Ordering::Relaxed));
    let mut event = |data: Value| {
        let name = data["type"].as_str().unwrap();
        write!(out, "event: {name}\ndata: {data}\n\n").unwrap();
    };
    event(json!({ "type": "message_start", "message": {
        "id": id, "type": "message", "role": "assistant", "model": "scripted", "content": [],
        "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": 10, "output_tokens": 1 } } }));
    for (index, said) in turn.iter().enumerate() {
        let (start, deltas) = block(said);
        event(json!({ "type": "content_block_start", "index": index, "content_block": start }));
        for delta in deltas {
            event(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
        event(json!({ "type": "content_block_stop", "index": index }));
    }
    let calls = turn.iter().any(|said| said.id().is_some());
    let reason = if calls { "tool_use" } else { "end_turn" };
    event(json!({ "type": "message_delta", "usage": { "output_tokens": 20 },
        "delta": { "stop_reason": reason, "stop_sequence": null } }));
    event(json!({ "type": "message_stop" }));
    Answer::stream(out)
}

fn block(said: &Said) -> (Value, Vec<Value>) {
    match said {
        Said::Text(text) => (
            json!({ "type": "text", "text": "" }),
            vec![json!({ "type": "text_delta", "text": text })],
        ),
        Said::Thought(proof) => (
            json!({ "type": "thinking", "thinking": "", "signature": "" }),
            vec![
                json!({ "type": "thinking_delta", "thinking": "Hm." }),
                json!({ "type": "signature_delta", "signature": proof }),
            ],
        ),
        Said::Call { id, tool, input } => (
            json!({ "type": "tool_use", "id": id, "name": tool.name, "input": {} }),
            vec![json!({ "type": "input_json_delta", "partial_json": input.to_string() })],
        ),
        Said::Search { .. } | Said::Program { .. } => panic!("this model cannot say that"),
    }
}
