//! A server that does nothing but answer.

use std::io::{BufRead as _, Write as _};

use anyhow::Result;
use serde_json::{Value, json};

pub(crate) fn serve() -> Result<()> {
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        let answer = answer(&line)?;
        line.clear();
        let Some(mut answer) = answer else { continue };
        answer.push('\n');
        output.write_all(answer.as_bytes())?;
        output.flush()?;
    }
    Ok(())
}

/// The answer to a message, where it is a request.
pub(crate) fn answer(text: &str) -> Result<Option<String>> {
    let message: Value = serde_json::from_str(text)?;
    let answer = |id| json!({ "jsonrpc": "2.0", "id": id, "result": result(&message) }).to_string();
    Ok(message.get("id").map(answer))
}

fn result(message: &Value) -> Value {
    match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "bench", "version": "1" },
        }),
        Some("tools/list") => json!({ "tools": [{
            "name": "echo",
            "description": "Says it again.",
            "inputSchema": { "type": "object", "properties": { "message": { "type": "string" } } },
        }] }),
        Some("tools/call") => {
            let text = format!("Echo: {}", message["params"]["arguments"]["message"]);
            json!({ "content": [{ "type": "text", "text": text }] })
        }
        _ => json!({}),
    }
}
