//! What the name of an unknown tool says by itself: `delete_branch`, `kubectl_get`, `create_tunnel`.
//!
//! A server does its work behind its API, so the arguments often show nothing. A name is a verb and a
//! noun: verbs that destroy count for every noun that is not an everyday thing.

use callgate_json::Value;

use crate::analysis::Analysis;
use crate::bound::Bound;
use crate::effect::{Action, Knowledge, Purpose, Run, Why};
use crate::marks::{Mark, Marks};
use crate::model::{Language, Registry};
use crate::path::working_folder;
use crate::shell::eval::Shell;
use crate::tools::arguments::find;
use crate::tools::deeds;
use crate::tools::flow::{self, Style};
use crate::tools::services::Service;
use crate::tools::{Call, whole};
use crate::word::Word;

/// Verbs after which something is gone.
pub(super) const DESTROYS: &[&str] = &[
    "delete",
    "destroy",
    "remove",
    "drop",
    "purge",
    "terminate",
    "wipe",
    "erase",
    "flush",
    "flushall",
    "flushdb",
    "truncate",
    "prune",
    "uninstall",
    "undefine",
    "unpublish",
    "unregister",
    "deregister",
    "yank",
    "rm",
    "decommission",
    "deprovision",
    "deletes",
    "del",
    "teardown",
    "nuke",
    "revoke",
    "reset",
    "clear",
    "empty",
];

/// Things that people delete every day, and that belong to the work at hand.
pub(super) const EVERYDAY: &[&str] = &[
    "file",
    "files",
    "comment",
    "comments",
    "label",
    "labels",
    "reaction",
    "reactions",
    "entity",
    "entities",
    "observation",
    "observations",
    "relation",
    "relations",
    "memory",
    "memories",
    "message",
    "messages",
    "task",
    "tasks",
    "todo",
    "todos",
    "item",
    "items",
    "note",
    "notes",
    "cell",
    "cells",
    "line",
    "lines",
    "text",
    "attachment",
    "draft",
    "drafts",
    "event",
    "session",
    "sessions",
    "tab",
    "tabs",
    "cookie",
    "cookies",
    "node",
    "nodes",
    "assignee",
    "assignees",
    "reviewer",
    "reviewers",
    "breakpoint",
    "breakpoints",
    "element",
    "elements",
    "annotation",
    "bookmark",
    "watch",
    "star",
    "subscription",
    "milestone",
    "favorite",
    "pod",
    "pods",
    "container",
    "containers",
    "job",
    "jobs",
    "process",
    "directory",
    "folder",
    "dir",
    "path",
    "page",
    "block",
    "blocks",
    "thread",
    "context",
    "cache",
    "caches",
    "log",
    "logs",
    "console",
    "output",
    "filter",
    "filters",
    "selection",
    "highlight",
    "import",
    "imports",
    "symbol",
    "lock",
    "worktree",
    "stash",
    "issue",
    "sub",
    "link",
    "links",
    "alias",
    "dependency",
    "package",
    "packages",
    "plugin",
    "tag_from",
    "reminder",
    "contact",
    "email",
    "emails",
    "meeting",
    "card",
    "cards",
    "checklist",
    "column",
    "row",
    "shape",
    "shapes",
    "layer",
    "frame",
    "whitespace",
    "duplicates",
    "prefix",
    "suffix",
    "background",
    "noise",
    "image",
    "images",
    "test",
    "temp",
    "tmp",
    "interceptor",
    "mock",
    "mocks",
    "storage",
    "input",
    "form",
    "field",
    "state",
    "timer",
    "vote",
    "member_from",
    "emoji",
    "pin",
    "view",
    "app",
    "apps",
    "network",
    "networks",
    "review",
    "reviews",
    "suggestion",
    "sim",
    "sims",
    "simulator",
    "simulators",
    "emulator",
    "emulators",
    "gameobject",
    "gameobjects",
    "object",
    "objects",
    "actor",
    "asset",
    "assets",
    "slide",
    "slides",
    "worksheet",
    "worksheets",
    "sheet",
    "sheets",
    "chart",
    "charts",
    "track",
    "clip",
    "mesh",
    "prefab",
    "material",
    "component",
    "playlist",
    "song",
    "songs",
    "deck",
    "flashcard",
    "paragraph",
    "section",
    "heading",
    "notification",
    "notifications",
    "marker",
    "keyframe",
    "animation",
    "texture",
    "subtask",
    "subtasks",
    "dependencies",
    "snippet",
    "highlights",
    "feed",
    "habit",
    "many",
    "pages",
    "expense",
    "workout",
    "translation",
    "alarm",
];

/// Names that stay on a server after the work: in tables, in a repository, in a cluster.
pub(super) const DATA: &[&str] = &[
    "table",
    "tables",
    "database",
    "databases",
    "db",
    "collection",
    "collections",
    "index",
    "indices",
    "indexes",
    "schema",
    "schemas",
    "keyspace",
    "rows",
    "records",
    "documents",
    "keys",
    "all",
    "flushall",
    "flushdb",
];

/// What is secret whatever its name is.
const SECRETS: &[&str] = &[
    "secret",
    "secrets",
    "credential",
    "credentials",
    "password",
    "passwords",
    "passphrase",
    "apikey",
    "privatekey",
    "keychain",
    "otp",
    "vault",
];

/// Verbs that show a value. Lists of names do not.
const SHOWS: &[&str] = &[
    "get", "read", "fetch", "show", "reveal", "retrieve", "export", "dump", "print", "view",
    "decrypt", "values", "access", "lookup", "resolve", "download", "copy", "unwrap",
];

/// Protections that people set up for others.
const GUARDS: &[&str] = &[
    "protection",
    "protections",
    "ruleset",
    "rulesets",
    "alert",
    "alerts",
    "scanning",
    "guardrail",
    "guardrails",
    "firewall",
    "audit",
    "waf",
    "mfa",
    "2fa",
    "backup",
    "backups",
    "versioning",
    "logging",
    "policy",
    "policies",
    "sandbox",
    "quarantine",
];

/// Changes that give others a way in.
const GRANTS: &[&str] =
    &["add", "invite", "create", "grant", "set", "update", "assign", "attach", "put", "register"];
const ACCESS: &[&str] = &[
    "collaborator",
    "collaborators",
    "deploykey",
    "sshkey",
    "accesskey",
    "permission",
    "permissions",
    "rolebinding",
    "iam",
];

/// Adds what the name says, and what arguments say that such tools have.
pub(super) fn analyse(analysis: &mut Analysis<'_>, call: &Call<'_>) {
    let words: Vec<&str> = call.words.iter().map(String::as_str).collect();
    let mut marks = deeds::of_call(call);
    for mark in [shows_secret(call, &words), guards(call, &words)] {
        mark.into_iter().for_each(|mark| marks.insert(mark));
    }
    // A repository on this machine: nobody else has the branch.
    if ["repo_path", "repopath"].iter().any(|key| call.text(key).is_some()) {
        marks.remove_all(&[Mark::RemoteDelete]);
    }
    if names_rows(call, &words) {
        marks.remove_all(&[Mark::Database]);
    }
    grants(call, &words).into_iter().for_each(|mark| marks.insert(mark));
    if has(&words, &["tunnel", "tunnels", "ngrok"])
        && has(&words, &["create", "start", "open", "add"])
    {
        marks.insert(Mark::Tunnel);
    }
    if gives_host(call) {
        marks.insert(Mark::HostAccess);
    }
    let is_schedule =
        ["cron", "crontab", "scheduled", "schedule", "launchd", "autostart", "startup"];
    let sets = ["create", "add", "set", "register", "install", "update", "enable", "write"];
    let has_schedule = members(call.value).any(|(key, _)| is_schedule.contains(&key));
    if (has(&words, &is_schedule) || has_schedule && runs_something(call)) && has(&words, &sets) {
        marks.insert(Mark::Schedules);
    }
    if pushes_by_force(call, &words) {
        marks.insert(Mark::ForcePush);
    }
    let deletes = |value: &Value| matches!(value.as_str(), Some("--delete" | "-d" | "--prune"));
    let by_flag = members(call.value).any(|(_, value)| match value {
        Value::Array(items) => items.iter().any(deletes),
        value => deletes(value),
    });
    if by_flag && has(&words, &["push"]) {
        marks.insert(Mark::RemoteDelete);
    }
    by_argument(call, &words).into_iter().for_each(|mark| marks.insert(mark));
    push_marks(analysis, call, marks);
    code(analysis, call, &words);
    sources(analysis, call, &words);
    typed_command(analysis, call, &words);
    module_command(analysis, call);
}

/// What is typed into a console that a page shows.
fn typed_command(analysis: &mut Analysis<'_>, call: &Call<'_>, words: &[&str]) {
    if !has(words, &["type", "fill", "keys", "input"]) {
        return;
    }
    let element = ["element", "selector", "target", "description", "label"];
    let is_console = element.iter().filter_map(|key| call.text(key)).any(|text| {
        let lower = text.to_ascii_lowercase();
        ["console", "terminal", "shell", "xterm"].iter().any(|part| lower.contains(part))
    });
    for key in ["text", "value", "keys"] {
        for (path, value) in find(call.value, key) {
            let Some(text) = value.as_str().filter(|_| is_console) else { continue };
            analysis.argument(&path, text);
            let folder = working_folder(analysis.ground);
            drop(Shell::new(analysis, folder).word_text(&whole(text.trim())));
        }
    }
}

/// What the name of the server adds: its tools often have only a verb.
pub(super) fn by_server(analysis: &mut Analysis<'_>, call: &Call<'_>, service: &Service<'_>) {
    let words: Vec<&str> = call.server.iter().chain(&call.words).map(String::as_str).collect();
    let texts = |key: &str| -> Vec<String> {
        let values = find(call.value, key).into_iter().map(|(_, value)| value);
        values
            .flat_map(|value| match value {
                Value::Array(items) => {
                    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
                }
                other => other.as_str().map(str::to_owned).into_iter().collect::<Vec<_>>(),
            })
            .collect()
    };
    let mut marks = service.marks();
    if service.is_scratch() {
        marks.remove_all(&[Mark::Database]);
    }
    let plans = ["plan", "preview", "validate", "show"];
    let is_plan = ["command", "action", "operation"]
        .iter()
        .any(|key| call.text(key).is_some_and(|it| plans.contains(&it)));
    let is_terraform = has(&words, &["terraform", "tofu", "terragrunt", "pulumi"]) && !is_plan;
    let keys =
        ["args", "extra_args", "arguments", "flags", "options", "command", "action", "operation"];
    let destroys = |text: &String| matches!(text.trim_start_matches('-'), "destroy" | "down");
    if is_terraform && keys.iter().any(|key| texts(key).iter().any(destroys)) {
        marks.insert(Mark::Infrastructure);
    }
    by_argument(call, &words).into_iter().for_each(|mark| marks.insert(mark));
    let skips =
        ["no_verify", "noverify", "skip_hooks", "skip_checks", "bypass_rules", "admin_override"];
    if members(call.value).any(|(key, value)| {
        skips.contains(&key.to_ascii_lowercase().as_str()) && matches!(value, Value::Bool(true))
    }) {
        marks.insert(Mark::Guard);
    }
    push_marks(analysis, call, marks);
    let folder = working_folder(analysis.ground);
    if has(&words, &["git"])
        && has(&words, &["config"])
        && let Some(key) = call.text("key").or_else(|| call.text("name"))
        && let Some(value) = call.text("value")
    {
        analysis.argument("value", value);
        let words = ["git", "config", key, value].map(whole);
        Shell::new(analysis, folder.clone()).run(&words, None);
    }
    // Whatever is installed from an address.
    if has(&words, &["install"]) {
        for (key, value) in members(call.value) {
            let Some(text) = value.as_str().filter(|text| text.contains("://")) else { continue };
            if matches!(key, "homepage" | "docs" | "description") {
                continue;
            }
            analysis.argument(key, text);
            let url = Word::known(text);
            let address = crate::host::parse_host(&url, "https");
            let mut shell = Shell::new(analysis, folder.clone());
            shell.connect(address, Purpose::Execute, Some(&url), 0..text.len());
        }
    }
    if has(&words, &["applescript", "osascript"]) {
        for key in ["script", "code", "source", "command", "code_snippet"] {
            for text in texts(key) {
                analysis.argument(key, &text);
                Shell::new(analysis, folder.clone()).code(Language::AppleScript, &whole(&text));
            }
        }
    }
    if has(&words, &["push"]) {
        for key in ["remote", "url", "repository", "remote_url"] {
            for text in texts(key).iter().filter(|text| text.contains("://") || text.contains('@'))
            {
                analysis.argument(key, text);
                let url = Word::known(text.as_str());
                let address = crate::host::parse_host(&url, "https");
                let mut shell = Shell::new(analysis, folder.clone());
                shell.connect(address, Purpose::Send, Some(&url), 0..text.len());
            }
        }
    }
    let installs = words.iter().any(|word| word.contains("install"));
    if installs {
        for key in ["packageList", "packages", "package", "name", "names", "dependencies", "source"]
        {
            let foreign = |text: &&String| text.contains("://") || text.contains("git+");
            for text in texts(key).iter().filter(foreign) {
                analysis.argument(key, text);
                Shell::new(analysis, folder.clone()).package(&whole(text), Registry::Pip);
            }
        }
    }
    // `REVISION:PATH`
    if has(&words, &["git", "show", "blob"]) {
        for key in ["revision", "ref", "object", "commit", "rev", "target"] {
            for text in texts(key) {
                let Some((_, path)) = text.split_once(':').filter(|(_, path)| !path.is_empty())
                else {
                    continue;
                };
                if !path.starts_with("//") {
                    analysis.argument(key, path);
                    Shell::new(analysis, folder.clone())
                        .read_file(&whole(path), crate::effect::Access::Content);
                }
            }
        }
    }
}

/// Modules of Ansible and Salt whose argument is a command.
fn module_command(analysis: &mut Analysis<'_>, call: &Call<'_>) {
    let modules = ["shell", "command", "raw", "script", "win_shell", "cmd.run"];
    let is_command = ["module", "module_name", "fun"]
        .iter()
        .filter_map(|key| call.text(key))
        .any(|module| modules.contains(&module.rsplit("builtin.").next().unwrap_or(module)));
    let folder = working_folder(analysis.ground);
    for key in ["args", "module_args", "arg", "free_form"] {
        for (path, value) in find(call.value, key).into_iter().filter(|_| is_command) {
            crate::tools::known::run(analysis, call, &path, value, &folder);
        }
    }
}

fn push_marks(analysis: &mut Analysis<'_>, call: &Call<'_>, mut marks: Marks) {
    // `dryRun: true`: it only says what it would do.
    let is_dry = |key: &str| matches!(key, "dryrun" | "dry_run" | "dryRun");
    if members(call.value).any(|(key, value)| is_dry(key) && matches!(value, Value::Bool(true))) {
        marks.remove_all(&[Mark::Infrastructure, Mark::RemoteDelete, Mark::Database]);
    }
    if marks.is_empty() {
        return;
    }
    let run = Run {
        program: Word::known(call.name.as_str()),
        // A scratch database is a word of the command, as it is one of `dropdb`.
        words: [call.name.as_str()]
            .into_iter()
            .chain(crate::tools::known::scratch_database(call))
            .map(Word::known)
            .collect(),
        sub_command: String::new(),
        flags: Vec::new(),
        marks,
        knowledge: Knowledge::Unmodelled,
    };
    analysis.push(Action::Runs(run), 0..0, None);
}

pub(super) fn has(words: &[&str], known: &[&str]) -> bool {
    words.iter().any(|word| known.contains(word))
}

/// A few rows, each by its own name.
fn names_rows(call: &Call<'_>, words: &[&str]) -> bool {
    let few = |value: &Value| match value {
        Value::Array(items) => !items.is_empty() && items.len() <= 10,
        value => value.as_str().is_some(),
    };
    let is_id = |key: &str| {
        let key = key.to_ascii_lowercase();
        matches!(
            key.as_str(),
            "ids"
                | "id"
                | "recordids"
                | "record_ids"
                | "rowids"
                | "row_ids"
                | "documentids"
                | "document_ids"
        )
    };
    has(words, &["records", "record", "rows", "row", "documents", "document"])
        && !has(words, &["table", "tables", "database", "databases", "dns"])
        && members(call.value).any(|(key, value)| is_id(key) && few(value))
}

/// What even a gentle verb takes away from others.
pub(super) const SHARED: &[&str] = &[
    "chart",
    "helm",
    "repository",
    "repo",
    "project",
    "organization",
    "org",
    "branch",
    "release",
    "volume",
    "volumes",
    "bucket",
    "buckets",
    "droplet",
    "droplets",
    "calendar",
    "mailbox",
    "vm",
    "vms",
    "cluster",
    "namespace",
    "instance",
    "server",
    "stack",
    "zone",
    "domain",
    "site",
    "deployment",
    "service",
    "environment",
    "worker",
    "queue",
    "topic",
    "protection",
    "db",
    "registry",
    "certificate",
    "user",
    "account",
];

/// A forced change of a branch or a tag.
fn pushes_by_force(call: &Call<'_>, words: &[&str]) -> bool {
    let keys = ["force", "forcepush", "force_push", "--force", "force_with_lease"];
    let is_forced = members(call.value).any(|(key, value)| {
        let key = key.to_ascii_lowercase();
        let is_lease = key.replace(['_', '-'], "") == "forcewithlease";
        (is_lease || keys.contains(&key.as_str())) && matches!(value, Value::Bool(true))
    });
    // `+HEAD:main`
    let is_forced = is_forced
        || ["refspec", "ref", "refspecs", "branch"]
            .iter()
            .any(|key| call.text(key).is_some_and(|text| text.starts_with('+')));
    let is_flag = |value: &Value| matches!(value.as_str(), Some("--force" | "-f" | "--mirror"));
    let has_flag = members(call.value).any(|(_, value)| match value {
        Value::Array(items) => items.iter().any(is_flag),
        value => is_flag(value),
    });
    (is_forced || has_flag)
        && has(
            words,
            &["push", "ref", "refs", "branch", "tag", "sync", "rebase", "mirror", "commit"],
        )
}

/// Whether an argument is a command, whatever the tool is called.
fn runs_something(call: &Call<'_>) -> bool {
    ["command", "cmd", "script", "code", "program"].iter().any(|key| call.text(key).is_some())
}

fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let members: &[(String, Value)] = match value {
        Value::Object(members) => members,
        _ => &[],
    };
    members.iter().map(|(key, value)| (key.as_str(), value))
}

/// Servers that manage something that others use.
const MANAGED: &[&str] = &[
    "kubernetes",
    "kubectl",
    "k8s",
    "terraform",
    "aws",
    "gcloud",
    "gcp",
    "azure",
    "cloud",
    "docker",
    "helm",
    "github",
    "gitlab",
    "repo",
    "repository",
    "branch",
    "database",
    "redis",
    "mongo",
    "mongodb",
    "s3",
    "bucket",
    "vercel",
    "resource",
    "resources",
    "instance",
    "deployment",
    "cluster",
    "node",
    "service",
    "project",
    "environment",
    "api",
    "generic",
    "infra",
    "stack",
    "volume",
    "manage",
    "management",
    "execute",
    "call",
    "request",
];

/// What an argument says about a tool that has many verbs, or that sets something up.
fn by_argument(call: &Call<'_>, words: &[&str]) -> Option<Mark> {
    let verbs = ["action", "operation", "verb", "method", "subcommand", "op", "command"];
    let destroys = |text: &str| {
        let first = text.split([' ', '_', '-', ':']).next().unwrap_or(text).to_ascii_lowercase();
        DESTROYS.contains(&first.as_str())
            && !matches!(first.as_str(), "clear" | "reset" | "remove")
    };
    let hosts = ["url", "base_url", "baseurl", "host", "server", "endpoint"];
    let is_local = hosts.iter().filter_map(|key| call.text(key)).any(|text| {
        ["localhost", "127.0.0.1", "[::1]", ".test", ".local"].iter().any(|it| text.contains(it))
    });
    if is_local {
        return None;
    }
    let by_verb = verbs.iter().any(|key| call.text(key).is_some_and(destroys));
    if by_verb && has(words, MANAGED) && !has(words, EVERYDAY) {
        return Some(Mark::Infrastructure);
    }
    let sets = [
        "set",
        "update",
        "put",
        "modify",
        "edit",
        "configure",
        "create",
        "patch",
        "change",
        "toggle",
        "authorize",
        "add",
        "enable",
        "disable",
        "share",
        "publish",
        "scale",
        "resize",
    ];
    if !has(words, &sets) {
        return None;
    }
    members(call.value).find_map(|(key, value)| weakens(&key.to_ascii_lowercase(), value, words))
}

/// One argument that opens something up, or stops it.
fn weakens(key: &str, value: &Value, words: &[&str]) -> Option<Mark> {
    let guards = [
        "protection",
        "enforce",
        "required_",
        "block_public",
        "encryption",
        "versioning",
        "audit",
        "logging",
        "mfa",
        "public_access_block",
        "verify",
        "restrict",
        "branch_protect",
    ];
    let text = value.as_str().unwrap_or_default().to_ascii_lowercase();
    match value {
        Value::Bool(false) if guards.iter().any(|guard| key.contains(guard)) => Some(Mark::Guard),
        Value::Null if key.starts_with("required_") || key.contains("restrictions") => {
            Some(Mark::Guard)
        }
        Value::Bool(true) if key.contains("allow_force") || key.contains("allow_deletions") => {
            Some(Mark::Guard)
        }
        Value::Bool(true) if matches!(key, "public" | "publicly_accessible" | "is_public") => {
            Some(Mark::Guard)
        }
        Value::Number(number) if number == "0" && matches!(key, "replicas" | "desired_count") => {
            Some(Mark::Infrastructure)
        }
        Value::String(_) if matches!(text.as_str(), "0.0.0.0/0" | "::/0") => Some(Mark::Guard),
        Value::String(_) if key.contains("acl") && text.contains("public") => Some(Mark::Guard),
        Value::String(_)
            if matches!(text.as_str(), "anyone" | "everyone" | "allusers" | "public")
                && has(words, &["share", "permission", "permissions", "visibility", "publish"]) =>
        {
            Some(Mark::Guard)
        }
        Value::Object(members) => members.iter().find_map(|(key, value)| match value {
            Value::Object(_) => None,
            _ => weakens(&key.to_ascii_lowercase(), value, words),
        }),
        _ => None,
    }
}

fn shows_secret(call: &Call<'_>, words: &[&str]) -> Option<Mark> {
    let is_alert =
        has(words, &["alert", "alerts", "scanning", "names", "scan", "policy", "metadata"])
            || has(words, &["list"]) && !has(words, &["values"]);
    let is_key = has(words, &["key", "keys", "token", "tokens"])
        && has(
            words,
            &["api", "service", "role", "access", "secret", "signing", "private", "auth"],
        )
        && !has(words, &["anon", "public", "publishable"]);
    let is_variable = has(words, &["env", "environment"])
        && has(words, &["var", "vars", "variable", "variables", "values", "pull"]);
    let by_name = (has(words, SECRETS) || is_key || is_variable) && has(words, SHOWS) && !is_alert;
    let kinds = ["resourceType", "resource_type", "resource", "kind", "type"];
    let is_kind = |text: &str| matches!(text.to_ascii_lowercase().as_str(), "secret" | "secrets");
    let of_kind = kinds.iter().any(|key| call.text(key).is_some_and(is_kind));
    let shown = ["output", "format", "o"].iter().filter_map(|key| call.text(key));
    let is_shown = { shown }.any(|format| !matches!(format, "name" | "wide" | "table" | ""));
    let by_kind = of_kind && is_shown && has(words, SHOWS);
    (by_name || by_kind).then_some(Mark::Credentials)
}

fn guards(call: &Call<'_>, words: &[&str]) -> Option<Mark> {
    let weakens = has(words, &["disable", "unprotect", "bypass", "dismiss", "suppress", "mute"]);
    let removes = has(words, &["delete", "remove", "disable", "drop"]) && has(words, GUARDS);
    let is_alert = has(words, &["dismiss", "mute"]) && !has(words, GUARDS);
    if has(words, &["unprotect"]) || removes && !is_alert || weakens && has(words, GUARDS) {
        return Some(Mark::Guard);
    }
    // Settings of a tool server that keep it in its place.
    let sets = has(words, &["set", "update", "write", "change"])
        && has(words, &["config", "settings", "setting", "configuration", "preferences"]);
    let key = ["key", "name", "setting", "option", "path"].iter().find_map(|key| call.text(key))?;
    let key = key.to_ascii_lowercase();
    let limits = ["allow", "block", "deny", "permission", "sandbox", "approv", "trust", "restrict"];
    (sets && limits.iter().any(|word| key.contains(word))).then_some(Mark::Guard)
}

fn grants(call: &Call<'_>, words: &[&str]) -> Option<Mark> {
    let joined: String = words.concat();
    let names_access = has(words, ACCESS)
        || ["deploykey", "sshkey", "accesskey", "apitoken", "accesstoken", "rolebinding"]
            .iter()
            .any(|name| joined.contains(name));
    if names_access && has(words, GRANTS) {
        return Some(Mark::Accounts);
    }
    let is_member = has(words, &["member", "members", "user", "role"]) && has(words, GRANTS);
    let level = ["role", "permission", "access_level", "access", "level"];
    let is_high = |text: &str| {
        let text = text.to_ascii_lowercase();
        ["admin", "owner", "maintain", "root", "superuser"].iter().any(|it| text.contains(it))
    };
    (is_member && level.iter().any(|key| call.text(key).is_some_and(is_high)))
        .then_some(Mark::Accounts)
}

/// A manifest that gives a container the host.
fn gives_host(call: &Call<'_>) -> bool {
    const KEYS: [&str; 11] = [
        "manifest",
        "yaml",
        "definition",
        "spec",
        "template",
        "compose",
        "compose_yaml",
        "resource",
        "composefile",
        "stack",
        "compose_content",
    ];
    KEYS.iter().filter_map(|key| call.text(key)).any(|text| {
        crate::shell::recipes::gives_host(text) || crate::shell::recipes::gives_rights(text)
    })
}

/// Code that runs in a notebook, an interpreter or the page of a browser.
fn code(analysis: &mut Analysis<'_>, call: &Call<'_>, words: &[&str]) {
    let in_page =
        has(words, &["evaluate", "puppeteer", "playwright", "javascript", "js", "browser", "page"]);
    let in_notebook = has(words, &["jupyter", "notebook", "cell", "cells", "ipython", "kernel"])
        && has(
            words,
            &["execute", "run", "insert", "edit", "overwrite", "add", "append", "update"],
        );
    let runs_code = has(words, &["code", "python", "js", "javascript"])
        && has(words, &["execute", "run", "eval", "evaluate", "exec", "invoke"]);
    const KEYS: [&str; 13] = [
        "python_code",
        "code_snippet",
        "newcode",
        "new_code",
        "snippet",
        "code",
        "source",
        "cell_source",
        "new_source",
        "function",
        "script",
        "expression",
        "content",
    ];
    if !in_page && !in_notebook && !runs_code && !call.name.contains("notebook") {
        return;
    }
    for key in KEYS {
        for (path, value) in find(call.value, key) {
            let Some(text) = value.as_str() else { continue };
            analysis.argument(&path, text);
            let mut marks = Marks::NONE;
            if in_page && takes_from_page(text) {
                marks.insert(Mark::Credentials);
            }
            if in_page && destroys_in_page(text) {
                marks.insert(Mark::Infrastructure);
            }
            push_marks(analysis, call, marks);
            let folder = working_folder(analysis.ground);
            let mut shell = Shell::new(analysis, folder);
            if in_page {
                page(&mut shell, text);
            } else {
                cell(&mut shell, text, true);
            }
        }
    }
}

/// Code in a page that takes what keeps a user logged in: cookies, a whole storage, typed passwords.
fn takes_from_page(text: &str) -> bool {
    let plain: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    // `window['local' + 'Storage']`
    let plain = ["'+'", "\"+\"", "`+`"].iter().fold(plain, |text, sign| text.replace(sign, ""));
    let sets_cookie = plain.contains("document.cookie=") && !plain.contains("document.cookie==");
    let cookies = plain.contains("document.cookie") && !sets_cookie
        || [".cookies(", "cookieStore.get", "storageState(", "credentials.get("]
            .iter()
            .any(|call| plain.contains(call));
    let typed = plain.contains("type=password") || plain.contains("type=\"password\"");
    let typed = typed && plain.contains(".value");
    cookies || typed || ["localStorage", "sessionStorage"].iter().any(|it| takes_all(&plain, it))
}

/// Code that presses the button, sends the form or makes the request that deletes something for others.
fn destroys_in_page(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    if ["localhost", "127.0.0.1"].iter().any(|host| lower.contains(host)) {
        return false;
    }
    let plain: String = lower.chars().filter(|letter| !letter.is_whitespace()).collect();
    let requests =
        ["method:'delete'", "method:\"delete\"", ".delete("].iter().any(|it| plain.contains(it))
            && (plain.contains("fetch(") || plain.contains("axios") || plain.contains("request"));
    let acts =
        [".submit(", ".click(", ".press(", ".requestsubmit("].iter().any(|it| plain.contains(it));
    let labels = text.split(['\'', '"', '`']).skip(1).take(64);
    let is_named = { labels }.any(|label| {
        let label = label.replace(['-', '_'], " ");
        crate::tools::services::destroys_by_hand(&label)
            || label.to_ascii_lowercase().contains("settings/delete")
    });
    requests || acts && is_named
}

/// A storage as a whole, or a value of it whose name says that it is a secret.
fn takes_all(text: &str, storage: &str) -> bool {
    text.match_indices(storage).take(32).any(|(at, _)| {
        let after = text.get(at + storage.len()..).unwrap_or_default();
        let after = after.trim_start_matches(['\'', '"', ']', '`']);
        let named = after.strip_prefix(".getItem(").or_else(|| after.strip_prefix('['));
        match named {
            Some(name) => {
                let name = name.split([')', ']']).next().unwrap_or_default().to_ascii_lowercase();
                ["token", "jwt", "secret", "passw", "auth", "session"]
                    .iter()
                    .any(|part| name.contains(part))
            }
            None => {
                let is_method = after.starts_with('.') || after.starts_with('=');
                !is_method && !after.starts_with("?.")
            }
        }
    })
}

/// Code in a page can only talk to hosts.
fn page(shell: &mut Shell<'_, '_>, text: &str) {
    let takes = ["document.cookie", "localStorage", "sessionStorage", "indexedDB", ".cookies("];
    let is_taken = takes.iter().any(|it| text.contains(it));
    for part in text.split(['\'', '"', '`']).take(256) {
        let Some(at) = part.find("//").filter(|at| *at == 0 || part.get(at - 1..*at) == Some(":"))
        else {
            continue;
        };
        let host = part.get(at + 2..).unwrap_or_default();
        let sends = is_taken || text.contains("POST") || text.contains("sendBeacon");
        if sends && host.contains('.') {
            let url = Word::known(format!("https://{host}"));
            let address = crate::host::parse_host(&url, "https");
            shell.connect(address, Purpose::Send, Some(&url), 0..text.len());
        }
    }
    if loads_script(text) {
        shell.opaque(Why::NetworkCode, Bound::ALL, 0..text.len());
    }
    if text.contains("eval") || text.contains("Function") {
        let style = Style { hash: false, slashes: true };
        if flow::follow(text, style).runs_fetched {
            shell.opaque(Why::NetworkCode, Bound::ALL, 0..text.len());
        }
    }
}

/// Whether a page gets a script from a host that nobody publishes libraries on.
fn loads_script(text: &str) -> bool {
    const LOADS: &[&str] = &["import(", "importScripts(", "addScriptTag(", "getScript("];
    const LIBRARIES: &[&str] = &[
        "cdnjs.cloudflare.com",
        "cdn.jsdelivr.net",
        "unpkg.com",
        "esm.sh",
        "code.jquery.com",
        "cdn.skypack.dev",
        "ajax.googleapis.com",
        "localhost",
        "127.0.0.1",
    ];
    let quoted = |part: &&str| part.starts_with("http") || part.starts_with("//");
    let adds = text.contains("createElement") && text.contains("script") && text.contains("src");
    if !adds && !LOADS.iter().any(|call| text.contains(call)) {
        return false;
    }
    text.split(['\'', '"', '`']).take(256).filter(quoted).any(|url| {
        let host = url.split_once("//").map_or("", |(_, rest)| rest);
        let host = host.split(['/', ':']).next().unwrap_or(host);
        host.contains('.') && !LIBRARIES.contains(&host)
    })
}

/// Lines that begin with `!` are commands, `%%bash` makes the whole cell one; the rest is Python.
pub(super) fn cell(shell: &mut Shell<'_, '_>, text: &str, is_run: bool) {
    let mut rest = String::with_capacity(text.len());
    let first = text.trim_start().lines().next().unwrap_or_default();
    if ["%%bash", "%%sh", "%%script", "%%shell"].iter().any(|magic| first.starts_with(magic)) {
        let body = text.trim_start().get(first.len()..).unwrap_or_default();
        return drop(shell.word_text(&whole(body)));
    }
    for line in text.lines() {
        let trimmed = line.trim_start();
        let command = trimmed
            .strip_prefix('!')
            .or_else(|| trimmed.strip_prefix("%system "))
            .or_else(|| trimmed.strip_prefix("%sx "));
        match command {
            Some(command) => drop(shell.word_text(&whole(command.trim_start_matches('!')))),
            None if trimmed.starts_with("%run ") || trimmed.starts_with("%load ") => {
                let file = trimmed.split_whitespace().nth(1).unwrap_or_default();
                shell.script(Language::Python, &whole(file), None);
            }
            None if trimmed.starts_with('%') => {}
            None => {
                rest.push_str(line);
                rest.push('\n');
            }
        }
    }
    if is_run {
        shell.code(Language::Python, &whole(&rest));
    }
}

/// Files that leave with a message.
fn attachments(analysis: &mut Analysis<'_>, call: &Call<'_>, words: &[&str]) {
    let sends = has(words, &["send", "mail", "email", "forward", "upload", "share"]);
    let has_files = ["attachments", "attachment", "files", "file_paths"].iter().any(|key| {
        find(call.value, key).iter().any(|(_, value)| match value {
            Value::Array(items) => !items.is_empty(),
            Value::String(text) => !text.is_empty(),
            _ => false,
        })
    });
    let to = ["to", "recipient", "recipients", "forwardTo", "forward_to"].iter().find_map(|key| {
        let (path, value) = find(call.value, key).into_iter().next()?;
        let text = match value {
            Value::Array(items) => items.first().and_then(Value::as_str),
            other => other.as_str(),
        };
        Some((path, text?.to_owned()))
    });
    if let Some((path, to)) = to.filter(|_| sends && has_files)
        && let Some((_, host)) = to.rsplit_once('@')
    {
        analysis.argument(&path, &to);
        let folder = working_folder(analysis.ground);
        let address = crate::host::parse_host(&Word::known(host), "smtp");
        Shell::new(analysis, folder).connect(address, Purpose::Send, None, 0..to.len());
    }
}

/// Addresses that the other readers of a mail do not see: it goes to hosts that neither its sender nor
/// its readers belong to.
fn hidden_copies(analysis: &mut Analysis<'_>, call: &Call<'_>, words: &[&str]) {
    if !has(words, &["send", "mail", "email", "reply", "draft", "message"]) {
        return;
    }
    let known: Vec<String> = ["to", "from", "cc", "recipient", "recipients", "sender"]
        .iter()
        .flat_map(|key| mail_hosts(call.value, key))
        .map(|(host, _)| host)
        .collect();
    let hidden = ["bcc", "bccRecipients", "bcc_recipients", "bcc_addresses", "bccAddresses"];
    for (host, path) in hidden.iter().flat_map(|key| mail_hosts(call.value, key)) {
        if !known.contains(&host) {
            analysis.argument(&path, &host);
            let folder = working_folder(analysis.ground);
            let address = crate::host::parse_host(&Word::known(&host), "smtp");
            Shell::new(analysis, folder).connect(address, Purpose::Send, None, 0..host.len());
        }
    }
}

/// The hosts of all addresses below an argument, at any depth of the call.
fn mail_hosts(arguments: &Value, key: &str) -> Vec<(String, String)> {
    let mut hosts = Vec::new();
    let mut open = vec![(arguments, false)];
    while let Some((value, is_below)) = open.pop()
        && hosts.len() < 64
        && open.len() < 1024
    {
        match value {
            Value::Object(members) => open.extend(
                members
                    .iter()
                    .map(|(name, value)| (value, is_below || name.eq_ignore_ascii_case(key))),
            ),
            Value::Array(items) => open.extend(items.iter().map(|item| (item, is_below))),
            value if is_below => {
                let parts = value.as_str().unwrap_or_default().split([',', ';', ' ', '<', '>']);
                let named = parts.filter_map(|part| part.rsplit_once('@'));
                hosts.extend(named.map(|(_, host)| (host.to_ascii_lowercase(), key.to_owned())));
            }
            _ => {}
        }
    }
    hosts
}

/// Where what is installed, applied or run comes from, and where events go.
fn sources(analysis: &mut Analysis<'_>, call: &Call<'_>, words: &[&str]) {
    let installs = has(
        words,
        &[
            "install", "apply", "deploy", "run", "create", "pull", "add", "upgrade", "start",
            "build", "push",
        ],
    );
    let hooks = words.iter().any(|word| word.contains("webhook")) || has(words, &["hook", "hooks"]);
    attachments(analysis, call, words);
    hidden_copies(analysis, call, words);
    if !installs && !hooks && !has(words, &["publish", "upload"]) {
        return;
    }
    let folder = working_folder(analysis.ground);
    for key in ["image", "container_image"] {
        for (path, value) in find(call.value, key) {
            let Some(text) = value.as_str() else { continue };
            analysis.argument(&path, text);
            Shell::new(analysis, folder.clone()).package(&whole(text), Registry::Image);
            if let Some(program) = crate::shell::of_image(text)
                && has(words, &["run", "create", "start"])
            {
                let mut line = vec![whole(program)];
                for key in ["command", "cmd", "args"] {
                    for (_, value) in find(call.value, key) {
                        let given = match value {
                            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
                            value => {
                                value.as_str().unwrap_or_default().split_whitespace().collect()
                            }
                        };
                        let given: Vec<&str> = given;
                        line.extend(given.into_iter().take(64).map(whole));
                    }
                }
                Shell::new(analysis, folder.clone()).run(&line, None);
            }
        }
    }
    if has(words, &["push"]) && has(words, &["image", "docker", "container", "artifact"]) {
        for key in ["repository", "image", "tag", "name"] {
            for (path, value) in find(call.value, key) {
                let Some(text) = value.as_str() else { continue };
                let Some((host, _)) = text.split_once('/').filter(|(host, _)| host.contains('.'))
                else {
                    continue;
                };
                analysis.argument(&path, text);
                let address = crate::host::parse_host(&Word::known(host), "https");
                let mut shell = Shell::new(analysis, folder.clone());
                shell.connect(address, Purpose::Send, None, 0..text.len());
            }
        }
    }
    let keys: &[&str] = if has(words, &["build", "image"]) && has(words, &["build"]) {
        &["remote", "context", "url", "git_url"]
    } else if hooks {
        &["url", "config.url", "target_url", "webhook_url", "callback_url"]
    } else if has(words, &["install", "apply", "deploy", "upgrade"]) {
        &["filename", "repo", "repository", "chart", "source", "url", "package", "manifest_url"]
    } else {
        &[]
    };
    let publishes = has(words, &["publish", "upload", "push"]);
    let keys: &[&str] = if publishes || keys.is_empty() {
        &["registry", "registry_url", "index_url", "repository_url"]
    } else {
        keys
    };
    let purpose = if hooks || publishes { Purpose::Send } else { Purpose::Execute };
    for key in keys {
        for (path, value) in find(call.value, key) {
            let Some(text) = value.as_str().filter(|text| text.contains("://")) else { continue };
            analysis.argument(&path, text);
            let url = Word::known(text);
            let address = crate::host::parse_host(&url, "https");
            let mut shell = Shell::new(analysis, folder.clone());
            shell.connect(address, purpose, Some(&url), 0..text.len());
        }
    }
}
