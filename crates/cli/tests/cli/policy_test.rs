//! `callgate policy test`.

use serde_json::json;

use crate::support::{Ran, Test};

fn run(tests: &str, args: &[&str]) -> Ran {
    let words = [&["policy", "test", "tests.yaml", "--policy", "policy.yaml"], args].concat();
    Test::new(&words).file("tests.yaml", tests).run()
}

#[test]
fn tests_that_hold() {
    let tests = "\
tests:
  - { name: nothing is nuked, tool: nuke, verdict: deny, rule: no-nuke }
  - { name: by its full name, tool: nuke, verdict: deny, rule: test/no-nuke }
  - { command: rm -rf x, verdict: stop }
  - { command: ls, verdict: [allow, audit] }
  - { name: a tool of a server, tool: nuke, server: bombs, verdict: deny }
";
    run(tests, &[]).sees(
        0,
        "ok    nothing is nuked\nok    by its full name\nok    Bash {\"command\":\"rm -rf x\"}\n\
         ok    Bash {\"command\":\"ls\"}\nok    a tool of a server\n5 tests: all passed\n",
        "",
    );
}

#[test]
fn tests_that_fail_say_what_happened_instead() {
    let tests = "\
tests:
  - { name: a, command: rm -rf x, verdict: allow }
  - { name: b, tool: nuke, verdict: deny, rule: no-rm }
  - { name: c, tool: nuke, verdict: deny, rule: other/no-nuke }
  - { name: d, tool: nuke, verdict: deny }
";
    let ran = run(tests, &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    assert_eq!(
        ran.stdout,
        "failed  a  (tests.yaml:2)\n        expected allow, got deny by test/no-rm\n\
         failed  b  (tests.yaml:3)\n        expected the rule no-rm, but test/no-nuke decided\n\
         failed  c  (tests.yaml:4)\n        expected the rule other/no-nuke, but test/no-nuke decided\n\
         ok    d\n4 tests: 3 failed\n"
    );
    let json = run(tests, &["--json"]).json();
    assert_eq!(
        json[3],
        json!({ "ok": true, "name": "d", "file": "tests.yaml", "line": 5, "verdict": "deny", "rule": "test/no-nuke" })
    );
    assert_eq!(json[0]["failure"], "expected allow, got deny by test/no-rm");
}

#[test]
fn every_problem_of_a_test_file_has_its_place() {
    let tests = "\
tests:
  - { tol: Bash, verdict: deny }
  - { command: ls }
  - { command: ls, verdict: dny }
  - { command: ls, input: {}, verdict: deny }
  - { command: ls, verdict: deny, hour: 24 }
";
    let ran = run(tests, &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    for part in [
        "tests.yaml:2:7",
        "unknown key `tol`",
        "the call has no `tool`",
        "this test has no `verdict`",
        "unknown verdict `dny`",
        "`input` cannot be combined with `command`",
        "`hour` must be a whole number from 0 to 23",
        "error: the test file is rejected: 6 problems",
    ] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    let ran = run("rules: []\n", &[]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("this file has no `tests`"), "{}", ran.stderr);
}

/// Neither the folder, the user, the clock nor the files of the machine change a result.
#[test]
fn the_machine_does_not_matter() {
    let policy = "\
policy: p
rules:
  - { id: outside, when: { writes: { not: [workspace] } }, verdict: deny, reason: no }
  - { id: night, tool: deploy, when: { arg: context.hour, lt: 6 }, verdict: deny, reason: no }
  - { id: sunday, tool: deploy, when: { arg: context.weekday, equals: sunday }, verdict: deny, reason: no }
";
    let tests = "\
tests:
  - { name: inside, command: touch /src/app/a, cwd: /src/app, verdict: allow }
  - { name: outside, command: touch /src/other/a, cwd: /src/app, verdict: deny, rule: outside }
  - { name: noon, tool: deploy, verdict: allow }
  - { name: night, tool: deploy, hour: 3, verdict: deny, rule: night }
  - { name: sunday, tool: deploy, weekday: sunday, verdict: deny, rule: sunday }
";
    let words = ["policy", "test", "tests.yaml", "--policy", "p.yaml"];
    let ran = Test::new(&words).file("tests.yaml", tests).file("p.yaml", policy).run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
}

/// The zones are part of the binary: neither the time zone of the machine nor its files matter.
#[test]
fn a_window_of_time_in_a_zone() {
    let policy = "\
policy: p
rules:
  - id: night
    when: { time: { between: ['22:00', '06:30'], days: [mon-fri], zone: Europe/Berlin } }
    verdict: deny
";
    let tests = "\
tests:
  - { tool: a, time: '2026-06-12T22:00:00+02:00', verdict: deny, rule: night }
  - { tool: b, time: '2026-06-13T04:29:00Z', verdict: deny, rule: night }
  - { tool: c, time: '2026-06-13T06:30:00+02:00', verdict: allow }
";
    let words = ["policy", "test", "tests.yaml", "--policy", "p.yaml"];
    let test = |tests: &str| Test::new(&words).file("tests.yaml", tests).file("p.yaml", policy);
    let ran = test(tests).env("TZ", "Asia/Tokyo").env("TZDIR", "/nowhere").run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    let ran = test("tests: [{ tool: a, time: noon, hour: 3, verdict: deny }]").run();
    assert_eq!(ran.code, 2);
    for part in ["`noon` is not a time with an offset", "`time` cannot be combined with `hour`"] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
}

#[test]
fn a_policy_that_does_not_load_is_in_the_report() {
    let policy = "policy: p\nrules:\n  - { id: a, tol: x, verdict: deny }\n";
    let words = ["policy", "test", "--policy", "p.yaml", "--junit", "report.xml"];
    let ran = Test::new(&words).file("p.yaml", policy).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    let report = std::fs::read_to_string(ran.dir.path().join("report.xml")).unwrap();
    assert!(report.contains("failures=\"1\"") && report.contains("p.yaml:3:"), "{report}");
    assert!(report.contains("unknown key `tol`"), "{report}");
}

/// The results are shown even if the report cannot be written.
#[test]
fn a_report_that_cannot_be_written() {
    let tests = "tests:\n  - { name: a, tool: nuke, verdict: deny }\n";
    let ran = run(tests, &["--junit", "missing/report.xml"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, "ok    a\n1 test: all passed\n"));
    assert!(ran.stderr.contains("cannot write `missing/report.xml`"), "{}", ran.stderr);
}

#[test]
fn text_in_a_report_is_escaped() {
    let tests = "tests:\n  - { name: 'a <b> & \"c\"', tool: nuke, verdict: allow }\n";
    let ran = run(tests, &["--junit", "report.xml"]);
    let report = std::fs::read_to_string(ran.dir.path().join("report.xml")).unwrap();
    assert!(report.contains("name=\"a &lt;b&gt; &amp; &quot;c&quot;\""), "{report}");
}
