//! docs/reference is what the binary says about itself. `CALLGATE_BLESS=1` rewrites it.
#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn cli() {
    let mut page = String::from(
        "# Commands\n\n\
         Generated from `callgate --help`; see [exit codes](exit-codes.md) for those.\n",
    );
    describe(&[], &mut page);
    compare("cli.md", &page);
}

#[test]
fn exit_codes() {
    let help = help(&[]);
    let (_, codes) = help.split_once("\nExit codes:\n").expect("a section on exit codes");
    let mut page = String::from(
        "# Exit codes\n\n\
         Generated from `callgate --help`. The same for every command; a script needs no other \
         sign.\n\n\
         | code | meaning |\n|---|---|\n",
    );
    for line in codes.lines() {
        let (code, meaning) = line.trim().split_once("  ").expect("one code a line");
        writeln!(page, "| {code} | {meaning} |").unwrap();
    }
    page.push_str(
        "\n`callgate check --jsonl` ends with the strictest code of all its lines: a line that \
         could not be judged (2) before a denied call (1) before a waiting one (3). A reader of stdout \
         that goes away is no error: `check` still ends with its verdict, all else with 0.\n",
    );
    compare("exit-codes.md", &page);
}

#[test]
fn config() {
    compare("config.md", &callgate_config::reference());
}

#[test]
fn detectors() {
    let mut page = String::from(
        "# Detectors\n\n\
         Generated from `callgate policy detectors`. A rule names one, or all of a group by the \
         group's word: [policies](policy.md), [guide](../guide/guarding-data.md). How much of what is \
         there each of them finds, and how much of what it finds is there, is measured by \
         `cargo test -p callgate-scan --test precision -- --nocapture`.\n\n\
         | detector | group | finds |\n|---|---|---|\n",
    );
    for detector in callgate_scan::detectors() {
        let group = match detector.group {
            callgate_scan::DetectorGroup::Secret => "`secret`",
            callgate_scan::DetectorGroup::Personal => "`personal`",
            callgate_scan::DetectorGroup::Alone => "none",
        };
        writeln!(page, "| `{}` | {group} | {} |", detector.name, detector.what).unwrap();
    }
    compare("detectors.md", &page);
}

/// One section a command, its subcommands after it.
fn describe(path: &[&str], page: &mut String) {
    let help = help(path);
    let name = [&["callgate"], path].concat().join(" ");
    // The codes of all commands together have a page of their own.
    let text = match path {
        [] => help.split_once("\nExit codes:\n").map_or(help.as_str(), |(text, _)| text),
        _ => &help,
    };
    write!(page, "\n## {name}\n\n```text\n{}\n```\n", text.trim_end()).unwrap();
    for command in subcommands(&help) {
        describe(&[path, &[command]].concat(), page);
    }
}

fn subcommands(help: &str) -> impl Iterator<Item = &str> {
    let listed = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
    let lines = listed.lines().take_while(|line| line.starts_with("  "));
    lines.filter_map(|line| line.split_whitespace().next())
}

fn help(path: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
    let output = command.args(path).arg("--help").env_remove("COLUMNS").output().unwrap();
    assert!(output.status.success(), "{path:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[track_caller]
fn compare(file: &str, page: &str) {
    let path = docs().join(file);
    if std::env::var_os("CALLGATE_BLESS").is_some() {
        fs::create_dir_all(docs()).unwrap();
        fs::write(&path, page).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    let how = "run `CALLGATE_BLESS=1 cargo test -p callgate --test reference`";
    assert!(stored == page, "{} is stale: {how}", path.display());
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference")
}
