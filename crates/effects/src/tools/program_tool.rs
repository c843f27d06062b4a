//! Tools that are called like a program: `kubectl {"args": ["delete", "ns", "prod"]}` runs it.

use callgate_json::Value;

use crate::analysis::Analysis;
use crate::path::working_folder;
use crate::programs;
use crate::tools::Call;
use crate::tools::arguments::find;
use crate::tools::known::run_words;

/// Words of a tool's name that say that it runs the program.
const RUNS: &[&str] = &[
    "run",
    "exec",
    "execute",
    "command",
    "cli",
    "call",
    "cmd",
    "raw",
    "tool",
    "generic",
    "azmcp",
    "extension",
];

/// Arguments that carry the words after the program.
const KEYS: &[&str] = &["command", "cmd", "subcommand", "args", "arguments", "argv"];

/// Servers that are a program, under another name, and the program.
const SERVERS: &[(&str, &str)] = &[
    ("redis", "redis-cli"),
    ("valkey", "redis-cli"),
    ("terraform", "terraform"),
    ("tofu", "tofu"),
    ("kubernetes", "kubectl"),
    ("k8s", "kubectl"),
    ("helm", "helm"),
    ("docker", "docker"),
    ("heroku", "heroku"),
    ("gcloud", "gcloud"),
    ("git", "git"),
    ("gh", "gh"),
];

pub(super) fn analyse(analysis: &mut Analysis<'_>, call: &Call<'_>) {
    if let Some(program) = program(call) {
        run_program(analysis, call, &program);
    }
}

/// `redis/command {"command": "FLUSHALL"}`: the server is the program, the tool says that it runs it.
pub(super) fn by_server(analysis: &mut Analysis<'_>, call: &Call<'_>) {
    let mut words = call.name.split(['_', '-', '.', '/', ':']).filter(|word| !word.is_empty());
    let first = words.find(|word| *word != "mcp").unwrap_or_default();
    let Some((_, program)) = SERVERS.iter().find(|(name, _)| *name == first) else { return };
    if first == "git" && call.words.iter().any(|word| word == "clean") {
        let folder = ["path", "repo_path", "cwd"].iter().find_map(|key| call.text(key));
        let words: Vec<&str> = match folder.filter(|folder| Some(*folder) != analysis.ground.cwd) {
            Some(folder) => vec!["git", "-C", folder, "clean", "-f", "-d"],
            None => vec!["git", "clean", "-f", "-d"],
        };
        return run_words(analysis, "path", &words, &working_folder(analysis.ground));
    }
    let runs = words.all(|word| RUNS.contains(&word) || word == first);
    let is_inside = ["container", "pod", "host"].iter().any(|key| call.text(key).is_some());
    if runs && !is_inside {
        run_program(analysis, call, program);
    }
}

fn run_program(analysis: &mut Analysis<'_>, call: &Call<'_>, program: &str) {
    let folder = working_folder(analysis.ground);
    let mut words: Vec<&str> = Vec::new();
    let found = KEYS.iter().flat_map(|key| find(call.value, key));
    let mut first = None;
    for (path, value) in found {
        first.get_or_insert(path);
        match value {
            Value::Array(items) => words.extend(items.iter().filter_map(Value::as_str)),
            Value::String(text) => words.extend(text.split_whitespace()),
            _ => {}
        }
    }
    if words.first() == Some(&program) {
        words.remove(0);
    }
    if let Some(path) = first.filter(|_| !words.is_empty()) {
        let words: Vec<&str> = std::iter::once(program).chain(words).collect();
        run_words(analysis, &path, &words, &folder);
    }
}

/// The program, if the tool's name is one, apart from words such as `run`.
fn program(call: &Call<'_>) -> Option<String> {
    let mut words = call.name.split(['_', '-', '.']).filter(|word| !RUNS.contains(word));
    let name = words.next().filter(|_| words.next().is_none())?;
    programs::find(name).map(|_| name.to_owned())
}

#[cfg(test)]
mod tests {
    use callgate_call::Arguments;

    use crate::{Ground, analyse};

    fn runs(tool: &str, arguments: &str) -> Vec<String> {
        let found = analyse(tool, None, &Arguments::json(arguments), &Ground::default());
        let shown = found.all().iter().map(|effect| effect.action.to_string());
        shown.filter(|line| line.starts_with("runs")).collect()
    }

    #[test]
    fn a_tool_with_the_name_of_a_program_runs_it() {
        for (tool, arguments) in [
            ("kubectl", r#"{"args":["delete","ns","prod"]}"#),
            ("run_kubectl", r#"{"args":"delete ns prod"}"#),
            ("kubectl_command", r#"{"command":"kubectl delete ns prod"}"#),
        ] {
            let found = runs(tool, arguments);
            assert!(found.contains(&"runs kubectl delete ns prod".to_owned()), "{tool}: {found:?}");
        }
        assert!(runs("note", r#"{"args":["delete"]}"#).is_empty());
        assert!(runs("kubectl_help", r#"{"args":["delete"]}"#).is_empty());
    }
}
