use super::*;
use Verdict::{Allow, Ask, Deny};

#[test]
fn the_last_pattern_decides() {
    let text = r#"{ "$schema": "https://opencode.ai/config.json", "permission": {
      "*": "ask",
      "bash": { "*": "ask", "git *": "allow", "git push *": "ask", "rm *": "deny", "git push --force*": "deny" },
      "edit": { "*": "deny", "docs/*.md": "allow" },
      "webfetch": { "*": "deny", "https://docs.rs/*": "allow" },
      "github_*": "deny", "task": { "*": "allow", "evil": "deny" } },
      "agent": { "build": { "permission": { "bash": "allow" } } } }"#;
    let case = Case::new(Format::Opencode, text);
    for (command, verdict) in [
        ("git status", Allow),
        ("git push", Ask),
        ("git push --force", Deny),
        ("git push && rm x", Deny),
        ("git status && rm x", Deny),
        ("make", Ask),
    ] {
        assert_eq!(case.command("bash", command), verdict, "{command}");
    }
    for (tool, input, verdict) in [
        ("edit", r#"{"filePath":"docs/a.md"}"#, Allow),
        ("edit", r#"{"filePath":"src/a.rs"}"#, Deny),
        ("webfetch", r#"{"url":"https://docs.rs/x"}"#, Allow),
        ("webfetch", r#"{"url":"https://example.com/x"}"#, Deny),
        ("github_delete_repo", "{}", Deny),
        ("mcp__github__delete_repo", "{}", Deny),
        ("task", r#"{"subagent_type":"evil"}"#, Deny),
        ("task", r#"{"subagent_type":"good"}"#, Allow),
        ("read", r#"{"filePath":"a"}"#, Ask),
    ] {
        assert_eq!(case.verdict(tool, input), verdict, "{tool} {input}");
    }
    assert!(case.reports(DifferenceKind::LeftOut, "build.permission"));
    assert_eq!(case.line_of("build.permission"), 7);
}

#[test]
fn an_exception_that_asks_does_not_lift_a_denial_in_the_same_line() {
    let text = r#"{"permission":{"bash":{"*":"deny","git *":"ask"}}}"#;
    let case = Case::new(Format::Opencode, text);
    assert_eq!(case.command("bash", "git push"), Ask);
    assert_eq!(case.command("bash", "git push && rm x"), Deny);
    assert_eq!(case.command("bash", "ls"), Deny);
}

#[test]
fn files_outside_of_the_workspace_are_a_question_of_their_own() {
    let text = r#"{"permission":{"bash":{"*":"allow","rm *":"deny"},"edit":{"*":"ask","docs/**":"allow"},
      "external_directory":{"*":"ask","/srv/**":"deny","/tmp/**":"allow"}}}"#;
    let case = Case::new(Format::Opencode, text);
    assert_eq!(case.command("bash", "cat /etc/passwd"), Ask);
    assert_eq!(case.command("bash", "rm /etc/passwd"), Deny);
    assert_eq!(case.command("bash", "cat /srv/x"), Deny);
    assert_eq!(case.command("bash", "cat x"), Allow);
    assert!(case.reports(DifferenceKind::LeftOut, "external_directory: /tmp/**"));
    let patch = |file: &str| {
        let text = format!(
            "*** Begin Patch\n*** Update File: docs/a\n@@\n-a\n+b\n*** Delete File: {file}\n*** End Patch"
        );
        serde_json::json!({ "patchText": text }).to_string()
    };
    assert_eq!(case.verdict("patch", &patch("src/b")), Ask);
    assert_eq!(case.verdict("patch", &patch("docs/b")), Allow);

    // The rule for every permission holds for them, too.
    let case =
        Case::new(Format::Opencode, r#"{"permission":{"*":"ask","bash":{"cat *":"allow"}}}"#);
    assert_eq!(case.command("bash", "cat x"), Allow);
    assert_eq!(case.command("bash", "cat /etc/passwd"), Ask);
}

#[test]
fn what_opencode_asks_about_by_itself() {
    let case = Case::new(Format::Opencode, r#"{"permission":{"bash":"allow"}}"#);
    assert_eq!(case.verdict("read", r#"{"filePath":"a"}"#), Allow);
    assert_eq!(case.verdict("read", r#"{"filePath":"/etc/passwd"}"#), Ask);
    assert_eq!(case.verdict("read", r#"{"filePath":"x/.env"}"#), Ask);
    assert_eq!(case.verdict("read", r#"{"filePath":"x/.env.example"}"#), Allow);
    let all = Case::new(Format::Opencode, r#"{"permission":"allow"}"#);
    assert_eq!(all.verdict("read", r#"{"filePath":"/etc/passwd"}"#), Allow);
    let old = Case::new(
        Format::Opencode,
        r#"{"permission":"allow","tools":{"write":false,"bash":true}}"#,
    );
    // The later key decides.
    assert_eq!(old.verdict("write", r#"{"filePath":"a","content":""}"#), Allow);
    let old = Case::new(Format::Opencode, r#"{"permission":{},"tools":{"write":false}}"#);
    assert_eq!(old.verdict("write", r#"{"filePath":"a","content":""}"#), Deny);
}

#[test]
fn broken_permissions_have_a_place() {
    let text = "{\"permission\":{\"bash\":\n{\"x\":\"maybe\"},\"edit\":1},\"tools\":{\"x\":3}}";
    assert_eq!(
        refused(Format::Opencode, text),
        [
            "2:6: a permission must be `allow`, `ask` or `deny`",
            "2:22: a permission must be `allow`, `ask` or `deny`",
            "2:38: a tool is either `true` or `false`",
        ]
    );
}
