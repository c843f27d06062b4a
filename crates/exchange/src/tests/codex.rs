use super::*;
use Verdict::{Allow, Ask, Deny};

const RULES: &str = r#"
# Shared work.
prefix_rule(
    pattern = ["git", ["push", "fetch"]],
    decision = "prompt",
    justification = "Ask first.",
    match = [["git", "push", "origin"], "git fetch"],
    not_match = ["git status"],
)
prefix_rule(pattern = ["npm", "test"], match = ["npm test -- x"], not_match = ["npm run", "ls"])
prefix_rule(pattern = ["ls"])
prefix_rule(pattern = ["rm", "-rf"], decision = "forbidden")
prefix_rule(pattern = ["/usr/bin/dd"], decision = "forbidden")
network_rule(host = "evil.example", protocol = "https", decision = "deny")
network_rule(host = "good.example", protocol = "https", decision = "allow")
host_executable(name = "git", paths = ["/usr/bin/git"])
"#;

#[test]
fn the_strictest_rule_decides() {
    let case = Case::new(Format::CodexRules, RULES);
    for (command, verdict) in [
        ("git push", Ask),
        ("git fetch --all", Ask),
        ("git status", Allow),
        ("npm test", Allow),
        ("npm test && git push", Ask),
        ("ls; rm -rf x", Deny),
        ("dd if=a of=b", Deny),
        ("/usr/bin/dd if=a", Deny),
        ("curl https://evil.example", Deny),
    ] {
        assert_eq!(case.command("exec_command", command), verdict, "{command}");
        assert_eq!(case.command("shell", &format!("bash -c '{command}'")), verdict, "{command}");
    }
    let list = r#"{"command":["bash","-lc","git push"]}"#;
    assert_eq!(case.verdict("shell", list), Ask);
}

#[test]
fn examples_become_examples() {
    let case = Case::new(Format::CodexRules, RULES);
    assert!(case.imported.text.contains("command: git push origin"), "{}", case.imported.text);
    // `ls` is no example against `npm test` any more: both are in one rule.
    assert!(case.reports(DifferenceKind::LeftOut, "npm test"));
    assert_eq!(case.line_of("npm test"), 10);
    assert!(case.reports(DifferenceKind::LeftOut, "network good.example"));
    assert!(case.reports(DifferenceKind::LeftOut, "host_executable"));
    assert!(case.reports(DifferenceKind::Stricter, "network evil.example"));
}

#[test]
fn examples_that_the_wider_rule_breaks_are_dropped() {
    let text = r#"prefix_rule(pattern = ["git", "push"], decision = "forbidden", not_match = ["git -C x push"])"#;
    let case = Case::new(Format::CodexRules, text);
    assert!(case.reports(DifferenceKind::LeftOut, "examples"));
    assert_eq!(case.command("shell", "git -C x push"), Deny);
}

#[test]
fn words_that_a_shell_would_act_on_are_compared_as_text() {
    let text = r#"prefix_rule(pattern = ["echo", "a;b"], decision = "forbidden")
prefix_rule(pattern = ["x", ["$HOME", "y"]], decision = "prompt")"#;
    let case = Case::new(Format::CodexRules, text);
    assert_eq!(case.command("shell", "echo a;b"), Deny);
    assert_eq!(case.command("shell", "x $HOME/a"), Allow);
    assert_eq!(case.command("shell", "x $HOME"), Ask);
    assert_eq!(case.command("shell", "x y"), Ask);
}

#[test]
fn broken_rules_have_a_place() {
    for (text, problem) in [
        ("prefix_rule(decision = \"allow\")", "1:1: this rule has no `pattern`"),
        ("prefix_rule(pattern = [])", "1:23: `pattern` is empty"),
        ("prefix_rule(pattern = \"git\")", "1:23: `pattern` must be a list of words"),
        (
            "\nprefix_rule(pattern = [\"a\", []])",
            "2:29: an element of `pattern` must be a word or a list of words",
        ),
        (
            "prefix_rule(pattern = [\"a\"], decision = \"no\")",
            "1:41: `decision` must be `allow`, `prompt` or `forbidden`",
        ),
        (
            "prefix_rule(pattern = [\"a\"], mach = [])",
            "1:37: unknown argument `mach` of `prefix_rule`",
        ),
        ("other_rule()", "1:1: unknown function `other_rule`"),
        ("x = [1]", "1:3: expected `(`"),
        ("# nothing", "1:1: there are no rules in this file"),
    ] {
        assert_eq!(refused(Format::CodexRules, text), [problem], "{text}");
    }
}

#[test]
fn requirements() {
    let text = r#"
allowed_sandbox_modes = ["read-only"]
allowed_web_search_modes = ["disabled"]

[rules]
prefix_rules = [
  { pattern = [{ token = "git" }, { any_of = ["push", "fetch"] }], decision = "prompt", justification = "x" },
]

[experimental_network]
managed_allowed_domains_only = true
allowed_domains = ["api.example.com"]

[mcp_servers.docs]
identity = { command = "docs" }
"#;
    let case = Case::new(Format::CodexRequirements, text);
    assert_eq!(case.command("shell", "git push"), Ask);
    assert_eq!(case.command("shell", "curl https://api.example.com/x"), Allow);
    assert_eq!(case.command("shell", "curl https://example.com/x"), Deny);
    assert_eq!(case.verdict("web_search", "{}"), Deny);
    assert_eq!(case.verdict("mcp__docs__get", "{}"), Allow);
    assert_eq!(case.verdict("mcp__other__get", "{}"), Deny);
    assert!(case.reports(DifferenceKind::LeftOut, "allowed_sandbox_modes"));
    assert_eq!(case.line_of("allowed_sandbox_modes"), 2);
    assert!(case.reports(DifferenceKind::LeftOut, "docs"));

    let allow =
        "[rules]\nprefix_rules = [{ pattern = [{ token = \"a\" }], decision = \"allow\" }]\n";
    assert_eq!(
        refused(Format::CodexRequirements, allow),
        ["2:17: `allow` is not permitted in requirements"]
    );
    let broken = refused(Format::CodexRequirements, "a = \n");
    assert!(broken[0].starts_with("1:5: cannot read this TOML: "), "{broken:?}");
}
