//! Rules of Claude Code.

use serde_json::json;

use super::native::{Native, Part, Subject};
use crate::draft::Decision;

/// Its tools, by kind.
pub(super) const TOOLS: &[(&str, &[&str])] = &[
    ("@shell", &["Bash", "PowerShell", "Monitor"]),
    ("@read", &["Read", "Grep", "LS"]),
    ("@write", &["Write"]),
    ("@edit", &["Edit", "NotebookEdit"]),
    ("@fetch", &["WebFetch"]),
    ("@search", &["Grep", "Glob", "WebSearch"]),
    ("@agent", &["Agent", "SendMessage", "Workflow", "Skill"]),
];

/// Whether Claude Code can have such a rule.
pub(super) fn accepts(native: &Native) -> Result<(), &'static str> {
    match &native.subject {
        Subject::CommandText { text, .. } if text.contains(['*', '\n']) => {
            Err("text with `*` has no counterpart")
        }
        Subject::ServerTool { server, .. } if server.contains(['*', '?', '%']) && server != "*" => {
            Err("wildcards for servers have no counterpart")
        }
        Subject::Reads(glob) | Subject::Changes(glob) => path(glob).map(|_| ()),
        _ => Ok(()),
    }
}

pub(super) fn text(natives: &[Native]) -> String {
    let of = |decision: Decision| -> Vec<String> {
        let mut rules: Vec<String> =
            natives.iter().filter(|it| it.decision == decision).filter_map(rule).collect();
        let mut seen = std::collections::HashSet::new();
        rules.retain(|rule| seen.insert(rule.clone()));
        rules
    };
    let (deny, ask) = (of(Decision::Deny), of(Decision::Ask));
    let settings = json!({ "permissions": { "deny": deny, "ask": ask } });
    format!("{settings:#}\n")
}

fn rule(native: &Native) -> Option<String> {
    Some(match &native.subject {
        Subject::Tool(tool) => tool.clone(),
        Subject::ServerTool { server, tool } if server == "*" && tool == "*" => "mcp__*".to_owned(),
        Subject::ServerTool { server, tool } => format!("mcp__{server}__{tool}"),
        Subject::Command(words) => format!("Bash({}:*)", words.join(" ")),
        Subject::CommandText { text, part: Part::Whole } => format!("Bash({text})"),
        Subject::CommandText { text, part: Part::Start } => format!("Bash({text}*)"),
        Subject::CommandText { text, part: Part::Anywhere } => format!("Bash(*{text}*)"),
        Subject::Reads(glob) => format!("Read({})", path(glob).ok()?),
        Subject::Changes(glob) => format!("Edit({})", path(glob).ok()?),
        Subject::Host(host) => format!("WebFetch(domain:{host})"),
    })
}

/// A glob in the form of `.gitignore`, in which `//` begins an absolute path.
fn path(glob: &str) -> Result<String, &'static str> {
    if glob.contains(['\\', '[', '(', ')']) {
        return Err("globs with `[` or `\\` have no counterpart");
    }
    Ok(match glob.strip_prefix("workspace") {
        Some("") => "./**".to_owned(),
        Some(rest) if rest.starts_with('/') => format!(".{rest}"),
        _ if glob.starts_with("~/") => glob.to_owned(),
        _ if glob.starts_with('/') => format!("/{glob}"),
        _ if glob.starts_with("**") => format!("//{glob}"),
        _ => format!("./{glob}"),
    })
}
