//! Records by who acted and by provider: the same flags for every command that reads them.

use callgate_audit::{CallOutcome, Record, RecordKind};
use serde_json::{Value, json};

use crate::records::{call, store};
use crate::support::{Ran, Test};

/// One call each of two people who have nothing in common.
fn with_people(args: &[&str]) -> Test {
    let test = Test::new(args);
    let audit = store(&test.path());
    let people = [
        ["Read", "ann", "payments", "acme", "claude-code", "laptop-of-ann", "anthropic"],
        ["Bash", "bob", "web", "other", "codex", "ci", "openai"],
    ];
    for [tool, user, team, org, agent, key, provider] in people {
        let named = |mut record: Record| {
            let who = &mut record.who;
            who.user = Some(user.into());
            who.team = Some(team.into());
            who.org = Some(org.into());
            who.agent = Some(agent.into());
            who.key = Some(key.into());
            record.provider = Some(provider.into());
            record
        };
        audit.append(named(call(tool, "{}", CallOutcome::Allow))).wait().unwrap();
        let mut offered = named(Record::new(RecordKind::ToolAdvertised));
        offered.detail = Some(format!("offered to {user}"));
        audit.append(offered).wait().unwrap();
        audit.append(named(Record::new(RecordKind::Turn))).wait().unwrap();
    }
    drop(audit);
    test
}

/// Each filter once, with a pattern for ann that does not fit bob.
const ONLY_ANN: [[&str; 2]; 6] = [
    ["--user", "a*"],
    ["--team", "PAY*"],
    ["--org", "acme"],
    ["--agent", "claude-*"],
    ["--key", "*-of-ann"],
    ["--provider", "anthropic"],
];

fn users(ran: &Ran) -> Vec<Value> {
    ran.json().iter().map(|line| line["principal"]["user"].clone()).collect()
}

#[test]
fn every_command_filters_by_principal_and_provider() {
    for filter in ONLY_ANN {
        for command in [&["calls"][..], &["events"], &["tail", "--no-follow"], &["audit", "export"]]
        {
            let json = if command[0] == "audit" { &[][..] } else { &["--json"] };
            let ran = with_people(command).with(json).with(&filter).run();
            assert_eq!(ran.code, 0, "{command:?} {filter:?}: {}", ran.stderr);
            let users = users(&ran);
            assert!(
                !users.is_empty() && users.iter().all(|user| user == "ann"),
                "{command:?} {filter:?}: {}",
                ran.stdout
            );
        }
        let ran = with_people(&["stats", "--json"]).with(&filter).run();
        let stats = &ran.json()[0];
        assert_eq!(stats["users"], json!({ "ann": 1 }), "{filter:?}: {stats}");
        assert_eq!(stats["turns"]["recorded"], 1, "{filter:?}");
    }
}

#[test]
fn what_has_no_such_field_does_not_match() {
    let ran = with_people(&["calls", "--user", "*", "--json"]).run();
    assert_eq!(users(&ran), ["bob", "ann"]);
    let audit = store(ran.dir.path());
    audit.append(call("Write", "{}", CallOutcome::Allow)).wait().unwrap();
    drop(audit);
    let ran = Test::again(ran, &["calls", "--user", "*", "--json"]).run();
    assert_eq!(users(&ran), ["bob", "ann"]);
}

#[test]
fn people_see_the_user() {
    // The record and the time, which is two words, come first.
    for (command, place) in [(&["calls"][..], 3), (&["events", "--type", "tool_advertised"], 3)] {
        let ran = with_people(command).run();
        let mut lines = ran.stdout.lines();
        let head: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
        assert_eq!(head[place], "USER", "{}", ran.stdout);
        let users: Vec<&str> =
            lines.map(|line| line.split_whitespace().nth(place + 1).unwrap()).collect();
        assert_eq!(users, ["bob", "ann"], "{}", ran.stdout);
    }
    let ran = with_people(&["tail", "--no-follow", "--tool", "bash"]).run();
    assert!(ran.stdout.ends_with("  by bob\n"), "{}", ran.stdout);
    let ran = with_people(&["stats"]).run();
    let has = |words: &[&str]| {
        ran.stdout.lines().any(|line| line.split_whitespace().collect::<Vec<_>>() == words)
    };
    assert!(has(&["USER", "CALLS"]) && has(&["ann", "1"]), "{}", ran.stdout);
}

#[test]
fn every_type_of_record_can_be_asked_for() {
    for command in [&["events"][..], &["mcp", "events"]] {
        for kind in RecordKind::ALL {
            let ran = with_people(command).with(&["--type", kind.as_str(), "--json"]).run();
            assert_eq!(ran.code, 0, "{command:?} {kind}: {}", ran.stderr);
        }
        let ran = with_people(command).with(&["--type", "tool_cal"]).run();
        assert_eq!(ran.code, 2);
        for kind in RecordKind::ALL {
            assert!(ran.stderr.contains(kind.as_str()), "{kind}: {}", ran.stderr);
        }
    }
    let ran = with_people(&["mcp", "events", "--type", "tool_call"]).run();
    let none = "no events of MCP servers match; run `callgate events` for all other events\n";
    ran.sees(0, "", none);
}
