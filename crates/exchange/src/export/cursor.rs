//! Permissions of Cursor. They deny or allow; it asks about everything else.

use serde_json::json;

use super::native::{Native, RuleSubject, TextPosition};
use crate::draft::DraftVerdict;

/// Its tools, by kind, as the first words of its permissions.
pub(super) const TOOLS: &[(&str, &[&str])] = &[
    ("@shell", &["Shell"]),
    ("@read", &["Read"]),
    ("@write", &["Write"]),
    ("@edit", &["Write"]),
    ("@fetch", &["WebFetch"]),
];

pub(super) fn accepts(native: &Native) -> Result<(), &'static str> {
    if native.decision == DraftVerdict::Ask {
        return Err("Cursor has no rules that ask: it asks about what is not allowed");
    }
    match &native.subject {
        RuleSubject::CommandText { part: TextPosition::Anywhere, .. } => {
            Err("text inside of commands has no counterpart")
        }
        RuleSubject::CommandText { text, .. }
            if text.contains(['*', ':', ')', '\n']) || text.trim().is_empty() =>
        {
            Err("text with `*` or `:` has no counterpart")
        }
        RuleSubject::Command(words) if words.iter().any(|word| word.contains([':', ')'])) => {
            Err("commands with `:` have no counterpart")
        }
        RuleSubject::Reads(glob) | RuleSubject::Changes(glob)
            if glob.contains(['[', '\\', ')']) =>
        {
            Err("globs with `[` or `\\` have no counterpart")
        }
        _ => Ok(()),
    }
}

pub(super) fn text(natives: &[Native]) -> String {
    let mut deny: Vec<String> = natives.iter().map(|native| rule(&native.subject)).collect();
    let mut seen = std::collections::HashSet::new();
    deny.retain(|rule| seen.insert(rule.clone()));
    format!("{:#}\n", json!({ "permissions": { "allow": [], "deny": deny } }))
}

fn rule(subject: &RuleSubject) -> String {
    match subject {
        RuleSubject::Tool(tool) if tool == "Shell" => "Shell(*)".to_owned(),
        RuleSubject::Tool(tool) if tool == "WebFetch" => "WebFetch(*)".to_owned(),
        RuleSubject::Tool(tool) => format!("{tool}(**)"),
        RuleSubject::ServerTool { server, tool } => format!("Mcp({server}:{tool})"),
        RuleSubject::Command(words) => match words.split_first() {
            Some((program, [])) => format!("Shell({program})"),
            Some((program, rest)) => format!("Shell({program}:{} *)", rest.join(" ")),
            None => "Shell(*)".to_owned(),
        },
        RuleSubject::CommandText { text, part } => {
            let star = if *part == TextPosition::Start { "*" } else { "" };
            match text.split_once(' ') {
                Some((program, rest)) => format!("Shell({program}:{rest}{star})"),
                None => format!("Shell({text}{star})"),
            }
        }
        RuleSubject::Reads(glob) => format!("Read({})", path(glob)),
        RuleSubject::Changes(glob) => format!("Write({})", path(glob)),
        RuleSubject::Host(host) => format!("WebFetch({host})"),
    }
}

/// Relative paths are in the project.
fn path(glob: &str) -> String {
    match glob.strip_prefix("workspace") {
        Some("") => "**".to_owned(),
        Some(rest) if rest.starts_with('/') => rest.trim_start_matches('/').to_owned(),
        _ => glob.to_owned(),
    }
}
