use super::*;
use Verdict::{Allow, Ask, Deny};

#[test]
fn deny_wins_and_the_rest_is_asked_about() {
    let text = r#"{ "version": 1, "editor": { "vimMode": false }, "permissions": {
      "allow": ["Shell(ls)", "Shell(git:status)", "Read(src/**/*.ts)", "Mcp(datadog:*)", "WebFetch(docs.rs)", "Write(src/**)"],
      "deny": ["Shell(rm)", "Shell(curl:*)", "Write(**/*.key)", "WebFetch(*.evil.example)", "Read(.env*)", "Mcp(*:drop)"] } }"#;
    let case = Case::new(Format::Cursor, text);
    for (command, verdict) in [
        ("ls -la", Allow),
        ("git status", Allow),
        ("git push", Ask),
        ("rm x", Deny),
        ("ls && rm x", Deny),
        ("curl x", Deny),
    ] {
        assert_eq!(case.command("run_terminal_cmd", command), verdict, "{command}");
    }
    for (tool, input, verdict) in [
        ("read_file", r#"{"target_file":"src/a/b.ts"}"#, Allow),
        ("read_file", r#"{"target_file":".env.local"}"#, Deny),
        ("read_file", r#"{"target_file":".env.d/local"}"#, Deny),
        ("edit_files", r#"{"target_file":"a/b.key"}"#, Deny),
        ("Write", r#"{"file_path":"b.key","content":""}"#, Deny),
        ("Write", r#"{"file_path":"src/b","content":""}"#, Allow),
        ("mcp__datadog__query", "{}", Allow),
        ("mcp__datadog__drop", "{}", Deny),
        ("mcp__other__query", "{}", Ask),
        ("web_fetch", r#"{"url":"https://x.evil.example"}"#, Deny),
    ] {
        assert_eq!(case.verdict(tool, input), verdict, "{tool} {input}");
    }
}

#[test]
fn lists_that_only_allow() {
    let text = r#"{ "terminalAllowlist": ["git", "npm run build"], "mcpAllowlist": ["docs:search"], "autoRun": {} }"#;
    let case = Case::new(Format::Cursor, text);
    assert_eq!(case.command("Shell", "git push"), Allow);
    assert_eq!(case.command("Shell", "npm run lint"), Ask);
    assert_eq!(case.verdict("mcp__docs__search", "{}"), Allow);
    assert_eq!(case.verdict("mcp__docs__write", "{}"), Ask);
    assert!(case.reports(DifferenceKind::LeftOut, "autoRun"));
}

#[test]
fn a_denied_permission_that_is_not_known_is_a_problem() {
    let text = "{\"permissions\":{\"allow\":[\"New(x)\"],\n\"deny\":[\"New(x)\", 1]}}";
    assert_eq!(
        refused(Format::Cursor, text),
        [
            "2:9: `New(x)` is not a permission that is known",
            "2:19: a permission must be text, like `Shell(git)`",
        ]
    );
}
