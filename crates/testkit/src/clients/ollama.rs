//! Clients of Ollama.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Call, text};

/// What each kind of client makes of a stream.
pub(super) fn readings(body: &str) -> BTreeMap<&'static str, Vec<Call>> {
    let breaks = ['\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}'];
    BTreeMap::from([
        ("each line", of_lines(body.split('\n'))),
        ("every kind of line", of_lines(body.split(|c| breaks.contains(&c) || c == '\u{2029}'))),
        ("document by document", documents(body)),
    ])
}

/// The calls of a whole body, or of a line.
pub(super) fn whole(document: &Value) -> Vec<Call> {
    [&document["message"], document].into_iter().flat_map(of_message).collect()
}

fn of_message(message: &Value) -> Vec<Call> {
    let calls = &message["tool_calls"];
    let one = calls.is_object().then_some(calls);
    let list = calls.as_array().into_iter().flatten().chain(one);
    let call =
        |call: &Value| (text(&call["function"]["name"]), text(&call["function"]["arguments"]));
    list.filter(|call| call["function"]["name"].is_string()).map(call).collect()
}

/// The lines that can be read; a lenient client skips the others.
fn of_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Call> {
    let documents = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    documents.flat_map(|document| whole(&document)).collect()
}

/// One document after another, wherever lines end, up to the first that cannot be read.
fn documents(body: &str) -> Vec<Call> {
    let documents = serde_json::Deserializer::from_str(body).into_iter::<Value>();
    documents.map_while(Result::ok).flat_map(|document| whole(&document)).collect()
}
