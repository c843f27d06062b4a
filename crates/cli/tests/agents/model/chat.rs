//! OpenAI Chat Completions, for opencode.

use std::fmt::Write;

use callgate_testkit::upstream::Answer;
use serde_json::{Value, json};

use super::Said;

pub(super) fn stream(turn: &[Said]) -> Answer {
    let mut out = String::new();
    let mut chunk = |delta: Value, reason: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
        let chunk = json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
            "model": "scripted", "choices": [choice] });
        write!(out, "data: {chunk}\n\n").unwrap();
    };
    chunk(json!({ "role": "assistant", "content": "" }), Value::Null);
    let mut calls = 0;
    for said in turn {
        let delta = match said {
            Said::Text(text) => json!({ "content": text }),
            Said::Thought(_) => json!({ "reasoning_content": "Hm." }),
            Said::Call { id, tool, input } => {
                let function = json!({ "name": tool.name, "arguments": input.to_string() });
                let call =
                    json!({ "index": calls, "id": id, "type": "function", "function": function });
                calls += 1;
                json!({ "tool_calls": [call] })
            }
            Said::Search { .. } | Said::Program { .. } => panic!("this model cannot say that"),
        };
        chunk(delta, Value::Null);
    }
    chunk(json!({}), if calls > 0 { "tool_calls".into() } else { "stop".into() });
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30 });
    let last = json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
        "model": "scripted", "choices": [], "usage": usage });
    write!(out, "data: {last}\n\ndata: [DONE]\n\n").unwrap();
    Answer::stream(out)
}
