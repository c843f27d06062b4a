//! Rules on how much a deletion touches, on the disk of the agent's machine.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::Test;

const POLICY: &str = "\
policy: p
rules:
  - { id: many, when: { deletes: { files_over: 3 } }, verdict: deny, reason: Many. }
  - { id: large, when: { deletes: { bytes_over: 1 kB } }, verdict: deny, reason: Large. }
";

const UNTRACKED: &str = "\
policy: p
rules:
  - { id: lost, when: { deletes: { untracked: true } }, verdict: deny, reason: Git does not have it. }
";

/// The rule that stops a command in a folder with files; empty if it passes.
fn stopped_by(policy: &str, fill: impl Fn(&Path), command: &str, flags: &[&str]) -> String {
    let words = [&["check", "--policy", "p.yaml", "--json", command], flags].concat();
    let test = Test::new(&words).file("p.yaml", policy);
    fill(&test.path());
    let answer: Value = test.run().json().remove(0);
    let rule = answer["rule"].as_str().filter(|_| answer["verdict"] == "deny");
    rule.unwrap_or_default().to_owned()
}

fn files(folder: &Path) {
    fs::create_dir_all(folder.join("few/inner")).unwrap();
    fs::create_dir_all(folder.join("many/inner")).unwrap();
    for name in ["few/a", "few/inner/b", "many/a", "many/b", "many/inner/c", "many/inner/d"] {
        fs::write(folder.join(name), "x").unwrap();
    }
    fs::write(folder.join("large"), [b'x'; 2000]).unwrap();
    std::os::unix::fs::symlink("many", folder.join("link")).unwrap();
}

#[test]
fn files_and_bytes_are_counted_on_the_disk() {
    for (command, rule) in [
        ("rm -rf few", ""),
        ("rm -rf many", "many"),
        ("cd many && rm -rf inner a b", "many"),
        ("mv many elsewhere", "many"),
        ("rm -rf many/*", "many"),
        ("rm link", ""),
        ("rm large", "large"),
        ("rm missing", ""),
        ("ls many", ""),
    ] {
        assert_eq!(stopped_by(POLICY, files, command, &[]), rule, "{command}");
    }
    // Without the disk, a folder may be large.
    assert_eq!(stopped_by(POLICY, files, "rm -rf few", &["--no-disk"]), "many");
    assert_eq!(stopped_by(POLICY, files, "rm few/a", &["--no-disk"]), "large");
}

#[test]
fn files_that_git_does_not_have() {
    let repository = |folder: &Path| {
        files(folder);
        let git = |args: &[&str]| {
            let mut command = Command::new("git");
            command.current_dir(folder).args(args).env("HOME", folder);
            command.env("GIT_CONFIG_NOSYSTEM", "1").output().is_ok_and(|ran| ran.status.success())
        };
        assert!(git(&["init", "-q"]) && git(&["add", "few", "many/a"]), "git is needed here");
    };
    if Command::new("git").arg("--version").output().is_err() {
        assert!(std::env::var_os("CALLGATE_REQUIRE_PEERS").is_none(), "git is missing");
        return eprintln!("skipped: there is no git");
    }
    for (command, rule) in [
        ("rm -rf few", ""),
        ("rm many/a", ""),
        ("rm many/b", "lost"),
        ("rm -rf many", "lost"),
        ("rm -rf .git", "lost"),
        ("rm missing", ""),
    ] {
        assert_eq!(stopped_by(UNTRACKED, repository, command, &[]), rule, "{command}");
    }
    assert_eq!(stopped_by(UNTRACKED, files, "rm few/a", &[]), "lost", "there is no repository");
}

#[test]
fn the_numbers_are_shown_if_a_rule_asks() {
    let check = |policy: &str, flags: &[&str]| {
        let words = [&["check", "--policy", "p.yaml", "rm -rf many"], flags].concat();
        let test = Test::new(&words).file("p.yaml", policy);
        files(&test.path());
        test.run()
    };
    let shown = check(POLICY, &[]).stdout;
    assert!(shown.contains("many (4 files, 4 bytes, 4 untracked)"), "{shown}");
    let effect = |policy| {
        let answer = check(policy, &["--json"]).json().remove(0);
        let effects = answer["effects"].as_array().unwrap().clone();
        effects.into_iter().find(|effect| effect["kind"] == "deletes").unwrap()
    };
    let extent =
        json!({ "files": [4, 4], "bytes": [4, 4], "untracked": [4, 4], "crosses_mounts": false });
    assert_eq!(effect(POLICY)["extent"], extent);
    assert_eq!(effect("policy: p\nrules: []\n")["extent"], Value::Null);
    let words = [
        "policy",
        "explain",
        "p.yaml",
        "--tool",
        "Bash",
        "--input",
        "{\"command\":\"rm -rf many\"}",
    ];
    let test = Test::new(&words).file("p.yaml", POLICY);
    files(&test.path());
    let shown = test.run().stdout;
    assert!(shown.contains("(4 files, 4 bytes, 4 untracked)"), "{shown}");
}
