//! `callgate policy`.

use serde_json::json;

use crate::support::Test;

const BROKEN: &str = "\
policy: broken
rules:
  - id: one
    tool: Bash
    verdict: dny
  - id: two
    tol: Bash
    verdict: deny
";

#[test]
fn a_sound_file() {
    let line = "policy.yaml: 4 rules, no problems\n";
    Test::new(&["policy", "check", "policy.yaml"]).run().sees(0, line, "");
    let ran = Test::new(&["policy", "check", "policy.yaml", "--json"]).run();
    assert_eq!(ran.json(), [json!({"ok": true, "problems": [], "warnings": []})]);
}

#[test]
fn the_starter_is_sound() {
    let ran = Test::new(&["policy", "check", "builtin:starter"]).run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
}

#[test]
fn every_problem_is_shown_with_its_place() {
    let ran = Test::new(&["policy", "check", "broken.yaml"]).file("broken.yaml", BROKEN).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    for part in ["broken.yaml:5:14", "`dny`", "broken.yaml:7:5", "`tol`", "^^^", "hint: "] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    assert!(ran.stderr.ends_with("error: the policy is rejected: 2 problems\n"), "{}", ran.stderr);
}

#[test]
fn problems_as_json() {
    let test = Test::new(&["policy", "check", "--json", "broken.yaml", "policy.yaml"]);
    let ran = test.file("broken.yaml", BROKEN).run();
    assert_eq!((ran.code, ran.stderr.as_str()), (2, ""));
    let findings = &ran.json()[0];
    assert_eq!(findings["ok"], false);
    let places: Vec<_> = findings["problems"].as_array().unwrap().iter().map(place).collect();
    assert_eq!(places, [json!(["broken.yaml", 5, 14]), json!(["broken.yaml", 7, 5])]);
}

fn place(problem: &serde_json::Value) -> serde_json::Value {
    json!([problem["file"], problem["line"], problem["column"]])
}

#[test]
fn a_warning_does_not_fail() {
    let policy = "\
policy: warned
rules:
  - { id: late, surface: inbound, when: { arg: x, equals: 1 }, verdict: deny, reason: no }
";
    let ran = Test::new(&["policy", "check", "w.yaml"]).file("w.yaml", policy).run();
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.starts_with("warning: rule `late` can never match"), "{}", ran.stderr);
    assert!(ran.stderr.contains("w.yaml:3:"), "{}", ran.stderr);
    assert_eq!(ran.stdout, "w.yaml: 1 rule, no problems, 1 warning\n");
}

#[test]
fn a_missing_file_names_itself() {
    let error = "error: cannot read policy `no.yaml`: No such file or directory (os error 2)\n";
    Test::new(&["policy", "check", "no.yaml"]).run().sees(2, "", error);
    let ran = Test::new(&["policy", "check"]).run();
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("<FILE>..."), "{}", ran.stderr);
}

#[test]
fn bytes_that_are_no_text() {
    let error = "error: cannot read policy `bad.yaml`: it is not UTF-8 (byte 8)\n";
    let test = Test::new(&["policy", "check", "bad.yaml"]).file("bad.yaml", b"policy: \xff\n");
    test.run().sees(2, "", error);
}

#[test]
fn rules_as_a_table() {
    let table = "\
POLICY  RULE          VERDICT        PRIORITY  SURFACES           REASON
test    no-nuke       deny           100       response,mcp,hook  Not here.
test    no-rm         deny           100       response,mcp,hook  Nothing is removed for good.
test    watch-writes  audit          100       response,mcp,hook  Writes are watched.
test    no-fetch      deny (shadow)  100       response,mcp,hook  The network is far.
";
    Test::new(&["policy", "list", "policy.yaml"]).run().sees(0, table, "");
}

#[test]
fn rules_as_json() {
    let ran = Test::new(&["policy", "list", "policy.yaml", "--json"]).run();
    let first = json!({
        "policy": "test", "rule": "no-nuke", "verdict": "deny", "priority": 100, "shadow": false,
        "surfaces": ["response", "mcp", "hook"], "reason": "Not here.", "hint": "Ask the operator.",
    });
    assert_eq!((ran.json().len(), &ran.json()[0]), (4, &first));
}

#[test]
fn without_files_the_default_is_listed() {
    let ran = Test::new(&["policy", "list", "--json"]).run();
    assert!(ran.json().iter().all(|rule| rule["policy"] == "starter"));
}

#[test]
fn explain_goes_through_the_rules() {
    let call = ["--tool", "Bash", "--input", r#"{"command":"rm -rf /"}"#];
    let told = "\
verdict  deny
tool     Bash
input    {\"command\":\"rm -rf /\"}
rule     test/no-rm
reason   Nothing is removed for good.
matched  command = rm -rf /
decided  deny   test/no-rm  Nothing is removed for good.

RULE               VERDICT  HERE
test/no-nuke       deny     no match, or another priority came first
test/no-rm         deny     decided
test/watch-writes  audit    no match, or another priority came first
test/no-fetch      deny     no match, or another priority came first
";
    let args = [&["policy", "explain", "policy.yaml"], &call[..]].concat();
    Test::new(&args).run().sees(0, told, "");
    let args = [&["policy", "explain", "--json", "policy.yaml"], &call[..]].concat();
    assert_eq!(Test::new(&args).run().json()[0]["rule"], "no-rm");
}

#[test]
fn explain_reads_a_call_from_stdin() {
    let test = Test::new(&["policy", "explain", "policy.yaml"]).stdin(r#"{"tool":"WebFetch"}"#);
    let ran = test.run();
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("matched, in shadow mode"), "{}", ran.stdout);
}
