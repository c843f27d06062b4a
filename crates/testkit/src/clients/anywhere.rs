//! A home-made program that runs whatever has a name and looks like a call, wherever it
//! is. No official client does. What the provider runs, what tools gave back, and what an API
//! repeats of the request is nothing to run even here.

use callgate_dialect::Dialect;
use serde_json::{Map, Value};

use super::{Call, text};

/// Every call in the documents.
pub(super) fn calls<'a>(
    dialect: Dialect,
    documents: impl IntoIterator<Item = &'a Value>,
) -> Vec<Call> {
    let mut found = Vec::new();
    for document in documents {
        let is_body = document["type"].is_null() && document["event_type"].is_null();
        let under = if is_body { BODY } else { "" };
        look(dialect, document, under, true, &mut found);
    }
    found
}

/// The key under which a whole body is.
const BODY: &str = "response or interaction";

const INPUTS: [&str; 4] = ["input", "arguments", "parameters", "args"];

const FOR_CALLS: [&str; 9] = [
    "function",
    "functionCall",
    "function_call",
    "toolUse",
    "tool_use",
    "toolCall",
    "tool_call",
    "tool_calls",
    "toolCalls",
];

fn look(dialect: Dialect, value: &Value, under: &str, is_root: bool, found: &mut Vec<Call>) {
    match value {
        Value::Object(object) => look_at(dialect, object, under, is_root, found),
        Value::Array(list) => {
            list.iter().for_each(|value| look(dialect, value, under, false, found));
        }
        _ => {}
    }
}

fn look_at(
    dialect: Dialect,
    object: &Map<String, Value>,
    under: &str,
    is_root: bool,
    found: &mut Vec<Call>,
) {
    let string =
        |key: &str| object.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let kind = string("type").unwrap_or("");
    let name = string("name").or_else(|| string("tool_name"));
    if is_hosted(dialect, kind, name.unwrap_or("")) {
        return;
    }
    let is_result = ["_output", "result", "mcp_list_tools", "mcp_approval_response"]
        .iter()
        .any(|end| kind.ends_with(end) && kind != "model_output");
    let input = INPUTS.iter().find_map(|key| object.get(*key));
    let says_call = !is_root
        && !is_result
        && (kind.ends_with("_call") || kind == "tool_use" || string("call_id").is_some());
    let stands_as_call = FOR_CALLS.contains(&under) || input.is_some();
    let is_call = says_call || (name.is_some() && stands_as_call);
    for (key, value) in object {
        let is_data = (is_call && INPUTS.contains(&key.as_str()))
            || (is_result && ["output", "result", "content", "tools"].contains(&key.as_str()))
            || is_quiet(under, key);
        if !is_data {
            look(dialect, value, key, false, found);
        }
    }
    if is_call {
        let name = name.unwrap_or_else(|| kind.trim_end_matches("_call"));
        found.push((name.to_owned(), input.map(text).unwrap_or_default()));
    }
}

fn is_hosted(dialect: Dialect, kind: &str, name: &str) -> bool {
    match dialect {
        Dialect::Responses => [
            "mcp_call",
            "web_search_call",
            "file_search_call",
            "code_interpreter_call",
            "image_generation_call",
            "tool_search_call",
            "program",
        ]
        .contains(&kind),
        Dialect::Interactions => super::interactions::HOSTED.contains(&kind),
        Dialect::Converse => kind == "server_tool_use" && name.starts_with("nova_"),
        Dialect::Anthropic | Dialect::Invoke => ["server_tool_use", "mcp_tool_use"].contains(&kind),
        _ => false,
    }
}

fn is_quiet(under: &str, key: &str) -> bool {
    match under {
        "response" | "interaction" | BODY => [
            "tools",
            "instructions",
            "input",
            "metadata",
            "text",
            "prompt",
            "reasoning",
            "tool_choice",
        ]
        .contains(&key),
        "citations" => key == "sources",
        "provider_specific_fields" => key == "mcp_list_tools",
        "functionResponse" | "toolResponse" => key == "response",
        _ => ["toolResult", "executed_tools"].contains(&key),
    }
}
