//! Which callers rules and policies apply to, and what happens if that is unknown.

use callgate_call::{OriginFields, Principal, Surface};

use super::support::*;
use crate::{Policies, SpentLimits, Verdict};

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// A key determines all fields of its holder.
fn key(team: Option<&str>, user: Option<&str>) -> Principal {
    Principal { key: text("k"), team: team.and_then(text), user: user.and_then(text), org: None }
}

fn verdict(policies: &Policies, who: &Principal) -> Verdict {
    let facts = OriginFields { who: who.clone(), ..OriginFields::at(Surface::Response) };
    policies.ask(&call_of(facts, "t", "")).verdict
}

fn of_agent(policies: &Policies, agent: Option<&str>, proven: bool) -> Verdict {
    let agent = agent.and_then(text);
    let facts = OriginFields { agent, agent_proven: proven, ..OriginFields::at(Surface::Response) };
    policies.ask(&call_of(facts, "t", "")).verdict
}

#[test]
fn a_rule_applies_to_the_callers_it_names() {
    let policies = rules(&["id: d, who: { team: 'pay*', user: [ann, bob] }, verdict: deny"]);
    for (team, user, expected) in [
        (Some("payments"), Some("bob"), Verdict::Deny),
        (Some("payments"), Some("eve"), Verdict::Allow),
        (Some("payments"), None, Verdict::Allow),
        (None, Some("bob"), Verdict::Allow),
    ] {
        assert_eq!(verdict(&policies, &key(team, user)), expected, "{team:?} {user:?}");
    }
}

#[test]
fn unknown_counts_against_the_call() {
    let denies = rules(&["id: d, who: { team: payments }, verdict: deny"]);
    let allows = policies(&policy_text(
        "p",
        "default: deny",
        &["id: a, tool: t, who: { team: payments }, verdict: allow"],
    ));
    let local = Principal::user(text("ann"));
    for policies in [&denies, &allows] {
        assert_eq!(verdict(policies, &local), Verdict::Deny, "no door knows her team");
        assert_eq!(verdict(policies, &Principal::default()), Verdict::Deny);
    }
    assert_eq!(verdict(&denies, &key(None, Some("ann"))), Verdict::Allow, "the key has no team");
    let judgement = denies.ask(&call_of(OriginFields::at(Surface::Mcp), "t", ""));
    assert_eq!(judgement.errors[0].why, "the caller's team is not known");
}

#[test]
fn what_is_known_for_certain_outweighs_what_is_not() {
    let policies = rules(&["id: d, who: { team: payments, user: bob }, verdict: deny"]);
    assert_eq!(verdict(&policies, &Principal::user(text("ann"))), Verdict::Allow, "she is not bob");
    assert_eq!(verdict(&policies, &Principal::user(text("bob"))), Verdict::Deny);
}

#[test]
fn a_caller_without_a_key_matches_no_key() {
    let policies = rules(&["id: d, who: { key: 'ci-*' }, verdict: deny"]);
    for who in [Principal::user(text("ann")), Principal::default()] {
        assert_eq!(verdict(&policies, &who), Verdict::Allow);
    }
}

#[test]
fn a_policy_applies_to_the_callers_it_names() {
    let policies = policies(&policy_text(
        "team",
        "for: { team: [payments, 'risk*'] }\ndefault: deny",
        &["id: ok, tool: u, verdict: allow"],
    ));
    assert_eq!(verdict(&policies, &key(Some("payments"), None)), Verdict::Deny);
    assert_eq!(verdict(&policies, &key(Some("risk-eu"), None)), Verdict::Deny);
    assert_eq!(verdict(&policies, &key(Some("web"), None)), Verdict::Allow, "nor its default");
    assert_eq!(verdict(&policies, &key(None, None)), Verdict::Allow);
    assert_eq!(
        verdict(&policies, &Principal::user(text("ann"))),
        Verdict::Deny,
        "with its default"
    );
    let facts = OriginFields { who: key(Some("web"), None), ..OriginFields::at(Surface::Response) };
    assert_eq!(policies.by_name_of(&call_of(facts, "t", "")), "allow");
    assert_eq!(policies.by_name("t"), "deny");
}

#[test]
fn a_narrower_policy_never_relaxes() {
    let all = policy_text("all", "", &["id: no, tool: t, verdict: deny"]);
    let ann = policy_text("ann", "for: { user: ann }", &["id: yes, verdict: allow, priority: 1"]);
    let (policies, _) = compile(&[&all, &ann]);
    assert_eq!(verdict(&policies, &Principal::user(text("ann"))), Verdict::Deny);
}

#[test]
fn claimed_agents_count_for_rules_that_restrict() {
    let deny = rules(&["id: d, agent: 'Claude-*', verdict: deny"]);
    let scoped = policies("policy: p\nfor: { agent: 'claude-*' }\ndefault: deny\n");
    for policies in [&deny, &scoped] {
        assert_eq!(of_agent(policies, Some("claude-code"), false), Verdict::Deny);
        assert_eq!(of_agent(policies, Some("codex"), false), Verdict::Allow);
        assert_eq!(of_agent(policies, None, false), Verdict::Deny, "it may be that agent");
    }
    let allow = policies(&policy_text(
        "p",
        "default: deny",
        &["id: a, tool: t, agent: 'claude-*', verdict: allow"],
    ));
    assert_eq!(of_agent(&allow, Some("claude-code"), false), Verdict::Deny, "only claimed");
    assert_eq!(of_agent(&allow, Some("claude-code"), true), Verdict::Allow);
    assert_eq!(of_agent(&allow, None, true), Verdict::Deny);
}

#[test]
fn an_explanation_shows_the_callers_of_a_policy() {
    let policies = policies(&policy_text(
        "team",
        "for: { team: payments }",
        &["id: no, tool: t, verdict: deny"],
    ));
    let explain = |who: Principal| {
        let facts = OriginFields { who, ..OriginFields::at(Surface::Response) };
        let explained = policies.explain(&call_of(facts, "t", ""), &NOON, &SpentLimits::none());
        explained.into_iter().next().unwrap()
    };
    let other = explain(key(Some("web"), None));
    let mismatch = other.mismatch.unwrap();
    assert_eq!((mismatch.what.as_str(), mismatch.has.as_deref()), ("for.team", Some("web")));
    assert!(!other.result.matches());
    let unsure = explain(Principal::default());
    assert_eq!(
        unsure.unknown.as_deref(),
        Some("the caller's team is not known, so the policy applies")
    );
    assert!(unsure.result.matches());
}

#[test]
fn an_example_may_name_the_caller() {
    let rule = |examples: &str| {
        format!(
            "policy: p\nrules:\n  - {{ id: d, tool: t, who: {{ team: payments }}, verdict: deny, \
             examples: {examples} }}\n"
        )
    };
    let good = "{ match: [{ tool: t, who: { team: payments } }, { tool: t }], \
                no_match: [{ tool: t, who: { key: k } }, { tool: t, who: { team: web } }] }";
    policies(&rule(good));
    let bad = problems(&rule("{ match: [{ tool: t, who: { team: web } }] }"));
    assert!(bad[0].message.contains("does not match this example"), "{}", bad[0].message);
}

#[test]
fn an_empty_for_is_a_mistake() {
    for (head, expected) in [
        ("for: {}", "`for` is empty"),
        ("for: { teem: payments }", "unknown key `teem`"),
        ("for: payments", "`for` must be"),
    ] {
        let found = problems(&policy_text("p", head, &["id: d, verdict: deny"]));
        assert!(found[0].message.contains(expected), "{}", found[0].message);
        assert!(found[0].hint.is_some(), "{head}: it says what to do");
    }
}
