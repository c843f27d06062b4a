//! Installers of any kind that are given an address: a plugin, a package, a list of packages.
//!
//! Package managers have models. There are many more of them than models, and their words are alike.

use crate::effect::{Action, Effect, Purpose};
use crate::host;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::word::Word;

/// Words among which the verb is.
const MAX_VERB: usize = 5;
/// Words that are looked at.
const MAX_WORDS: usize = 32;

impl Shell<'_, '_> {
    /// `tool plugin install URL`, `tool repo add NAME URL`, `tool --source=URL install x`.
    pub(crate) fn installs_from(&mut self, name: &str, fields: &[Field], before: usize) {
        if fields.len() < 3 || is_other(name) {
            return;
        }
        let words = fields.iter().take(MAX_VERB).skip(1).filter_map(Field::text);
        let mut verbs = words.map(verb).filter(|verb| *verb != Verb::Other);
        let Some(verb) = verbs.next() else { return };
        let installs = verb == Verb::Installs || verbs.next().is_some();
        let is_known = |effect: &Effect| matches!(&effect.action, Action::Connects(it) if it.purpose == Purpose::Execute);
        if self.out.since(before).iter().any(is_known) {
            return;
        }
        for field in fields.iter().take(MAX_WORDS).skip(2) {
            let text = field.word.known_start();
            let at = value_at(text);
            let value = text.get(at..).unwrap_or_default();
            let is_flag = text.starts_with('-');
            if !(installs && (!is_flag || names_origin(text))
                || is_package(value)
                || text.starts_with("--git")
                || forge(value).is_some())
            {
                continue;
            }
            if let Some(host) = forge(value) {
                let address = host::parse_host(&Word::known(host), "https");
                self.connect(address, Purpose::Execute, None, field.span.clone());
            } else if value.contains("://")
                && let Some(address) = host::parse_url(&field.from(at + prefix(value)).word)
            {
                let url = field.from(at + prefix(value));
                self.connect(address, Purpose::Execute, Some(&url.word), field.span.clone());
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    /// What follows is installed.
    Installs,
    /// It is, if the address is a package, or there are two such words.
    May,
    Other,
}

fn verb(word: &str) -> Verb {
    match word {
        "install"
        | "plugin"
        | "plugins"
        | "tap"
        | "extension"
        | "extensions"
        | "plugin:install"
        | "plugins:install"
        | "add-dependency"
        | "add-repo"
        | "--add-repo"
        | "sources"
        | "--install-extension"
        | "wrapper"
        | "channels" => Verb::Installs,
        "add" | "Add" | "use" | "require" | "prepare" | "launch" | "repo" | "repository"
        | "repositories" | "index" | "create" | "upgrade" | "fetch" | "new" | "components"
        | "addon" | "package" | "pkg" => Verb::May,
        _ => Verb::Other,
    }
}

/// Programs whose words are something else, or whose models say it already.
fn is_other(name: &str) -> bool {
    matches!(
        name,
        "git"
            | "gh"
            | "glab"
            | "hg"
            | "svn"
            | "jj"
            | "helm"
            | "docker"
            | "podman"
            | "kubectl"
            | "curl"
            | "wget"
            | "http"
            | "https"
            | "xh"
            | "grep"
            | "egrep"
            | "rg"
            | "ag"
            | "sed"
            | "awk"
            | "jq"
            | "yq"
            | "echo"
            | "printf"
            | "make"
            | "argocd"
            | "flux"
            | "ssh"
            | "node"
            | "ruby"
            | "perl"
            | "php"
            | "bash"
            | "sh"
            | "claude"
            | "codex"
            | "gemini"
            | "aws"
            | "find"
            | "cat"
            | "tee"
            | "ls"
            | "cp"
            | "mv"
            | "rm"
            | "mkdir"
            | "test"
            | "sudo"
            | "env"
            | "xargs"
            | "time"
            | "docker-compose"
            | "terraform"
            | "tofu"
    ) || name.starts_with("python")
}

/// Where the value of `--name=value` or `name=value` begins.
fn value_at(text: &str) -> usize {
    let name =
        text.bytes().take_while(|it| it.is_ascii_alphanumeric() || b"-_.".contains(it)).count();
    if text.as_bytes().get(name) == Some(&b'=') { name + 1 } else { 0 }
}

/// The length of `git+` or `svn+` in front of a URL.
fn prefix(value: &str) -> usize {
    value.find("://").map_or(0, |colon| {
        let before = value.get(..colon).unwrap_or_default();
        before.rfind('+').map_or(0, |plus| plus + 1)
    })
}

/// Flags that say where something comes from.
fn names_origin(flag: &str) -> bool {
    let name = flag.split('=').next().unwrap_or(flag).to_ascii_lowercase();
    ["url", "repo", "registry", "source", "channel", "server", "mirror", "index", "git", "config"]
        .iter()
        .any(|part| name.contains(part))
}

/// Whether an address is one of a package or a repository, and not just of a page.
fn is_package(value: &str) -> bool {
    const ENDINGS: &[&str] = &[
        ".git", ".tgz", ".tar.gz", ".tar.xz", ".zip", ".whl", ".jar", ".deb", ".rpm", ".vsix",
        ".gem",
    ];
    value.contains("://")
        && (value.starts_with("git+") || ENDINGS.iter().any(|ending| value.ends_with(ending)))
}

/// The host of a short name of a repository.
fn forge(value: &str) -> Option<&'static str> {
    const FORGES: &[(&str, &str)] = &[
        ("github:", "github.com"),
        ("gitlab:", "gitlab.com"),
        ("ubi:", "github.com"),
        ("git@github.com:", "github.com"),
        ("git@gitlab.com:", "gitlab.com"),
    ];
    let (_, host) = FORGES.iter().find(|(start, _)| value.starts_with(start))?;
    Some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found() {
        assert_eq!(value_at("--url=https://x"), 6);
        assert_eq!(value_at("https://x/?a=b"), 0);
        assert_eq!(prefix("git+https://x"), 4);
        assert!(is_package("git+https://x/y") && !is_package("https://x/y"));
        assert_eq!(forge("github:x/y"), Some("github.com"));
    }
}
