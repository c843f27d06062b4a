use super::*;
use crate::{Agent, Exported, WrittenPolicies, export};

const POLICY: &str = r#"
policy: mine
rules:
  - id: no-push
    tool: "@shell"
    when: { runs: git push }
    verdict: deny
    reason: Pushing is "final".
  - id: ask-deploy
    when: { runs: [make deploy, { program: [kubectl, helm] }] }
    verdict: ask
  - id: no-secrets
    when:
      any:
        - { reads: ["**/.env", "~/.ssh/**", "workspace/secrets/**", "/etc/shadow"] }
        - { writes: "workspace/vendor/**" }
    verdict: deny
  - id: no-host
    when: { connects: [evil.example, "10.0.0.0/8"] }
    verdict: deny
  - id: no-drop
    server: db
    tool: drop_table
    verdict: deny
  - id: no-search
    tool: "@search"
    verdict: deny
  - id: text
    tool: "@shell"
    when: { arg: command, contains: "--no-verify" }
    verdict: deny
  - { id: lost, when: { all: [{ runs: rm }, { arg: x, equals: y }] }, verdict: deny }
  - { id: shadowed, tool: Bash, verdict: deny, mode: shadow }
  - { id: counted, tool: Bash, limit: { calls: 1, per: hour }, verdict: deny }
  - { id: watched, tool: Bash, verdict: audit }
"#;

fn exported(agent: Agent, policy: &str) -> Exported {
    let mut policies = WrittenPolicies::default();
    policies.add_file(source(policy)).unwrap();
    export(&policies, agent).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

/// The reports on a rule.
fn report(exported: &Exported, rule: &str) -> Option<(DifferenceKind, String)> {
    let change = exported
        .changes
        .iter()
        .find(|it| it.written == rule || it.written == format!("mine/{rule}"))?;
    Some((change.kind, change.message.clone()))
}

#[test]
fn claude_code() {
    let exported = exported(Agent::ClaudeCode, POLICY);
    let expected = r#"{
  "permissions": {
    "deny": [
      "Bash(git push:*)",
      "Read(//**/.env)",
      "Read(~/.ssh/**)",
      "Read(./secrets/**)",
      "Read(//etc/shadow)",
      "Edit(./vendor/**)",
      "WebFetch(domain:evil.example)",
      "mcp__db__drop_table",
      "Grep",
      "Glob",
      "WebSearch",
      "Bash(*--no-verify*)"
    ],
    "ask": [
      "Bash(make deploy:*)",
      "Bash(kubectl:*)",
      "Bash(helm:*)"
    ]
  }
}
"#;
    assert_eq!(exported.text, expected);
    assert_eq!((exported.rules, exported.native_rules), (7, 15));
}

#[test]
fn what_is_not_covered_is_reported() {
    let exported = exported(Agent::ClaudeCode, POLICY);
    let left_out = |rule, why: &str| {
        let (kind, message) = report(&exported, rule).unwrap();
        assert_eq!(kind, DifferenceKind::LeftOut, "{rule}");
        assert!(message.contains(why), "{rule}: {message}");
    };
    left_out("lost", "hold together");
    left_out("shadowed", "shadow");
    left_out("counted", "does not count");
    let (kind, message) = report(&exported, "no-host").unwrap();
    assert_eq!(kind, DifferenceKind::Partial);
    assert!(message.contains("networks"), "{message}");
    assert_eq!(report(&exported, "no-drop"), None);
    assert_eq!(report(&exported, "no-search"), None);
    assert_eq!(report(&exported, "watched"), None);
    let push = exported.changes.iter().find(|change| change.written == "no-push").unwrap();
    assert_eq!((push.span.line, push.span.column), (4, 5));
}

#[test]
fn codex() {
    let exported = exported(Agent::Codex, POLICY);
    let expected = r#"# Rules of callgate's policies, as a second line of defence.

prefix_rule(
    pattern = ["git", "push"],
    decision = "forbidden",
    justification = "Pushing is \"final\".",
)

network_rule(
    host = "evil.example",
    protocol = "http",
    decision = "deny",
)

network_rule(
    host = "evil.example",
    protocol = "https",
    decision = "deny",
)

prefix_rule(
    pattern = ["make", "deploy"],
    decision = "prompt",
)

prefix_rule(
    pattern = ["kubectl"],
    decision = "prompt",
)

prefix_rule(
    pattern = ["helm"],
    decision = "prompt",
)
"#;
    assert_eq!(exported.text, expected);
    assert_eq!(report(&exported, "no-drop").unwrap().0, DifferenceKind::LeftOut);
}

#[test]
fn any_reason_can_be_written() {
    let reason = r#""Quote \" back\\slash\ttab é \u2028 \u0001 end""#;
    let policy = format!(
        "policy: a\nrules:\n  - {{ id: a, when: {{ runs: rm }}, verdict: deny, reason: {reason} }}\n"
    );
    for agent in Agent::ALL {
        assert_eq!(exported(agent, &policy).native_rules, 1, "{agent:?}");
    }
    let codex = exported(Agent::Codex, &policy);
    assert!(
        codex.text.contains(r#"justification = "Quote \" back\\slash tab é     end""#),
        "{}",
        codex.text
    );
}

#[test]
fn gemini() {
    let exported = exported(Agent::Gemini, POLICY);
    for part in [
        "toolName = \"run_shell_command\"\ncommandPrefix = \"git push\"\ndecision = \"deny\"\npriority = 950\ndenyMessage = \"Pushing is \\\"final\\\".\"\n",
        "toolName = \"run_shell_command\"\ncommandPrefix = \"helm\"\ndecision = \"ask_user\"\npriority = 900\n",
        "toolName = [\"read_file\"]\nargsPattern = \"\\\"file_path\\\":\\\"(|[^\\\"]*/)\\\\.env\\\"\"\n",
        "argsPattern = \"\\\"file_path\\\":\\\"\\\\/etc\\\\/shadow\\\"\"\n",
        "mcpName = \"db\"\ntoolName = \"drop_table\"\n",
        "toolName = \"google_web_search\"\n",
        "commandRegex = \".*--no-verify\"\n",
    ] {
        assert!(exported.text.contains(part), "{part}\n{}", exported.text);
    }
    assert!(report(&exported, "no-host").unwrap().0 == DifferenceKind::LeftOut);
}

#[test]
fn cursor() {
    let exported = exported(Agent::Cursor, POLICY);
    let settings: serde_json::Value = serde_json::from_str(&exported.text).unwrap();
    assert_eq!(settings["permissions"]["allow"], serde_json::json!([]));
    assert_eq!(
        settings["permissions"]["deny"],
        serde_json::json!([
            "Shell(git:push *)",
            "Read(**/.env)",
            "Read(~/.ssh/**)",
            "Read(secrets/**)",
            "Read(/etc/shadow)",
            "Write(vendor/**)",
            "WebFetch(evil.example)",
            "Mcp(db:drop_table)"
        ])
    );
    assert_eq!(report(&exported, "ask-deploy").unwrap().0, DifferenceKind::LeftOut);
    assert_eq!(report(&exported, "no-search").unwrap().0, DifferenceKind::LeftOut);
}

#[test]
fn opencode() {
    let exported = exported(Agent::Opencode, POLICY);
    let config: serde_json::Value = serde_json::from_str(&exported.text).unwrap();
    let permission = &config["permission"];
    assert_eq!(permission["bash"]["git push *"], "deny");
    assert_eq!(permission["bash"]["make deploy *"], "ask");
    assert_eq!(permission["bash"]["*--no-verify*"], "deny");
    assert_eq!(
        permission["read"],
        serde_json::json!({ "secrets/*": "deny", ".env": "deny", "*/.env": "deny" })
    );
    assert_eq!(permission["edit"]["vendor/*"], "deny");
    assert_eq!(permission["webfetch"]["*://evil.example/*"], "deny");
    assert_eq!(permission["db_drop_table"]["*"], "deny");
    assert_eq!(permission["websearch"]["*"], "deny");
    // Those that deny come last, because the last decides.
    let words = permission["bash"].as_object().unwrap().values();
    let words: Vec<_> = words.map(|word| word.as_str().unwrap()).collect();
    assert!(words.is_sorted(), "{words:?}");
}

#[test]
fn a_rule_that_another_one_overrides_is_left_out() {
    let policy = "
policy: mine
default: deny
rules:
  - { id: my-branch, tool: Bash, when: { runs: git push }, verdict: allow, priority: 10 }
  - { id: no-push, when: { runs: git push }, verdict: deny }
  - { id: first, when: { runs: rm }, verdict: deny, priority: 5 }
";
    let exported = exported(Agent::ClaudeCode, policy);
    assert!(!exported.text.contains("git push"), "{}", exported.text);
    assert!(exported.text.contains("Bash(rm:*)"));
    assert!(report(&exported, "no-push").unwrap().1.contains("`my-branch` decides first"));
    assert!(exported.changes.iter().any(|change| change.message.contains("default: deny")));
}

#[test]
fn policies_and_rules_for_other_callers_are_left_out() {
    let policy = "
policies:
  - { policy: a, for: { team: x }, rules: [{ id: r, tool: Bash, verdict: deny }] }
  - { policy: b, for: { agent: 'claude-*' }, rules: [{ id: r, tool: Bash, verdict: deny }] }
  - { policy: c, mode: shadow, rules: [{ id: r, tool: Write, verdict: deny }] }
  - policy: d
    rules:
      - { id: r, agent: other, tool: Edit, verdict: deny }
      - { id: s, surface: egress, when: { connects: x }, verdict: deny }
      - { id: t, verdict: deny }
      - { id: u, tool: exec_command, verdict: deny }
      - { id: v, tool: Bash, who: { user: x }, verdict: deny }
      - { id: w, tool: Read, verdict: review }
";
    let exported = exported(Agent::ClaudeCode, policy);
    let settings: serde_json::Value = serde_json::from_str(&exported.text).unwrap();
    assert_eq!(settings["permissions"]["deny"], serde_json::json!(["Bash"]));
    assert_eq!(exported.rules, 1);
    let written: Vec<_> = exported.changes.iter().map(|change| change.written.as_str()).collect();
    assert_eq!(written, ["a", "c", "d/s", "t", "u", "d/v", "d/w"]);
}

#[test]
fn every_built_in_policy_can_be_exported() {
    for name in callgate_policy::builtins() {
        let mut policies = WrittenPolicies::default();
        policies.add_file(callgate_policy::builtin(&name).unwrap()).unwrap();
        for agent in Agent::ALL {
            let exported = export(&policies, agent);
            assert!(exported.is_ok(), "{name} {agent:?}: {exported:#?}");
        }
    }
}
