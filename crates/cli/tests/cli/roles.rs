//! Arguments by role, through the binary: a rule on the command holds for the shell of every agent.

use serde_json::{Value, json};

use crate::support::Test;

/// The first rule of `docs/guide/writing-a-policy.md`.
fn first_rule_of_the_guide() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/writing-a-policy.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (_, rest) = page.split_once("```yaml policy\n").unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

fn judged(policy: &str, tool: &str, input: &Value) -> (i32, Value) {
    let input = input.to_string();
    let args = ["check", "--policy", "p.yaml", "--json", "--tool", tool, "--input", &input];
    let ran = Test::new(&args).file("p.yaml", policy).run();
    assert_eq!(ran.stderr, "", "{tool} {input}");
    (ran.code, ran.json()[0].clone())
}

/// Claude Code, Codex in three versions, Gemini CLI, Windsurf, and a server that nobody knows.
fn shells(command: &str) -> Vec<(&'static str, Value)> {
    let words: Vec<&str> = command.split(' ').collect();
    vec![
        ("Bash", json!({ "command": command, "description": "x" })),
        ("exec_command", json!({ "cmd": command, "workdir": "/" })),
        ("shell", json!({ "command": words })),
        (
            "local_shell",
            json!({ "action": { "type": "exec", "command": ["bash", "-lc", command] } }),
        ),
        ("run_shell_command", json!({ "command": command })),
        ("run_command", json!({ "CommandLine": command })),
        ("mcp__box__bash", json!({ "script": command })),
    ]
}

#[test]
fn the_main_example_of_the_guide_holds_for_every_agent() {
    let policy = first_rule_of_the_guide();
    assert!(policy.contains("arg: \"@command\""), "{policy}");
    for (tool, input) in shells("git push origin main --force") {
        let (code, judged) = judged(&policy, tool, &input);
        assert_eq!((code, &judged["rule"]), (1, &json!("no-force-push")), "{tool} {input}");
    }
    for (tool, input) in shells("git push origin main") {
        assert_eq!(judged(&policy, tool, &input).0, 0, "{tool} {input}");
    }
}

#[test]
fn a_rule_on_shells_that_names_the_command_means_the_role() {
    let policy = "policy: p\nrules:\n  - { id: no-rm, tool: \"@shell\", when: { arg: command, matches: 'rm -rf' }, verdict: deny }\n";
    for (tool, input) in shells("rm -rf build") {
        assert_eq!(judged(policy, tool, &input).0, 1, "{tool} {input}");
    }
    let spared = json!({ "cmd": "ls", "justification": "not rm -rf" });
    assert_eq!(judged(policy, "exec_command", &spared).0, 0);
}

#[test]
fn policy_check_warns_about_an_argument_that_a_tool_does_not_have() {
    let policy = "policy: p\nrules:\n  - id: r\n    tool: Bash\n    when: { arg: cmd, contains: rm }\n    verdict: deny\n";
    let ran = Test::new(&["policy", "check", "p.yaml"]).file("p.yaml", policy).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "p.yaml: 1 rule, no problems, 1 warning\n"));
    assert!(ran.stderr.starts_with("warning: `Bash` has no argument `cmd`\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("p.yaml:5:18"), "{}", ran.stderr);
    assert!(ran.stderr.contains("`Bash` has: command, description, "), "{}", ran.stderr);
}

#[test]
fn tools_of_the_config_are_known_to_rules() {
    let config = "policy: p\nrules:\n  - { id: no-rm, tool: \"@shell\", when: { arg: \"@command\", contains: rm }, verdict: deny }\ntools:\n  deploy: { kind: \"@shell\", args: { cmdline: \"@command\" } }\n";
    let args = ["check", "--config", "c.yaml", "--tool", "deploy", "--input"];
    let judged = |config: &str, input: &str| {
        let ran = Test::new(&[&args[..], &[input]].concat()).file("c.yaml", config).run();
        (ran.code, ran.stderr)
    };
    assert_eq!(judged(config, r#"{"cmdline":"rm x"}"#).0, 1);
    assert_eq!(judged(config, r#"{"cmdline":"ls"}"#).0, 0);
    let (code, stderr) = judged(&config.replace("@command\" } }", "@comand\" } }"), "{}");
    assert_eq!(code, 2);
    assert!(
        stderr.contains("c.yaml:5:46") && stderr.contains("did you mean `@command`?"),
        "{stderr}"
    );
}

#[test]
fn escalating_calls_are_a_kind_of_tools() {
    let policy = "policy: p\nrules:\n  - { id: stay-inside, tool: \"@escalate\", verdict: deny }\n";
    for (tool, input, code) in [
        ("Bash", json!({ "command": "ls", "dangerouslyDisableSandbox": true }), 1),
        ("exec_command", json!({ "cmd": "ls", "sandbox_permissions": "require_escalated" }), 1),
        ("Bash", json!({ "command": "claude --dangerously-skip-permissions -p hi" }), 1),
        ("Bash", json!({ "command": "ls", "dangerouslyDisableSandbox": false }), 0),
        ("Read", json!({ "file_path": "a", "dangerouslyDisableSandbox": true }), 0),
    ] {
        assert_eq!(judged(policy, tool, &input).0, code, "{tool} {input}");
    }
}
