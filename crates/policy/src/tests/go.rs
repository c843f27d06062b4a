//! Compares how a Go program and a policy read the same arguments. `cargo xtask test` installs Go
//! and sets `CALLGATE_GO` to its path.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use callgate_json::{equal_ignoring_case, quote};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};

use super::support::*;
use crate::Verdict;

/// Builds the program in `sdk/go` and runs it. Without Go, prints that the test is skipped and
/// returns `None`.
fn go(mode: &str, input: &str) -> Option<String> {
    let Ok(go) = std::env::var("CALLGATE_GO") else {
        skipped("`cargo xtask test` installs Go");
        return None;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let place = root.join("target/go");
    fs::create_dir_all(&place).unwrap();
    let program = place.join(format!("read-{mode}"));
    let built = Command::new(go)
        .args(["build", "-o"])
        .arg(&program)
        .arg(".")
        .current_dir(root.join("sdk/go"))
        .env("GOFLAGS", "-mod=mod")
        .env("GOPROXY", "off")
        .env("GOTOOLCHAIN", "local")
        .env("GOCACHE", fs::canonicalize(&place).unwrap().join("cache"))
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut child = Command::new(&program)
        .arg(mode)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success());
    writer.join().unwrap().unwrap();
    Some(String::from_utf8(done.stdout).unwrap())
}

#[test]
fn letters_that_go_takes_for_one_are_one() {
    let Some(pairs) = go("fold", "") else { return };
    let letter =
        |hex: &str| char::from_u32(u32::from_str_radix(hex, 16).unwrap()).unwrap().to_string();
    for pair in pairs.lines() {
        let (a, b) = pair.split_once(' ').unwrap();
        assert!(equal_ignoring_case(&letter(a), &letter(b)), "{pair}");
    }
    assert!(pairs.lines().count() > 2000, "{pairs}");
}

/// A member of an object: a key in one of its spellings, and a value.
fn member(keys: &'static [&'static str], values: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let keys = prop::sample::select(keys);
    (keys, values).prop_map(|(key, value)| format!("{}:{value}", quote(key))).boxed()
}

/// An object of these members, each at most once: a duplicate would be unreadable.
fn object(members: Vec<BoxedStrategy<String>>) -> BoxedStrategy<String> {
    let members = prop::collection::vec(prop::strategy::Union::new(members), 0..5);
    members
        .prop_map(|members| {
            let mut seen = std::collections::HashSet::new();
            let key = |member: &String| member.split(':').next().unwrap_or_default().to_owned();
            let once: Vec<String> =
                members.into_iter().filter(|member| seen.insert(key(member))).collect();
            format!("{{{}}}", once.join(","))
        })
        .boxed()
}

fn arguments() -> BoxedStrategy<String> {
    let text = || prop::sample::select(vec![r#""x""#, r#""y""#, "null"]).prop_map(str::to_owned);
    let item = object(vec![member(&["name", "Name", "NAME"], text().boxed())]);
    let items = prop::collection::vec(item, 0..3);
    object(vec![
        member(&["command", "Command", "COMMAND"], text().boxed()),
        member(&["task", "Task", "ta\u{17f}k", "tas\u{212a}"], text().boxed()),
        member(
            &["options", "Options"],
            object(vec![member(&["path", "Path", "pAtH"], text().boxed())]),
        ),
        member(
            &["items", "Items"],
            items.prop_map(|items| format!("[{}]", items.join(","))).boxed(),
        ),
    ])
}

/// If a call passes, the same call as Go reads it must pass too.
#[test]
fn a_call_that_passes_passes_as_go_reads_it() {
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    let calls: Vec<String> =
        (0..2000).map(|_| arguments().new_tree(&mut runner).unwrap().current()).collect();
    let Some(read) = go("read", &(calls.join("\n") + "\n")) else { return };
    assert_eq!(read.lines().count(), calls.len());
    let mut differ = 0;
    for path in ["command", "task", "options.path", "'items[*].name'", "'items[0].name'"] {
        for test in ["equals: x", "not_equals: x", "exists: true", "exists: false"] {
            let rule = format!("id: r, when: {{ arg: {path}, {test} }}, verdict:");
            let deny = rules(&[&format!("{rule} deny")]);
            let allow = policies(&policy_text("p", "default: deny", &[&format!("{rule} allow")]));
            for (came, read) in calls.iter().zip(read.lines()) {
                for policies in [&deny, &allow] {
                    let (came_as, read_as) =
                        (policies.verdict("t", came), policies.verdict("t", read));
                    differ += usize::from(came_as != read_as);
                    let passes = came_as == Verdict::Allow && read_as == Verdict::Deny;
                    assert!(!passes, "{rule} {came} is {read}");
                }
            }
        }
    }
    assert!(differ > 100, "hardly any call was read differently: {differ}");
}
