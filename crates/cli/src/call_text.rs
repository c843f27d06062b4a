//! A tool call on one line, as a person would write it down: `Bash: git push --force`.

use std::sync::LazyLock;

use callgate_call::fold;
use callgate_effects::{Catalogue, Role};
use callgate_scan::redact_json;
use serde_json::Value;

/// A tool and its argument on one line.
pub(crate) fn joined(tool: &str, argument: &str) -> String {
    match argument {
        "" => tool.to_owned(),
        argument => format!("{tool}: {argument}"),
    }
}

/// The most telling argument of a call, with secrets redacted.
///
/// The text may hold any character: callers escape it with [`printable`](crate::render::printable).
pub(crate) fn argument(tool: &str, input: Option<&str>) -> String {
    input.map(|input| most_telling_argument(tool, &redact_json(input))).unwrap_or_default()
}

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(Catalogue::builtin);

/// The command of a shell tool, the path of a file tool, the only argument if there is just one;
/// otherwise all of them, as JSON.
fn most_telling_argument(tool: &str, input: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(input) else {
        // A record keeps only the beginning of a long input, which is no longer JSON.
        return input.trim().to_owned();
    };
    let Value::Object(fields) = &value else { return text(&value) };
    let known = CATALOGUE.entry(&fold(tool.trim())).map(|entry| entry.roles.as_slice());
    let of_role = |wanted: &Role| {
        let mut roles = known.unwrap_or_default().iter().filter(|(_, role)| role == wanted);
        roles.find_map(|(name, _)| fields.get(name))
    };
    let usual = || USUAL.iter().find_map(|name| fields.get(*name));
    let only = || fields.values().next().filter(|_| fields.len() == 1);
    match TELLING.iter().find_map(of_role).or_else(usual).or_else(only) {
        Some(found) => text(found),
        None if fields.is_empty() => String::new(),
        None => value.to_string(),
    }
}

/// The roles that tell most about a call, the best first.
const TELLING: [Role; 5] = [Role::Command, Role::Url, Role::Path, Role::Query, Role::Pattern];

/// Names that tools of MCP servers often use for the same.
const USUAL: [&str; 7] = ["command", "cmd", "url", "file_path", "path", "query", "sql"];

/// A value as a person would write it: a text without quotes, the words of a command in a row.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(words) if words.iter().all(Value::is_string) => {
            words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_telling_argument() {
        let table = [
            (
                "Bash",
                Some(r#"{"command":"git push --force","timeout":5}"#),
                "Bash: git push --force",
            ),
            ("exec_command", Some(r#"{"cmd":"ls","workdir":"/"}"#), "exec_command: ls"),
            ("shell", Some(r#"{"command":["bash","-lc","ls -l"]}"#), "shell: bash -lc ls -l"),
            ("Write", Some(r#"{"content":"long","file_path":"/a"}"#), "Write: /a"),
            (
                "WebFetch",
                Some(r#"{"prompt":"x","url":"https://a.example"}"#),
                "WebFetch: https://a.example",
            ),
            ("mcp__notes__get_note", Some(r#"{"id":7}"#), "mcp__notes__get_note: 7"),
            ("book", Some(r#"{"from":"A","to":"B"}"#), r#"book: {"from":"A","to":"B"}"#),
            ("now", Some("{}"), "now"),
            ("now", None, "now"),
            ("apply_patch", Some("\"*** Begin Patch\""), "apply_patch: *** Begin Patch"),
            ("Bash", Some(r#"{"command":"cut of"#), r#"Bash: {"command":"cut of"#),
        ];
        for (tool, input, expected) in table {
            assert_eq!(joined(tool, &argument(tool, input)), expected);
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let input = r#"{"command":"curl -H 'x: ghp_0123456789abcdefghijABCDEFGHIJ012345'"}"#;
        let shown = argument("Bash", Some(input));
        assert!(!shown.contains("ghp_0123") && shown.contains("[REDACTED"), "{shown}");
    }
}
