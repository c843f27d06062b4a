//! The condition `finding`.

use callgate_call::Surface;
use callgate_scan::inspect::{Finding, FindingClass, Severity};

use super::support::{NOON, call_at, compile, policy_text, problems, rules};
use crate::{Findings, Holds, Judgement, NameJudgement, Policies, SpentLimits, Verdict};

fn found(class: FindingClass, severity: Severity) -> Finding {
    let (detail, path) = ("what was seen".to_owned(), "description".to_owned());
    Finding { class, severity, detail, span: 0..1, path }
}

fn judged(policies: &Policies, findings: Findings<'_>) -> Judgement {
    let call = call_at(Surface::Mcp, "mcp__notes__read", "{}");
    policies.judge_with(&call, &NOON, &SpentLimits::none(), findings)
}

#[test]
fn class_and_severity_either_or_both() {
    let (low, high) = (Severity::Low, Severity::High);
    for (condition, findings, expected) in [
        ("any", vec![], false),
        ("any", vec![found(FindingClass::HiddenText, low)], true),
        ("{ severity: high }", vec![found(FindingClass::Directive, low)], false),
        ("{ severity: high }", vec![found(FindingClass::Directive, high)], true),
        ("{ severity: high }", vec![found(FindingClass::Directive, Severity::Critical)], true),
        ("{ class: directive }", vec![found(FindingClass::HiddenText, high)], false),
        ("{ class: [directive, hidden-text] }", vec![found(FindingClass::HiddenText, low)], true),
        // Both must be true of the same finding.
        (
            "{ class: [directive], severity: high }",
            vec![found(FindingClass::Directive, low), found(FindingClass::HiddenText, high)],
            false,
        ),
    ] {
        let rule = format!("id: r, when: {{ finding: {condition} }}, verdict: deny");
        let verdict = judged(&rules(&[&rule]), Findings::Of(&findings)).verdict;
        assert_eq!(verdict == Verdict::Deny, expected, "{condition} {findings:?}");
    }
}

#[test]
fn uninspected_tools_count_against_the_call() {
    let deny = rules(&["id: r, when: { finding: any }, verdict: deny"]);
    let judgement = judged(&deny, Findings::NotInspected);
    assert_eq!(judgement.verdict, Verdict::Deny);
    assert_eq!(judgement.errors[0].why, "nothing of the tool was inspected");
    let not = rules(&["id: r, when: { not: { finding: any } }, verdict: deny"]);
    assert_eq!(judged(&not, Findings::NotInspected).verdict, Verdict::Deny);
    assert_eq!(judged(&not, Findings::Of(&[])).verdict, Verdict::Deny);
    let text = policy_text(
        "p",
        "default: deny",
        &["id: r, server: '*', when: { not: { finding: any } }, verdict: allow"],
    );
    let allow = compile(&[&text]).0;
    assert_eq!(judged(&allow, Findings::NotInspected).verdict, Verdict::Deny);
    assert_eq!(judged(&allow, Findings::Of(&[])).verdict, Verdict::Allow);
}

#[test]
fn the_denial_names_the_worst_finding() {
    let policies = rules(&["id: r, when: { finding: any }, verdict: deny"]);
    let findings = [
        found(FindingClass::HiddenText, Severity::Low),
        found(FindingClass::Directive, Severity::Critical),
    ];
    let matched = judged(&policies, Findings::Of(&findings)).details.matched.unwrap();
    assert_eq!(matched.path, "finding");
    // Not the text that was found: the model reads the denial.
    assert_eq!(matched.value, "directive (critical)");
}

#[test]
fn a_name_is_decided_by_findings() {
    let policies = rules(&["id: r, when: { finding: any }, verdict: deny"]);
    let call = call_at(Surface::Mcp, "mcp__notes__read", "");
    let ask = |findings| policies.judge_name_with(&call, &NOON, &SpentLimits::none(), findings);
    let findings = [found(FindingClass::Directive, Severity::High)];
    assert!(matches!(ask(Findings::Of(&findings)), NameJudgement::Deny(_)));
    assert!(matches!(ask(Findings::Of(&[])), NameJudgement::Allow(..)));
}

#[test]
fn a_rule_on_findings_applies_to_mcp_only() {
    let policies = rules(&["id: r, when: { finding: any }, verdict: deny"]);
    let response = call_at(Surface::Response, "mcp__notes__read", "{}");
    let judgement = policies.judge(&response, &NOON, &SpentLimits::none());
    assert_eq!(judgement.verdict, Verdict::Allow);
    let wrong = "policy: p\nrules:\n  - id: r\n    surface: [mcp, hook]\n    when: { not: { finding: any } }\n    verdict: deny\n";
    let problems = problems(wrong);
    assert_eq!(problems[0].message, "a rule on `hook` cannot have conditions on findings");
    assert_eq!(problems[0].span.line, 3);
}

#[test]
fn a_text_is_judged_by_its_findings_only() {
    let lines = [
        "id: finding, when: { finding: { severity: high } }, verdict: deny",
        "id: all, verdict: deny, priority: 200",
    ];
    let text = policy_text("p", "default: deny", &lines);
    let policies = compile(&[&text]).0;
    let text = call_at(Surface::Mcp, "mcp__notes__notifications/progress", "{}");
    let high = [found(FindingClass::Directive, Severity::High)];
    assert_eq!(policies.judge_text(&text, &NOON, Findings::Of(&[])).verdict, Verdict::Allow);
    let denied = policies.judge_text(&text, &NOON, Findings::Of(&high));
    assert_eq!((denied.verdict, denied.rule.as_deref()), (Verdict::Deny, Some("finding")));
    let trusted = ["id: trusted, server: notes, verdict: allow, priority: 1", lines[0]];
    assert_eq!(
        rules(&trusted).judge_text(&text, &NOON, Findings::Of(&high)).verdict,
        Verdict::Allow
    );
}

#[test]
fn examples_state_findings() {
    rules(&["id: r, when: { finding: { class: directive } }, verdict: deny, examples: { \
             match: [{ tool: read, finding: { class: directive, severity: low } }], \
             no_match: [{ tool: read }, { tool: read, finding: { class: look-alike, severity: high } }] }"]);
}

#[test]
fn an_explanation_shows_the_findings() {
    let policies =
        rules(&["id: r, when: { finding: { class: [directive], severity: high } }, verdict: deny"]);
    let call = call_at(Surface::Mcp, "mcp__notes__read", "{}");
    let explained = policies.explain(&call, &NOON, &SpentLimits::none());
    let when = explained[0].when.as_ref().unwrap();
    assert!(matches!(&when.holds, Holds::Unknown { why } if why.contains("inspected")), "{when:?}");
    assert!(
        format!("{when:?}").contains(r#"{\"class\":[\"directive\"],\"severity\":\"high\"}"#),
        "{when:?}"
    );
}
