//! `callgate calls mark`, and where marks are shown.

use callgate_audit::{CallOutcome, Record};
use serde_json::{Value, json};

use crate::records::{call, store};
use crate::support::{Ran, Test};

/// Four denials by `test/no-rm` of the commands `rm -rf 0` to `rm -rf 3`, records 2 to 5, and an
/// allowed call, record 6.
fn recorded(args: &[&str]) -> Test {
    let test = Test::new(args);
    let audit = store(&test.path());
    let command = |at: u32| json!({ "command": format!("rm -rf {at}") }).to_string();
    let denied: Vec<Record> =
        (0..4).map(|at| call("Bash", &command(at), CallOutcome::Deny)).collect();
    let allowed = call("Bash", r#"{"command":"ls"}"#, CallOutcome::Allow);
    for record in denied.into_iter().chain([allowed]) {
        audit.append(record).wait().unwrap();
    }
    test
}

fn then(ran: Ran, args: &[&str]) -> Ran {
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    Test::again(ran, args).run()
}

#[test]
fn marks_are_shown_wherever_a_call_is() {
    let ran = recorded(&["calls", "mark", "2", "3", "--wrong"]).run().sees(
        0,
        "record 2 marked wrong: deny Bash: rm -rf 0\nrecord 3 marked wrong: deny Bash: rm -rf 1\n",
        "",
    );
    let ran = then(ran, &["calls", "mark", "4", "--right"]);
    let ran = then(ran, &["calls", "mark", "4", "--right"]).sees(
        0,
        "record 4 already marked right: deny Bash: rm -rf 2\n",
        "",
    );
    let ran = then(ran, &["calls", "--wide"]);
    assert_eq!(ran.stdout.matches("test/no-rm (marked wrong)").count(), 2, "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("test/no-rm (marked right)").count(), 1, "{}", ran.stdout);
    let ran = then(ran, &["calls", "--marked", "wrong", "--json"]);
    let seqs: Vec<Value> = ran.json().iter().map(|it| it["seq"].clone()).collect();
    assert_eq!(seqs, [3, 2]);
    assert!(ran.json().iter().all(|it| it["mark"] == "wrong"), "{}", ran.stdout);
    let ran = then(ran, &["calls", "show", "2"]);
    assert!(ran.stdout.contains("\nmarked   wrong, by "), "{}", ran.stdout);
    let ran = then(ran, &["why", "2", "--policy", "policy.yaml"]);
    assert!(ran.stdout.contains("\n  marked: wrong, by "), "{}", ran.stdout);
    let ran = then(ran, &["why", "2", "--policy", "policy.yaml", "--json"]);
    assert_eq!(ran.json()[0]["record"]["mark"], "wrong");
}

#[test]
fn who_marked_what_is_on_record() {
    let ran = recorded(&["calls", "mark", "2", "--wrong", "--json"]).run();
    let marked = &ran.json()[0];
    assert_eq!((&marked["mark"], &marked["changed"]), (&json!("wrong"), &json!(true)));
    let id = marked["id"].as_str().unwrap().to_owned();
    let ran = then(ran, &["calls", "mark", &id, "--right"]);
    let ran = then(ran, &["calls", "mark", "2", "--undo"]);
    let ran = then(ran, &["calls", "mark", "2", "--undo"]);
    assert_eq!(ran.stdout, "record 2 was not marked: deny Bash: rm -rf 0\n");
    let ran = then(ran, &["events", "--type", "change", "--json"]);
    let changes: Vec<Value> = ran.json().iter().map(|it| it["change"].clone()).collect();
    let fields = |word: &str| json!({ "verdict": word });
    let expected = [
        json!({ "what": "call", "name": id, "action": "unmark", "before": fields("right") }),
        json!({ "what": "call", "name": id, "action": "mark", "before": fields("wrong"), "after": fields("right") }),
        json!({ "what": "call", "name": id, "action": "mark", "after": fields("wrong") }),
    ];
    assert_eq!(changes, expected);
    let ran = then(ran, &["events", "--type", "change"]);
    assert!(ran.stdout.contains(&format!("mark call {id}")[..20]), "{}", ran.stdout);
    then(ran, &["audit", "verify"]);
}

#[test]
fn stats_have_the_false_alarms_of_each_rule() {
    let ran = recorded(&["stats", "--json"]).run();
    assert_eq!(ran.json()[0]["false_alarms"], json!({}));
    let ran = then(ran, &["calls", "mark", "2", "--wrong"]);
    let ran = then(ran, &["calls", "mark", "3", "--right"]);
    // Not a false alarm: it passed.
    let ran = then(ran, &["calls", "mark", "6", "--wrong"]);
    let ran = then(ran, &["stats", "--json"]);
    let alarms = json!({ "no-rm": { "denied": 4, "wrong": 1, "right": 1, "rate": 0.25 } });
    assert_eq!(ran.json()[0]["false_alarms"], alarms);
    let ran = then(ran, &["stats"]);
    let table = "RULE   DENIED  MARKED WRONG  MARKED RIGHT  FALSE ALARMS\n\
                 no-rm  4       1             1             25.0 %\n";
    assert!(ran.stdout.ends_with(table), "{}", ran.stdout);
    let ran = then(ran, &["stats", "--tool", "Read", "--json"]);
    assert_eq!(ran.json()[0]["false_alarms"], json!({}), "the filters apply");
}

#[test]
fn a_mark_needs_a_call_and_an_opinion() {
    let ran = recorded(&["calls", "mark", "2"]).run();
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("<--wrong|--right|--undo>"), "{}", ran.stderr);
    let ran = recorded(&["calls", "mark", "2", "1", "--wrong"]).run();
    let error = "error: record 1 is not a call: it is a `session_started`\n\
                 hint: `callgate calls` lists the calls\n";
    let ran = ran.sees(2, "", error);
    let ran = Test::again(ran, &["calls", "--marked", "wrong"]).run();
    ran.sees(0, "", "no calls match\n");
}

/// An agent must not decide which denials were wrong.
#[test]
fn an_agent_may_not_mark_calls() {
    let call = r#"{"tool":"Bash","input":{"command":"callgate calls mark 2 --wrong"}}"#;
    let ran = recorded(&["check", call]).run();
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("self-protection/no-commands-of-callgate"), "{}", ran.stdout);
}
