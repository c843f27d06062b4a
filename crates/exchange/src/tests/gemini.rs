use super::*;
use Verdict::{Allow, Ask, Deny};

#[test]
fn the_highest_priority_decides() {
    let text = r#"
[[rule]]
toolName = "run_shell_command"
commandPrefix = "git"
decision = "deny"
priority = 10

[[rule]]
toolName = "run_shell_command"
commandPrefix = ["git status", "git log"]
decision = "allow"
priority = 100

[[rule]]
toolName = "run_shell_command"
commandPrefix = "git push"
decision = "ask_user"
priority = 50
"#;
    let case = Case::new(Format::Gemini, text);
    for (command, verdict) in [
        ("git status", Allow),
        ("git status && git log -1", Allow),
        ("git push origin", Ask),
        // One command of the line is denied there, so the line is.
        ("git push && git commit", Deny),
        ("git commit", Deny),
        ("ls", Ask),
    ] {
        assert_eq!(case.command("run_shell_command", command), verdict, "{command}");
    }
}

#[test]
fn a_rule_that_asks_holds_also_where_a_later_one_allows() {
    let text = r#"
rule = [
  { toolName = "run_shell_command", commandPrefix = "git push", decision = "ask_user", priority = 30 },
  { toolName = "run_shell_command", commandPrefix = "rm", decision = "deny", priority = 20 },
  { toolName = "run_shell_command", decision = "allow", priority = 10 },
]
"#;
    let case = Case::new(Format::Gemini, text);
    for (command, verdict) in [
        ("git push", Ask),
        ("ls && git push", Ask),
        ("git push && rm x", Deny),
        ("ls", Allow),
        ("ls > out", Ask),
    ] {
        assert_eq!(case.command("run_shell_command", command), verdict, "{command}");
    }
}

#[test]
fn a_pattern_for_a_line_that_asks_denies_before_a_denial() {
    let text = r#"
rule = [
  { toolName = "run_shell_command", commandRegex = "git p.*", decision = "ask_user", priority = 30 },
  { toolName = "run_shell_command", commandPrefix = "rm", decision = "deny", priority = 20 },
]
"#;
    let case = Case::new(Format::Gemini, text);
    assert_eq!(case.command("run_shell_command", "git push && rm x"), Deny);
    assert!(case.reports(DifferenceKind::Stricter, "run_shell_command git p.*"));
}

#[test]
fn arguments_servers_and_messages() {
    let text = r#"
[[rule]]
toolName = ["write_file", "replace"]
argsPattern = '"file_path":"/etc/'
decision = "deny"
denyMessage = "Not there."
priority = 10
[[rule]]
mcpName = "db"
toolName = "query"
decision = "deny"
priority = 10
[[rule]]
toolName = "mcp_crm_drop_*"
decision = "deny"
priority = 10
[[rule]]
mcpName = "docs"
decision = "allow"
priority = 10
[[rule]]
toolName = "run_shell_command"
commandRegex = "rm .*-rf"
decision = "deny"
priority = 10
"#;
    let case = Case::new(Format::Gemini, text);
    let write = |path: &str| format!(r#"{{"file_path":"{path}","content":""}}"#);
    assert_eq!(case.verdict("write_file", &write("/etc/hosts")), Deny);
    assert_eq!(case.verdict("write_file", &write("/tmp/x")), Ask);
    assert_eq!(case.verdict("mcp_db_query", "{}"), Deny);
    assert_eq!(case.verdict("mcp__crm__drop_table", "{}"), Deny);
    assert_eq!(case.verdict("mcp__docs__get", "{}"), Allow);
    assert_eq!(case.verdict("mcp__other__get", "{}"), Ask);
    assert_eq!(case.command("run_shell_command", "ls; rm a -rf b"), Deny);
    assert_eq!(case.verdict("read_file", r#"{"file_path":"a"}"#), Allow);
    assert!(case.imported.text.contains("reason: Not there."));
}

#[test]
fn conditions_that_are_not_known_make_a_rule_wider() {
    let text = r#"
rule = [
  { toolName = "web_fetch", argsPattern = "(?=x)y", decision = "ask_user", priority = 40 },
  { toolName = "glob", subagent = "x", decision = "deny", priority = 30 },
  { toolName = "write_file", modes = ["yolo"], decision = "allow", priority = 20 },
  { toolName = "replace", interactive = false, decision = "ask_user", priority = 10 },
  { toolName = "replace", modes = ["default", "autoEdit", "plan", "yolo"], decision = "allow", priority = 5 },
]
"#;
    let case = Case::new(Format::Gemini, text);
    // A rule that denies comes after it.
    assert_eq!(case.verdict("web_fetch", r#"{"prompt":"x"}"#), Deny);
    assert_eq!(case.verdict("glob", "{}"), Deny);
    assert_eq!(case.verdict("write_file", r#"{"file_path":"a","content":""}"#), Ask);
    assert_eq!(case.verdict("replace", r#"{"file_path":"a"}"#), Ask);
    assert!(case.reports(DifferenceKind::LeftOut, "write_file"));
    assert_eq!(case.line_of("write_file"), 5);
    assert!(case.reports(DifferenceKind::Stricter, "web_fetch (?=x)y"));
}

#[test]
fn broken_rules_have_a_place() {
    let text = "[[rule]]\ntoolName = \"a\"\ndecision = \"maybe\"\npriority = 1\n\n[[rule]]\n\
                decision = \"deny\"\npriority = 2000\nargPattern = \"x\"\n";
    assert_eq!(
        refused(Format::Gemini, text),
        [
            "1:1: `decision` must be `allow`, `deny` or `ask_user`",
            "6:1: a rule needs a `priority` from 0 to 999",
            "6:1: a rule needs a `toolName` or an `mcpName`",
            "9:1: unknown key `argPattern` of a rule",
        ]
    );
}
