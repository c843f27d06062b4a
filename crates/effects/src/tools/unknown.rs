//! Tools that are not in the catalogue: what their arguments show by themselves.

use callgate_json::Value;

use crate::analysis::Analysis;
use crate::effect::{Access, Change, Scope};
use crate::model::Language;
use crate::path::{Path, working_folder};
use crate::shell::eval::Shell;
use crate::tools::Call;
use crate::tools::known::{self, PathUse};
use crate::tools::written;
use crate::word::Word;

/// Values that are looked at.
const MAX_VALUES: usize = 512;

pub(super) fn analyse(analysis: &mut Analysis<'_>, call: &Call<'_>) {
    let uses = uses(call);
    if uses.iter().any(|it| matches!(it, PathUse::Writes(_))) {
        written::keep_shown(analysis, call);
    }
    let mut open: Vec<(String, String, &Value)> = vec![(String::new(), String::new(), call.value)];
    let mut seen = 0;
    while let Some((path, key, value)) = open.pop() {
        seen += 1;
        if seen > MAX_VALUES {
            return;
        }
        match value {
            Value::Object(members) => open.extend(members.iter().rev().map(|(key, value)| {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                (path, key.to_ascii_lowercase(), value)
            })),
            Value::Array(_) if is_command(call, &key) => {
                known::run(analysis, call, &path, value, &working_folder(analysis.ground));
            }
            Value::Array(items) => open.extend(
                items
                    .iter()
                    .enumerate()
                    .rev()
                    .map(|(at, value)| (format!("{path}[{at}]"), key.clone(), value)),
            ),
            Value::String(text) => show(analysis, call, &uses, &path, &key, text, value),
            _ => {}
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "one value with its place, and what it is used for")]
fn show(
    analysis: &mut Analysis<'_>,
    call: &Call<'_>,
    uses: &[PathUse],
    path: &str,
    key: &str,
    text: &str,
    value: &Value,
) {
    let path = if path.is_empty() { "$" } else { path };
    let trimmed = text.trim();
    if key == "input" && is_python(trimmed) {
        analysis.argument(path, text);
        let mut shell = Shell::new(analysis, working_folder(analysis.ground));
        return shell.code(Language::Python, &super::whole(trimmed));
    }
    // `{"command": "az storage account keys list"}`, whatever the tool is called.
    let mut words = trimmed.split_whitespace();
    let is_cloud = words.next().is_some_and(crate::shell::is_cloud) && words.next().is_some();
    if is_cloud && matches!(key, "command" | "cmd" | "cli_command") {
        return known::run(analysis, call, path, value, &working_folder(analysis.ground));
    }
    if is_encoded(key) && is_command(call, "command") {
        return encoded(analysis, call, path, trimmed);
    }
    if is_command(call, key) {
        return known::run(analysis, call, path, value, &working_folder(analysis.ground));
    }
    let has_scheme = trimmed.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme.len() < 16
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+')
    });
    if has_scheme && !trimmed.contains(char::is_whitespace) {
        return known::fetch(analysis, call, path, text);
    }
    let asks = ["search", "suggest", "ask", "docs", "documentation", "explain", "find"];
    if is_sql(key, trimmed) && !call.name_has(&asks) {
        return known::query(analysis, call, path, text);
    }
    if text.contains("*** Begin Patch")
        || text.starts_with("diff --git")
        || text.starts_with("--- ")
    {
        return known::apply_patch(analysis, path, text);
    }
    if is_path(key, trimmed) {
        analysis.argument(path, text);
        let only_names = [PathUse::Reads(Access::Names)];
        // Where the tool works, not what it deletes or writes.
        let moved = [PathUse::Reads(Access::Tree), PathUse::Deletes(Scope::Tree)];
        let is_source = matches!(key, "source" | "src" | "from" | "old_path" | "oldpath");
        let uses = match key {
            _ if is_place(key) => only_names.as_slice(),
            _ if is_source && call.name_has(&["move", "rename"]) => moved.as_slice(),
            _ => uses,
        };
        for usage in uses {
            let file = Path::resolve(
                &Word::known(trimmed),
                &working_folder(analysis.ground),
                analysis.ground,
            );
            analysis.push(usage.on(file), 0..text.len(), None);
        }
    }
}

/// What is typed into an interpreter of Python rather than into a shell.
pub(super) fn is_python(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let name = first.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
    let is_call = name.is_some_and(|at| at > 0 && first.get(at..at + 1) == Some("("))
        && !first.contains("() {")
        && !first.contains("(){");
    let is_import = first.starts_with("from ") && first.contains(" import ");
    let is_assigned = first.split_once(" = ").is_some_and(|(name, _)| {
        name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ',' | ' '))
    });
    is_call || is_import || is_assigned || first.starts_with("import ") || first.starts_with("def ")
}

/// `script_b64`, `command_base64`
fn is_encoded(key: &str) -> bool {
    key.ends_with("b64") || key.ends_with("base64")
}

/// A command in another spelling.
fn encoded(analysis: &mut Analysis<'_>, call: &Call<'_>, path: &str, text: &str) {
    let folder = working_folder(analysis.ground);
    match crate::shell::decode::base64(text) {
        Some(plain) => known::run(analysis, call, path, &Value::String(plain), &folder),
        None => {
            analysis.argument(path, text);
            let mut shell = Shell::new(analysis, folder);
            shell.hidden_code(&super::whole(text));
        }
    }
}

/// What the tool's own name says it does with a path.
fn uses(call: &Call<'_>) -> Vec<PathUse> {
    let mut uses = Vec::new();
    if call.name_has(&["delete", "remove", "unlink", "rmdir", "trash"]) {
        uses.push(PathUse::Deletes(Scope::Tree));
    }
    if call.name_has(&[
        "write",
        "create",
        "save",
        "edit",
        "update",
        "append",
        "upload",
        "replace",
        "insert",
        "push_files",
        "push_multiple_files",
        "commit_files",
        "create_commit",
        "commit_changes",
        "patch",
        "move",
        "rename",
        "copy",
        "put",
        "set",
        "modify",
        "download",
        "export",
    ]) {
        uses.push(PathUse::Writes(Change::Content));
    }
    let only_names = call.name_has(&["list", "stat", "exists", "info", "glob", "tree"]);
    if uses.is_empty() || call.name_has(&["copy", "move", "read", "upload"]) {
        uses.push(PathUse::Reads(if only_names { Access::Names } else { Access::Content }));
    }
    uses
}

fn is_command(call: &Call<'_>, key: &str) -> bool {
    let is_key = matches!(
        key,
        "command"
            | "cmd"
            | "commands"
            | "commandline"
            | "command_line"
            | "shell_command"
            | "bash"
            | "shell"
            | "argv"
            | "script"
            | "cli_command"
            | "shell_cmd"
            | "terminal_command"
            | "commandtext"
            | "input"
            | "code"
            | "keys"
    );
    let is_typed = ["send_keys", "send-keys", "terminal_input", "send_text"];
    if matches!(key, "text" | "keys" | "input") && call.name_has(&is_typed) {
        return true;
    }
    let is_runner = call.name_has(&[
        "shell",
        "exec",
        "run",
        "bash",
        "terminal",
        "command",
        "cmd",
        "ssh",
        "process",
        "script",
        "call_aws",
        "kubectl",
        "cli",
        "console",
        "send_keys",
        "tmux",
        "install_server",
        "add_server",
        "add_mcp",
        "register_server",
        "interact",
        "repl",
    ]);
    is_key && is_runner
}

fn is_sql(key: &str, text: &str) -> bool {
    let is_key = ["sql", "cql", "query", "queries", "statement", "batch"]
        .iter()
        .any(|part| key.contains(part));
    let first = text.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
    is_key
        && !key.contains("text")
        && matches!(
            first.as_str(),
            "SELECT"
                | "INSERT"
                | "UPDATE"
                | "DELETE"
                | "DROP"
                | "TRUNCATE"
                | "ALTER"
                | "CREATE"
                | "GRANT"
                | "REVOKE"
                | "WITH"
                | "EXPLAIN"
                | "COPY"
                | "MERGE"
                | "CALL"
                | "EXEC"
                | "VACUUM"
                | "PRAGMA"
                | "SHOW"
                | "SET"
                | "ATTACH"
                | "DO"
                | "BEGIN"
                | "DECLARE"
                | "PREPARE"
                | "EXECUTE"
                | "RENAME"
                | "REPLACE"
                | "LOAD"
                | "EXPORT"
                | "UNLOAD"
                | "IMPORT"
                | "BACKUP"
                | "RESTORE"
                | "IF"
                | "KILL"
                | "SHUTDOWN"
        )
}

/// Arguments that are text for a file, a message or a search, even if they look like a path.
fn is_content(key: &str) -> bool {
    matches!(
        key,
        "oldtext"
            | "newtext"
            | "old_text"
            | "new_text"
            | "old_string"
            | "new_string"
            | "old_str"
            | "new_str"
            | "oldstring"
            | "newstring"
            | "search"
            | "replace"
            | "replacement"
            | "content"
            | "contents"
            | "text"
            | "body"
            | "message"
            | "title"
            | "description"
            | "comment"
            | "pattern"
            | "regex"
            | "selector"
            | "route"
            | "endpoint"
            | "value"
    )
}

fn is_place(key: &str) -> bool {
    matches!(
        key,
        "repo_path"
            | "repopath"
            | "repository_path"
            | "cwd"
            | "workdir"
            | "working_dir"
            | "working_directory"
            | "project_root"
            | "project_path"
            | "workspace"
            | "workspace_path"
    )
}

fn is_path(key: &str, text: &str) -> bool {
    let is_one_line = !text.contains(['\n', '\t']) && text.len() <= 1024 && !text.is_empty();
    let is_key = key.contains("path")
        || key.contains("file")
        || key.contains("dir")
        || key.contains("folder")
        || matches!(key, "source" | "destination" | "src" | "dest" | "target" | "location" | "uri");
    let is_shown = text.starts_with('/') && !text.starts_with("//")
        || text.starts_with("~/")
        || text.starts_with("./")
        || text.starts_with("../");
    let is_word = !text.contains(' ');
    !is_content(key) && is_one_line && (is_key || is_shown && is_word && text.len() > 1)
}
