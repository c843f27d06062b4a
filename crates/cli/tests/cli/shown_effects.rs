//! What `check` and `policy explain` show of what a call would do.

use serde_json::json;
use unicode_width::UnicodeWidthStr as _;

use crate::support::Test;

const NOTHING: &str = "policy: p\nrules: []\n";

#[test]
fn check_prints_the_effects_and_what_it_could_not_look_at() {
    let args = ["check", "--policy", "p.yaml", r#"sudo rm -rf /srv/data && cat "$FILE""#];
    let ran = Test::new(&args).file("p.yaml", NOTHING).run();
    let shown = "\
allow  Bash  p (default)  no rule matched
effects:
  runs sudo rm -rf /srv/data [elevates]
  runs rm -rf /srv/data
  deletes-tree /srv/data
";
    assert!(ran.stdout.starts_with(shown), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("could not be analysed:\n") || ran.stdout.contains("reads"),
        "{}",
        ran.stdout
    );
    let args = ["check", "--policy", "p.yaml", "eval \"$X\""];
    let ran = Test::new(&args).file("p.yaml", NOTHING).run();
    let (_, unread) = ran.stdout.split_once("could not be analysed:\n").expect(&ran.stdout);
    assert!(unread.starts_with("  `") && unread.contains("(command, bytes "), "{unread}");
}

/// One JSON object is a call, any other text is a command.
#[test]
fn check_takes_a_command() {
    let policy = "policy: p\nrules:\n  - { id: no-wipe, when: { deletes: '/**' }, verdict: deny, reason: Keep it. }\n";
    let check =
        |text: &str| Test::new(&["check", "--policy", "p.yaml", text]).file("p.yaml", policy).run();
    for command in ["rm -rf /", "{ rm -rf /; }", "[ -e x ] || rm -rf /srv"] {
        let ran = check(command);
        assert_eq!((ran.code, ran.stderr.as_str()), (1, ""), "{command}");
        assert!(ran.stdout.starts_with("deny   Bash  p/no-wipe  Keep it.\n"), "{}", ran.stdout);
    }
    assert_eq!(check("echo rm -rf /").code, 0);
    assert_eq!(check(r#"{"tool":"Bash","input":{"command":"rm -rf /"}}"#).code, 1);
    // A call with a mistake in it is not a command.
    assert_eq!(check(r#"{"tool":"Bash","imput":{}}"#).code, 2);
    assert_eq!(check(r#"{"tool":"Bash","tool":"Read"}"#).code, 2);
}

#[test]
fn json_has_every_effect_with_its_span() {
    let args = ["check", "--policy", "p.yaml", "--json", "rm -rf build; eval \"$X\""];
    let line = Test::new(&args).file("p.yaml", NOTHING).run().json()[0].clone();
    assert_eq!(line["surface"], "response");
    let effects = line["effects"].as_array().unwrap();
    let deletes = effects.iter().find(|it| it["kind"] == "deletes").unwrap();
    assert_eq!((&deletes["argument"], &deletes["text"]), (&json!("command"), &json!("build")));
    assert_eq!(deletes["span"], json!([7, 12]));
    let opaque = effects.iter().find(|it| it["kind"] == "opaque").unwrap();
    assert!(opaque["could"].as_array().unwrap().contains(&json!("deletes")), "{opaque}");
    assert_eq!(opaque["what"], "code");
}

/// Rules that only hold where calls are seen in fact: in responses and at servers.
#[test]
fn a_call_is_judged_where_it_would_be_seen() {
    let policy = "policy: p\nrules:\n  - { id: at-servers, surface: mcp, tool: push, verdict: deny, reason: a }\n  - { id: in-responses, surface: response, tool: Bash, verdict: deny, reason: b }\n  - { id: at-hooks, surface: hook, tool: Read, verdict: deny, reason: c }\n";
    let rule = |args: &[&str]| {
        let args = [&["check", "--policy", "p.yaml", "--json"], args].concat();
        let line = Test::new(&args).file("p.yaml", policy).run().json()[0].clone();
        (line["rule"].clone(), line["surface"].clone())
    };
    let expected = |rule: &str, surface: &str| (json!(rule), json!(surface));
    assert_eq!(rule(&["--tool", "mcp__git__push"]), expected("at-servers", "mcp"));
    assert_eq!(rule(&["--tool", "push", "--server", "git"]), expected("at-servers", "mcp"));
    assert_eq!(rule(&["--tool", "Bash"]), expected("in-responses", "response"));
    assert_eq!(rule(&["--tool", "Read"]), (json!(null), json!("response")));
    assert_eq!(rule(&["--tool", "Read", "--surface", "hook"]), expected("at-hooks", "hook"));
    assert_eq!(rule(&["--tool", "Bash", "--surface", "mcp"]), (json!(null), json!("mcp")));
}

#[test]
fn lists_of_servers_and_tools_count() {
    let config = "policy: p\nrules: []\nmcp:\n  deny_tools: [{ server: git, tool: 'push*' }]\n  allow_servers: [git, notes]\n";
    let check = |tool: &str, config: &str| {
        Test::new(&["check", "--config", "c.yaml", "--tool", tool]).file("c.yaml", config).run()
    };
    let ran = check("mcp__git__push_all", config);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.starts_with("deny   mcp__git__push_all  mcp/mcp.tools  The tool `push_all` of `git` is on the list of denied tools.\nhint: "), "{}", ran.stdout);
    assert_eq!(check("mcp__git__status", config).code, 0);
    assert_eq!(check("mcp__other__status", config).code, 1);
    assert_eq!(check("Bash", config).code, 0);
    let off = config.replace("mcp:\n", "mcp:\n  enforce: false\n");
    assert_eq!(check("mcp__git__push_all", &off).code, 0);
    let args = ["check", "--config", "c.yaml", "--json", "--tool", "mcp__git__push_all"];
    let line = Test::new(&args).file("c.yaml", config).run().json()[0].clone();
    assert_eq!((&line["verdict"], &line["rule"]), (&json!("deny"), &json!("mcp.tools")));
}

#[test]
fn policy_explain_draws_the_effects_under_the_command() {
    let input = json!({ "command": "cd /srv && sudo rm -rf data" }).to_string();
    let args = ["policy", "explain", "p.yaml", "--tool", "Bash", "--input", &input];
    let ran = Test::new(&args).file("p.yaml", NOTHING).run();
    let (drawn, _) = ran.stdout.split_once("\n\n").unwrap();
    assert!(drawn.starts_with("command:\n  cd /srv && sudo rm -rf data\n"), "{drawn}");
    assert!(drawn.contains("\n                         ^^^^ deletes-tree "), "{drawn}");
    let long = json!({ "command": format!("cat {} | tee {}", "a".repeat(99), "b/".repeat(70)) });
    let args = ["policy", "explain", "p.yaml", "--tool", "Bash", "--input", &long.to_string()];
    let ran = Test::new(&args).file("p.yaml", NOTHING).run();
    let (drawn, _) = ran.stdout.split_once("\n\n").unwrap();
    assert!(drawn.lines().all(|line| line.width() <= 80) && drawn.contains('^'), "{drawn}");
    let args = ["policy", "explain", "p.yaml", "--json", "--tool", "Bash", "--input", &input];
    let line = Test::new(&args).file("p.yaml", NOTHING).run().json()[0].clone();
    let effects = line["effects"].as_array().unwrap();
    assert!(
        effects.iter().any(|it| it["kind"] == "deletes" && it["span"] == json!([23, 27])),
        "{line}"
    );
}
