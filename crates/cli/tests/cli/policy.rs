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
    let sound = "policy: sound\nrules: [{ id: a, when: { runs: rm }, verdict: deny, reason: x }]\n";
    let check = |args: &[&str]| {
        let words = [&["policy", "check", "sound.yaml"], args].concat();
        Test::new(&words).file("sound.yaml", sound).run()
    };
    check(&[]).sees(0, "sound.yaml: 1 rule, no problems\n", "");
    let ran = check(&["--json"]);
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
    Test::new(&["policy", "check"]).run().sees(0, "builtin:starter: 29 rules, no problems\n", "");
}

#[test]
fn bytes_that_are_no_text() {
    let error = "error: cannot read policy `bad.yaml`: it is not UTF-8 (byte 8)\n";
    let test = Test::new(&["policy", "check", "bad.yaml"]).file("bad.yaml", b"policy: \xff\n");
    test.run().sees(2, "", error);
}

#[test]
fn rules_as_a_table() {
    let policy = "\
policy: test
rules:
  - { id: rm, tool: '@shell', when: { arg: command, contains: rm }, verdict: deny, reason: No. }
  - { id: all, mode: shadow, verdict: deny, priority: 7, surface: mcp, reason: Never. }
  - { id: some, tool: [Read, 'mcp__git__*'], verdict: audit, reason: Look. }
";
    let table = "\
RULE            VERDICT        TOOLS             ONLY IF          PRIORITY  REASON
test/rm         deny           @shell            arguments match            No.
test/all        deny (shadow)  (every)           surface=mcp      7         Never.
test/some       audit          Read,mcp__git__*                             Look.
test (default)  allow          (every)                                      no rule of this policy decides
";
    Test::new(&["policy", "list", "t.yaml"]).file("t.yaml", policy).run().sees(0, table, "");
}

/// Whatever has to hold before a rule matches is listed, in the table and in JSON.
#[test]
fn everything_that_restricts_a_rule_is_listed() {
    let policy = "\
policy: test
for: { team: payments }
rules:
  - { id: git, server: github, tool: 'list_*', agent: claude-code, who: { user: [ann, bob] }, verdict: allow, reason: Reads. }
  - { id: fast, tool: x, limit: { calls: 5, per: minute, by: session }, verdict: deny, reason: Slowly. }
";
    let list = |args: &[&str]| {
        let args = [&["policy", "list", "t.yaml"], args].concat();
        Test::new(&args).file("t.yaml", policy).run()
    };
    let ran = list(&[]);
    let row = |name: &str| {
        let row = ran.stdout.lines().find(|line| line.starts_with(name));
        row.unwrap_or_else(|| panic!("{name}: {}{}", ran.stdout, ran.stderr)).to_owned()
    };
    let git = row("test/git ");
    for part in ["team=payments", "user=ann|bob", "agent=claude-code", "server=github"] {
        assert!(git.contains(part), "{part}: {git}");
    }
    let fast = row("test/fast ");
    assert!(fast.contains("more than 5 calls per 60 s by session"), "{fast}");
    let ran = list(&["--json"]);
    assert_eq!(ran.json()[0]["servers"], json!(["github"]));
    assert_eq!(ran.json()[1]["limit"]["calls"], json!(5));
}

#[test]
fn a_policy_that_is_only_a_default_is_listed() {
    let policy = "policy: guests\nfor: { team: guests }\ndefault: deny\nrules: []\n";
    let ran = Test::new(&["policy", "list", "t.yaml"]).file("t.yaml", policy).run();
    let row = ran.stdout.lines().nth(1).unwrap_or_default().to_owned();
    assert!(row.starts_with("guests (default)  deny "), "{}{}", ran.stdout, ran.stderr);
    assert!(row.contains("team=guests"), "{row}");
}

#[test]
fn rules_as_json() {
    let ran = Test::new(&["policy", "list", "policy.yaml", "--json"]).run();
    let first = json!({
        "policy": "test", "rule": "no-nuke", "verdict": "deny", "priority": 100, "shadow": false,
        "tools": ["nuke"], "needs_arguments": false,
        "surfaces": ["response", "mcp", "hook"], "reason": "Not here.", "hint": "Ask the operator.",
        "blocks": null,
    });
    assert_eq!((ran.json().len(), &ran.json()[0]), (5, &first));
    let default = json!({
        "policy": "test", "default": true, "verdict": "allow", "shadow": false,
        "surfaces": ["response", "mcp", "hook"],
    });
    assert_eq!(ran.json()[4], default);
}

#[test]
fn without_files_the_default_is_listed() {
    let ran = Test::new(&["policy", "list", "--json"]).run();
    let policies: std::collections::BTreeSet<String> =
        ran.json().iter().map(|rule| rule["policy"].as_str().unwrap().to_owned()).collect();
    assert_eq!(policies.into_iter().collect::<Vec<_>>(), ["self-protection", "starter"]);
}

#[test]
fn explain_goes_through_the_rules() {
    let call = ["--tool", "Bash", "--input", r#"{"command":"rm -rf /"}"#];
    let told = "\
command:
  rm -rf /
  ^^^^^^^^ runs rm -rf /
         ^ deletes-tree /

test/no-rm: deny, priority 100
  yes      command contains \"rm -rf\"  (saw \"rm -rf /\")
  matches: decided

not about this call:
  test/no-nuke       tool: wants nuke, has Bash
  test/watch-writes  tool: wants @write, has Bash
  test/no-fetch      tool: wants @fetch, has Bash

deny   Bash  test/no-rm  Nothing is removed for good.
";
    let args = [&["policy", "explain", "policy.yaml"], &call[..]].concat();
    Test::new(&args).run().sees(0, told, "");
    let all = Test::new(&args).with(&["--all"]).run().stdout;
    let fetch = "\
test/no-fetch: deny, priority 100, shadow
  no       tool: wants @fetch, has Bash
  does not match
";
    assert!(all.contains(fetch) && !all.contains("not about this call"), "{all}");
}

/// A rule for each way a condition can go.
const CONDITIONS: &str = r#"
policies:
  - policy: shop
    default: deny
    rules:
      - { id: cheap, when: { arg: amount, lt: 100 }, verdict: allow }
      - id: no-export
        when:
          all:
            - any: [{ arg: to, in: [us, ca] }, { arg: to, exists: false }]
            - not: { arg: "items[*].name", matches: '^b\w+$' }
        verdict: deny
        priority: 200
      - { id: dear, when: { arg: amount, gte: 100 }, verdict: deny, reason: Too dear. }
      - { id: often, limit: { calls: 1, per: minute }, verdict: deny }
      - { id: known, agent: "codex*", verdict: allow }
"#;

#[test]
fn explain_tells_every_condition() {
    let call = r#"{"tool":"pay","agent":"codex","input":{"amount":"lots\u001b[2J","items":[{"name":"a"},{"name":"bo"}]}}"#;
    let told = r#"shop/cheap: allow, priority 100
  unknown  amount lt 100  (saw "lots\u001b[2J"; `amount` has a type that `lt` cannot compare)
  unknown counts as no match, because the rule allows

shop/no-export: deny, priority 200
  no       all of
  yes        any of
  no           to in ["us","ca"]  (saw nothing)
  yes          to exists false  (saw nothing)
  no         not
  yes          items[*].name matches '^b\w+$'  (saw "bo", "a")
  does not match

shop/dear: deny, priority 100
  unknown  amount gte 100  (saw "lots\u001b[2J"; `amount` has a type that `gte` cannot compare)
  unknown counts as a match, because the rule restricts: decided

shop/often: deny, priority 100
  no       above 1 call per 60 s by session and user  (not counted here)
  does not match

shop/known: allow, priority 100
  unknown  the agent's name is only claimed
  unknown counts as no match, because the rule allows

deny   pay  shop/dear  Too dear.
"#;
    let test = Test::new(&["policy", "explain", "shop.yaml"]).file("shop.yaml", CONDITIONS);
    test.stdin(call).run().sees(0, told, "");
}

#[test]
fn explain_as_json() {
    let test = Test::new(&["policy", "explain", "--json", "shop.yaml", "policy.yaml"]);
    let test = test.file("shop.yaml", CONDITIONS);
    let ran = test.stdin(r#"{"tool":"pay","input":{"amount":5,"to":"us"}}"#).run();
    let answer = &ran.json()[0];
    assert_eq!((&answer["verdict"], &answer["rule"]), (&json!("allow"), &json!("cheap")));
    let rules = answer["rules"].as_array().unwrap();
    assert_eq!(rules.len(), 9);
    let when = json!({
        "holds": "yes",
        "test": { "arg": "amount", "operator": "lt", "value": 100, "saw": ["5"], "more": 0 },
    });
    let cheap = json!({
        "policy": "shop", "rule": "cheap", "verdict": "allow", "priority": 100, "shadow": false,
        "applies": true, "misfit": null, "unknown": null, "when": when, "limit": null,
        "result": "match", "part": "decided", "outranked_by": null,
    });
    assert_eq!(rules[0], cheap);
    let by = json!({ "policy": "shop", "rule": "cheap" });
    assert_eq!((&rules[1]["part"], &rules[1]["outranked_by"]), (&json!("outranked"), &by));
    assert_eq!(rules[1]["when"]["all"][1]["not"]["test"]["saw"], json!([]));
    let misfit = json!({ "what": "tool", "wants": "nuke", "has": "pay" });
    assert_eq!((&rules[5]["applies"], &rules[5]["misfit"]), (&json!(false), &misfit));
}

#[test]
fn explain_reads_a_call_from_stdin() {
    let test = Test::new(&["policy", "explain", "policy.yaml"]).stdin(r#"{"tool":"WebFetch"}"#);
    let ran = test.run();
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("  matches: in shadow mode, without effect\n"), "{}", ran.stdout);
}

#[test]
fn explain_looks_into_a_wrapper() {
    let input = r#"{"tool_uses":[{"recipient_name":"nuke","parameters":{}}]}"#;
    let call = ["--tool", "multi_tool_use.parallel", "--input", input];
    let ran = Test::new(&[&["policy", "explain", "policy.yaml"], &call[..]].concat()).run();
    let told = "test/no-nuke (inside: nuke): deny, priority 100\n  matches: decided\n";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
}

const TEXTS: &str = "policy: words
text:
  - { id: keys, detect: secret, verdict: mask }
  - { id: mail, detect: [email], in: response, verdict: audit, mode: shadow }
";

#[test]
fn text_rules_are_counted_and_listed() {
    let run = |args: &[&str], text: &str| {
        Test::new(&[&["policy"], args].concat()).file("words.yaml", text).run()
    };
    run(&["check", "words.yaml"], TEXTS).sees(
        0,
        "words.yaml: 0 rules, 2 text rules, no problems\n",
        "",
    );
    let listed = run(&["list", "words.yaml", "--json"], TEXTS).json();
    assert_eq!(listed.len(), 3, "the default of the policy, and two text rules");
    assert_eq!(listed[2]["text_rule"], "mail");
    assert_eq!((&listed[2]["shadow"], &listed[2]["in"][0]), (&true.into(), &"response".into()));
    let wrong = TEXTS.replace("[email]", "[emial]");
    let ran = run(&["check", "words.yaml"], &wrong);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("words.yaml:4:26"), "{}", ran.stderr);
    assert!(ran.stderr.contains("did you mean `email`?"), "{}", ran.stderr);
}

#[test]
fn detectors_are_listed() {
    let ran = Test::new(&["policy", "detectors"]).run();
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("email"), "{}", ran.stdout);
    let listed = Test::new(&["policy", "detectors", "--json"]).run().json();
    assert!(listed.len() > 50);
    assert!(listed.iter().any(|it| it["detector"] == "card" && it["group"] == "personal"));
}

/// It is compiled in two parts: what is offered is denied, what is called is cleaned.
#[test]
fn a_rule_on_two_surfaces_counts_once() {
    let rules = "policy: mine\nrules:\n  - { id: clean, tool: mail, surface: [inbound, response], \
                 verdict: sanitize, sanitize: { detectors: [email] }, reason: No addresses. }\n";
    let ran = Test::new(&["policy", "check", "p.yaml"]).file("p.yaml", rules).run();
    ran.sees(0, "p.yaml: 1 rule, no problems\n", "");
}
