use super::*;
use Verdict::{Allow, Deny};

const MAP: &str = r#"{ "employee_id": "emp-9", "org_id": "org-3", "version": 7, "tool_policies": {
  "Bash": { "action": "deny", "reason": "No shell." },
  "Write": { "action": "deny", "conditions": { "any": [ { "param_path": "file_path", "operator": "not_starts_with", "value": "./" } ] } },
  "Edit": { "action": "deny", "conditions": { "all": [ { "param_path": "file_path", "operator": "matches", "value": "(?=x)" } ] } },
  "Read": { "action": "allow" } } }"#;

#[test]
fn a_map() {
    let case = Case::new(Format::Arfa, MAP);
    assert_eq!(case.command("bash", "ls"), Deny);
    assert_eq!(case.verdict("Write", r#"{"file_path":"./a"}"#), Allow);
    assert_eq!(case.verdict("Write", r#"{"file_path":"/a"}"#), Deny);
    // The pattern cannot be read, so every call is denied.
    assert_eq!(case.verdict("Edit", "{}"), Deny);
    assert!(case.reports(DifferenceKind::Stricter, "Edit"));
    assert_eq!(case.line_of("Edit"), 4);
    assert!(case.reports(DifferenceKind::LeftOut, "employee_id"));
    assert_eq!(case.verdict("Other", "{}"), Allow);
}

#[test]
fn a_list_and_rows() {
    let list = r#"{ "version": 7, "policies": [ { "tool_name": "mcp__db__%", "action": "audit" }, { "tool_name": "mcp__db__drop", "action": "deny" }, { "tool_name": "x%", "action": "allow" } ] }"#;
    let case = Case::new(Format::Arfa, list);
    assert_eq!(case.verdict("mcp__db__get", "{}"), Allow);
    assert!(case.imported.text.contains("verdict: audit"));
    assert_eq!(case.verdict("mcp__DB__drop", "{}"), Deny);

    let rows = "org_id,team_id,employee_id,tool_name,conditions,action,reason,created_by,created_at\n\
        org-1,,,Bash,,deny,\"No, shell.\",admin,2026-01-01\n\
        org-1,team-a,,Write,\"{\"\"all\"\":[{\"\"param_path\"\":\"\"file_path\"\",\"\"operator\"\":\"\"in\"\",\"\"value\"\":[\"\"/a\"\",\"\"/b\"\"]}]}\",deny,,admin,\n";
    let json = r#"[{"org_id":"org-1","team_id":null,"tool_name":"Bash","conditions":null,"action":"deny","reason":"No, shell."},
      {"org_id":"org-1","team_id":"team-a","tool_name":"Write","conditions":"{\"all\":[{\"param_path\":\"file_path\",\"operator\":\"in\",\"value\":[\"/a\",\"/b\"]}]}","action":"deny"}]"#;
    for text in [rows, json] {
        let case = Case::new(Format::Arfa, text);
        assert!(
            case.imported.text.contains("who: { org: org-1, team: team-a }"),
            "{}",
            case.imported.text
        );
        assert!(case.imported.text.contains("reason: 'No, shell.'"));
        assert_eq!(case.verdict("Write", r#"{"file_path":"/b"}"#), Deny);
        assert_eq!(case.verdict("Write", r#"{"file_path":"/c"}"#), Allow);
        assert!(case.imported.changes.is_empty());
    }
}

#[test]
fn broken_policies_have_a_place() {
    assert_eq!(
        refused(
            Format::Arfa,
            "{\"policies\":[{\"action\":\"deny\"},\n{\"tool_name\":\"a\",\"action\":\"no\"}]}"
        ),
        [
            "1:14: this policy has no `tool_name`",
            "2:1: `action` must be `deny`, `audit` or `allow`",
        ]
    );
    assert_eq!(
        refused(Format::Arfa, "tool_name,action\nBash\n"),
        ["2:1: this row has 1 fields instead of 2"]
    );
}
