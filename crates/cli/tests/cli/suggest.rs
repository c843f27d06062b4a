//! `callgate policy suggest`.

use callgate_audit::{CallOutcome, Record};
use serde_json::{Value, json};

use crate::records::{call, store};
use crate::support::{Ran, Test};

fn in_project(tool: &str, input: Value, action: CallOutcome) -> Record {
    let mut record = call(tool, &input.to_string(), action);
    record.cwd = Some("/w".into());
    record.home = Some("/home/me".into());
    record
}

fn shell(command: &str, action: CallOutcome) -> Record {
    in_project("Bash", json!({ "command": command }), action)
}

/// A store with these records, from number 2 on.
fn recorded(records: Vec<Record>, files: &[(&str, &str)]) -> Ran {
    let mut test = Test::new(&["calls"]);
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

#[track_caller]
fn then(ran: Ran, args: &[&str]) -> Ran {
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    Test::again(ran, args).run()
}

/// Writes what was printed to a file.
fn saved(ran: Ran, name: &str) -> Ran {
    std::fs::write(ran.dir.path().join(name), &ran.stdout).unwrap();
    ran
}

fn verdict(ran: Ran, policy: &[&str], call: &Record) -> (Ran, Value) {
    let tool = call.tool.as_ref().unwrap();
    let call = json!({
        "tool": tool.name, "input": serde_json::from_str::<Value>(tool.input.as_ref().unwrap()).unwrap(),
        "cwd": call.cwd, "home": call.home, "session": "new",
    })
    .to_string();
    let words = [&["check", "--json", "--no-disk"], policy, &[call.as_str()]].concat();
    let ran = Test::again(ran, &words).run();
    let verdict = ran.json()[0]["verdict"].clone();
    (Ran { code: 0, ..ran }, verdict)
}

#[test]
fn an_exception_to_a_built_in_rule_is_a_config_that_works() {
    let (wrong, right) = ("rm -rf /srv/cache/build", "rm -rf /srv/data");
    let records = vec![shell(wrong, CallOutcome::Deny), shell(right, CallOutcome::Deny)];
    let ran = recorded(records, &[]);
    let ran = then(ran, &["calls", "mark", "2", "--wrong"]);
    let ran = then(ran, &["policy", "suggest", "--exceptions"]);
    let head = "# checked on 2 recorded calls: nothing else would be allowed\n\
                # for `policies` in callgate.yaml\npolicies:\n  - use: builtin:starter\n    except:\n      \
                # record 2, Bash: rm -rf /srv/cache/build\n      - rule: no-deletion-outside\n";
    assert!(ran.stdout.starts_with(head), "{}{}", ran.stdout, ran.stderr);
    let ran = saved(ran, "callgate.yaml");
    let ran = then(ran, &["config", "check", "--config", "callgate.yaml"]);
    let with = ["--config", "callgate.yaml"];
    let (ran, now) = verdict(ran, &with, &shell(wrong, CallOutcome::Deny));
    assert_eq!(now, "allow");
    for other in [right, "rm -rf /srv/cache", "rm -rf /srv/cache/build /srv/data"] {
        let (_, now) = verdict(
            recorded(
                vec![],
                &[(
                    "callgate.yaml",
                    &std::fs::read_to_string(ran.dir.path().join("callgate.yaml")).unwrap(),
                )],
            ),
            &with,
            &shell(other, CallOutcome::Deny),
        );
        assert_eq!(now, "ask", "{other}");
    }
}

const MINE: &str = "\
policy: mine
rules:
  - id: no-rm
    when: { runs: rm }
    verdict: deny
    reason: no
  - { id: no-env, when: { reads: '**/.env' }, verdict: deny, reason: no }
  - { id: no-deploy, tool: deploy, verdict: deny, reason: no }
";

fn suggested(records: Vec<Record>, wrong: &[&str]) -> Ran {
    let ran = recorded(records, &[("mine.yaml", MINE)]);
    let ran = then(ran, &[&["calls", "mark", "--wrong"], wrong].concat());
    then(ran, &["policy", "suggest", "--exceptions", "--policy", "mine.yaml", "--json"])
}

#[test]
fn an_exception_to_a_rule_of_ones_own_is_its_new_condition() {
    let records =
        vec![shell("rm -r build", CallOutcome::Deny), shell("rm -r src", CallOutcome::Deny)];
    let ran = suggested(records, &["2"]);
    let yaml = ran.json()[0]["yaml"].as_str().unwrap().to_owned();
    let head = "# the new `when` of the rule mine/no-rm (mine.yaml:3)\n# record 2, Bash: rm -r build\nwhen:\n";
    assert!(yaml.starts_with(head), "{yaml}");
    let when = &yaml[yaml.find("when:").unwrap()..];
    let indented: String = when.lines().map(|line| format!("    {line}\n")).collect();
    let policy = MINE.replace("    when: { runs: rm }\n", &indented);
    let ran = recorded(vec![], &[("new.yaml", &policy)]);
    let with = ["--policy", "new.yaml"];
    let (ran, now) = verdict(ran, &with, &shell("rm -r build", CallOutcome::Deny));
    assert_eq!(now, "allow", "{policy}");
    let (_, now) = verdict(ran, &with, &shell("rm -r src", CallOutcome::Deny));
    assert_eq!(now, "deny");
}

#[test]
fn an_exception_that_would_allow_another_denial_becomes_narrower() {
    let read = |offset: u32| {
        in_project("Read", json!({ "file_path": "/w/a/.env", "offset": offset }), CallOutcome::Deny)
    };
    let yaml = |records: Vec<Record>| suggested(records, &["2"]).json()[0]["yaml"].to_string();
    let alone = yaml(vec![read(1)]);
    assert!(alone.contains("reads: workspace/a/.env"), "{alone}");
    let narrow = yaml(vec![read(1), read(2)]);
    assert!(
        narrow.contains("arg: offset, equals: 1") && !narrow.contains("workspace/a"),
        "{narrow}"
    );
    // The same call, which nobody said was wrong.
    let ran = suggested(vec![read(1), read(1)], &["2"]);
    let found = &ran.json()[0];
    assert_eq!((&found["yaml"], &found["left_out"][0]["seq"]), (&json!(""), &json!(2)));
    let why = found["left_out"][0]["why"].as_str().unwrap();
    assert!(why.starts_with("the exception would also allow record 3, Read: "), "{why}");
}

#[test]
fn what_has_no_exception_says_why() {
    let now_allowed = shell("ls", CallOutcome::Deny);
    let secret = ["ghp_16C7e42F292c6912E7", "710c838347Ae178B4a"].concat();
    let redacted = shell(&format!("rm {secret}"), CallOutcome::Deny);
    let text = in_project("deploy", json!({ "text": "x".repeat(1000) }), CallOutcome::Deny);
    let ran = suggested(vec![now_allowed, redacted, text], &["2", "3", "4"]);
    let left_out = ran.json()[0]["left_out"].clone();
    let whys: Vec<&str> =
        left_out.as_array().unwrap().iter().map(|it| it["why"].as_str().unwrap()).collect();
    let expected = [
        "a secret in the arguments was redacted",
        "it is not denied any more",
        "its arguments are too long to be named",
    ];
    assert_eq!(whys, expected);
    let ran = recorded(vec![], &[]);
    let error = "error: no denial is marked wrong\n\
                 hint: mark one with `callgate calls mark RECORD --wrong`\n";
    then(ran, &["policy", "suggest", "--exceptions"]).sees(2, "", error);
}

/// Calls that passed, and three that were denied.
fn seen() -> Vec<Record> {
    let edit = |file: &str| json!({ "file_path": format!("/w/src/{file}"), "old_string": "a", "new_string": "b" });
    let mut issue = call("mcp__github__get_issue", r#"{"number":7}"#, CallOutcome::Allow);
    issue.tool.as_mut().unwrap().server = Some("github".into());
    let mut records = vec![
        shell("ls", CallOutcome::Allow),
        shell("git status && ls src", CallOutcome::Audit),
        shell("mytool --fast", CallOutcome::Allow),
        shell("git push --force origin main", CallOutcome::Deny),
        in_project("Edit", edit("main.rs"), CallOutcome::Deny),
        in_project("Read", json!({ "file_path": "/w/.env" }), CallOutcome::Deny),
        in_project("Read", json!({ "file_path": "/w/src/main.rs" }), CallOutcome::Allow),
        issue,
    ];
    let files = ["a.rs", "b.rs", "c.rs", "d.rs", "e.rs", "f.rs", "g.rs", "h.rs"];
    records.extend(files.map(|file| in_project("Edit", edit(file), CallOutcome::Allow)));
    records
}

#[test]
fn rules_for_what_was_seen_allow_it_and_nothing_that_was_denied() {
    let ran = recorded(seen(), &[]);
    let ran = then(ran, &["policy", "suggest"]);
    let head = "# 13 calls passed or were wrongly denied; these rules allow 13 of them\n\
                # none of the 3 calls that were denied, or are marked wrong, would be allowed\n";
    assert!(ran.stdout.starts_with(head), "{}{}", ran.stdout, ran.stderr);
    let ran = saved(ran, "seen.yaml");
    let ran = then(ran, &["policy", "check", "seen.yaml"]);
    assert!(ran.stdout.starts_with("seen.yaml: "), "{}", ran.stdout);
    let mut ran = ran;
    for record in seen() {
        let expected = match record.verdict.as_ref().unwrap().action {
            CallOutcome::Deny => "deny",
            _ => "allow",
        };
        let (after, now) = verdict(ran, &["--policy", "seen.yaml"], &record);
        assert_eq!(now, expected, "{:?}", record.tool);
        ran = after;
    }
    for other in ["git push", "ls > x", "mytool --slow", "rm x", "git status; curl x.example"] {
        let (after, now) =
            verdict(ran, &["--policy", "seen.yaml"], &shell(other, CallOutcome::Allow));
        assert_eq!(now, "deny", "{other}");
        ran = after;
    }
}

#[test]
fn a_group_that_looks_like_a_denial_has_no_rule() {
    let read = |action| in_project("Read", json!({ "file_path": "/w/a" }), action);
    let records =
        vec![read(CallOutcome::Allow), read(CallOutcome::Deny), shell("ls", CallOutcome::Allow)];
    let ran = then(recorded(records.clone(), &[]), &["policy", "suggest"]);
    let why =
        "# 1 call left out, because a rule for them would also allow a call that was denied\n";
    assert!(ran.stdout.contains(why) && !ran.stdout.contains("tool: Read"), "{}", ran.stdout);
    // Once the denial is marked wrong, both are allowed.
    let ran = then(ran, &["calls", "mark", "3", "--wrong"]);
    let ran = then(ran, &["policy", "suggest", "--json"]);
    assert!(ran.json()[0]["yaml"].as_str().unwrap().contains("tool: Read"), "{}", ran.stdout);
}
