use super::*;

#[test]
fn a_format_is_known_by_its_content() {
    for (text, format) in [
        ("{\"permissions\":{\"deny\":[\"Bash\"]}}", Format::ClaudeCode),
        ("// x\n{\"permissions\":{}}", Format::ClaudeCode),
        ("# x\nprefix_rule (pattern = [\"a\"])", Format::CodexRules),
        ("[rules]\nprefix_rules = []\n", Format::CodexRequirements),
        ("allowed_sandbox_modes = []", Format::CodexRequirements),
        ("[[rule]]\ntoolName = \"a\"", Format::Gemini),
        ("{\"permissions\":{\"allow\":[\"Shell(ls)\"]}}", Format::Cursor),
        ("{\"mcpAllowlist\":[]}", Format::Cursor),
        ("{\"permission\":\"ask\"}", Format::Opencode),
        ("{\"$schema\":\"https://opencode.ai/config.json\"}", Format::Opencode),
        ("sandbox:\n  mcp: {}\n", Format::Agentsh),
        ("rules:\n  - { id: a, action: DENY }\n", Format::Superego),
        ("{\"tool_policies\":{}}", Format::Arfa),
        ("{\"policies\":[]}", Format::Arfa),
        ("[{\"tool_name\":\"a\"}]", Format::Arfa),
        ("org_id,\"tool_name\",action\n", Format::Arfa),
    ] {
        assert_eq!(Format::sniff(&source(text)), Some(format), "{text}");
    }
    for text in ["", "hello", "{}", "a: 1", "[]", "[x]\ny = 1\n"] {
        assert_eq!(Format::sniff(&source(text)), None, "{text}");
    }
}

#[test]
fn an_unknown_format_is_a_problem_with_a_hint() {
    let problems = import(&source("hello"), None).unwrap_err();
    assert_eq!(problems[0].message, "the format of this file is not known");
    assert!(problems[0].hint.as_deref().unwrap().contains("codex-requirements"));
}
