//! `callgate policy import` and `policy export`.

use serde_json::json;

use crate::support::{Ran, Test};

fn import(name: &str, text: &str, args: &[&str]) -> Ran {
    let words = [&["policy", "import", name], args].concat();
    Test::new(&words).file(name, text).run()
}

/// Imports a file into `imported.yaml`, and judges a command by it.
#[track_caller]
fn verdict(name: &str, text: &str, call: &str) -> String {
    let ran = import(name, text, &["-o", "imported.yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
    let ran =
        Test::again(ran, &["check", "--policy", "imported.yaml", "--cwd", "/w", "--json", call])
            .run();
    let judged: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    judged["verdict"].as_str().unwrap().to_owned()
}

const CLAUDE: &str = r#"{
  "permissions": {
    "allow": ["Bash(npm run test:*)"],
    "deny": ["Bash(git push:*)", "Read(./.env)"],
    "defaultMode": "bypassPermissions"
  }
}
"#;

#[test]
fn every_format_becomes_a_policy_that_judges() {
    let read = |path: &str| format!(r#"{{"tool":"Read","input":{{"file_path":"{path}"}}}}"#);
    let codex = "prefix_rule(pattern = [\"git\", \"push\"], decision = \"forbidden\")\n";
    let requirements =
        "[rules]\nprefix_rules = [{ pattern = [{ token = \"dd\" }], decision = \"prompt\" }]\n";
    let gemini = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"rm\"\ndecision = \"deny\"\npriority = 5\n";
    let cursor = r#"{ "permissions": { "allow": ["Shell(ls)"], "deny": ["Read(.env*)"] } }"#;
    let opencode = r#"{ "permission": { "bash": { "*": "allow", "rm *": "deny" } } }"#;
    let superego =
        "rules:\n  - { id: a, priority: 1, conditions: { tool_name: Bash }, action: SAMPLE }\n";
    let arfa = r#"{ "tool_policies": { "bash": { "action": "deny" } } }"#;
    let rows = "tool_name,conditions,action,reason\nBash,,deny,No shell.\n";
    for (name, text, call, expected) in [
        ("settings.json", CLAUDE, "cd x && git push", "deny"),
        ("settings.json", CLAUDE, "npm run test", "allow"),
        ("settings.json", CLAUDE, &read("/w/.env"), "deny"),
        ("default.rules", codex, "git push --force", "deny"),
        ("requirements.toml", requirements, "dd if=a of=b", "ask"),
        ("rules.toml", gemini, "ls; rm x", "deny"),
        ("rules.toml", gemini, &read("/w/a"), "allow"),
        ("cli.json", cursor, &read("/w/.env.local"), "deny"),
        ("cli.json", cursor, "make", "ask"),
        ("opencode.json", opencode, "rm x", "deny"),
        ("opencode.json", opencode, "ls", "allow"),
        ("rules.yaml", superego, "ls", "review"),
        ("cache.json", arfa, "ls", "deny"),
        ("rows.csv", rows, "ls", "deny"),
    ] {
        assert_eq!(verdict(name, text, call), expected, "{name} {call}");
    }
}

#[test]
fn the_policy_goes_to_stdout_and_the_differences_to_stderr() {
    let ran = import("settings.json", CLAUDE, &[]);
    assert!(
        ran.stdout.starts_with("# Imported from settings.json.\npolicy: claude-code\nrules:\n")
    );
    assert!(
        ran.stdout.contains("  # settings.json:4: Bash(git push:*)\n  - id: deny-bash-git-push\n")
    );
    assert_eq!(
        ran.stderr,
        "settings.json:3:15: stricter: allowed commands (allowed-commands): commands with redirections, \
         variables, substitutions or subshells are not allowed by these rules\n\
         claude-code: 3 rules, 1 difference\n"
    );
    assert_eq!(ran.code, 0);
}

#[test]
fn strict_fails_if_there_is_a_difference() {
    assert_eq!(import("settings.json", CLAUDE, &["--strict"]).code, 1);
    let exact = r#"{"permissions":{"deny":["Bash(rm:*)"],"defaultMode":"bypassPermissions"}}"#;
    let ran = import("settings.json", exact, &["--strict"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "claude-code: 1 rule, 0 differences\n"));
}

#[test]
fn the_report_as_json() {
    let ran = import("settings.json", CLAUDE, &["--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let report = &ran.json()[0];
    assert_eq!(
        (&report["format"], &report["target"], &report["rules"]),
        (&json!("claude-code"), &json!("policy"), &json!(3))
    );
    let change = &report["changes"][0];
    assert_eq!(change["file"], "settings.json");
    assert_eq!((&change["line"], &change["column"]), (&json!(3), &json!(15)));
    assert_eq!(
        (&change["change"], &change["rule"]),
        (&json!("stricter"), &json!("allowed-commands"))
    );
    assert!(report["text"].as_str().unwrap().starts_with("# Imported"));

    let ran = import("settings.json", CLAUDE, &["--json", "--output", "a.yaml"]);
    assert_eq!(ran.json()[0].get("text"), None);
    assert!(
        std::fs::read_to_string(ran.dir.path().join("a.yaml"))
            .unwrap()
            .contains("policy: claude-code")
    );
}

#[test]
fn stdin_and_a_named_format() {
    let ran = Test::new(&["policy", "import", "-", "--from", "codex"])
        .stdin("prefix_rule(pattern = [\"a\"], decision = \"prompt\")")
        .run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "codex: 1 rule, 0 differences\n"));
    assert!(ran.stdout.contains("runs: a"));
}

#[test]
fn what_cannot_be_read_has_its_place() {
    let ran =
        import("x.rules", "prefix_rule(\n  pattern = [\"a\"],\n  decision = other,\n)\n", &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr.starts_with(
            "error: expected a text in quotes, or a list of them\n --> x.rules:3:14\n"
        ),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.ends_with("error: the file is rejected: 1 problem\n"), "{}", ran.stderr);

    let ran = import("x.json", "{ \"permissions\":\n  { \"deny\": [1] } }", &[]);
    assert!(ran.stderr.contains("--> x.json:2:14"), "{}", ran.stderr);
    assert_eq!(ran.code, 2);

    let ran = import("x.txt", "hello", &[]);
    assert!(ran.stderr.contains("the format of this file is not known"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("hint: name it with `--from`: claude-code, codex"),
        "{}",
        ran.stderr
    );

    let ran = Test::new(&["policy", "import", "missing.json"]).run();
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("error: cannot read file `missing.json`"), "{}", ran.stderr);
}

#[test]
fn an_existing_file_is_not_overwritten() {
    let ran = import("settings.json", CLAUDE, &["-o", "policy.yaml"]);
    assert_eq!(ran.code, 2);
    assert_eq!(
        ran.stderr,
        "error: `policy.yaml` already exists\nhint: write to another file, and merge the two\n"
    );
}

#[test]
fn lists_of_servers_become_settings_that_load() {
    let agentsh = "sandbox:\n  mcp:\n    fail_closed: true\n    servers: [{ id: files, type: stdio, command: npx, args: [a] }]\n    \
        server_policy: allowlist\n    allowed_servers: [{ id: files }]\n    tool_policy: denylist\n    \
        denied_tools: [{ server: files, tool: 'drop_*' }]\n    \
        rate_limits: { enabled: true, default_rpm: 60, per_server: { files: { calls_per_minute: 10, burst: 3 } } }\n";
    let ran = import("agentsh.yaml", agentsh, &["-o", "callgate.yaml"]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (0, "agentsh: the section mcp of callgate.yaml, 0 differences\n")
    );
    let ran = Test::again(ran, &["config", "check", "--config", "callgate.yaml"]).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let call = [
        "check",
        "--config",
        "callgate.yaml",
        "--surface",
        "mcp",
        "--server",
        "other",
        "--tool",
        "x",
    ];
    let ran = Test::again(ran, &call).run();
    assert_eq!(ran.code, 1, "{}", ran.stdout);

    let wrong = agentsh.replace("id: files,", "id: 'no such name!',");
    let ran = import("agentsh.yaml", &wrong, &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
}

const POLICY: &str = "\
policy: mine
rules:
  - id: no-push
    when: { runs: git push }
    verdict: deny
    reason: Pushing is for people.
  - id: no-keys
    when: { reads: '**/id_rsa' }
    verdict: deny
  - id: ask-drop
    server: db
    tool: drop
    verdict: ask
  - id: lost
    when: { opaque: true }
    verdict: deny
";

fn export(agent: &str, args: &[&str]) -> Ran {
    let words = [&["policy", "export", "--to", agent, "--policy", "mine.yaml"], args].concat();
    Test::new(&words).file("mine.yaml", POLICY).run()
}

#[test]
fn a_policy_becomes_rules_of_each_agent() {
    for (agent, parts) in [
        ("claude-code", vec!["\"Bash(git push:*)\"", "\"Read(//**/id_rsa)\"", "\"mcp__db__drop\""]),
        (
            "codex",
            vec![
                "pattern = [\"git\", \"push\"]",
                "decision = \"forbidden\"",
                "justification = \"Pushing is for people.\"",
            ],
        ),
        (
            "gemini",
            vec!["commandPrefix = \"git push\"", "mcpName = \"db\"", "decision = \"ask_user\""],
        ),
        ("cursor", vec!["\"Shell(git:push *)\"", "\"Read(**/id_rsa)\""]),
        ("opencode", vec!["\"git push *\": \"deny\"", "\"*/id_rsa\": \"deny\"", "\"db_drop\""]),
    ] {
        let ran = export(agent, &[]);
        assert_eq!(ran.code, 0, "{agent}");
        for part in parts {
            assert!(ran.stdout.contains(part), "{agent}: {part}\n{}", ran.stdout);
        }
        assert!(
            ran.stderr.contains("mine.yaml:14:5: left out: lost: `opaque` has no counterpart\n"),
            "{agent}: {}",
            ran.stderr
        );
        assert!(
            ran.stderr.contains("mine.yaml:3:5: partial: no-push: "),
            "{agent}: {}",
            ran.stderr
        );
        assert_eq!(export(agent, &["--strict"]).code, 1, "{agent}");
    }
}

#[test]
fn an_export_comes_back_as_a_policy() {
    for agent in ["claude-code", "codex", "gemini", "cursor", "opencode"] {
        let ran = export(agent, &["-o", "exported"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{agent}");
        let ran = Test::again(ran, &["policy", "import", "exported", "-o", "again.yaml"]).run();
        assert_eq!(ran.code, 0, "{agent}: {}", ran.stderr);
        let ran = Test::again(ran, &["check", "--policy", "again.yaml", "git push origin"]).run();
        assert_eq!(ran.code, 1, "{agent}: {}", ran.stdout);
    }
}

#[test]
fn the_policies_in_force_are_exported_without_what_the_config_takes_away() {
    let exported = |config: &str| {
        let words =
            ["policy", "export", "--to", "claude-code", "--config", "callgate.yaml", "--json"];
        let ran = Test::new(&words).file("callgate.yaml", config).run();
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.json()[0]["text"].as_str().unwrap().to_owned()
    };
    let whole = exported("policies: [builtin:starter]\n");
    assert!(whole.contains("Read(//**/id_rsa)"), "{whole}");
    let less = exported("policies: [{ use: builtin:starter, disable: [no-secrets] }]\n");
    assert!(!less.contains("Read(//**/id_rsa)"), "{less}");
    let inline = format!("policies:\n  - {}", POLICY.replace('\n', "\n    "));
    assert!(exported(&inline).contains("Bash(git push:*)"));
}
