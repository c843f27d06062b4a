//! Permissions of opencode. The last pattern that matches decides, so those that deny come last.

use serde_json::{Map, Value, json};

use super::native::{Native, RuleSubject, TextPosition};
use crate::draft::DraftVerdict;

pub(super) const TOOLS: &[(&str, &[&str])] = &[
    ("@shell", &["bash"]),
    ("@read", &["read", "list"]),
    ("@write", &["edit"]),
    ("@edit", &["edit"]),
    ("@fetch", &["webfetch"]),
    ("@search", &["glob", "grep", "websearch", "codesearch"]),
    ("@agent", &["task", "skill"]),
];

pub(super) fn accepts(native: &Native) -> Result<(), &'static str> {
    match &native.subject {
        RuleSubject::ServerTool { server, tool } if server == "*" && tool == "*" => {
            Err("a rule about every server has no counterpart")
        }
        RuleSubject::Reads(glob) | RuleSubject::Changes(glob) => patterns(glob).map(|_| ()),
        RuleSubject::CommandText { text, .. } if text.contains(['*', '?']) => {
            Err("text with `*` or `?` has no counterpart")
        }
        _ => Ok(()),
    }
}

pub(super) fn text(natives: &[Native]) -> String {
    let mut permission = Map::new();
    // Those that ask come first.
    for native in natives.iter().rev() {
        let word = if native.decision == DraftVerdict::Deny { "deny" } else { "ask" };
        for (key, pattern) in entries(&native.subject) {
            let patterns = permission.entry(key).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(patterns) = patterns {
                // A pattern that is repeated moves to the end.
                patterns.shift_remove(&pattern);
                patterns.insert(pattern, json!(word));
            }
        }
    }
    for value in permission.values_mut() {
        if let Value::Object(patterns) = value {
            whole_first(patterns);
        }
    }
    let config = json!({ "$schema": "https://opencode.ai/config.json", "permission": permission });
    format!("{config:#}\n")
}

/// A pattern for everything that asks must not come after one that denies; one that denies makes all
/// others pointless.
fn whole_first(patterns: &mut Map<String, Value>) {
    match patterns.shift_remove("*") {
        Some(word) if word == "deny" => {
            patterns.clear();
            patterns.insert("*".to_owned(), word);
        }
        Some(word) => {
            let others = std::mem::take(patterns);
            patterns.insert("*".to_owned(), word);
            patterns.extend(others);
        }
        None => {}
    }
}

fn entries(subject: &RuleSubject) -> Vec<(String, String)> {
    let of = |key: &str, patterns: Vec<String>| -> Vec<(String, String)> {
        patterns.into_iter().map(|pattern| (key.to_owned(), pattern)).collect()
    };
    match subject {
        RuleSubject::Tool(tool) => of(tool, vec!["*".to_owned()]),
        RuleSubject::ServerTool { server, tool } if server == "*" && tool == "*" => Vec::new(),
        RuleSubject::ServerTool { server, tool } => {
            vec![(format!("{}_{}", as_name(server), as_name(tool)), "*".to_owned())]
        }
        RuleSubject::Command(words) => of("bash", vec![format!("{} *", words.join(" "))]),
        RuleSubject::CommandText { text, part } => of(
            "bash",
            vec![match part {
                TextPosition::Whole => text.clone(),
                TextPosition::Start => format!("{text}*"),
                TextPosition::Anywhere => format!("*{text}*"),
            }],
        ),
        RuleSubject::Reads(glob) => of("read", patterns(glob).unwrap_or_default()),
        RuleSubject::Changes(glob) => of("edit", patterns(glob).unwrap_or_default()),
        RuleSubject::Host(host) => {
            of("webfetch", ["", "/*", ":*"].map(|end| format!("*://{host}{end}")).to_vec())
        }
    }
}

/// The name of a server or tool, as opencode writes it.
fn as_name(name: &str) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '*');
    name.chars().map(|it| if plain(it) { it } else { '_' }).collect()
}

/// Patterns in which `*` is any text. Paths are compared relative to the project.
fn patterns(glob: &str) -> Result<Vec<String>, &'static str> {
    if glob.contains(['[', '\\']) {
        return Err("globs with `[` or `\\` have no counterpart");
    }
    let inner = match (glob.strip_prefix("**/"), glob.strip_prefix("workspace/")) {
        (Some(rest), _) => {
            let rest = simple(rest)?;
            return Ok(vec![rest.clone(), format!("*/{rest}")]);
        }
        (None, Some(rest)) => rest,
        (None, None) if glob == "workspace" || glob.starts_with(['/', '~', '*']) => {
            return Err("paths outside of the project have no counterpart");
        }
        (None, None) => glob,
    };
    Ok(vec![simple(inner)?])
}

/// `*` crosses slashes there, so a glob in which it does not would deny more.
fn simple(glob: &str) -> Result<String, &'static str> {
    match glob.strip_suffix("/**") {
        _ if glob == "**" => Ok("*".to_owned()),
        Some(folder) if !folder.contains(['*', '?']) => Ok(format!("{folder}/*")),
        None if !glob.contains(['*', '?']) => Ok(glob.to_owned()),
        _ => Err("wildcards that stop at a slash have no counterpart"),
    }
}
