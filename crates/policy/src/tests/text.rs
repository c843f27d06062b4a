//! Text rules.

use callgate_call::{OriginFields, Principal, Surface};

use super::support::*;
use crate::{Direction, Policies, TextAction, TextOutcome};

fn texts(lines: &[&str]) -> Policies {
    policies(&policy("test", lines))
}

fn policy(name: &str, lines: &[&str]) -> String {
    let rules: String = lines.iter().map(|line| format!("  - {{ {line} }}\n")).collect();
    format!("policy: {name}\ntext:\n{rules}")
}

fn any_caller() -> OriginFields {
    OriginFields::at(Surface::Response)
}

fn whole(policies: &Policies, text: &str) -> TextOutcome {
    policies.text_guard(Direction::Response, &any_caller()).unwrap().whole(text)
}

fn summary(outcome: &TextOutcome) -> Vec<(&str, TextAction, &str)> {
    let hits = outcome.hits.iter();
    hits.map(|hit| (hit.rule.as_str(), hit.action, hit.kind.as_str())).collect()
}

#[test]
fn a_mask_replaces() {
    let policies = texts(&[
        "id: mail, detect: [email], verdict: mask, reason: Private., hint: Ask.",
        "id: names, keywords: [Project Falcon], matches: 'ticket-\\d+', verdict: mask, replace: drop",
    ]);
    let outcome = whole(&policies, "ann@acme.org on project falcon, ticket-12");
    assert_eq!(outcome.text.as_deref(), Some("[REDACTED:email] on , "));
    assert!(!outcome.blocked);
    assert_eq!(
        summary(&outcome),
        [
            ("mail", TextAction::Mask, "email"),
            ("names", TextAction::Mask, "names"),
            ("names", TextAction::Mask, "names")
        ]
    );
    assert_eq!(
        (outcome.hits[0].reason.as_str(), outcome.hits[0].hint.as_deref()),
        ("Private.", Some("Ask."))
    );
    assert_eq!(whole(&policies, "nothing of it"), TextOutcome::default());
}

#[test]
fn a_block_beats_a_mask_beats_an_audit() {
    let policies = compile(&[
        &policy("a", &["id: see, detect: [email], verdict: audit"]),
        &policy("b", &["id: hide, detect: [email], verdict: mask"]),
        &policy("c", &["id: stop, keywords: [falcon], verdict: block"]),
    ])
    .0;
    let outcome = whole(&policies, "ann@acme.org");
    assert_eq!(outcome.text.as_deref(), Some("[REDACTED:email]"));
    assert_eq!(
        summary(&outcome),
        [("hide", TextAction::Mask, "email"), ("see", TextAction::Audit, "email")]
    );
    let outcome = whole(&policies, "to ann@acme.org: falcon lands");
    assert!(outcome.blocked);
    assert_eq!(outcome.text.as_deref(), Some("to [REDACTED:email]: "));
}

#[test]
fn audits_and_shadows_never_hold_anything_back() {
    let policies = texts(&[
        "id: see, detect: [email], verdict: audit",
        "id: later, keywords: [falcon], verdict: block, mode: shadow, reason: Secret project.",
    ]);
    let mut flow = policies.text_guard(Direction::Response, &any_caller()).unwrap().flow();
    let mut hits = Vec::new();
    for piece in ["ann@ac", "me.org and the fal", "con."] {
        let outcome = flow.push(piece);
        assert_eq!((outcome.text, outcome.blocked), (None, false), "{piece}");
        hits.extend(outcome.hits);
    }
    hits.extend(flow.finish().hits);
    let reasons: Vec<_> = hits.iter().map(|hit| (hit.rule.as_str(), hit.reason.as_str())).collect();
    assert_eq!(
        reasons,
        [("see", "text rule `see` says audit"), ("later", "[shadow] would block: Secret project.")]
    );
}

#[test]
fn a_flow_masks_across_pieces_and_a_block_ends_it() {
    let policies = texts(&[
        "id: mail, detect: [email], verdict: mask",
        "id: stop, keywords: [falcon], verdict: block",
    ]);
    let mut flow = policies.text_guard(Direction::Response, &any_caller()).unwrap().flow();
    let mut out = String::new();
    for piece in ["to an", "n@acme", ".org, ", "on fal"] {
        out.push_str(flow.push(piece).text.as_deref().unwrap_or(piece));
    }
    assert_eq!(out, "to [REDACTED:email], on ");
    let outcome = flow.push("con lands");
    assert_eq!((outcome.text.as_deref(), outcome.blocked), (Some(""), true));
    assert_eq!(summary(&outcome), [("stop", TextAction::Block, "stop")]);
    let outcome = flow.push("more");
    assert_eq!((outcome.text.as_deref(), outcome.blocked), (Some(""), true));
    assert_eq!(flow.finish().text.as_deref(), Some(""));
}

#[test]
fn each_direction_has_its_rules() {
    let policies = texts(&["id: up, in: request, keywords: [falcon], verdict: block"]);
    assert!(policies.text_guard(Direction::Response, &any_caller()).is_none());
    assert!(
        policies.text_guard(Direction::Request, &any_caller()).unwrap().whole("falcon").blocked
    );
    assert!(Policies::none().text_guard(Direction::Request, &any_caller()).is_none());
    let info: Vec<_> = policies.text_rules().collect();
    assert_eq!(
        (info.len(), info[0].id.as_str(), info[0].patterns.as_slice()),
        (1, "up", &["falcon".to_owned()][..])
    );
}

#[test]
fn a_policy_in_shadow_mode_only_watches() {
    let text = policy("test", &["id: stop, keywords: [falcon], verdict: block"]);
    let policies = policies(&text.replace("text:", "mode: shadow\ntext:"));
    let outcome = whole(&policies, "falcon");
    assert_eq!((outcome.blocked, outcome.text.is_none(), outcome.hits.len()), (false, true, 1));
}

#[test]
fn what_is_wrong_with_a_text_rule() {
    for (line, expected) in [
        ("id: a, verdict: mask", "this text rule looks for nothing"),
        ("verdict: mask, detect: [email]", "this text rule has no `id`"),
        ("id: a, detect: [email]", "this text rule has no `verdict`"),
        ("id: a, detect: [emali], verdict: mask", "unknown detector `emali`"),
        ("id: a, matches: '(', verdict: mask", "cannot read this regular expression"),
        ("id: a, matches: 'x*', verdict: mask", "this regular expression matches the empty text"),
        (
            "id: a, keywords: [], verdict: mask",
            "`keywords` is an empty list, which nothing can match",
        ),
        ("id: a, detect: email, verdict: deny", "unknown verdict of a text rule `deny`"),
        ("id: a, detect: email, verdict: mask, in: up", "unknown direction `up`"),
        ("id: a, detect: email, verdict: mask, tool: x", "unknown key `tool`"),
        (
            "id: a, detect: email, verdict: block, replace: mask",
            "`replace` without `verdict: mask` changes nothing",
        ),
        (
            "id: a, detect: email, verdict: mask, examples: { match: [x] }",
            "text rule `a` does not match this example",
        ),
        (
            "id: a, detect: email, verdict: mask, examples: { no_match: [ann@acme.org] }",
            "text rule `a` matches this example, which it must not",
        ),
    ] {
        let problems = problems(&policy("test", &[line]));
        assert_eq!(problems[0].message, expected, "{line}");
        assert_eq!(problems[0].span.line, 3, "{line}");
        assert_eq!(problems.len(), 1, "{problems:?}");
    }
    let hint = problems(&policy("test", &["id: a, detect: [emali], verdict: mask"]));
    assert_eq!(hint[0].hint.as_deref(), Some("did you mean `email`?"));
    let twice = "policy: x\nrules:\n  - { id: a, verdict: deny }\ntext:\n  - { id: a, detect: email, verdict: mask }\n";
    assert_eq!(problems(twice)[0].message, "duplicate rule id `a`");
}

#[test]
fn what_is_wrong_with_a_rule_that_sanitizes() {
    for (line, expected) in [
        ("id: a, verdict: sanitize", "this rule does not say what to sanitize"),
        (
            "id: a, verdict: deny, sanitize: { detectors: [email] }",
            "`sanitize` without `verdict: sanitize` replaces nothing",
        ),
        ("id: a, verdict: sanitize, sanitize: { replace: mask }", "`sanitize` has no `detectors`"),
        (
            "id: a, verdict: sanitize, sanitize: { detectors: [mail], replace: typed }",
            "unknown detector `mail`",
        ),
        (
            "id: a, verdict: sanitize, sanitize: { detectors: [email], replace: x }",
            "unknown replacement `x`",
        ),
        (
            "id: a, verdict: deny, when: { secret: [nothing_known] }",
            "unknown detector `nothing_known`",
        ),
    ] {
        let problems = problems(&policy_text("test", "", &[line]));
        assert_eq!(problems[0].message, expected, "{line}: {problems:?}");
    }
    assert_eq!(problems("policy: x\ndefault: sanitize")[0].message, "unknown default `sanitize`");
}

#[test]
fn a_rule_that_adds_nothing_is_a_warning() {
    let warned = |lines: &[&str]| -> Vec<String> {
        let warnings = compile(&[&policy("test", lines)]).1;
        warnings.into_iter().map(|warning| warning.0.message).collect()
    };
    let block = "id: a, detect: [email, card], verdict: block";
    assert_eq!(
        warned(&[block, "id: b, in: request, detect: card, verdict: mask"]),
        ["text rule `b` adds nothing: `a` finds the same"]
    );
    assert_eq!(
        warned(&["id: a, keywords: x, verdict: mask", "id: b, keywords: x, verdict: mask"]),
        ["text rule `b` adds nothing: `a` finds the same"]
    );
    assert!(warned(&[block, "id: b, detect: [card, iban], verdict: mask"]).is_empty());
    assert!(
        warned(&[&format!("{block}, mode: shadow"), "id: b, detect: card, verdict: mask"])
            .is_empty()
    );
}

#[test]
fn a_text_rule_applies_to_the_callers_of_its_policy() {
    let team = "policy: team\nfor: { team: payments }\ntext:\n  - { id: falcon, keywords: [falcon], verdict: mask }\n";
    let policies =
        compile(&[&policy("all", &["id: eagle, keywords: [eagle], verdict: mask"]), team]).0;
    let of = |team: Option<&str>| {
        let key = Some("k".to_owned());
        let who = Principal { key, team: team.map(str::to_owned), ..Principal::default() };
        OriginFields { who, ..any_caller() }
    };
    let masked = |actor: &OriginFields| {
        let guard = policies.text_guard(Direction::Response, actor).unwrap();
        summary(&guard.whole("falcon and eagle")).len()
    };
    assert_eq!(masked(&of(Some("payments"))), 2);
    // Twice: the second result comes from the cache.
    assert_eq!((masked(&of(None)), masked(&of(Some("web")))), (1, 1));
    assert_eq!(masked(&any_caller()), 2, "a team that is not known may be this one");
    let only = compile(&[team]).0;
    assert!(only.text_guard(Direction::Response, &of(None)).is_none());
    assert!(only.text_guard(Direction::Response, &any_caller()).is_some());
}
