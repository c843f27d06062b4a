//! What each target starts from.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::MAX_LEN;
use crate::corpus;

/// Targets that read whole streams take two bytes in front: how to cut, and a choice.
const HEAD: [u8; 2] = [7, 1];

/// The seeds of a target, in the same order everywhere.
pub fn of(target: &str) -> Vec<Vec<u8>> {
    let mut seeds = read_all(&below(&fuzz().join("seeds").join(target)));
    seeds.extend(match target {
        "json" => documents(),
        "sse" => with_head(bodies("", "sse")),
        "anthropic" => with_head(bodies("anthropic", "sse")),
        "openai_chat" => with_head(bodies("openai-chat", "sse")),
        "openai_responses" => with_head(bodies("openai-responses", "sse")),
        "cohere" => with_head(bodies("cohere", "sse")),
        "ollama" => with_head(bodies("ollama", "ndjson")),
        "gemini" => with_head(bodies("gemini", "sse")),
        "interactions" => with_head(bodies("gemini-interactions", "sse")),
        "bedrock_converse" => with_head(bodies("bedrock-converse", "eventstream")),
        "bedrock_invoke" => with_head(bodies("bedrock-invoke", "eventstream")),
        "policy" => vec![callgate_policy::starter().text.into_bytes()],
        "inspect" => poison(),
        "effects" => calls(),
        "mcp_events" => with_head(answers()),
        _ => Vec::new(),
    });
    seeds
}

fn fuzz() -> PathBuf {
    corpus::root().join("../fuzz")
}

/// Every JSON document of the corpus: whole bodies, and the data of events.
fn documents() -> Vec<Vec<u8>> {
    let mut seeds = bodies("", "json");
    for stream in bodies("", "sse") {
        let lines = stream.split(|byte| matches!(byte, b'\n' | b'\r'));
        let data = lines.filter_map(|line| line.strip_prefix(b"data:"));
        seeds.extend(data.map(|data| data.trim_ascii().to_vec()));
    }
    seeds.sort();
    seeds.dedup();
    seeds
}

/// Every entry of the poisoning corpus that is short enough: one a line.
fn poison() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for path in below(&corpus::root().join("poison")) {
        let text = fs::read(&path).unwrap();
        let lines = text.split(|byte| *byte == b'\n');
        let entries = lines.filter(|line| line.starts_with(b"{") && line.len() < MAX_LEN);
        seeds.extend(entries.map(<[u8]>::to_vec));
    }
    seeds
}

/// The inputs of the corpus' calls: the text of a command, or the arguments as JSON.
fn calls() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for file in ["hostile.jsonl", "harmless.jsonl"] {
        let text = fs::read_to_string(corpus::root().join("calls").join(file)).unwrap();
        for line in text.lines() {
            let Ok(call) = serde_json::from_str::<Value>(line) else { continue };
            let Some(input) = call.get("input") else { continue };
            let command =
                ["command", "cmd", "CommandLine"].iter().find_map(|key| input.get(key)?.as_str());
            let seed = command.map_or_else(|| input.to_string(), str::to_owned);
            seeds.push(seed.into_bytes());
        }
    }
    seeds.retain(|seed| seed.len() < MAX_LEN);
    seeds
}

/// The same as a server says them: in events that answer what the target has asked for.
fn answers() -> Vec<Vec<u8>> {
    let said = |entry: Vec<u8>| {
        let entry: Value = serde_json::from_slice(&entry).ok()?;
        let (id, result) = match entry.get("kind")?.as_str()? {
            "instructions" => (1, json!({ "instructions": entry.get("text")? })),
            "definition" => (2, json!({ "tools": [entry.get("json")?] })),
            _ => (3, entry.get("json")?.clone()),
        };
        let message = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        Some(format!("data: {message}\n\n").into_bytes())
    };
    poison().into_iter().filter_map(said).collect()
}

fn bodies(folder: &str, extension: &str) -> Vec<Vec<u8>> {
    let name = format!("upstream.{extension}");
    let mut paths = below(&corpus::root().join(folder));
    paths.retain(|path| path.file_name().is_some_and(|file| file == name.as_str()));
    read_all(&paths)
}

/// The files, each cut to what a target accepts.
fn read_all(paths: &[PathBuf]) -> Vec<Vec<u8>> {
    let read = |path: &PathBuf| {
        let mut bytes = fs::read(path).unwrap();
        bytes.truncate(MAX_LEN - HEAD.len());
        bytes
    };
    paths.iter().map(read).collect()
}

/// Every file below a folder, sorted; none if there is no such folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(below(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn with_head(seeds: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    seeds.into_iter().map(|seed| [HEAD.as_slice(), &seed].concat()).collect()
}
