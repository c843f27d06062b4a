use super::*;
use Verdict::{Allow, Deny, Review};

#[test]
fn the_first_match_decides() {
    let text = r#"
rules:
  - { id: edits, priority: 10, conditions: { tool_name: [edit, write] }, action: SAMPLE, sampling_guidance: "Is it safe?" }
  - id: no-disks
    priority: 1
    conditions: { tool_name: ["dd", "mk*"], parameters: { path: "/dev/**", force: true }, agent_id: "*" }
    action: DENY
    reason: Disks are not edited here.
  - { id: docs, priority: 5, conditions: { tool_name: write, parameters: { file_path: "docs/*" } }, action: ALLOW }
  - { id: rest, priority: 20, conditions: { tool_name: "*" }, action: DENY }
  - { id: never, priority: 30, conditions: { tool_name: ls }, action: ALLOW }
"#;
    let case = Case::new(Format::Superego, text);
    for (tool, input, verdict) in [
        ("dd", r#"{"path":"/dev/sda","force":true}"#, Deny),
        ("edit", "{}", Review),
        ("write", r#"{"file_path":"docs/a/b"}"#, Allow),
        ("write", r#"{"file_path":"src/a"}"#, Review),
        ("ls", "{}", Deny),
    ] {
        assert_eq!(case.verdict(tool, input), verdict, "{tool} {input}");
    }
    assert!(case.imported.text.contains("guidance: 'Is it safe?'"), "{}", case.imported.text);
    assert!(case.reports(DifferenceKind::Stricter, "edits"));
    assert_eq!(case.line_of("edits"), 3);
}

#[test]
fn what_is_not_known_is_never_weaker() {
    let text = r#"
rules:
  - { id: a, priority: 1, conditions: { tool_name: a, cwd: "/x" }, action: SAMPLE }
  - { id: b, priority: 2, conditions: { tool_name: "b[xy]" }, action: DENY }
  - { id: c, priority: 3, conditions: { tool_name: c, time: noon }, action: ALLOW }
  - { id: d, priority: 4, conditions: { tool_name: [c, d] }, action: DENY, enabled: true }
  - { id: e, priority: 5, conditions: { tool_name: e }, action: DENY, enabled: false }
"#;
    let case = Case::new(Format::Superego, text);
    assert_eq!(case.verdict("a", "{}"), Deny);
    assert_eq!(case.verdict("bx", "{}"), Deny);
    assert_eq!(case.verdict("c", "{}"), Deny);
    assert!(case.reports(DifferenceKind::LeftOut, "c"));
    assert!(case.reports(DifferenceKind::LeftOut, "e"));
    // Nothing is known about other tools.
    let nothing = Case::new(
        Format::Superego,
        "rules: [{ id: x, priority: 1, conditions: { tool_name: x }, action: DENY }]",
    );
    assert_eq!(nothing.verdict("y", "{}"), Allow);
    assert_eq!(nothing.verdict("x", "{}"), Deny);
}

#[test]
fn broken_rules_have_a_place() {
    assert_eq!(
        refused(Format::Superego, "rules:\n  - id: a\n    action: NO\n"),
        [
            "2:5: a rule needs a whole number as `priority`",
            "2:5: `action` must be `ALLOW`, `DENY` or `SAMPLE`",
        ]
    );
}
