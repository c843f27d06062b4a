//! How agents spell the name of a server's tool. Seen on real agents, but for the last few
//! separators, which SDKs and gateways use.

use crate::name::fold;

/// What agents put before, and what between server and tool.
const FORMS: [(&str, &str); 8] = [
    // Claude Code, Codex
    ("mcp__", "__"),
    // Gemini CLI
    ("mcp_", "_"),
    // Copilot CLI
    ("", "-"),
    // opencode
    ("", "_"),
    ("", "__"),
    ("", "."),
    ("", "/"),
    ("", ":"),
];

/// What a namespace may begin with, where agents say it and the name apart.
const NAMESPACES: [&str; 3] = ["", "mcp__", "mcp_"];

/// Agents shorten what is longer than their API takes: 60 to 64 characters.
const LONG: usize = 60;
/// The longest name that is the outcome of shortening.
const MAX_SHORTENED: usize = 64;
/// How much of a name every agent leaves as it is when it shortens: Codex 24 characters, Gemini CLI
/// 28. Fewer here, for others.
const KEPT: usize = 20;

/// Every spelling, folded, each once.
pub fn spellings(server: &str, tool: &str) -> Vec<String> {
    let (servers, tools) = (part(server), part(tool));
    let mut all = Vec::new();
    for (before, between) in FORMS {
        for server in &servers {
            for tool in &tools {
                let spelling = format!("{before}{server}{between}{tool}");
                if !all.contains(&spelling) {
                    all.push(spelling);
                }
            }
        }
    }
    all
}

/// A server or a tool as it stands in names: as it is, and with `_` for what some API does not take
/// in a name.
pub fn part(name: &str) -> Vec<String> {
    let name = name.trim();
    let strict = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mut all = vec![fold(name)];
    for sanitized in [
        sanitized(name, strict, char::len_utf16),
        sanitized(name, strict, |_| 1),
        // Gemini CLI
        sanitized(name, |c| strict(c) || matches!(c, '.' | ':'), char::len_utf16),
        sanitized(name, |c| strict(c) && c != '-', char::len_utf16),
    ] {
        if !all.contains(&sanitized) {
            all.push(sanitized);
        }
    }
    all
}

/// `units` says how many `_` a character becomes: in JavaScript one for each half of it.
fn sanitized(name: &str, keeps: impl Fn(char) -> bool, units: fn(char) -> usize) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match keeps(c) {
            true => out.push(c.to_ascii_lowercase()),
            false => out.extend(std::iter::repeat_n('_', units(c))),
        }
    }
    out
}

/// The servers a namespace may mean, as they stand in names.
pub fn servers_of(namespace: &str) -> impl Iterator<Item = &str> {
    let bare = namespace.strip_suffix("__").unwrap_or(namespace);
    let without = NAMESPACES.into_iter().filter_map(|before| bare.strip_prefix(before));
    without.filter(|server| !server.is_empty())
}

/// Claude Code names a server that a plugin brings `mcp__plugin_<plugin>_<server>__<tool>`.
const PLUGIN: &str = "mcp__plugin_";
/// Words that are tried as the plugin's name. Plugins have two or three.
const MAX_PLUGIN_WORDS: usize = 12;

/// The names that are left when what may be a plugin is taken out. Where it ends, no name tells.
pub fn without_plugin(folded: &str) -> impl Iterator<Item = String> {
    let rest = folded.strip_prefix(PLUGIN).unwrap_or("");
    let ends = rest.match_indices('_').filter(|(at, _)| *at > 0).take(MAX_PLUGIN_WORDS);
    ends.filter_map(|(at, _)| Some(format!("mcp__{}", rest.get(at + 1..)?)))
}

/// By what a spelling is found that an agent would shorten; `None` for one that it would not.
pub fn beginning(spelling: &str) -> Option<&str> {
    (spelling.len() > LONG).then(|| spelling.get(..KEPT)).flatten()
}

/// The same for a name that may have been shortened.
pub fn beginning_of_shortened(name: &str) -> Option<&str> {
    let may_be = name.is_ascii() && name.len() <= MAX_SHORTENED;
    may_be.then(|| name.get(..KEPT)).flatten()
}

/// Whether an agent may have shortened this spelling to this name: cut it off, put a hash at its
/// end, or taken something out of its middle.
pub fn is_shortened(spelling: &str, name: &str) -> bool {
    if spelling.len() <= LONG || name.len() >= spelling.len() {
        return false;
    }
    let same = spelling.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
    let rest = name.get(same..).unwrap_or("");
    let cut = rest.is_empty() && name.len() >= LONG;
    let hash = rest.trim_start_matches(['_', '-']);
    let hashed = same >= KEPT && hash.len() >= 4 && hash.bytes().all(|c| c.is_ascii_hexdigit());
    cut || hashed || has_gap(spelling, name)
}

/// Gemini CLI puts `___` or `...` where it took something out.
fn has_gap(spelling: &str, name: &str) -> bool {
    let gap = |mark: &str| {
        name.match_indices(mark).any(|(at, _)| {
            let (before, behind) = (name.get(..at), name.get(at + mark.len()..));
            let (Some(before), Some(behind)) = (before, behind) else { return false };
            before.len() >= KEPT && spelling.starts_with(before) && spelling.ends_with(behind)
        })
    };
    gap("___") || gap("...")
}
