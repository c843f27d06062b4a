//! `policy check` on rules that do less than they seem to, and `policy list --for`.

use serde_json::{Value, json};

use crate::support::{Ran, Test};

fn check(rules: &str, args: &[&str]) -> Ran {
    let words = [&["policy", "check", "p.yaml"], args].concat();
    Test::new(&words).file("p.yaml", format!("policy: p\nrules:\n{rules}")).run()
}

/// The only warning about these rules: its line, message and hint.
#[track_caller]
fn warning(rules: &str) -> (u64, String, String) {
    let ran = check(rules, &["--json"]);
    let found = &ran.json()[0];
    let warnings = found["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{rules}{}{}", ran.stdout, ran.stderr);
    let text = |key: &str| warnings[0][key].as_str().unwrap().to_owned();
    (warnings[0]["line"].as_u64().unwrap(), text("message"), text("hint"))
}

#[track_caller]
fn silent(rules: &str) {
    let ran = check(rules, &["--json", "--strict"]);
    assert_eq!((ran.code, &ran.json()[0]["warnings"]), (0, &json!([])), "{rules}");
}

fn rule(id: &str, rest: &str) -> String {
    format!("  - {{ id: {id}, {rest}, reason: x }}\n")
}

#[test]
fn a_rule_that_another_one_decides_before_is_never_reached() {
    let narrow = rule("narrow", "tool: '@shell', when: { runs: rm }, verdict: deny");
    let first = rule("first", "tool: '@shell', verdict: allow, priority: 10");
    let (line, message, hint) = warning(&(first + &narrow));
    assert_eq!(line, 4);
    assert_eq!(message, "rule `narrow` is never reached: `first` decides all of its calls first");
    assert!(hint.starts_with("give `narrow` a lower `priority`"), "{hint}");
    let wide = rule("wide", "verdict: deny");
    let (_, message, _) = warning(&(narrow.clone() + &wide));
    assert_eq!(message, "rule `narrow` changes nothing: `wide` is wider and has the same verdict");
    let wider = rule("wider", "when: { runs: rm }, verdict: deny");
    let (_, message, _) = warning(&(narrow.clone() + &wider));
    assert!(message.starts_with("rule `narrow` changes nothing: `wider`"), "{message}");
    // Of another tool, for others, or later.
    silent(&(narrow.clone() + &rule("other", "tool: '@read', verdict: deny")));
    silent(&(narrow.clone() + &rule("ann", "who: { user: ann }, verdict: deny")));
    silent(&(narrow + &rule("later", "tool: '@shell', verdict: allow, priority: 200")));
}

#[test]
fn a_list_of_paths_hosts_or_programs_that_is_part_of_another_one() {
    for (wide, narrow) in [
        ("deletes: /srv/**", "deletes: [/srv/a/**, /srv/b]"),
        ("reads: ['**/.env', /etc/**]", "reads: /etc/shadow"),
        ("writes: '**'", "writes: workspace/**"),
        ("connects: '*.evil.example'", "connects: www.evil.example"),
        ("connects: { not: ['*.ours.example'] }", "connects: evil.example"),
        ("runs: [git push, rm]", "runs: git push --force"),
        ("runs: rm", "all: [{ runs: rm }, { deletes: / }]"),
        ("any: [{ runs: rm }, { runs: dd }]", "runs: dd"),
    ] {
        let both = rule("wide", &format!("when: {{ {wide} }}, verdict: deny"))
            + &rule("narrow", &format!("when: {{ {narrow} }}, verdict: deny"));
        let (_, message, _) = warning(&both);
        let expected = "rule `narrow` changes nothing: `wide` is wider and has the same verdict";
        assert_eq!(message, expected, "{wide}, {narrow}");
    }
    for (one, other) in [
        ("deletes: /srv/**", "deletes: [/srv/a, /opt]"),
        ("deletes: /srv/a", "deletes: /srv/b"),
        ("connects: { not: ['*.ours.example'] }", "connects: www.ours.example"),
        ("connects: { not: ['@registries'] }", "connects: evil.example"),
        ("runs: git push", "runs: git pull"),
        ("runs: git", "runs: gitk"),
        ("reads: ['**/.env']", "reads: { not: ['**/.env'] }"),
    ] {
        let both = rule("one", &format!("when: {{ {one} }}, verdict: deny"))
            + &rule("other", &format!("when: {{ {other} }}, verdict: deny"));
        silent(&both);
    }
}

#[test]
fn a_rule_that_no_call_can_match() {
    let both = "when: { all: [{ arg: a, equals: x }, { arg: a, equals: y }] }, verdict: deny";
    let (_, message, _) = warning(&rule("both", both));
    assert_eq!(message, r#"rule `both` can never match: `a` cannot equal both "x" and "y""#);
    let deletes = "tool: [Read, Grep], when: { deletes: '**' }, verdict: deny";
    let (_, message, hint) = warning(&rule("reader", deletes));
    assert_eq!(
        message,
        "rule `reader` can never match: no call of Read, Grep has the effect `deletes`"
    );
    assert!(hint.contains("leave `tool` out"), "{hint}");
    silent(&rule("shell", "tool: '@shell', when: { deletes: '**' }, verdict: deny"));
    let opposite = "when: { all: [{ runs: ls }, { not: { runs: ls } }] }, verdict: deny";
    let (_, message, _) = warning(&rule("opposite", opposite));
    assert_eq!(message, "rule `opposite` can never match: one of its conditions rules out another");
}

#[test]
fn a_rule_for_one_tool_shows_the_sibling_that_gets_around_it() {
    for (rest, passes, hint) in [
        ("tool: Bash", "stops `ls`, but `exec_command: ls` passes", "name the kind"),
        ("tool: Read", "stops `x`, but `read_file: x` passes", "name the kind"),
        (
            "tool: Bash, when: { runs: rm }",
            "stops `rm`, but `exec_command: rm` passes",
            "leave `tool` out",
        ),
        (
            "tool: Read, when: { reads: '**/.env' }",
            "stops `.env`, but `read_file: .env` passes",
            "leave `tool` out",
        ),
        (
            "tool: '@read', when: { reads: '**/.env' }",
            "stops `.env`, but `Bash: cat .env` passes",
            "leave `tool` out",
        ),
        (
            "tool: WebFetch, when: { arg: url, contains: evil.example }",
            "stops `https://evil.example`, but `Bash: curl https://evil.example` passes",
            "`connects` covers",
        ),
        (
            "tool: '@shell', when: { arg: '@command', starts_with: 'curl ' }",
            "stops `curl x`, but `bash: 'curl' x` passes",
            "conditions on effects",
        ),
    ] {
        let (_, message, found) = warning(&rule("one", &format!("{rest}, verdict: deny")));
        assert_eq!(message, format!("rule `one` {passes}"));
        assert!(found.starts_with(hint), "{rest}: {found}");
    }
    silent(&rule("all", "tool: '@shell', verdict: deny"));
    silent(&rule("of-a-server", "tool: push, server: github, verdict: deny"));
}

#[test]
fn a_denial_that_another_call_gets_around_shows_that_call() {
    let read = "tool: Read, when: { arg: file_path, glob: '**/.env' }, verdict: deny";
    let (line, message, hint) = warning(&rule("no-env", read));
    assert_eq!(
        (line, message.as_str()),
        (3, "rule `no-env` stops `.env`, but `read_file: .env` passes")
    );
    assert!(hint.starts_with("`reads`, `writes` and `deletes` cover"), "{hint}");
    let kind = "tool: '@read', when: { arg: '@path', glob: '**/.env' }, verdict: deny";
    let (_, message, _) = warning(&rule("no-env", kind));
    assert_eq!(message, "rule `no-env` stops `.env`, but `Bash: cat .env` passes");
    silent(&rule("no-env", "when: { reads: '**/.env' }, verdict: deny"));
    let spelled = "tool: '@shell', when: { arg: command, matches: 'rm -rf' }, verdict: deny";
    let (_, message, hint) = warning(&rule("no-rm", spelled));
    assert_eq!(message, "rule `no-rm` stops `rm -rf`, but `bash: rm  -rf` passes");
    assert!(hint.contains("`runs`"), "{hint}");
    let spaces = "tool: '@shell', when: { arg: command, matches: 'rm\\s+-rf' }, verdict: deny";
    let (_, message, _) = warning(&rule("no-rm", spaces));
    assert_eq!(message, "rule `no-rm` stops `rm -rf`, but `bash: rm -r -f` passes");
    let one = "tool: Bash, when: { arg: command, contains: shutdown }, verdict: deny";
    let (_, message, hint) = warning(&rule("no-shutdown", one));
    assert_eq!(message, "rule `no-shutdown` stops `shutdown`, but `exec_command: shutdown` passes");
    assert!(hint.contains("@shell"), "{hint}");
    silent(&rule("no-rm", "when: { runs: rm }, verdict: deny"));
    // Another rule stops it.
    let both = rule("no-env", read) + &rule("rest", "when: { reads: '**/.env' }, verdict: ask");
    silent(&both);
}

#[test]
fn strict_checks_fail_on_warnings() {
    let rules = rule("no-env", "tool: Read, when: { arg: file_path, equals: .env }, verdict: deny");
    let ran = check(&rules, &[]);
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.contains("p.yaml:3:5\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: `reads`, "), "{}", ran.stderr);
    assert_eq!(ran.stdout, "p.yaml: 1 rule, no problems, 1 warning\n");
    assert_eq!(check(&rules, &["--strict"]).code, 1);
    let ran = check(&rules, &["--strict", "--json"]);
    assert_eq!((ran.code, &ran.json()[0]["ok"]), (1, &json!(false)));
    silent(&rule("fine", "when: { runs: rm }, verdict: deny"));
}

#[test]
fn the_built_in_policies_have_no_such_warnings() {
    for name in ["starter", "strict", "read-only", "ci", "data", "quiet"] {
        let ran = Test::new(&["policy", "check", "--strict", &format!("builtin:{name}")]).run();
        assert_eq!(ran.code, 0, "{name}: {}", ran.stderr);
    }
}

const TEAMS: &str = "\
policy: teams
rules:
  - id: in-project
    when: { writes: { not: [workspace/**, /tmp/**] } }
    verdict: deny
    reason: Stay in the project.
  - { id: no-prod, who: { team: web }, tool: deploy, verdict: deny, reason: x }
  - { id: ask-push, when: { runs: git push }, verdict: ask, reason: x }
  - { id: slow, tool: search, limit: { calls: 5, per: minute }, verdict: deny, reason: x }
  - { id: see, when: { connects: '*' }, verdict: audit, reason: x }
  - { id: ann, who: { user: ann }, tool: ls, verdict: allow, reason: x }
  - { id: bob, who: { user: bob }, tool: cat, verdict: deny, reason: x }
";

const CONFIG: &str = "\
policies: [teams.yaml]
mcp:
  servers:
    github: { command: github-mcp }
    notes: { command: notes-mcp }
  deny_servers: [notes]
";

fn list(args: &[&str]) -> Ran {
    let words = [&["policy", "list", "--config", "callgate.yaml"], args].concat();
    Test::new(&words).file("teams.yaml", TEAMS).file("callgate.yaml", CONFIG).run()
}

#[test]
fn what_applies_to_a_user_is_said_in_words() {
    let ran = list(&["--for", "ann", "--team", "web"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let parts = [
        "what applies to team web, user ann\n",
        "\nblocked\n  deploy: every call  (teams/no-prod)\n  changing callgate itself: ",
        "\nrestricted\n  writing only in the project, /tmp  (teams/in-project)\n",
        "\nasked about first\n  running git push  (teams/ask-push)\n",
        "\nlimited\n  search: every call: more than 5 in 60 s  (teams/slow)\n",
        "\nonly recorded or rewritten\n  connecting to *  (teams/see)\n",
        "\nallowed\n  ls: every call  (teams/ann)\n",
        "\neverything else is\n  allowed, at response, mcp, hook  (teams (default))\n",
        "\nMCP servers\n  github: open, as far as the rules above allow\n  notes: blocked  (mcp.servers)\n",
    ];
    for part in parts {
        assert!(ran.stdout.contains(part), "{part}\n{}", ran.stdout);
    }
    assert!(!ran.stdout.contains("teams/bob"), "{}", ran.stdout);
}

#[test]
fn what_is_not_known_about_the_caller_counts() {
    let unsure = |ran: &Ran, list: &str, rule: &str| {
        let found = &ran.json()[0];
        let lines = found[list].as_array().unwrap();
        let line = lines.iter().find(|line| line["by"] == rule);
        line.map(|line| line["unsure"].clone())
    };
    let ann = list(&["--for", "ann", "--json"]);
    assert_eq!(unsure(&ann, "blocked", "teams/no-prod"), Some(json!(true)));
    assert_eq!(ann.json()[0]["caller"], json!({ "user": "ann" }));
    // A key without a team has none.
    let key = list(&["--key", "ci", "--json"]);
    assert_eq!(unsure(&key, "blocked", "teams/no-prod"), None);
    let other: Value = list(&["--team", "ops", "--json"]).json()[0].clone();
    assert!(!other["blocked"].to_string().contains("no-prod"), "{other}");
}
