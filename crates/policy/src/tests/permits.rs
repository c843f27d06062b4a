//! A permit covers one call, and a denial states the reason.

use callgate_call::{Arguments, CallId, ToolName};

use super::support::*;
use crate::{Denial, DenialText, NameJudgement, NamePermit, Permit, Policies, SpentLimits};

fn is_sendable<T: Send + 'static>() {}

#[test]
fn permits_cross_threads() {
    is_sendable::<Permit>();
    is_sendable::<NamePermit>();
    is_sendable::<Denial>();
    is_sendable::<Policies>();
}

#[test]
fn a_permit_is_for_that_very_call() {
    let judged = call("t", r#"{"a":1}"#);
    let permit = Policies::none().ask(&judged).permit(&judged).unwrap();
    assert!(permit.covers(&judged));
    let mut other = judged.clone();
    other.id = CallId::from("call_2");
    assert!(!permit.covers(&other));
    let mut other = judged.clone();
    other.name = ToolName::parse("T").unwrap();
    assert!(!permit.covers(&other), "as it came, not as it is compared");
    let mut other = judged.clone();
    other.arguments = Arguments::json(r#"{"a":2}"#);
    assert!(!permit.covers(&other));
    other.arguments = Arguments::text(r#"{"a":1}"#);
    assert!(!permit.covers(&other), "text is not JSON");
}

#[test]
fn a_judgement_permits_no_other_call() {
    let policies = rules(&["id: r, verdict: deny, when: { arg: a, equals: bad }"]);
    let good = call("t", r#"{"a":"good"}"#);
    let bad = call("t", r#"{"a":"bad"}"#);
    assert!(policies.ask(&good).permit(&bad).is_none());
    assert!(policies.ask(&bad).permit(&bad).is_none());
    assert!(policies.ask(&bad).denial(&bad).is_some());
    assert!(policies.ask(&good).denial(&good).is_none());
}

#[test]
fn a_name_permit_is_for_that_id_and_name() {
    let mut named = call("t", "");
    named.arguments = Arguments::pending();
    let judged = Policies::none().judge_name(&named, &NOON, &SpentLimits::none());
    let NameJudgement::Allow(permit, _) = judged else { panic!() };
    assert!(permit.covers(&named.id, &named.name));
    assert!(!permit.covers(&CallId::from("call_2"), &named.name));
    assert!(!permit.covers(&named.id, &ToolName::parse("u").unwrap()));
}

#[test]
fn a_notice_names_tool_rule_reason_and_way_out() {
    let policies = rules(&[
        "id: no-x, verdict: deny, reason: x is bad., hint: Use y., when: { arg: a, contains: x }",
    ]);
    let call = call(" Bash ", r#"{"a":"x\ny"}"#);
    let mut denial = policies.ask(&call).denial(&call).unwrap();
    denial.record = Some("0198".into());
    assert_eq!(
        DenialText::default().notice(&denial),
        "callgate blocked the tool call `Bash`.\nRule: no-x (policy test)\nReason: x is bad.\n\
         Hint: Use y.\nArgument: x y\nOnly this use of `Bash` is blocked; other uses may be \
         allowed.\nIt was not executed. Do not retry it: the answer will be the same.\nRecord: 0198"
    );
}
