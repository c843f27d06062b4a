//! `callgate calls`, `events`, `stats`, `tail` and `audit`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use callgate_audit::{
    CallOutcome, MatchedRule, Record, RecordKind, RecordedTool, RecordedVerdict, Tokens,
};
use callgate_call::Surface;
use callgate_store::{Durability, Location, Retention, Store};
use serde_json::json;

use crate::support::{Ran, Test};

const STORE: &str = ".local/state/callgate/callgate.db";

/// The store of a test's home.
pub(crate) fn store(home: &Path) -> Store {
    let path = home.join(STORE);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let store = Location::Sqlite(path);
    let retention = Retention::default();
    Store::open(&callgate_store::Settings {
        durability: Durability::Process,
        retention,
        ..callgate_store::Settings::at(store)
    })
    .unwrap()
}

pub(crate) fn call(tool: &str, input: &str, action: CallOutcome) -> Record {
    let mut record = Record::new(RecordKind::ToolCall);
    record.surface = Some(Surface::Response);
    record.model = Some("model-1".into());
    record.provider = Some("anthropic".into());
    record.who.session = Some("s1".into());
    record.request = Some("r1".into());
    record.tool = Some(RecordedTool {
        name: tool.into(),
        call_id: "call_1".into(),
        input: Some(input.into()),
        ..RecordedTool::default()
    });
    let mut verdict = RecordedVerdict::new(action);
    if action == CallOutcome::Deny {
        verdict.policy = Some("test".into());
        verdict.rule = Some("no-rm".into());
        verdict.reason = Some("Nothing is removed for good.".into());
        verdict.shadows = vec![MatchedRule {
            policy: "test".into(),
            rule: Some("watched".into()),
            reason: "[shadow] would deny: Watched.".into(),
        }];
    }
    record.verdict = Some(verdict);
    record
}

/// A run over a store with an allowed call, a denied one, a turn and an event.
fn with_records(args: &[&str]) -> Test {
    let test = Test::new(args);
    let audit = store(&test.path());
    let mut turn = Record::new(RecordKind::Turn);
    turn.request = Some("r1".into());
    turn.tokens = Tokens { input: Some(10), output: Some(7), ..Tokens::default() };
    turn.stop_reason = Some("tool_use".into());
    let mut loaded = Record::new(RecordKind::PolicyLoaded);
    loaded.detail = Some("builtin:starter".into());
    let denied = call("Bash", "{\"command\":\"rm -rf /\"}", CallOutcome::Deny);
    for record in [loaded, call("Read", "{\"path\":\"a\"}", CallOutcome::Allow), denied, turn] {
        audit.append(record).wait().unwrap();
    }
    drop(audit);
    test
}

fn tools(ran: &Ran) -> Vec<String> {
    ran.json().iter().map(|line| line["payload"]["tool_name"].as_str().unwrap().into()).collect()
}

#[test]
fn no_store_yet() {
    let table: [&[&str]; 10] = [
        &["why", "x"],
        &["policy", "replay"],
        &["policy", "coverage"],
        &["calls"],
        &["calls", "show", "x"],
        &["events"],
        &["stats"],
        &["tail", "--no-follow"],
        &["audit", "verify"],
        &["audit", "export"],
    ];
    for args in table {
        let error = "error: no records yet: there is no store at \
                     `[DIR]/.local/state/callgate/callgate.db`\n\
                     hint: start the gateway with `callgate serve`; `callgate demo` shows how it works\n";
        Test::new(args).run().sees(2, "", error);
    }
}

#[test]
fn a_store_in_memory_cannot_be_read() {
    let ran = Test::new(&["calls", "--config", "c.yaml"]).file("c.yaml", "store: memory\n").run();
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("only be read by its own process\nhint: "), "{}", ran.stderr);
}

#[test]
fn broken_policies_do_not_hide_the_records() {
    let ran = with_records(&["calls", "--json"])
        .file(".config/callgate/callgate.yaml", "policies: [missing.yaml]\n")
        .run();
    assert_eq!(tools(&ran), ["Bash", "Read"], "{}", ran.stderr);
}

#[test]
fn calls_for_people() {
    let ran = with_records(&["calls"]).run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{}", ran.stdout);
    let head: Vec<&str> = lines[0].split_whitespace().collect();
    assert_eq!(head, ["RECORD", "TIME", "VERDICT", "RULE", "CALL"]);
    assert!(
        lines[1].starts_with("4 ") && lines[1].ends_with("deny     test/no-rm  Bash: rm -rf /"),
        "{}",
        ran.stdout
    );
    assert!(lines[2].ends_with("  Read: a"), "{}", ran.stdout);
    assert!(!ran.stdout.contains('\u{1b}'), "no colours in a pipe");
}

#[test]
fn filters() {
    let table: [(&[&str], &[&str]); 11] = [
        (&[], &["Bash", "Read"]),
        (&["--verdict", "deny"], &["Bash"]),
        (&["--tool", "r*"], &["Read"]),
        (&["--rule", "no-rm"], &["Bash"]),
        (&["--rule", "watched"], &["Bash"]),
        (&["--session", "other"], &[]),
        (&["--model", "model-*", "--surface", "response"], &["Bash", "Read"]),
        (&["--server", "x"], &[]),
        (&["--limit", "1"], &["Bash"]),
        (&["--since", "1h", "--until", "0s"], &["Bash", "Read"]),
        (&["--since", "2099-01-01"], &[]),
    ];
    for (args, expected) in table {
        let ran = with_records(&["calls", "--json"]).with(args).run();
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
        assert_eq!(tools(&ran), expected, "{args:?}");
    }
    let ran = with_records(&["calls", "--since", "tomorrow"]).run();
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("use a time ago such as `30m`"), "{}", ran.stderr);
}

#[test]
fn nothing_matches() {
    with_records(&["calls", "--tool", "x"]).run().sees(0, "", "no calls match\n");
    with_records(&["calls", "--tool", "x", "--json"]).run().sees(0, "", "");
}

#[test]
fn one_record() {
    let ran = with_records(&["calls", "--json", "--verdict", "deny"]).run();
    let id = ran.json()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(ran.json()[0]["payload"]["blocked"], json!(true));
    assert_eq!(ran.json()[0]["payload"]["tokens_output"], json!(7), "joined from the turn");

    let ran = Test::again(ran, &["calls", "show", &id]).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for line in [
        format!("id       {id}"),
        "tool     Bash".into(),
        "verdict  deny".into(),
        "rule     test/no-rm".into(),
        "shadow   test/watched  [shadow] would deny: Watched.".into(),
        "stopped  tool_use".into(),
        "tokens   10 in, 7 out".into(),
    ] {
        assert!(ran.stdout.lines().any(|shown| shown == line), "{line}: {}", ran.stdout);
    }
    let ran = Test::again(ran, &["calls", "show", &id, "--json"]).run();
    assert_eq!(ran.json()[0]["id"], json!(id));
    let ran = Test::again(ran, &["calls", "show", "ffff"]).run();
    let error = "\
error: there is no record `ffff`
hint: `callgate calls` lists the records with their numbers
";
    ran.sees(2, "", error);
}

#[test]
fn an_ambiguous_id_lists_the_candidates() {
    let ran = with_records(&["calls", "--json"]).run();
    let id = ran.json()[0]["id"].as_str().unwrap().to_owned();
    let ran = Test::again(ran, &["calls", "show", &id[..6]]).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert!(lines[0].starts_with("RECORD  TIME"), "{}", ran.stderr);
    let denied = lines.iter().find(|line| line.contains("Bash: rm -rf /")).unwrap();
    assert!(denied.contains("  deny "), "{denied}");
    let number = denied.split_whitespace().next().unwrap().to_owned();
    let error = format!("error: several records have an id that begins with `{}`", &id[..6]);
    assert!(lines.contains(&error.as_str()), "{}", ran.stderr);
    let ran = Test::again(ran, &["calls", "show", &number]).run();
    assert!(ran.stdout.contains("tool     Bash\n"), "{}", ran.stdout);
}

#[test]
fn events() {
    let ran = with_records(&["events"]).run();
    assert_eq!(ran.stdout.lines().count(), 3, "{}", ran.stdout);
    assert!(ran.stdout.contains("session_started  s1"), "{}", ran.stdout);
    assert!(ran.stdout.contains("policy_loaded"), "{}", ran.stdout);
    assert!(ran.stdout.contains("builtin:starter"), "{}", ran.stdout);
    for flag in ["--type", "--kind"] {
        let ran = with_records(&["events", flag, "turn", "--json"]).run();
        assert_eq!(ran.json()[0]["type"], "turn", "{flag}");
    }
}

#[test]
fn stats() {
    let ran = with_records(&["stats", "--json"]).run();
    let stats = &ran.json()[0];
    assert_eq!(stats["verdicts"], json!({ "allow": 1, "deny": 1 }), "{stats}");
    assert_eq!(stats["tools"], json!({ "Bash": 1, "Read": 1 }));
    assert_eq!(stats["turns"]["tokens_input"], 10);
    let ran = with_records(&["stats"]).run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let has = |words: &[&str]| {
        ran.stdout.lines().any(|line| line.split_whitespace().collect::<Vec<_>>() == words)
    };
    assert!(has(&["calls", "2"]) && has(&["deny", "1"]) && has(&["Bash", "1"]), "{}", ran.stdout);
}

#[test]
fn verify() {
    let ran = with_records(&["audit", "verify"]).run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(
        ran.stdout.starts_with("the chain is intact: 5 records (1 to 5)\nhead "),
        "{}",
        ran.stdout
    );
    let ran = Test::again(ran, &["audit", "verify", "--json"]).run();
    assert_eq!((&ran.json()[0]["ok"], &ran.json()[0]["records"]), (&json!(true), &json!(5)));
}

#[test]
fn a_changed_record_is_found() {
    let test = with_records(&["audit", "verify"]);
    let home = test.path();
    // A user who has the file can write to it, but not without being noticed.
    let path = home.join(format!("{STORE}.journal/000000000001.log"));
    let bytes = std::fs::read(&path).unwrap();
    let changed = replace(&bytes, b"rm -rf /", b"ls -la /");
    assert!(changed != bytes, "the record is in the journal");
    std::fs::write(&path, changed).unwrap();
    let ran = test.run();
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
    assert!(ran.stderr.starts_with("error: the chain is broken at record 4: "), "{}", ran.stderr);
    let ran = Test::again(ran, &["audit", "verify", "--json"]).run();
    assert_eq!((ran.code, &ran.json()[0]["record"]), (1, &json!(4)));
}

fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    for at in 0..bytes.len() - from.len() {
        if bytes[at..].starts_with(from) {
            changed[at..at + from.len()].copy_from_slice(to);
        }
    }
    changed
}

#[test]
fn export() {
    let ran = with_records(&["audit", "export"]).run();
    let kinds: Vec<_> = ran.json().iter().map(|line| line["type"].clone()).collect();
    let expected = ["policy_loaded", "session_started", "tool_call", "tool_call", "turn"];
    assert_eq!(kinds, expected, "{}", ran.stderr);
    let ran = Test::again(ran, &["audit", "export", "--verdict", "deny", "--out", "x.jsonl"]).run();
    let ran = ran.sees(0, "", "wrote 1 record to x.jsonl\n");
    let text = std::fs::read_to_string(ran.dir.path().join("x.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(ran.dir.path().join("x.jsonl")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let ran = Test::again(ran, &["audit", "export", "--out", "no/x.jsonl"]).run();
    let start = "error: cannot write `no/x.jsonl`: ";
    assert!(ran.code == 2 && ran.stderr.starts_with(start), "{}", ran.stderr);
}

#[test]
fn tail_shows_the_past_and_ends() {
    let ran = with_records(&["tail", "--no-follow"]).run();
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!((ran.code, lines.len()), (0, 4), "{}", ran.stdout);
    assert!(lines[0].ends_with("policy_loaded  builtin:starter"), "{}", ran.stdout);
    let last = "deny   Bash: rm -rf /  test/no-rm  Nothing is removed for good.";
    assert!(lines[3].ends_with(last), "{}", ran.stdout);
}

#[test]
fn tail_follows_a_live_store_until_it_is_interrupted() {
    let (mut child, dir) = with_records(&["tail", "--json"]).spawn();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..5 {
        lines.next().unwrap().unwrap();
    }
    let audit = store(dir.path());
    for tool in ["one", "two"] {
        audit.append(call(tool, "{}", CallOutcome::Allow)).wait().unwrap();
        let line = lines.next().unwrap().unwrap();
        assert!(line.contains(&format!("\"tool_name\":\"{tool}\"")), "{line}");
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn tail_ends_with_its_reader() {
    let (mut child, _dir) = with_records(&["tail"]).spawn();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    drop(lines);
    for _ in 0..1200 {
        if let Some(status) = child.try_wait().unwrap() {
            assert_eq!(status.code(), Some(0));
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
    child.kill().unwrap();
    unreachable!("it goes on without a reader");
}

#[test]
fn a_closed_pipe_is_no_error() {
    for args in [&["calls"][..], &["calls", "--json"], &["audit", "export"], &["stats"]] {
        let (mut child, _dir) = with_records(args).spawn();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn a_turn_says_what_it_was() {
    let ran = with_records(&["events", "--kind", "turn"]).run();
    let row = ran.stdout.lines().nth(1).unwrap();
    assert!(row.contains("10 tokens in, 7 out; ended with tool_use"), "{}", ran.stdout);
}

#[test]
fn long_tables_of_counts_say_how_many_more() {
    let test = Test::new(&["stats"]);
    let audit = store(&test.path());
    for number in 0..13 {
        audit.append(call(&format!("tool{number}"), "{}", CallOutcome::Allow)).wait().unwrap();
    }
    drop(audit);
    let ran = test.run();
    assert!(ran.stdout.contains("\nand 3 more, in `callgate stats --json`\n"), "{}", ran.stdout);
}
