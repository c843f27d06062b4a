//! Calls inside calls.

use super::support::*;
use crate::Verdict;

fn wrapped(name: &str, parameters: &str) -> String {
    format!(r#"{{"tool_uses":[{{"recipient_name":"{name}","parameters":{parameters}}}]}}"#)
}

#[test]
fn every_inner_call_is_judged() {
    let policies = rules(&[
        "id: d, tool: bash, verdict: deny, reason: no, when: { arg: command, contains: rm }",
    ]);
    for outer in ["multi_tool_use.parallel", "parallel", "Multi_Tool_Use.Parallel"] {
        for inner in ["bash", "functions.bash", "Functions.Bash", "mcp__x__bash"] {
            let call = call(outer, &wrapped(inner, r#"{"command":"rm x"}"#));
            let judgement = policies.ask(&call);
            assert_eq!(judgement.verdict, Verdict::Deny, "{outer} {inner}");
            assert!(judgement.reason.starts_with("inside a wrapper, `"), "{}", judgement.reason);
            assert!(judgement.permit(&call).is_none());
        }
        assert_eq!(
            policies.verdict(outer, &wrapped("bash", r#"{"command":"ls"}"#)),
            Verdict::Allow
        );
        assert_eq!(policies.by_name(outer), "open");
    }
    let server = rules(&["id: d, tool: github.create_issue, verdict: deny"]);
    for inner in ["github.create_issue", "Functions.github.create_issue"] {
        assert_eq!(server.verdict("parallel", &wrapped(inner, "{}")), Verdict::Deny, "{inner}");
    }
    let text = wrapped("bash", r#""{\"command\":\"rm\"}""#);
    assert_eq!(policies.verdict("parallel", &text), Verdict::Deny, "parameters as text");
    let nested = wrapped("multi_tool_use.parallel", &wrapped("bash", r#"{"command":"rm"}"#));
    assert_eq!(policies.verdict("parallel", &nested), Verdict::Deny);
    assert_eq!(policies.verdict("other", &wrapped("bash", r#"{"command":"rm"}"#)), Verdict::Allow);
}

#[test]
fn a_wrapper_that_cannot_be_read_is_refused_if_anything_could_be() {
    let some = rules(&["id: d, tool: zzz, verdict: deny"]);
    let none = rules(&["id: a, tool: zzz, verdict: allow"]);
    for input in [
        "[",
        "[1]",
        r#"{"tool_uses":"x"}"#,
        r#"{"tool_uses":[1]}"#,
        r#"{"tool_uses":[{"recipient_name":""}]}"#,
        r#"{"tool_uses":[{"recipient_name":"a","recipient_name":"b"}]}"#,
        r#"{"Tool_Uses":[{"recipient_name":"a"}]}"#,
        r#"{"tool_uses":[{"recipient_name":"a","Recipient_Name":"b"}]}"#,
        r#"{"tool_uses":[{"recipient_name":"a","PARAMETERS":{}}]}"#,
    ] {
        let judgement = some.ask(&call("parallel", input));
        assert_eq!(judgement.verdict, Verdict::Deny, "{input}");
        assert_eq!(judgement.rule.as_deref(), Some("d"));
        assert_eq!(none.verdict("parallel", input), Verdict::Allow, "{input}");
    }
    assert_eq!(some.verdict("parallel", r#"{"jobs":2}"#), Verdict::Allow, "wraps nothing");
    assert_eq!(none.by_name("parallel"), "allow");
    let named = rules(&["id: d, tool: parallel, verdict: deny"]);
    assert_eq!(named.by_name("multi_tool_use.parallel"), "deny");
}
