//! No text makes an importer panic, and whatever it accepts loads.

use proptest::prelude::*;

use super::*;
use crate::{Agent, WrittenPolicies, export};

/// Pieces of every format, to be put together at random.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "\n",
    " ",
    "=",
    "(",
    ")",
    "'",
    "#",
    "//",
    "/*",
    "*/",
    "- ",
    "  ",
    "\"permissions\"",
    "\"deny\"",
    "\"allow\"",
    "\"Bash(git * x:*)\"",
    "\"Read(//a/{b}[c]/**)\"",
    "\"mcp__a__*\"",
    "prefix_rule(",
    "pattern = [",
    "\"git\"",
    "decision = \"prompt\"",
    "[[rule]]",
    "toolName = \"x\"",
    "argsPattern = '\"a\":\"(b'",
    "priority = 1",
    "commandPrefix = \"rm\"",
    "\"permission\"",
    "\"bash\"",
    "\"*\"",
    "\"ask\"",
    "rules:",
    "id: a",
    "action: DENY",
    "conditions:",
    "tool_name: \"b*\"",
    "sandbox:",
    "mcp:",
    "é",
    "\u{2028}",
    "\u{0}",
    "tool_name,action",
    "x,deny",
    "\"tool_policies\"",
    "\"action\"",
    "\\",
    "\\u0041",
    "\t",
];

fn texts() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(PIECES), 0..60);
    prop_oneof![pieces.prop_map(|pieces| pieces.concat()), ".{0,200}"]
}

/// One entry in each list, of any text.
fn entries() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,40}",
        "[A-Za-z@*]{1,8}\\([ -~]{0,20}\\)",
        "(Bash|Shell|Read|Write|Edit|WebFetch|Mcp|Agent|mcp__a)\\([a-z*?:/~.{}\\[\\]! -]{0,16}\\)",
    ]
}

fn check(text: &str, from: Option<Format>) {
    match import(&source(text), from) {
        Ok(imported) if imported.target == crate::ImportTarget::Policy => {
            let policies = compiled(&imported.text);
            judge(&policies, "Bash", r#"{"command":"git push && rm -rf /"}"#);
            assert!(imported.changes.iter().all(|change| change.span.end <= text.len()));
        }
        Ok(_) => {}
        Err(problems) => assert!(!problems.is_empty()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_text_panics(text in texts()) {
        check(&text, None);
        for format in Format::ALL {
            check(&text, Some(format));
        }
    }

    #[test]
    fn any_entry_of_a_list_is_taken_or_reported(deny in entries(), allow in entries(), ask in entries()) {
        let text = serde_json::json!({ "permissions": { "deny": [deny], "allow": [allow], "ask": [ask] } });
        check(&text.to_string(), Some(Format::ClaudeCode));
        check(&text.to_string(), Some(Format::Cursor));
        let text = serde_json::json!({ "permission": { "bash": { deny.clone(): "deny", allow: "allow" }, "edit": { ask: "ask" }, deny: "ask" } });
        check(&text.to_string(), Some(Format::Opencode));
    }

    #[test]
    fn any_word_of_a_rule_is_taken_or_reported(word in ".{1,30}", glob in "[ -~]{1,20}", regex in "[ -~]{0,20}") {
        let quoted = serde_json::Value::from(word.as_str());
        check(&format!("prefix_rule(pattern = [{quoted}, [\"a\", {quoted}]], decision = \"forbidden\")"), Some(Format::CodexRules));
        let (glob, regex) = (serde_json::Value::from(glob), serde_json::Value::from(regex));
        check(&format!("rules: [{{ id: a, priority: 1, action: DENY, conditions: {{ tool_name: {glob}, parameters: {{ a: {glob} }} }} }}]"), Some(Format::Superego));
        check(&format!("[[rule]]\ntoolName = {glob}\ncommandRegex = {regex}\ndecision = \"deny\"\npriority = 1\n"), Some(Format::Gemini));
    }

    #[test]
    fn any_policy_can_be_exported(words in "[ -~]{1,20}", glob in "[ -~]{1,20}", host in "[ -~]{1,12}", reason in ".{1,20}") {
        let reason = callgate_json::quote(&reason.replace(['\u{85}', '\u{feff}', '\u{fffe}', '\u{ffff}'], "x"));
        let (words, glob, host) = (serde_json::Value::from(words), serde_json::Value::from(glob), serde_json::Value::from(host));
        let policy = format!(
            "policy: a\nrules:\n  - {{ id: a, when: {{ runs: {words} }}, verdict: deny, reason: {reason} }}\n  \
             - {{ id: b, when: {{ any: [{{ reads: {glob} }}, {{ writes: {glob} }}] }}, verdict: ask }}\n  \
             - {{ id: c, when: {{ connects: {host} }}, verdict: deny }}\n  \
             - {{ id: d, tool: '@shell', when: {{ arg: command, contains: {words} }}, verdict: deny }}\n  \
             - {{ id: e, server: {host}, tool: {host}, verdict: deny }}\n"
        );
        let mut policies = WrittenPolicies::default();
        if policies.add_file(source(&policy)).is_ok() && Policies::compile(&[source(&policy)], &Catalogue::builtin()).is_ok() {
            for agent in Agent::ALL {
                let exported = export(&policies, agent);
                prop_assert!(exported.is_ok(), "{policy}\n{exported:#?}");
            }
        }
    }
}
