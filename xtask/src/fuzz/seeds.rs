//! What each target starts from.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::MAX_LEN;
use crate::tidy::files;

/// Targets that read whole streams take two bytes in front: how to cut, and a choice.
const HEAD: [u8; 2] = [7, 1];

/// Puts the seeds of `target` into `folder`; gives how many there are.
pub(super) fn plant(root: &Path, target: &str, folder: &Path) -> Result<usize> {
    let mut seeds = made_for(root, target)?;
    seeds.extend(match target {
        "json" => documents(root)?,
        "sse" => with_head(bodies(root, "corpus", "sse")?),
        "anthropic" => with_head(bodies(root, "corpus/anthropic", "sse")?),
        "openai_chat" => with_head(bodies(root, "corpus/openai-chat", "sse")?),
        "openai_responses" => with_head(bodies(root, "corpus/openai-responses", "sse")?),
        "cohere" => with_head(bodies(root, "corpus/cohere", "sse")?),
        "ollama" => with_head(bodies(root, "corpus/ollama", "ndjson")?),
        "gemini" => with_head(bodies(root, "corpus/gemini", "sse")?),
        "interactions" => with_head(bodies(root, "corpus/gemini-interactions", "sse")?),
        "bedrock_converse" => with_head(bodies(root, "corpus/bedrock-converse", "eventstream")?),
        "bedrock_invoke" => with_head(bodies(root, "corpus/bedrock-invoke", "eventstream")?),
        "policy" => rule_files(root)?,
        "inspect" => poison(root)?,
        "mcp_events" => with_head(answers(root)?),
        _ => Vec::new(),
    });
    for (at, seed) in seeds.iter().enumerate() {
        fs::write(folder.join(format!("seed-{at:05}")), seed).context("cannot write a seed")?;
    }
    Ok(seeds.len())
}

/// Inputs kept in the repository for one target.
fn made_for(root: &Path, target: &str) -> Result<Vec<Vec<u8>>> {
    let folder = root.join("fuzz/seeds").join(target);
    if folder.exists() { read_all(&files::below(&folder)?) } else { Ok(Vec::new()) }
}

/// Every JSON document of the corpus that is short enough: whole bodies, and the data of events.
fn documents(root: &Path) -> Result<Vec<Vec<u8>>> {
    let mut seeds = bodies(root, "corpus", "json")?;
    for stream in bodies(root, "corpus", "sse")? {
        let lines = stream.split(|byte| matches!(byte, b'\n' | b'\r'));
        let data = lines.filter_map(|line| line.strip_prefix(b"data:"));
        seeds.extend(data.map(|data| data.trim_ascii().to_vec()));
    }
    seeds.sort();
    seeds.dedup();
    Ok(seeds)
}

/// Every entry of the poisoning corpus that is short enough: one a line.
fn poison(root: &Path) -> Result<Vec<Vec<u8>>> {
    let mut seeds = Vec::new();
    for path in files::below(&root.join("corpus/poison"))? {
        let text = fs::read(&path).with_context(|| path.display().to_string())?;
        let lines = text.split(|byte| *byte == b'\n');
        let entries = lines.filter(|line| line.starts_with(b"{") && line.len() < MAX_LEN);
        seeds.extend(entries.map(<[u8]>::to_vec));
    }
    Ok(seeds)
}

/// The same as a server says them: in events that answer what the target has asked for.
fn answers(root: &Path) -> Result<Vec<Vec<u8>>> {
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
    Ok(poison(root)?.into_iter().filter_map(said).collect())
}

fn rule_files(root: &Path) -> Result<Vec<Vec<u8>>> {
    let all = files::below(root)?;
    let yaml = |path: &&PathBuf| {
        path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
    };
    read_all(&all.iter().filter(yaml).cloned().collect::<Vec<_>>())
}

fn bodies(root: &Path, below: &str, extension: &str) -> Result<Vec<Vec<u8>>> {
    let name = format!("upstream.{extension}");
    let mut paths = files::below(&root.join(below))?;
    paths.retain(|path| path.file_name().is_some_and(|file| file == name.as_str()));
    read_all(&paths)
}

/// The files, each cut to what the engine accepts.
fn read_all(paths: &[PathBuf]) -> Result<Vec<Vec<u8>>> {
    let read = |path: &PathBuf| {
        let mut bytes = fs::read(path).with_context(|| path.display().to_string())?;
        bytes.truncate(MAX_LEN - HEAD.len());
        Ok(bytes)
    };
    paths.iter().map(read).collect()
}

fn with_head(seeds: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    seeds.into_iter().map(|seed| [HEAD.as_slice(), &seed].concat()).collect()
}
