//! Whether a denial blocks the whole tool or only one call of it.

use super::support::*;
use crate::{DenialScope, NameJudgement, Policies, SpentLimits};

fn scope(policies: &Policies, tool: &str, input: &str) -> DenialScope {
    let call = call(tool, input);
    policies.ask(&call).denial(&call).unwrap().scope
}

#[test]
fn a_tool_is_blocked_if_no_arguments_could_change_that() {
    let policies = rules(&[
        "id: no-mail, tool: send_email, verdict: deny",
        "id: no-rm, tool: \"@shell\", when: { arg: command, contains: rm }, verdict: deny",
        "id: no-x, when: { arg: a, equals: x }, verdict: deny",
        "id: asked, tool: deploy, verdict: ask",
    ]);
    assert_eq!(scope(&policies, "send_email", "{}"), DenialScope::Tool);
    assert_eq!(scope(&policies, "Bash", r#"{"command":"rm -rf /"}"#), DenialScope::Use);
    assert_eq!(scope(&policies, "t", r#"{"a":"x"}"#), DenialScope::Use);
    // Another rule decides this call, but the tool is blocked anyway.
    assert_eq!(scope(&policies, "send_email", r#"{"a":"x"}"#), DenialScope::Tool);
    assert_eq!(
        scope(&policies, "deploy", "{}"),
        DenialScope::Tool,
        "it waits whatever its arguments"
    );
    let named = call("send_email", "{}");
    let judged = policies.judge_name(&named, &NOON, &SpentLimits::none());
    let NameJudgement::Deny(judgement) = judged else { panic!("it is denied by its name") };
    assert_eq!(judgement.scope, DenialScope::Tool);
}

#[test]
fn a_default_blocks_the_tool_unless_a_rule_may_allow_a_use_of_it() {
    let policies = policies(
        "policy: p\ndefault: deny\nrules:\n  - { id: ls, tool: Bash, when: { arg: command, equals: ls }, verdict: allow }\n",
    );
    assert_eq!(scope(&policies, "Bash", r#"{"command":"rm"}"#), DenialScope::Use);
    assert_eq!(scope(&policies, "Write", "{}"), DenialScope::Tool);
}

#[test]
fn a_call_in_a_wrapper_blocks_this_use_of_the_wrapper() {
    let policies = rules(&["id: no-mail, tool: send_email, verdict: deny"]);
    let input = r#"{"tool_calls":[{"tool":"send_email","parameters":{}}]}"#;
    assert_eq!(scope(&policies, "batch", input), DenialScope::Use);
}

#[test]
fn a_rate_blocks_for_a_time() {
    let policies = rules(&[
        "id: slowly, tool: t, limit: { calls: 1, per: hour }, verdict: deny, blocks: many",
    ]);
    let call = call("t", "{}");
    let judgement = policies.ask(&call);
    assert!(judgement.denial(&call).is_none());
    let empty = SpentLimits::exceeded(judgement.limits.iter().cloned());
    let denial = policies.judge(&call, &NOON, &empty).denial(&call).unwrap();
    assert_eq!((denial.scope, denial.blocks.as_deref()), (DenialScope::Rate, Some("many")));
}
