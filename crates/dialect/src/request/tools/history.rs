//! What the messages of a request need of its tools.

use callgate_json::{Kind, Reader, Span};

use super::entry::word;
use crate::json::{document, elements, member};

/// Blocks that some APIs accept only together with tools.
const CALLS: [&str; 4] = ["tool_use", "tool_result", "mcp_tool_use", "server_tool_use"];

/// Whether the messages contain calls or results.
pub(super) fn has_calls(data: &str) -> bool {
    let is_call = |block: Span| {
        word(data, block, "type").is_some_and(|kind| CALLS.contains(&kind.as_str()))
            || ["toolUse", "toolResult"].iter().any(|key| member(data, block, key).is_some())
    };
    contents(data).into_iter().any(|content| elements(data, content).into_iter().any(is_call))
}

/// The tools that messages name in blocks of type `tool_reference`.
pub(super) fn referenced(data: &str) -> Vec<String> {
    let mut names = Vec::new();
    for content in contents(data) {
        add_references(data, content, &mut names);
    }
    names
}

fn contents(data: &str) -> Vec<Span> {
    let Some(messages) = member(data, document(data), "messages") else { return Vec::new() };
    let content = |message: Span| member(data, message, "content");
    elements(data, messages).into_iter().filter_map(content).collect()
}

/// They are in the results of calls and of tool searches.
fn add_references(data: &str, value: Span, names: &mut Vec<String>) {
    match Reader::at(data, value).kind() {
        Ok(Kind::Array) => {
            elements(data, value).into_iter().for_each(|item| add_references(data, item, names));
        }
        Ok(Kind::Object) => {
            names.extend(word(data, value, "tool_name"));
            for key in ["content", "tool_references"] {
                if let Some(inner) = member(data, value, key) {
                    add_references(data, inner, names);
                }
            }
        }
        _ => {}
    }
}
