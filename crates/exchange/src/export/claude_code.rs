//! Rules of Claude Code.

use serde_json::json;

use super::native::{Native, RuleSubject, TextPosition};
use crate::draft::DraftVerdict;

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
        RuleSubject::CommandText { text, .. } if text.contains(['*', '\n']) => {
            Err("text with `*` has no counterpart")
        }
        RuleSubject::ServerTool { server, .. }
            if server.contains(['*', '?', '%']) && server != "*" =>
        {
            Err("wildcards for servers have no counterpart")
        }
        RuleSubject::Reads(glob) | RuleSubject::Changes(glob) => path(glob).map(|_| ()),
        _ => Ok(()),
    }
}

pub(super) fn text(natives: &[Native]) -> String {
    let of = |decision: DraftVerdict| -> Vec<String> {
        let mut rules: Vec<String> =
            natives.iter().filter(|it| it.decision == decision).filter_map(rule).collect();
        let mut seen = std::collections::HashSet::new();
        rules.retain(|rule| seen.insert(rule.clone()));
        rules
    };
    let (deny, ask) = (of(DraftVerdict::Deny), of(DraftVerdict::Ask));
    let settings = json!({ "permissions": { "deny": deny, "ask": ask } });
    format!("{settings:#}\n")
}

fn rule(native: &Native) -> Option<String> {
    Some(match &native.subject {
        RuleSubject::Tool(tool) => tool.clone(),
        RuleSubject::ServerTool { server, tool } if server == "*" && tool == "*" => {
            "mcp__*".to_owned()
        }
        RuleSubject::ServerTool { server, tool } => format!("mcp__{server}__{tool}"),
        RuleSubject::Command(words) => format!("Bash({}:*)", words.join(" ")),
        RuleSubject::CommandText { text, part: TextPosition::Whole } => format!("Bash({text})"),
        RuleSubject::CommandText { text, part: TextPosition::Start } => format!("Bash({text}*)"),
        RuleSubject::CommandText { text, part: TextPosition::Anywhere } => {
            format!("Bash(*{text}*)")
        }
        RuleSubject::Reads(glob) => format!("Read({})", path(glob).ok()?),
        RuleSubject::Changes(glob) => format!("Edit({})", path(glob).ok()?),
        RuleSubject::Host(host) => format!("WebFetch(domain:{host})"),
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
