//! Rules that sanitize arguments.

use callgate_call::{Arguments, Surface};

use super::support::*;
use crate::{NameJudgement, Verdict};

const MAIL: &str = "id: no-mail, tool: 'send*', verdict: sanitize, reason: Private., \
                    sanitize: { detectors: [email] }";

fn rewritten(policies: &crate::Policies, input: &str) -> Option<String> {
    let call = call("send_mail", input);
    let judgement = policies.ask(&call);
    assert!(judgement.verdict.passes(), "{judgement:?}");
    let rewritten = judgement.rewritten().map(str::to_owned);
    let permit = judgement.permit(&call).unwrap();
    assert!(permit.covers(&call));
    assert_eq!(permit.rewritten(), rewritten.as_deref());
    rewritten
}

#[test]
fn a_sanitizer_rewrites_and_does_not_decide() {
    let policies = rules(&[MAIL]);
    let judgement = policies.ask(&call("send_mail", r#"{"to": "ann@acme.org", "n":1.0}"#));
    assert_eq!(judgement.verdict, Verdict::Allow);
    assert!(judgement.uncovered);
    assert_eq!(judgement.sanitizers.len(), 1);
    assert_eq!(judgement.sanitizers[0].rule.as_deref(), Some("no-mail"));
    assert_eq!(judgement.rewritten(), Some(r#"{"to": "[REDACTED:email]", "n":1.0}"#));
    // Nothing found: the call passes unchanged.
    assert_eq!(rewritten(&policies, r#"{"to":"ann"}"#), None);
    assert_eq!(rewritten(&policies, ""), None);
    // It does not apply to another tool.
    let other = policies.ask(&call("read", r#"{"to":"ann@acme.org"}"#));
    assert!(other.sanitizers.is_empty() && other.rewritten().is_none());
}

#[test]
fn all_that_match_apply() {
    let policies = compile(&[
        &policy_text("a", "", &[MAIL]),
        &policy_text(
            "b",
            "",
            &["id: cards, priority: 1, verdict: sanitize, sanitize: { detectors: [card], replace: mask }"],
        ),
    ])
    .0;
    assert_eq!(
        rewritten(&policies, r#"{"to":"ann@acme.org","card":"4111111111111111"}"#).unwrap(),
        r#"{"to":"[REDACTED:email]","card":"41************11"}"#
    );
}

#[test]
fn free_text_is_rewritten_as_text() {
    let policies = rules(&[MAIL]);
    let mut call = call("send_patch", "");
    call.arguments = Arguments::text("to ann@acme.org {");
    let judgement = policies.ask(&call);
    assert_eq!(judgement.rewritten(), Some("to [REDACTED:email] {"));
}

#[test]
fn a_denial_is_not_softened() {
    let policies = rules(&[MAIL, "id: none, tool: send_mail, verdict: deny"]);
    let call = call("send_mail", r#"{"to":"ann@acme.org"}"#);
    let judgement = policies.ask(&call);
    assert_eq!(judgement.verdict, Verdict::Deny);
    assert!(judgement.rewritten().is_none() && judgement.permit(&call).is_none());
}

#[test]
fn a_name_is_not_enough() {
    let policies = rules(&[MAIL]);
    assert_eq!(policies.by_name("send_mail"), "open");
    assert_eq!(policies.by_name("read"), "allow");
    // A call that is always denied needs no arguments.
    let policies = rules(&[MAIL, "id: none, tool: send_mail, verdict: deny"]);
    assert_eq!(policies.by_name("send_mail"), "deny");
    // Many rules with conditions on arguments are found through the index.
    let crowd: Vec<String> = (0..40)
        .map(|n| {
            format!(
                "id: r{n}, tool: t{n}, when: {{ arg: a, contains: x{n} }}, verdict: sanitize, \
                 sanitize: {{ detectors: [email] }}"
            )
        })
        .collect();
    let lines: Vec<&str> = crowd.iter().map(String::as_str).collect();
    let policies = rules(&lines);
    assert_eq!(policies.by_name("t7"), "open");
    assert_eq!(policies.by_name("other"), "allow");
}

#[test]
fn what_cannot_be_read_is_denied() {
    let policies = rules(&[MAIL]);
    for input in ["{", "[1]", r#"{"a":1,"a":2}"#] {
        let call = call("send_mail", input);
        let judgement = policies.ask(&call);
        assert_eq!(judgement.verdict, Verdict::Deny, "{input}");
        assert_eq!(judgement.rule.as_deref(), Some("no-mail"));
        assert!(judgement.reason.starts_with("the arguments cannot be sanitized"));
        assert!(judgement.permit(&call).is_none());
    }
    let mut large = call("send_mail", "");
    large.arguments = Arguments::oversize("{");
    assert_eq!(policies.ask(&large).verdict, Verdict::Deny);
}

#[test]
fn keys_that_become_one_are_denied() {
    let policies =
        rules(&["id: m, verdict: sanitize, sanitize: { detectors: [email], replace: drop }"]);
    let judgement = policies.ask(&call("x", r#"{"":1,"ann@acme.org":2}"#));
    assert_eq!(judgement.verdict, Verdict::Deny);
}

#[test]
fn a_shadow_changes_nothing() {
    let policies = rules(&[&format!("{MAIL}, mode: shadow")]);
    let judgement = policies.ask(&call("send_mail", r#"{"to":"ann@acme.org"}"#));
    assert!(judgement.rewritten().is_none() && judgement.sanitizers.is_empty());
    assert_eq!(judgement.shadows[0].reason, "[shadow] would sanitize: Private.");
    assert_eq!(policies.by_name("send_mail"), "allow");
}

#[test]
fn calls_inside_a_wrapper_are_rewritten_too() {
    let policies = rules(&[MAIL]);
    let input = r#"{"tool_uses":[{"recipient_name":"functions.send_mail","parameters":{"to":"ann@acme.org"}}]}"#;
    let call_of = |input: &str| call("multi_tool_use.parallel", input);
    let judgement = policies.ask(&call_of(input));
    assert_eq!(judgement.rewritten().unwrap(), input.replace("ann@acme.org", "[REDACTED:email]"));
    assert_eq!(policies.by_name("multi_tool_use.parallel"), "open");
    let unreadable = policies.ask(&call_of(r#"{"tool_uses":3}"#));
    assert_eq!(unreadable.verdict, Verdict::Deny);
}

#[test]
fn an_advertised_tool_is_denied() {
    let policies = rules(&[&format!("{MAIL}, surface: [inbound, response]")]);
    let mut advertised = call_at(Surface::Inbound, "send_mail", "");
    advertised.arguments = Arguments::pending();
    let judgement = policies.judge_advertised(&advertised, &[], &NOON);
    assert_eq!((judgement.verdict, judgement.rule.as_deref()), (Verdict::Deny, Some("no-mail")));
    assert_eq!(
        rewritten(&policies, r#"{"to":"ann@acme.org"}"#).unwrap(),
        r#"{"to":"[REDACTED:email]"}"#
    );
}

#[test]
fn only_a_rule_for_inbound_judges_what_is_advertised() {
    let policies = policies(&policy_text(
        "test",
        "default: deny",
        &[
            "id: called, tool: a, verdict: deny",
            "id: advertised, tool: b, surface: inbound, verdict: deny, reason: Not offered.",
            "id: by-argument, tool: c, surface: [inbound, response], verdict: deny, when: { arg: x, equals: y }",
        ],
    ));
    let judge = |name: &str| {
        let mut call = call_at(Surface::Inbound, name, "");
        call.arguments = Arguments::pending();
        let judgement = policies.judge_advertised(&call, &[], &NOON);
        (judgement.verdict, judgement.details.rule)
    };
    assert_eq!(judge("a"), (Verdict::Allow, None));
    assert_eq!(judge("b"), (Verdict::Deny, Some("advertised".to_owned())));
    assert_eq!(judge("c"), (Verdict::Allow, None));
    let strict = "policy: strict\ndefaults: { inbound: deny }\n";
    let strict = super::support::policies(strict);
    let call = call_at(Surface::Inbound, "a", "");
    assert_eq!(strict.judge_advertised(&call, &[], &NOON).verdict, Verdict::Deny);
}

#[test]
fn secrets_in_arguments_are_a_condition() {
    let key = ["AKI", "AIOSFODNN7ABCDEFG"].concat();
    let policies = rules(&[
        "id: any, tool: a, when: { secret: any }, verdict: deny",
        "id: one, tool: b, when: { not: { secret: [aws_access_key_id, email] } }, verdict: deny",
    ]);
    let input = format!(r#"{{"x":["say {key}"]}}"#);
    let judgement = policies.ask(&call("a", &input));
    assert_eq!(judgement.verdict, Verdict::Deny);
    let matched = judgement.details.matched.unwrap();
    assert_eq!(
        (matched.path.as_str(), matched.value.as_str()),
        ("secret", "[REDACTED:aws_access_key_id]")
    );
    assert_eq!(policies.verdict("a", r#"{"x":"ann@acme.org"}"#), Verdict::Allow);
    assert_eq!(policies.verdict("b", r#"{"x":"ann@acme.org"}"#), Verdict::Allow);
    assert_eq!(policies.verdict("b", "{}"), Verdict::Deny);
    assert_eq!(policies.verdict("a", "{"), Verdict::Deny);
    let open = policies.judge_name(&call("a", ""), &NOON, &crate::SpentLimits::none());
    assert!(matches!(open, NameJudgement::NeedArguments));
}

/// An offered server may have the tool that a rule names.
#[test]
fn an_offer_of_a_whole_server_may_include_a_denied_tool() {
    let policies = rules(&[
        "id: no-delete, tool: delete_repo, server: github, surface: inbound, verdict: deny, reason: No.",
        "id: no-wiki, tool: 'wiki.*_page', surface: inbound, verdict: deny, reason: No.",
        "id: no-drop, tool: drop_table, surface: inbound, verdict: deny, reason: No.",
    ]);
    let judge = |name: &str, except: &[&str]| {
        let except: Vec<String> = except.iter().map(|&name| name.to_owned()).collect();
        policies.judge_advertised(&call_at(Surface::Inbound, name, ""), &except, &NOON).details.rule
    };
    let rule = |name: &str| Some(name.to_owned());
    assert_eq!(judge("mcp__github__*", &[]), rule("no-delete"));
    assert_eq!(judge("mcp__GitHub__*", &["Drop_Table"]), rule("no-delete"));
    assert_eq!(judge("mcp__github__*", &["delete_repo"]), rule("no-drop"));
    assert_eq!(judge("mcp__github__*", &["delete_repo", "drop_table"]), None);
    assert_eq!(judge("mcp__gitlab__*", &["drop_table"]), None);
    assert_eq!(judge("mcp__wiki__*", &["drop_table", "a_page"]), rule("no-wiki"));
    assert_eq!(judge("mcp__github__list_repos", &[]), None);
}

#[test]
fn an_offer_of_a_whole_server_needs_a_rule_for_all_of_it() {
    let judge = |rule: &str, name: &str| {
        let text = policy_text("test", "defaults: { inbound: deny }", &[rule]);
        let call = call_at(Surface::Inbound, name, "");
        super::support::policies(&text).judge_advertised(&call, &[], &NOON).verdict
    };
    for (rule, verdict) in [
        ("id: a, server: github, surface: inbound, verdict: allow", Verdict::Allow),
        ("id: a, server: github, tool: '*', surface: inbound, verdict: allow", Verdict::Allow),
        ("id: a, tool: 'mcp__github__*', surface: inbound, verdict: allow", Verdict::Allow),
        ("id: a, server: github, tool: '?', surface: inbound, verdict: allow", Verdict::Deny),
        ("id: a, server: github, tool: 'list_*', surface: inbound, verdict: allow", Verdict::Deny),
        ("id: a, server: gitlab, surface: inbound, verdict: allow", Verdict::Deny),
        ("id: a, tool: '*', surface: inbound, verdict: allow", Verdict::Deny),
    ] {
        assert_eq!(judge(rule, "mcp__github__*"), verdict, "{rule}");
    }
}
