//! The mistakes that are most often made in policies and configs get a hint.

use crate::support::Test;

/// Each with what the hint says.
#[test]
fn common_slips_in_a_policy_get_a_hint() {
    let rule = |rest: &str| format!("policy: mine\nrules:\n  - id: a\n{rest}    reason: No.\n");
    let table = [
        (rule("    tool: @shell\n    verdict: deny\n"), r#"needs quotes: "@shell""#),
        (rule("    tool: *\n    verdict: deny\n"), r#"needs quotes: "*""#),
        (
            rule(
                "    tool: Bash\n    when: { arg: $, matches: \"git\\s+push\" }\n    verdict: deny\n",
            ),
            r"write patterns in single quotes: 'git\s+push'",
        ),
        (
            rule("    tool: x\n    hint: Stop: never do this.\n    verdict: deny\n"),
            r#"a value with a colon in it needs quotes: hint: "Stop: never do this.""#,
        ),
        (rule("    tool: x\n    verdict: block\n"), "did you mean `deny`?"),
        (rule("    tool: x\n    action: deny\n"), "did you mean `verdict`?"),
        (rule("    tool: x\n\tverdict: deny\n"), "indent with spaces; YAML does not allow tabs"),
        (
            rule("    tool: x\n    when: [{ arg: $, contains: rm }]\n    verdict: deny\n"),
            "put the list under `all` or `any`",
        ),
    ];
    for (policy, hint) in table {
        let ran = Test::new(&["policy", "check", "p.yaml"]).file("p.yaml", &policy).run();
        assert_eq!(ran.code, 2, "{policy}");
        let found = ran.stderr.lines().any(|line| line.contains("hint: ") && line.ends_with(hint));
        assert!(found, "{hint}\n{policy}{}", ran.stderr);
    }
}

#[test]
fn a_broken_group_is_not_blamed_on_look_around() {
    let policy = "policy: p\nrules:\n  - { id: a, tool: x, when: { arg: $, matches: '(a' }, verdict: deny, reason: No. }\n";
    let ran = Test::new(&["policy", "check", "p.yaml"]).file("p.yaml", policy).run();
    assert!(ran.stderr.contains("unclosed group"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("look-around"), "{}", ran.stderr);
}

#[test]
fn common_slips_in_a_config_get_a_hint() {
    let table = [
        ("policies: [starter]\n", "did you mean `builtin:starter`?"),
        ("providers: { anthropic: { api_key: X } }\n", "did you mean `api_key_env`?"),
    ];
    for (config, hint) in table {
        let ran =
            Test::new(&["config", "check", "--config", "c.yaml"]).file("c.yaml", config).run();
        assert_eq!(ran.code, 2, "{config}");
        assert!(ran.stderr.contains(&format!("hint: {hint}")), "{config}{}", ran.stderr);
    }
}
