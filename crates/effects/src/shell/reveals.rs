//! Programs for services that print a secret: by the words that all of them use.

use crate::effect::{Action, Effect, Run};
use crate::marks::Mark;
use crate::shell::apply::Context;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::shell::line::Line;
use crate::shell::output::Output;
use crate::word::Word;

/// Words that say by themselves that a secret is printed. Sorted.
const VERBS: &[&str] = &[
    "auth:token",
    "config:get",
    "connection-string",
    "credentials:show",
    "decrypt",
    "dump-secrets",
    "env:get",
    "env:list",
    "env:pull",
    "export-credentials",
    "export-key",
    "generate-db-auth-token",
    "get-access-token",
    "get-api-key",
    "get-api-keys",
    "get-authorization-token",
    "get-cluster-credentials",
    "get-credentials-for-identity",
    "get-login-password",
    "get-password",
    "get-password-data",
    "get-role-credentials",
    "get-secret",
    "get-secret-value",
    "get-session-token",
    "get-token",
    "initial-password",
    "list-connection-strings",
    "list-publishing-credentials",
    "list-publishing-profiles",
    "login:ci",
    "pg:credentials:url",
    "print-access-token",
    "print-identity-token",
    "print-token",
    "reveal",
    "secrets:get",
    "show-admin-password",
    "show-connection-string",
    "show-password",
    "show-secret",
    "show-token",
    "tokens:create",
];

/// Flags that make a program show what it hides otherwise.
const FLAGS: &[&str] = &[
    "--decrypt",
    "--include-secrets",
    "--include-values",
    "--plain-text",
    "--reveal",
    "--show-password",
    "--show-secret",
    "--show-secrets",
    "--show-sensitive",
    "--show-token",
    "--show-tokens",
    "--show-values",
    "--unmask",
    "--with-decryption",
    "--with-secrets",
];

/// What is secret, and the verbs that show it.
const NOUNS: &[&str] = &[
    "access-key",
    "access-keys",
    "access-token",
    "access-tokens",
    "api-key",
    "api-keys",
    "apikey",
    "apikeys",
    "authtoken",
    "credential",
    "credentials",
    "password",
    "passwords",
    "secret",
    "secrets",
    "token",
    "tokens",
    "var",
];
const SHOWS: &[&str] = &[
    "access", "cat", "create", "download", "dump", "export", "get", "issue", "print", "pull",
    "read", "reveal", "show", "value", "view",
];

/// Fields of an answer that are secret, in a query or a template. In lower case.
const FIELDS: &[&str] = &[
    "accesstoken",
    "access_token",
    "authorizationtoken",
    "clientsecret",
    "containerdefinitions[].environment",
    "environment.variables",
    ".environment[",
    "masteruserpassword",
    "masterauth",
    "passwd",
    "password",
    "plaintext",
    "privatekey",
    "secretaccesskey",
    "secretstring",
    "sessiontoken",
    "userdata",
];

/// Flags that select fields of an answer.
const SELECTS: &[&str] = &["--query", "--format", "--jq", "-q", "--output", "-o", "--filter"];

/// Nouns of Azure whose list shows the keys themselves.
const AZURE_KEYS: &[&str] = &[
    "appsettings",
    "authkey",
    "connection-string",
    "credential",
    "credentials",
    "keys",
    "admin-key",
    "query-key",
    "key",
];

impl Shell<'_, '_> {
    /// A program for a service whose words are nouns and a verb.
    pub(crate) fn reveals(&mut self, program: &str, line: &Line<'_>, context: &Context) {
        let words: Vec<&str> = line.words.iter().filter_map(Field::text).take(32).collect();
        if reveals(program, &words) {
            self.mark(context.run, Mark::Credentials);
        }
        self.gives_access(line.words, context);
    }

    /// `terraform output db_password`, `nonsensitive(…)` in its console.
    pub(crate) fn shows_output(&mut self, line: &Line<'_>, context: &Context) -> bool {
        let input = context.input.as_deref().and_then(Output::known).unwrap_or_default();
        line.sub_command() == "output"
            && line.operands.iter().filter_map(Field::text).any(names_secret_output)
            || line.sub_command() == "console" && input.contains("nonsensitive(")
            // Without a plan, it is the whole state.
            || line.sub_command() == "show"
                && line.operands.is_empty()
                && line.words.iter().any(|word| matches!(word.text(), Some("-json" | "--json")))
    }

    /// Secrets of a cluster, however they are asked for.
    pub(crate) fn cluster_secrets(&mut self, line: &Line<'_>, context: &Context) {
        let mut texts = line.words.iter().filter_map(Field::text);
        let shows = match line.sub_command() {
            "whoami" => texts.any(|word| matches!(word, "-t" | "--show-token")),
            "get" => {
                texts.any(|word| matches!(word, "--template") || word.starts_with("--template="))
                    && line.operands.first().and_then(Field::text).is_some_and(is_secret_kind)
            }
            "extract" => texts.any(|word| word.starts_with("secret")),
            "" => texts.next() == Some("extract") && texts.any(|word| word.starts_with("secret")),
            _ => false,
        };
        if shows {
            self.mark(context.run, Mark::Credentials);
        }
    }

    /// `gh auth token | docker login --password-stdin ghcr.io`: the last program takes the secret and
    /// shows nothing of it.
    pub(crate) fn takes_credentials(&mut self, before: usize) {
        let runs = |effect: &Effect| matches!(&effect.action, Action::Runs(_));
        let Some(last) = self.out.since(before).iter().rposition(runs) else { return };
        let takes = match self.out.since(before).get(last).map(|effect| &effect.action) {
            Some(Action::Runs(run)) => takes_secret(run),
            _ => false,
        };
        for at in before..before + last {
            if takes && let Some(run) = self.out.run_mut(at) {
                run.marks.remove_all(&[Mark::Credentials]);
            }
        }
    }

    /// `TOKEN=$(gh auth token)`: nothing is shown until the variable is used.
    pub(crate) fn keeps_credentials(&mut self, name: &str, before: usize) {
        let is_secret = |effect: &Effect| match &effect.action {
            Action::Runs(run) => run.marks.contains(Mark::Credentials),
            _ => false,
        };
        if !self.out.since(before).iter().any(is_secret) || self.secret_variables.len() > 16 {
            return;
        }
        for at in before..self.out.effects.all().len() {
            if let Some(run) = self.out.run_mut(at) {
                run.marks.remove_all(&[Mark::Credentials]);
            }
        }
        self.secret_variables.insert(name.to_owned());
    }

    /// `helm get values x | grep -i password`: settings are printed to find the secrets in them.
    pub(crate) fn searches_settings(&mut self, before: usize) {
        let mut printer = None;
        for (at, effect) in self.out.since(before).iter().enumerate() {
            let Action::Runs(run) = &effect.action else { continue };
            match printer {
                None => printer = prints_settings(run).then_some(before + at),
                Some(printer) if looks_for_secret(run) => {
                    return self.mark(printer, Mark::Credentials);
                }
                Some(_) => {}
            }
        }
    }

    /// A program that is not known, and that is asked to show a secret.
    pub(crate) fn reveals_by_flag(&mut self, fields: &[Field], run: usize) {
        let flags = fields.iter().skip(1).take(8).map(|field| field.word.known_start());
        if flags.filter(|word| word.starts_with("--")).any(is_revealing_flag) {
            self.mark(run, Mark::Credentials);
        }
    }
}

/// Registries that a login is usual for.
const REGISTRIES: &[&str] = &[
    "amazonaws.com",
    "azurecr.io",
    "docker.io",
    "docker.com",
    "gcr.io",
    "ghcr.io",
    "pkg.dev",
    "quay.io",
    "registry.gitlab.com",
    concat!("npmjs", ".org"),
    "npm.pkg.github.com",
];

fn takes_secret(run: &Run) -> bool {
    let words = || run.words.iter().skip(1).map(Word::known_part);
    let logs_in = words().any(|word| matches!(word, "--password-stdin" | "--with-token"));
    let is_usual = |word: &str| {
        let host = word.trim_start_matches("https://").split('/').next().unwrap_or(word);
        !host.contains('.') || REGISTRIES.iter().any(|known| host.ends_with(known))
    };
    let counts = matches!(run.program.text(), Some("wc" | "sha256sum" | "md5sum" | "shasum"));
    counts
        || only_names_keys(run)
        || logs_in && words().filter(|word| !word.starts_with('-')).all(is_usual)
}

/// `jq -r '.data | keys'`, `jq length`: names and numbers, no values.
fn only_names_keys(run: &Run) -> bool {
    let words: Option<Vec<&str>> = run.words.iter().skip(1).map(Word::text).collect();
    let words = words.unwrap_or_default();
    let mut plain = words.iter().filter(|word| !matches!(**word, "-r" | "-c" | "-e"));
    let (Some(filter), None) = (plain.next(), plain.next()) else { return false };
    let is_path =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '|' | ' ' | '[' | ']');
    run.program.text() == Some("jq")
        && filter.chars().all(is_path)
        && ["keys", "keys[]", "length"].iter().any(|end| {
            filter
                .strip_suffix(end)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with([' ', '|']))
        })
}

/// Programs that print many settings, some of which may be secrets.
fn prints_settings(run: &Run) -> bool {
    let program = run.program.text().unwrap_or_default();
    let has = |word: &str| run.words.iter().skip(1).take(6).any(|it| it.text() == Some(word));
    let starts = |start: &str| {
        run.words.iter().skip(1).take(6).any(|word| word.known_start().starts_with(start))
    };
    match program {
        "helm" => has("get"),
        "kubectl" | "oc" => has("describe") || has("get") && starts("-o"),
        "docker" | "docker-compose" | "podman" => has("inspect") || has("config"),
        "terraform" | "tofu" => has("show") || has("output"),
        "git" => has("config") && (has("-l") || has("--list")),
        "npm" | "pip" | "composer" => has("config"),
        "aws" => starts("get-") || starts("describe-"),
        "gcloud" | "az" => has("describe") || has("show"),
        "systemctl" => has("show"),
        _ => false,
    }
}

fn looks_for_secret(run: &Run) -> bool {
    let is_filter =
        matches!(run.program.text(), Some("grep" | "egrep" | "rg" | "awk" | "jq" | "yq"));
    is_filter
        && run.words.iter().skip(1).any(|word| {
            let lower = word.known_part().to_ascii_lowercase();
            ["token", "passw", "secret_", "_secret", "api_key", "apikey", "private_key"]
                .iter()
                .any(|part| lower.contains(part))
        })
}

fn is_secret_kind(kind: &str) -> bool {
    matches!(kind.split(['/', '.']).next(), Some("secret" | "secrets"))
}

/// The name of an output that is no identifier and no public part of a key.
fn names_secret_output(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_public = [
        "public",
        "_id",
        "_arn",
        "_name",
        "fingerprint",
        "_version",
        "_url",
        "_uri",
        "_path",
        "_file",
        "_dir",
        "_host",
        "_endpoint",
        "_count",
        "_enabled",
        "_region",
    ]
    .iter()
    .any(|part| name.contains(part));
    let is_secret = ["passw", "secret", "token", "private", "credential", "_key", "kubeconfig"]
        .iter()
        .any(|part| name.contains(part));
    is_secret && !is_public || name.contains("connection_string")
}

fn is_revealing_flag(word: &str) -> bool {
    FLAGS.contains(&word.split_once('=').map_or(word, |(name, _)| name))
        && !word.ends_with("=false")
}

fn reveals(program: &str, words: &[&str]) -> bool {
    let plain: Vec<&str> =
        words.iter().copied().filter(|word| !word.starts_with('-')).take(6).collect();
    // A list of names shows nothing.
    let is_pair = || {
        let noun = plain.iter().position(|word| NOUNS.contains(word));
        noun.is_some_and(|noun| {
            let near = plain.iter().enumerate().filter(|(at, _)| at.abs_diff(noun) <= 2);
            near.map(|(_, word)| word).any(|word| {
                let is_new = *word == "create"
                    && matches!(plain.get(noun), Some(&("secret" | "secrets" | "password")));
                SHOWS.contains(word) && !is_new
            })
        })
    };
    let is_azure = || {
        program == "az"
            && (plain.iter().any(|word| matches!(*word, "list-keys" | "list-key"))
                || plain.windows(2).any(|pair| {
                    matches!(pair, [noun, "list" | "show" | "list-keys"]
                        if AZURE_KEYS.contains(noun) && plain.first() != Some(&"keyvault"))
                }))
    };
    plain.iter().any(|word| VERBS.binary_search(word).is_ok())
        || plain.windows(2).any(|pair| pair == ["auth", "token"])
        || words.iter().any(|word| is_revealing_flag(word))
        || selects_secret(words)
        || is_azure()
        || program != "aws" && program != "az" && is_pair()
}

/// `--query SecretString`, `--format='value(credential.access_token)'`
fn selects_secret(words: &[&str]) -> bool {
    let is_secret = |value: &str| {
        let lower = value.to_ascii_lowercase();
        lower == "environment" || FIELDS.iter().any(|field| lower.contains(field))
    };
    words.iter().enumerate().any(|(at, word)| {
        let (name, value) =
            word.split_once('=').map_or((*word, None), |(name, it)| (name, Some(it)));
        SELECTS.contains(&name) && value.or(words.get(at + 1).copied()).is_some_and(is_secret)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shows(text: &str) -> bool {
        let words: Vec<&str> = text.split(' ').collect();
        reveals(words[0], &words[1..])
    }

    #[test]
    fn what_prints_a_secret_is_found() {
        for text in [
            "aws ecr get-login-password",
            "aws codeartifact get-authorization-token --domain x",
            "aws ecs describe-task-definition --query containerDefinitions[].environment",
            "aws secretsmanager list-secrets --query SecretString",
            "az acr credential show -n x",
            "az cosmosdb keys list -n x",
            "az webapp config appsettings list -n x",
            "gcloud config config-helper --format=value(credential.access_token)",
            "gcloud kms decrypt --key k",
            "supabase projects api-keys get",
            "oc whoami --show-token",
            "nomad secret show x",
        ] {
            assert!(shows(text), "{text}");
        }
    }

    #[test]
    fn names_and_other_values_are_no_secret() {
        for text in [
            "aws secretsmanager list-secrets --query SecretList[].Name",
            "aws kms list-keys",
            "aws iam list-access-keys",
            "az keyvault key list",
            "az vm list --query [].name",
            "fly secrets list",
            "gcloud secrets list",
            "vercel env ls",
            "supabase secrets set A=b",
        ] {
            assert!(!shows(text), "{text}");
        }
    }

    #[test]
    fn verbs_are_sorted() {
        assert!(VERBS.is_sorted());
    }
}
