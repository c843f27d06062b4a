//! `callgate why`, `policy replay`, `policy diff` and `policy coverage`: recorded calls, judged again.

use callgate_audit::{CallOutcome, ReasonCode, Record};
use callgate_call::Surface;
use serde_json::{Value, json};

use crate::records::{call, store};
use crate::support::{Ran, Test};

/// A token in two pieces, so that nobody who looks for secrets takes it for one.
fn token() -> String {
    ["gh", "p_16C7e42F292c6912E7710c838347Ae178B4a"].concat()
}

/// After the start of a session, which is record 1. Allowed: `ls`, a call with a secret, a long call. Denied: `rm -rf /`, by `test/no-rm`; a call by
/// a limit; a call by a list of servers.
fn recorded() -> Vec<Record> {
    let shell = |command: &str| json!({ "command": command }).to_string();
    let mut refused = call("Bash", &shell("ls"), CallOutcome::Deny);
    refused.verdict.as_mut().unwrap().code = Some(ReasonCode::ServerDenied);
    let mut limited = call("Bash", &shell("make"), CallOutcome::Deny);
    limited.verdict.as_mut().unwrap().rule = Some("often".into());
    vec![
        call("Bash", &shell("ls"), CallOutcome::Allow),
        call("Bash", &shell(&format!("deploy {}", token())), CallOutcome::Allow),
        call("Bash", &shell(&"x".repeat(300_000)), CallOutcome::Allow),
        call("Bash", &shell("rm -rf /"), CallOutcome::Deny),
        limited,
        refused,
    ]
}

fn run_on(records: Vec<Record>, args: &[&str], files: &[(&str, &str)]) -> Ran {
    let mut test = Test::new(args);
    for (name, text) in files {
        test = test.file(name, text);
    }
    let audit = store(&test.path());
    for record in records {
        audit.append(record).wait().unwrap();
    }
    drop(audit);
    test.run()
}

const LS: &str = "\
policy: mine
rules:
  - { id: no-ls, tool: '@shell', when: { runs: ls }, verdict: deny, reason: no }
  - { id: often, tool: '@shell', limit: { calls: 1, per: minute }, when: { runs: make }, verdict: deny, reason: no }
";

fn replayed(args: &[&str]) -> Ran {
    let words = [&["policy", "replay", "--policy", "mine.yaml"], args].concat();
    run_on(recorded(), &words, &[("mine.yaml", LS)])
}

#[test]
fn replaying_shows_what_a_policy_would_change() {
    replayed(&[]).sees(
        0,
        "6 calls: 2 would be decided differently\n\n\
         allow -> deny: 1\n  was (no policy), now mine/no-ls\n       2  Bash: ls\n\n\
         deny -> allow: 1\n  was test/no-rm, now mine (default)\n       5  Bash: rm -rf /\n\n\
         not judged again:\n       1  a secret in the arguments was redacted\n       \
         1  the arguments were too long to be recorded whole\n       \
         1  self-protection, or something other than a policy, decided\n       \
         1  a limit decided, which depends on earlier calls\n\
         1 call came in a session after one of these, so what that one wrote or did is missing\n",
        "",
    );
}

#[test]
fn replaying_for_programs_and_with_filters() {
    let found = &replayed(&["--json", "--verdict", "deny"]).json()[0];
    assert_eq!((&found["calls"], &found["changed"]), (&json!(3), &json!(1)));
    let change = &found["changes"][0];
    assert_eq!(change["before"], json!({ "verdict": "deny", "rule": "test/no-rm" }));
    assert_eq!(change["after"], json!({ "verdict": "allow", "rule": "mine (default)" }));
    assert_eq!(change["examples"][0]["seq"], 5);
    assert_eq!(found["not_judged"], json!({ "not_by_policy": 1, "limited": 1 }));
}

#[test]
fn nothing_changes_for_the_same_policy() {
    let record = call("Bash", r#"{"command":"rm -rf /"}"#, CallOutcome::Deny);
    let ran = run_on(vec![record], &["policy", "replay", "--policy", "policy.yaml"], &[]);
    ran.sees(0, "1 call: none would be decided differently\n", "");
}

/// A call at an MCP server has the server apart from the tool's name.
#[test]
fn a_call_at_a_server_is_judged_as_that_servers() {
    let mut record = call("read", "{}", CallOutcome::Allow);
    record.surface = Some(Surface::Mcp);
    record.tool.as_mut().unwrap().server = Some("files".into());
    let policy =
        "policy: p\nrules: [{ id: a, tool: read, server: files, verdict: deny, reason: no }]\n";
    let words = ["policy", "replay", "--policy", "p.yaml", "--json"];
    let ran = run_on(vec![record], &words, &[("p.yaml", policy)]);
    assert_eq!(ran.json()[0]["changed"], 1, "{}", ran.stdout);
}

/// Two sessions: one denies twice and then lists, the other only lists. And a script that is written,
/// then run.
fn sessions() -> Vec<Record> {
    let in_session = |session: &str, command: &str| {
        let mut record =
            call("Bash", &json!({ "command": command }).to_string(), CallOutcome::Allow);
        record.who.session = Some(session.into());
        record
    };
    let write = json!({ "file_path": "/w/x.sh", "content": "rm -r /data" }).to_string();
    let mut written = call("Write", &write, CallOutcome::Allow);
    written.who.session = Some("c".into());
    vec![
        in_session("a", "rm x"),
        in_session("b", "ls"),
        in_session("a", "rm y"),
        in_session("a", "ls"),
        written,
        in_session("c", "sh /w/x.sh"),
        in_session("d", "sh /w/x.sh"),
    ]
}

const EARLIER: &str = "\
policy: mine
rules:
  - { id: no-rm, when: { runs: rm }, verdict: deny, reason: no }
  - id: enough
    when: { all: [{ runs: ls }, { denied: { times: 2, within: 10m } }] }
    verdict: deny
    reason: no
";

/// The rule that decides each changed call, by its number.
fn changed(args: &[&str], records: Vec<Record>) -> Vec<(u64, String)> {
    let ran = run_on(records, args, &[("mine.yaml", EARLIER)]);
    let found = &ran.json()[0];
    let changes = found["changes"].as_array().unwrap_or_else(|| panic!("{}", ran.stderr));
    let mut list: Vec<(u64, String)> = Vec::new();
    for change in changes {
        let rule = change["after"]["rule"].as_str().unwrap();
        let examples = change["examples"].as_array().unwrap();
        list.extend(examples.iter().map(|it| (it["seq"].as_u64().unwrap(), rule.to_owned())));
    }
    list.sort();
    list
}

#[test]
fn calls_are_judged_with_what_their_session_did_before() {
    let words = ["policy", "replay", "--policy", "mine.yaml", "--json"];
    // A record for the start of each session comes before its first call.
    let found = changed(&words, sessions());
    let rules: Vec<&str> = found.iter().map(|(_, rule)| rule.as_str()).collect();
    assert_eq!(rules, ["mine/no-rm", "mine/no-rm", "mine/enough", "mine/no-rm"], "{found:?}");
    // The filters choose what is counted, not what a session did before.
    let chosen = changed(&[&words[..], &["--limit", "2"]].concat(), sessions());
    assert_eq!(chosen, found[3..], "the newest two are the runs of the script");
    let bash = changed(&[&words[..], &["--tool", "Bash", "--session", "c"]].concat(), sessions());
    assert_eq!(bash, found[3..]);
}

#[test]
fn calls_after_one_that_is_not_known_are_counted() {
    let mut records = sessions();
    let lost = json!({ "command": format!("deploy {}", token()) }).to_string();
    let mut lost = call("Bash", &lost, CallOutcome::Allow);
    lost.who.session = Some("a".into());
    records.insert(2, lost);
    let words = ["policy", "replay", "--policy", "mine.yaml"];
    let ran = run_on(records.clone(), &words, &[("mine.yaml", EARLIER)]);
    let line =
        "2 calls came in a session after one of these, so what that one wrote or did is missing\n";
    assert!(ran.stdout.ends_with(line), "{}", ran.stdout);
    let words = [&words[..], &["--json"]].concat();
    let ran = run_on(records, &words, &[("mine.yaml", EARLIER)]);
    assert_eq!(ran.json()[0]["incomplete"], 2);
}

/// A rule on the hour sees the hour of the record, and one on the caller the recorded caller.
#[test]
fn a_call_is_judged_as_of_its_time() {
    let mut record = call("deploy", "{}", CallOutcome::Allow);
    record.time = "2026-01-04T03:30:00Z".parse().unwrap();
    record.who.user = Some("ann".into());
    let policy = "\
policy: p
rules:
  - id: a
    tool: deploy
    who: { user: ann }
    when: { all: [{ arg: context.hour, equals: 3 }, { arg: context.weekday, equals: sunday }] }
    verdict: deny
    reason: no
";
    let words = ["policy", "replay", "--policy", "p.yaml", "--json"];
    let ran = run_on(vec![record], &words, &[("p.yaml", policy)]);
    assert_eq!(ran.json()[0]["changes"][0]["after"]["rule"], "p/a", "{}", ran.stdout);
}

#[test]
fn two_policies_differ_in_rules_and_verdicts() {
    let next = LS.replace("runs: ls", "runs: rm");
    let files = [("mine.yaml", LS), ("next.yaml", next.as_str())];
    let words = ["policy", "diff", "mine.yaml", "next.yaml"];
    let ran = run_on(recorded(), &words, &files);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.starts_with("changed        mine/no-ls\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("was mine/no-ls, now mine (default)"), "{}", ran.stdout);
    let found = &run_on(recorded(), &[&words[..], &["--json"]].concat(), &files).json()[0];
    assert_eq!(found["changed"], json!(["mine/no-ls"]));
    assert_eq!(found["calls"]["changed"], 3);
    // Without records, the rules are still compared.
    let mut alone = Test::new(&words);
    for (name, text) in files {
        alone = alone.file(name, text);
    }
    let ran = alone.run();
    assert!(ran.stdout.ends_with("no calls are on record yet\n"), "{}", ran.stdout);
}

#[test]
fn coverage_counts_what_no_rule_decides() {
    let words = ["policy", "coverage", "--policy", "mine.yaml", "--json"];
    let found = &run_on(recorded(), &words, &[("mine.yaml", LS)]).json()[0];
    assert_eq!(
        (&found["calls"], &found["uncovered"], &found["not_judged"]),
        (&json!(4), &json!(2), &json!(2))
    );
    assert_eq!(found["tools"]["Bash"]["example"], "Bash: make");
}

fn why(record: &str, args: &[&str]) -> Ran {
    let words = [&["why", record, "--policy", "mine.yaml"], args].concat();
    run_on(recorded(), &words, &[("mine.yaml", LS)])
}

#[test]
fn why_compares_then_with_today() {
    let ran = why("2", &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    for part in [
        "Bash: ls\n",
        "then: allow\n",
        "today: deny by mine/no-ls (not the same)",
        "matches: decided",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    let ran = why("5", &[]);
    let reason = "then: deny by test/no-rm\n  reason: Nothing is removed for good.\n";
    assert!(ran.stdout.contains(reason), "{}", ran.stdout);
    assert!(ran.stdout.contains("today: allow by mine (default) (not the same)"), "{}", ran.stdout);
    let ran = why("3", &[]);
    let unknown = "today: cannot be judged again: a secret in the arguments was redacted\n";
    assert!(ran.stdout.ends_with(unknown), "{}", ran.stdout);
    let ran = why("7", &[]);
    assert!(ran.stdout.contains("(then, no rule decided)"), "{}", ran.stdout);
    assert_eq!(why("7", &["--json"]).json()[0].get("same"), None);
}

#[test]
fn why_compares_what_self_protection_decided() {
    let command = json!({ "command": "callgate calls mark 2 --wrong" }).to_string();
    let mut record = call("Bash", &command, CallOutcome::Deny);
    let verdict = record.verdict.as_mut().unwrap();
    verdict.policy = Some("self-protection".into());
    verdict.rule = Some("no-commands-of-callgate".into());
    let ran = run_on(vec![record], &["why", "2"], &[]);
    let today = "today: deny by self-protection/no-commands-of-callgate (the same)\n";
    assert!(ran.stdout.contains(today), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_call_with_arguments_that_are_no_object_is_judged_again_as_such() {
    let record = call("Bash", "\"weird\"", CallOutcome::Deny);
    let policy = "policy: mine\nrules:\n  - { id: no-rm, when: { runs: rm }, verdict: deny }\n";
    let words = ["check", "--policy", "mine.yaml", "--record", "2"];
    let ran = run_on(vec![record], &words, &[("mine.yaml", policy)]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.ends_with("($, bytes 0 to 0): arguments\n"), "{}", ran.stdout);
}

#[test]
fn a_call_without_a_name_says_so() {
    let mut record = call("Bash", "{}", CallOutcome::Deny);
    record.tool = None;
    let ran = run_on(vec![record], &["why", "2"], &[]);
    assert!(ran.stdout.contains("\n(a tool without a name)\n"), "{}{}", ran.stdout, ran.stderr);
    let unknown = "today: cannot be judged again: the name of the tool cannot be read\n";
    assert!(ran.stdout.ends_with(unknown), "{}", ran.stdout);
}

#[test]
fn why_shows_what_nearly_matched() {
    let policy = "\
policy: mine
rules:
  - id: decided
    when: { any: [{ runs: rm }, { runs: shred }] }
    verdict: deny
    reason: no
  - { id: near, when: { all: [{ runs: rm }, { reads: '**/.env' }] }, verdict: deny, reason: no }
  - { id: of-ann, who: { user: ann }, when: { runs: rm }, verdict: deny, reason: no }
  - { id: far, when: { all: [{ runs: ls }, { reads: '**/.env' }] }, verdict: deny, reason: no }
  - { id: alone, when: { runs: ls }, verdict: deny, reason: no }
";
    let mut record = call("Bash", r#"{"command":"rm -rf x"}"#, CallOutcome::Deny);
    record.who.user = Some("bob".into());
    let files = [("mine.yaml", policy)];
    let words = ["why", "2", "--policy", "mine.yaml"];
    let ran = run_on(vec![record.clone()], &words, &files);
    let today = "today: deny by mine/decided (the same verdict, by another rule)\n  matched: ";
    assert!(ran.stdout.contains(today), "{}", ran.stdout);
    let matching = "rules that match:\n\nmine/decided: deny, priority 100\n  \
                    yes      runs in \"rm\"  (saw \"runs rm -rf x\")\n  matches: decided\n\n";
    assert!(ran.stdout.contains(matching), "{}", ran.stdout);
    let (_, near) = ran.stdout.split_once("rules that nearly match:\n").unwrap();
    assert!(near.contains("mine/near: deny") && near.contains("mine/of-ann: deny"), "{near}");
    assert!(
        near.ends_with(
            "2 other rules did not match; `callgate policy explain --record 2` shows them\n"
        ),
        "{near}"
    );
    let found = &run_on(vec![record], &[&words[..], &["--json"]].concat(), &files).json()[0];
    assert_eq!(found["nearly"], json!(["mine/near", "mine/of-ann"]));
    assert_eq!(found["matched"]["path"], "command");
}

#[test]
fn why_for_programs() {
    let found = &why("2", &["--json"]).json()[0];
    assert_eq!((&found["same"], &found["record"]["seq"]), (&json!(false), &json!(2)));
    assert_eq!(found["decision"], json!({ "verdict": "deny", "rule": "mine/no-ls" }));
    assert!(found["today"]["rules"].is_array(), "{found}");
    let found = &why("4", &["--json"]).json()[0];
    assert_eq!((&found["not_judged"], &found["today"]), (&json!("truncated"), &Value::Null));
}

#[test]
fn only_calls_have_a_why() {
    let record = Record::new(callgate_audit::RecordKind::PolicyLoaded);
    let error = "error: record 1 is not a call: it is a `policy_loaded`\n\
                 hint: `callgate calls` lists the calls\n";
    run_on(vec![record], &["why", "1"], &[]).sees(2, "", error);
}
