//! An explanation agrees with the judgement and is complete.

use callgate_call::{OriginFields, Surface, ToolCall};
use callgate_json::quote;
use proptest::prelude::*;

use super::equivalence::{a_call, policy_named};
use super::support::*;
use crate::{
    ConditionExplanation, ConditionKind, Contribution, Holds, Judgement, Policies, RuleExplanation,
    RuleHit, RuleResult, SpentLimits, Verdict,
};

fn explain(policies: &Policies, call: &ToolCall) -> Vec<RuleExplanation> {
    policies.explain(call, &NOON, &SpentLimits::none())
}

/// The only rule's explanation.
fn explained(rule: &str, call: &ToolCall) -> RuleExplanation {
    explain(&rules(&[rule]), call).remove(0)
}

/// A condition on one line: `yes(all yes(a equals 1 [1]))`.
fn shown(condition: &ConditionExplanation) -> String {
    let list =
        |parts: &[ConditionExplanation]| parts.iter().map(shown).collect::<Vec<_>>().join(" ");
    let kind = match &condition.kind {
        ConditionKind::Any(parts) => format!("any {}", list(parts)),
        ConditionKind::All(parts) => format!("all {}", list(parts)),
        ConditionKind::Not(contribution) => format!("not {}", shown(contribution)),
        ConditionKind::Test(test) => {
            let more = if test.unseen > 0 { format!("+{}", test.unseen) } else { String::new() };
            let seen = test.seen.join(" ");
            format!("{} {} {} [{seen}]{more}", test.path, test.operator, test.operand)
        }
    };
    format!("{}({kind})", condition.holds.as_str())
}

#[test]
fn every_condition_is_explained_with_what_it_looked_at() {
    for (when, input, expected) in [
        ("{ arg: a, equals: 1 }", r#"{"a":1.0}"#, "yes(a equals 1 [1.0])"),
        ("{ arg: a, in: [x, 1] }", r#"{"a":"y"}"#, r#"no(a in ["x",1] ["y"])"#),
        ("{ arg: a, lt: 100.0 }", r#"{"a":"lots"}"#, r#"unknown(a lt 100.0 ["lots"])"#),
        ("{ arg: a, exists: false }", "{}", "yes(a exists false [])"),
        ("{ arg: a.b, contains: x }", r#"{"a":"x"}"#, r#"unknown(a.b contains "x" [])"#),
        ("{ arg: context.hour, gt: 9 }", "{}", "yes(context.hour gt 9 [12])"),
        ("{ arg: context.cwd, glob: '/srv/*' }", "{}", r#"no(context.cwd glob "/srv/*" [])"#),
        (
            "{ any: [{ arg: a, equals: 1 }, { not: { all: [{ arg: b, exists: true }] } }] }",
            r#"{"a":1,"b":[2]}"#,
            "yes(any yes(a equals 1 [1]) no(not yes(all yes(b exists true [[2]]))))",
        ),
        (
            "{ arg: $, contains: x }",
            r#"{"a":[1,2,3,{"b":4}],"c":null,"d":"x"}"#,
            r#"yes($ contains "x" ["x" 1 2 3]+2)"#,
        ),
    ] {
        let explained =
            explained(&format!("id: r, verdict: deny, when: {when}"), &call("t", input));
        assert_eq!(shown(&explained.when.unwrap()), expected);
    }
}

#[test]
fn values_are_truncated() {
    let input = format!(r#"{{"a":{}}}"#, quote(&"ä".repeat(500)));
    let explained =
        explained("id: r, verdict: deny, when: { arg: a, equals: x }", &call("t", &input));
    let ConditionKind::Test(test) = explained.when.unwrap().kind else { panic!() };
    assert_eq!(test.seen[0].chars().count(), 120);
}

#[test]
fn unknown_has_a_reason_and_is_settled_by_the_verdict() {
    let (broken, when) = (call("t", "{"), "when: { arg: a, equals: 1 }");
    let deny = explained(&format!("id: r, verdict: deny, {when}"), &broken);
    assert_eq!((deny.result, deny.contribution), (RuleResult::UnknownMatch, Contribution::Decided));
    let Holds::Unknown { why } = deny.when.unwrap().holds else { panic!() };
    assert!(!why.is_empty());
    let allow = explained(&format!("id: r, verdict: allow, {when}"), &broken);
    assert_eq!(
        (allow.result, allow.contribution),
        (RuleResult::UnknownNoMatch, Contribution::Nothing)
    );
    let mut facts = OriginFields::at(Surface::Hook);
    facts.agent = Some("claude".into());
    let claimed = explained("id: r, verdict: allow, agent: claude", &call_of(facts, "t", ""));
    assert_eq!(claimed.result, RuleResult::UnknownNoMatch);
    assert_eq!(claimed.unknown.as_deref(), Some("the agent's name is only claimed"));
}

#[test]
fn the_first_mismatch_is_reported() {
    let mut facts = OriginFields::at(Surface::Hook);
    facts.agent = Some("Codex".into());
    for (rule, name, expected) in [
        ("verdict: deny, surface: [mcp, inbound], tool: u", "t", "surface|mcp, inbound|hook"),
        ("verdict: deny, tool: [U, '@shell'], server: s", "T", "tool|U, @shell|T"),
        ("verdict: deny, tool: t, server: [git, 'a*']", "t", "server|git, a*|-"),
        ("verdict: deny, tool: t, server: git", "mcp__hub__t", "server|git|hub"),
        ("verdict: allow, tool: t", "hub.t", "server|none, because the rule allows|hub"),
        (
            "verdict: allow, tool: 'mcp__a__*'",
            "mcp__a__b__c",
            "tool|mcp__a__*|mcp__a__b__c, which may be read in several ways",
        ),
        ("verdict: deny, agent: claude, who: { team: x }", "t", "agent|claude|Codex"),
        ("verdict: deny, who: { key: [x, y] }", "t", "who.key|x, y|-"),
        ("verdict: deny, who: { team: x }", "t", ""),
        ("verdict: deny, tool: t", "t", ""),
    ] {
        let explained = explained(&format!("id: r, {rule}"), &call_of(facts.clone(), name, "{}"));
        let mismatch = explained.mismatch.map_or(String::new(), |mismatch| {
            let has = mismatch.has.unwrap_or_else(|| "-".into());
            format!("{}|{}|{has}", mismatch.what, mismatch.wants)
        });
        assert_eq!(mismatch, expected, "{rule}");
    }
    let offered = call_at(Surface::Inbound, "t", "");
    let rule = "id: r, verdict: deny, surface: inbound, when: { arg: a, exists: true }";
    assert!(explained(rule, &offered).mismatch.unwrap().wants.starts_with("arguments"));
}

#[test]
fn every_rule_has_its_contribution() {
    let policies = compile(&[
        &policy_text(
            "one",
            "",
            &[
                "id: deny, verdict: deny",
                "id: too, verdict: deny",
                "id: milder, verdict: allow",
                "id: later, verdict: deny, priority: 200",
                "id: seen, verdict: audit",
                "id: would, verdict: deny, mode: shadow",
                "id: other, verdict: deny, tool: other",
            ],
        ),
        &policy_text("two", "", &["id: fine, verdict: allow"]),
        &policy_text("trial", "mode: shadow", &["id: no, verdict: deny"]),
    ])
    .0;
    let by = || Contribution::Outranked { policy: "one".into(), rule: Some("deny".into()) };
    let parts: Vec<_> = explain(&policies, &call("t", ""))
        .into_iter()
        .map(|rule| (rule.rule, rule.contribution))
        .collect();
    let expected = [
        ("deny", Contribution::Decided),
        ("too", Contribution::Decided),
        ("milder", by()),
        ("later", by()),
        ("seen", Contribution::Recorded),
        ("would", Contribution::Shadowed),
        ("other", Contribution::Nothing),
        ("fine", by()),
        ("no", Contribution::Shadowed),
    ];
    assert_eq!(parts, expected.map(|(rule, contribution)| (rule.to_owned(), contribution)));
}

#[test]
fn a_default_may_outrank_a_rule() {
    let allow = policy_text("one", "", &["id: fine, verdict: allow"]);
    let closed = policy_text("two", "default: deny", &["id: u, tool: u, verdict: allow"]);
    let explained = explain(&compile(&[&allow, &closed]).0, &call("t", ""));
    assert_eq!(
        explained[0].contribution,
        Contribution::Outranked { policy: "two".into(), rule: None }
    );
}

#[test]
fn a_limit_is_one_more_condition() {
    let policies = rules(&["id: r, verdict: deny, limit: { calls: 2, per: minute }"]);
    let call = call("t", "{}");
    let explained = explain(&policies, &call).remove(0);
    assert_eq!(
        (explained.result, explained.contribution),
        (RuleResult::NoMatch, Contribution::Nothing)
    );
    let limit = explained.limit.unwrap();
    assert!(!limit.exceeded);
    let explained = policies.explain(&call, &NOON, &SpentLimits::exceeded([limit.key])).remove(0);
    assert!(explained.limit.unwrap().exceeded);
    assert_eq!(
        (explained.result, explained.contribution),
        (RuleResult::Match, Contribution::Decided)
    );
}

#[test]
fn calls_inside_a_wrapper_are_explained_too() {
    let policies = rules(&["id: no-t, tool: t, verdict: deny", "id: rest, verdict: allow"]);
    let inner = r#"{"tool_uses":[{"recipient_name":"functions.t","parameters":{}}]}"#;
    let explained = explain(&policies, &call("multi_tool_use.parallel", inner));
    let decided: Vec<_> = explained
        .iter()
        .filter(|rule| rule.contribution == Contribution::Decided)
        .map(|rule| (rule.rule.as_str(), rule.inside.as_deref()))
        .collect();
    assert_eq!(decided, [("no-t", Some("functions.t")), ("no-t", Some("t"))]);
    let explained = explain(&policies, &call("multi_tool_use.parallel", r#"{"tool_uses":1}"#));
    assert_eq!(
        (explained[0].result, &explained[0].contribution),
        (RuleResult::UnknownMatch, &Contribution::Decided)
    );
    assert!(explained[0].mismatch.is_none());
    assert!(explained[0].unknown.as_deref().unwrap().contains("cannot be read"));
}

#[test]
fn a_list_of_rules_shows_their_tools() {
    let policies = rules(&[
        "id: a, tool: [Bash, '@read', 'mcp__*'], when: { arg: x, exists: true }, verdict: deny",
        "id: b, when: { arg: context.hour, gt: 9 }, verdict: deny",
    ]);
    let listed: Vec<_> = policies.rules().map(|rule| (rule.tools, rule.needs_arguments)).collect();
    let written = ["Bash", "@read", "mcp__*"].map(str::to_owned).to_vec();
    assert_eq!(listed, [(written, true), (Vec::new(), false)]);
}

/// Two policies, the second sometimes in shadow mode.
fn two_policies() -> impl Strategy<Value = Policies> {
    (policy_named("p"), policy_named("q"), any::<bool>()).prop_map(|(first, second, shadow)| {
        let second = if shadow {
            second.replacen("\ndefault:", "\nmode: shadow\ndefault:", 1)
        } else {
            second
        };
        compile(&[&first, &second]).0
    })
}

/// The call, inside a wrapper.
fn wrapped(inner: &ToolCall) -> ToolCall {
    let (name, input) = (quote(inner.name.raw()), quote(inner.arguments.raw()));
    let uses = format!(r#"{{"tool_uses":[{{"recipient_name":{name},"parameters":{input}}}]}}"#);
    call("multi_tool_use.parallel", &uses)
}

fn is_in(rule: &RuleExplanation, hits: &[RuleHit]) -> bool {
    hits.iter().any(|hit| hit.policy == rule.policy && hit.rule.as_ref() == Some(&rule.rule))
}

fn agrees(rule: &RuleExplanation, explained: &[RuleExplanation], judgement: &Judgement) -> bool {
    let listed = match &rule.contribution {
        Contribution::Decided => {
            is_in(rule, &judgement.deciding) && rule.verdict == judgement.verdict
        }
        Contribution::Recorded => is_in(rule, &judgement.audits),
        Contribution::Sanitized => is_in(rule, &judgement.sanitizers),
        // A policy in shadow mode that would let the call pass records nothing.
        Contribution::Shadowed => is_in(rule, &judgement.shadows) || rule.verdict == Verdict::Allow,
        Contribution::Outranked { policy, rule: None } => {
            judgement.policy.as_ref() == Some(policy) && judgement.verdict > rule.verdict
        }
        Contribution::Outranked { policy, rule: Some(by) } => explained.iter().any(|other| {
            (&other.policy, &other.rule) == (policy, by)
                && other.result.matches()
                && (other.verdict > rule.verdict || other.priority < rule.priority)
        }),
        Contribution::Nothing => true,
    };
    listed && rule.result.matches() == (rule.contribution != Contribution::Nothing)
}

/// Without limits, a rule does not match if and only if a key mismatches or a condition does not
/// hold.
fn is_consistent(rule: &RuleExplanation) -> bool {
    let fails = rule.when.as_ref().is_some_and(|when| when.holds == Holds::No);
    let refused = rule.unknown.as_ref().is_some_and(|why| why.contains("wrapper"));
    refused || (rule.result == RuleResult::NoMatch) == (rule.mismatch.is_some() || fails)
}

fn is_unknown(rule: &RuleExplanation) -> bool {
    matches!(rule.result, RuleResult::UnknownMatch | RuleResult::UnknownNoMatch)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn an_explanation_agrees_with_the_judgement(
        policies in two_policies(),
        calls in prop::collection::vec(a_call(), 6),
    ) {
        let carried: Vec<_> = calls.iter().map(wrapped).collect();
        let offered = calls.iter().map(|it| call_at(Surface::Inbound, it.name.raw(), ""));
        let offered: Vec<_> = offered.collect();
        for call in calls.iter().chain(&carried).chain(&offered) {
            let judgement = policies.ask(call);
            let explained = explain(&policies, call);
            prop_assert_eq!(explained.len() % policies.rules().count(), 0);
            for rule in &explained {
                prop_assert!(agrees(rule, &explained, &judgement), "{:?} {:#?} {:#?}", call, rule, judgement);
                prop_assert!(is_consistent(rule), "{:?} {:#?}", call, rule);
                let error = |error: &crate::RuleError| {
                    error.policy == rule.policy && error.rule == rule.rule
                };
                prop_assert!(!is_unknown(rule) || judgement.errors.iter().any(error), "{:#?}", rule);
            }
            let among = |hit: &RuleHit, contribution: fn(&RuleExplanation) -> bool| {
                hit.rule.is_none()
                    || explained.iter().any(|rule| is_in(rule, std::slice::from_ref(hit)) && contribution(rule))
            };
            let decider = RuleHit {
                policy: judgement.policy.clone().unwrap_or_default(),
                rule: judgement.rule.clone(),
                verdict: judgement.verdict,
                reason: String::new(),
                hint: None,
                blocks: None,
                limited: false,
                unknown: false,
                terms: None,
            };
            prop_assert!(among(&decider, |rule| rule.contribution == Contribution::Decided), "{:?}", judgement);
            for hit in &judgement.deciding {
                prop_assert!(among(hit, |rule| rule.result.matches()), "{:?}", hit);
            }
            for hit in &judgement.audits {
                prop_assert!(among(hit, |rule| rule.contribution == Contribution::Recorded), "{:?}", hit);
            }
            for hit in &judgement.shadows {
                prop_assert!(among(hit, |rule| rule.contribution == Contribution::Shadowed), "{:?}", hit);
            }
        }
    }
}
