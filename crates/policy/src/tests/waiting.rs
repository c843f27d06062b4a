//! Rules that make a call wait for an answer.

use std::time::Duration;

use super::support::*;
use crate::{AskTerms, Fallback, Settled, Terms, Ticket, Unattended, Verdict};

const ASK: &str = "id: q, tool: t, verdict: ask, reason: A person looks at this";

fn waits(policies: &crate::Policies, name: &str) -> Ticket {
    let call = call(name, r#"{"a":1}"#);
    match policies.ask(&call).settle(&call) {
        Settled::Wait(ticket) => ticket,
        other => panic!("{other:?}"),
    }
}

#[test]
fn strictness_goes_from_deny_over_ask_and_review_to_allow() {
    let rule = |verdict: &str| format!("id: {verdict}, tool: t, verdict: {verdict}");
    let words = ["allow", "review", "ask", "deny"];
    for (place, stricter) in words.iter().enumerate() {
        for milder in &words[..=place] {
            let policies = rules(&[&rule(milder).replace("id: ", "id: m-"), &rule(stricter)]);
            assert_eq!(policies.verdict("t", "").as_str(), *stricter, "with {milder}");
        }
    }
}

#[test]
fn a_ticket_that_is_granted_is_a_permit_for_that_call() {
    let policies = rules(&[ASK]);
    let permit = waits(&policies, "t").grant();
    assert!(permit.covers(&call("t", r#"{"a":1}"#)));
    assert!(!permit.covers(&call("t", r#"{"a":2}"#)));
}

#[test]
fn a_ticket_that_is_refused_is_a_denial_with_both_reasons() {
    let denial = waits(&rules(&[ASK]), "t").refuse("Nobody was there.");
    assert_eq!(denial.rule.as_deref(), Some("q"));
    assert_eq!(denial.reason, "A person looks at this. Nobody was there.");
}

#[test]
fn what_a_sanitizer_takes_out_stays_out_of_a_granted_call() {
    let clean = "id: c, tool: t, verdict: sanitize, sanitize: { detectors: [email] }";
    let policies = rules(&[ASK, clean]);
    let call = call("t", r#"{"to":"ann@acme.org"}"#);
    let Settled::Wait(ticket) = policies.ask(&call).settle(&call) else { panic!() };
    assert_eq!(ticket.grant().rewritten(), Some(r#"{"to":"[REDACTED:email]"}"#));
}

/// The person or model that is asked must see the arguments.
#[test]
fn a_name_that_means_ask_is_held_and_not_denied() {
    assert_eq!(rules(&[ASK]).by_name("t"), "open");
    let denied = "id: d, tool: t, verdict: deny";
    assert_eq!(rules(&[ASK, denied]).by_name("t"), "deny");
    let exception = "id: a, tool: t, verdict: allow, priority: 50";
    assert_eq!(rules(&[ASK, exception]).by_name("t"), "allow");
    let argument = "id: d, tool: t, verdict: deny, when: { arg: a, equals: 1 }";
    assert_eq!(rules(&[ASK, argument]).by_name("t"), "open");
}

#[test]
fn the_terms_are_the_rules_own_or_the_defaults() {
    let own = "id: q, tool: t, verdict: pending_approval, \
               ask: { timeout: 90s, approvers: [ann], unattended: queue, fallback: allow }";
    let terms = AskTerms {
        timeout: Duration::from_secs(90),
        approvers: vec!["ann".to_owned()],
        unattended: Unattended::Queue,
        fallback: Fallback::Allow,
    };
    assert_eq!(waits(&rules(&[own]), "t").terms(), Some(&Terms::Ask(terms)));
    let Some(Terms::Ask(usual)) = waits(&rules(&[ASK]), "t").terms().cloned() else { panic!() };
    assert_eq!((usual.timeout, usual.fallback), (Duration::from_secs(600), Fallback::Deny));
    let review = "id: r, tool: t, verdict: sample, review: { guidance: Is it safe?, timeout: 5s }";
    let Some(Terms::Review(review)) = waits(&rules(&[review]), "t").terms().cloned() else {
        panic!()
    };
    assert_eq!(review.guidance.as_deref(), Some("Is it safe?"));
    assert_eq!(review.timeout, Duration::from_secs(5));
}

#[test]
fn what_cannot_be_evaluated_counts_against_the_call() {
    let policies = rules(&["id: q, tool: t, verdict: ask, when: { arg: a, gt: 5 }"]);
    assert_eq!(policies.verdict("t", r#"{"a":"x"}"#), Verdict::Ask);
    assert_eq!(policies.verdict("t", r#"{"a":1}"#), Verdict::Allow);
}

#[test]
fn a_wrapper_that_cannot_be_read_waits_where_only_a_question_could_be_asked() {
    let policies = rules(&["id: q, tool: Bash, verdict: ask"]);
    assert_eq!(policies.verdict("batch", "{"), Verdict::Ask);
    let policies = rules(&["id: q, tool: Bash, verdict: ask", "id: d, tool: Read, verdict: deny"]);
    assert_eq!(policies.verdict("batch", "{"), Verdict::Deny);
}

/// Arguments that are too large to be read do not make the question unnecessary.
#[test]
fn a_name_that_means_ask_does_so_without_its_arguments() {
    let waived = |policies: &crate::Policies, name: &str| {
        let call = call(name, "{}");
        policies.judge_waived(&call, &NOON, &crate::SpentLimits::none()).verdict
    };
    let policies = rules(&[ASK, "id: d, tool: u, verdict: deny, when: { arg: a, equals: 1 }"]);
    assert_eq!(waived(&policies, "t"), Verdict::Ask);
    assert_eq!(waived(&policies, "u"), Verdict::Allow);
}
