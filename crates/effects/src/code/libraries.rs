//! Libraries that run what a program on the command line would: git, and commands on this or another
//! machine.

use crate::effect::Purpose;
use crate::marks::Mark;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::word::Word;

/// Libraries for git.
const GIT: &[&str] =
    &["from git import", "import git", "simple-git", "dulwich", "nodegit", "pygit2", "GitPython"];

/// Libraries with objects that run shell text, in methods called `run` or `sudo`.
const RUNNERS: &[&str] =
    &["fabric", "invoke", "plumbum", "paramiko", "testinfra", "zx", "shelljs", "node-ssh"];

const METHODS: &[&str] = &[".run(", ".sudo(", ".local(", ".execCommand(", ".exec("];

/// Calls of one code that are looked at.
const MAX_CALLS: usize = 16;

pub(super) fn scan(shell: &mut Shell<'_, '_>, text: &str, field: &Field) {
    let has = |names: &[&str]| names.iter().any(|name| text.contains(name));
    // What ends a process that was looked for before.
    if has(&["os.kill(", "process.kill(", "Process.kill("]) {
        shell.mark_parent(Mark::Kills);
    }
    if has(&["pymongo", "MongoClient"]) && has(&[".drop()"]) {
        shell.mark_parent(Mark::Database);
    }
    // Files for another host, over SSH.
    if has(&["paramiko", "pysftp", "SCPClient", "ssh2-sftp-client", "asyncssh"])
        && has(&[".put(", ".putfo(", "fastPut(", ".put_r("])
    {
        let host = ["connect(", "Connection(", "Transport((", "host:"]
            .iter()
            .find_map(|sign| literals(text.split_once(sign)?.1).into_iter().next());
        let host = host.map_or_else(Word::unknown, Word::known);
        let address = crate::host::parse_host(&host, "");
        shell.connect(address, Purpose::Send, None, field.span.clone());
    }
    if text.contains("push(") && has(GIT) {
        for (at, sign) in text.match_indices("push(").take(MAX_CALLS) {
            let call = text.get(at + sign.len()..).unwrap_or_default();
            let call = call.split(')').next().unwrap_or_default();
            let mut words = vec!["git".to_owned(), "push".to_owned()];
            words.extend(literals(call));
            if call.contains("force=True") || call.contains("force: true") {
                words.push("--force".to_owned());
            }
            let words: Vec<Field> = words
                .into_iter()
                .map(|word| Field::new(Word::known(word), field.span.clone()))
                .collect();
            shell.run(&words, None);
        }
    }
    if has(METHODS) && has(RUNNERS) {
        for method in METHODS {
            for (at, sign) in text.match_indices(method).take(MAX_CALLS) {
                let call = text.get(at + sign.len()..).unwrap_or_default().trim_start();
                if call.starts_with(['\'', '"'])
                    && let Some(command) = literals(call).into_iter().next()
                {
                    drop(shell.word_text(&Field::new(Word::known(command), field.span.clone())));
                }
            }
        }
    }
}

/// The literals in a call, without regard to escapes.
fn literals(call: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = call;
    while let Some(at) = rest.find(['\'', '"']) {
        let quote = if rest.get(at..at + 1) == Some("'") { '\'' } else { '"' };
        let inside = rest.get(at + 1..).unwrap_or_default();
        let end = inside.find(quote).unwrap_or(inside.len());
        found.push(inside.get(..end).unwrap_or_default().to_owned());
        rest = inside.get((end + 1).min(inside.len())..).unwrap_or_default();
        if found.len() > 32 {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::{Ground, command};

    #[test]
    fn methods_of_libraries_are_commands() {
        for (text, line) in [
            (
                "python -c \"from git import Repo; Repo('.').git.push('-f','origin','main')\"",
                "runs git push -f origin main",
            ),
            (
                "node -e \"require('simple-git')().push(['-f','origin','main'])\"",
                "runs git push -f origin main",
            ),
            (
                "python -c \"from invoke import Context; Context().run('rm -rf a')\"",
                "deletes-tree a",
            ),
            (
                "python -c \"from fabric import Connection; Connection('h').run('rm -rf a')\"",
                "deletes-tree a",
            ),
        ] {
            let effects = command(text, &Ground::default());
            let found: Vec<String> = effects.all().iter().map(|it| it.action.to_string()).collect();
            assert!(found.iter().any(|it| it == line), "{text}: {found:?}");
        }
    }
}
