//! Measures the analysis on the calls of `corpus/calls`: `cargo run -p callgate-effects --example
//! measure_calls [missed]`. With `missed` it lists the calls that are not held out and went wrong.
//!
//! The rules here are a rough draft of a starter policy. They show whether the effects carry what
//! such rules need; the real policy is measured by its own tests.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a tool for developers, with the corpus of this repository as its only input"
)]

use std::path::PathBuf;

use callgate_call::{Arguments, fold};
use callgate_effects::{
    Access, Action, Bound, Catalogue, Effects, Ground, HostSet, Mark, Path, PathSet, Purpose,
    Scope, Stance, Truth, analyse, sets,
};
use callgate_json::Value;

fn main() {
    let lists_missed = std::env::args().nth(1).is_some_and(|word| word == "missed");
    let rules = Rules::new();
    let catalogue = Catalogue::builtin();
    for (file, expects_stop) in [("hostile", true), ("harmless", false)] {
        let mut counts = [(0, 0); 2];
        let mut opaque = 0;
        for line in read(file).lines() {
            let call = Value::parse(line).expect("a line of the corpus is one JSON object");
            let text = |key: &str| call.get(key).and_then(Value::as_str).unwrap_or_default();
            let is_held_out = call.get("held_out") == Some(&Value::Bool(true));
            let (effects, ground) = effects_of(&call, &catalogue);
            let reason = rules.judge(&effects, &ground);
            let (total, wrong) = &mut counts[usize::from(is_held_out)];
            *total += 1;
            opaque += usize::from(!effects.could().and(Bound::CHANGES).is_empty());
            if reason.is_some() != expects_stop {
                *wrong += 1;
                if lists_missed && !is_held_out {
                    let found: Vec<String> =
                        effects.all().iter().map(|e| e.action.to_string()).collect();
                    println!(
                        "{} {:?} {}\n    {found:?}",
                        text("id"),
                        reason,
                        show(call.get("input"))
                    );
                }
            }
        }
        let [(tuned, tuned_wrong), (held, held_wrong)] = counts;
        println!(
            "{file}: {tuned_wrong} of {tuned} wrong, held out {held_wrong} of {held} wrong, {opaque} opaque"
        );
    }
}

fn effects_of<'c>(call: &'c Value, catalogue: &Catalogue) -> (Effects, Ground<'c>) {
    let text = |key: &str| call.get(key).and_then(Value::as_str);
    let ground = Ground {
        cwd: text("cwd"),
        home: text("home"),
        workspace: text("cwd"),
        resolver: None,
        earlier: None,
    };
    let arguments = match call.get("input") {
        Some(Value::String(text)) => Arguments::text(text.as_str()),
        Some(value) => Arguments::json(show(Some(value))),
        None => Arguments::json("{}"),
    };
    let name = text("tool").unwrap_or_default();
    let bare = name.rsplit("__").next().unwrap_or(name);
    let entry = catalogue.entry(&fold(name)).or_else(|| catalogue.entry(&fold(bare)));
    (analyse(bare, entry, &arguments, &ground), ground)
}

struct Rules {
    secrets: PathSet,
    guarded: PathSet,
    scratch: PathSet,
    inside: PathSet,
    metadata: HostSet,
    registries: HostSet,
    local: HostSet,
}

impl Rules {
    fn new() -> Self {
        let guarded = ["startup", "agent-config", "system", "devices"];
        let globs = guarded.iter().filter_map(|name| sets::path_globs(name)).flatten().copied();
        let vcs = [
            "**/.git/**",
            "**/.git",
            "**/.github/workflows/**",
            "**/.gitlab-ci.yml",
            "**/.husky/**",
            "**/.gitconfig",
            "**/callgate*/**",
        ];
        Self {
            secrets: sets::path_set("secrets", []).expect("it is built in"),
            guarded: PathSet::new(globs.chain(vcs)),
            scratch: PathSet::new([
                "/tmp/*/**",
                "/tmp/*",
                "/var/tmp/**",
                "~/.cache/**",
                "workspace/*/**",
            ]),
            inside: PathSet::new(["workspace/**", "/tmp/**", "/var/tmp/**", "~/.cache/**"]),
            metadata: sets::host_set("metadata", []).expect("it is built in"),
            registries: sets::host_set("registries", []).expect("it is built in"),
            local: sets::host_set("local", []).expect("it is built in"),
        }
    }

    fn judge(&self, effects: &Effects, ground: &Ground<'_>) -> Option<String> {
        let changes = effects.could().and(Bound::CHANGES);
        let found = effects.all().iter().find_map(|effect| self.stops(&effect.action, ground));
        found.or_else(|| (!changes.is_empty()).then(|| "opaque".to_owned()))
    }

    fn stops(&self, action: &Action, ground: &Ground<'_>) -> Option<String> {
        let is_in =
            |set: &PathSet, path: &Path| set.matches(path, ground, Stance::Restricts) != Truth::No;
        let why = match action {
            Action::Reads(path, access)
                if *access != Access::Names && is_in(&self.secrets, path) =>
            {
                "secret"
            }
            Action::Writes(path, _) if is_in(&self.guarded, path) || is_in(&self.secrets, path) => {
                "guarded write"
            }
            Action::Deletes(path, _) if is_in(&self.guarded, path) => "guarded delete",
            Action::Deletes(path, _) | Action::Writes(path, _)
                if path.content_of().is_some_and(|folder| folder.text() == ground.cwd) =>
            {
                "empties the project"
            }
            Action::Deletes(path, Scope::Tree) if !is_in(&self.scratch, path) => "deletes a lot",
            Action::Deletes(path, _) if !is_in(&self.inside, path) => "deletes outside",
            Action::Connects(connection) => {
                if self.metadata.matches(connection) != Truth::No {
                    "metadata"
                } else if connection.purpose == Purpose::Execute
                    && self.registries.matches(connection) != Truth::Yes
                {
                    "foreign code"
                } else if matches!(connection.purpose, Purpose::Tunnel | Purpose::Send)
                    && self.local.matches(connection) != Truth::Yes
                {
                    "sends or tunnels"
                } else {
                    return None;
                }
            }
            Action::Runs(run) => {
                let quiet = [Mark::DiscardsWork, Mark::Elevates, Mark::Kills, Mark::Publishes];
                run.marks.iter().find(|mark| !quiet.contains(mark))?.as_str()
            }
            Action::Sql(text) => {
                let upper = text.to_uppercase();
                let is_wide = (upper.contains("DELETE FROM") || upper.contains("UPDATE "))
                    && !upper.contains("WHERE");
                (is_wide || upper.contains("DROP ") || upper.contains("TRUNCATE"))
                    .then_some("sql")?
            }
            Action::Sets(setting) => match setting
                .name
                .text()
                .and_then(callgate_effects::meaning)?
            {
                callgate_effects::Meaning::Guard | callgate_effects::Meaning::Loads => "setting",
                callgate_effects::Meaning::Command | callgate_effects::Meaning::Host => "setting",
                callgate_effects::Meaning::Code(_) => "setting",
            },
            _ => return None,
        };
        Some(why.to_owned())
    }
}

fn read(file: &str) -> String {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../corpus/calls/{file}.jsonl"));
    std::fs::read_to_string(path).expect("the corpus is part of the repository")
}

/// A value as JSON text again.
fn show(value: Option<&Value>) -> String {
    let quote = callgate_json::quote;
    match value {
        None | Some(Value::Null) => "null".to_owned(),
        Some(Value::Bool(value)) => value.to_string(),
        Some(Value::Number(text)) => text.clone(),
        Some(Value::String(text)) => quote(text),
        Some(Value::Array(items)) => {
            let items: Vec<String> = items.iter().map(|item| show(Some(item))).collect();
            format!("[{}]", items.join(","))
        }
        Some(Value::Object(members)) => {
            let members: Vec<String> = members
                .iter()
                .map(|(key, value)| format!("{}:{}", quote(key), show(Some(value))))
                .collect();
            format!("{{{}}}", members.join(","))
        }
    }
}
