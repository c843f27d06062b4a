//! Extra input, and other ways to read a call.

use callgate_call::{Arguments, Surface, ToolCall};

use super::support::{NOON, call_at, policies, policy_text, rules};
use crate::{
    AlsoJudged, ExtraInput, Findings, Judgement, OtherReading, Policies, SpentLimits, Verdict,
};

const KEY: &str = "AKIAIOSFODNN7EXAMPLX";

fn call(name: &str, input: &str) -> ToolCall {
    call_at(Surface::Mcp, name, input)
}

fn extra(place: &str, input: &str) -> ExtraInput {
    ExtraInput { place: place.to_owned(), input: Arguments::json(input), is_fixed: false }
}

impl Policies {
    fn also(&self, call: &ToolCall, others: AlsoJudged<'_>) -> Judgement {
        self.judge_also(call, others, &NOON, &SpentLimits::none(), Findings::NotInspected)
    }

    fn with(&self, call: &ToolCall, extra: &[ExtraInput]) -> Judgement {
        self.also(call, AlsoJudged { readings: &[], extra })
    }
}

#[test]
fn conditions_on_the_whole_input_cover_extra_input() {
    let policies = rules(&[
        "id: word, when: { arg: $, contains: forbidden }, verdict: deny, reason: Not that.",
        "id: key, when: { secret: any }, verdict: deny",
        "id: path, when: { arg: path, contains: etc }, verdict: deny",
    ]);
    let tool_call = call("t", r#"{"path":"a"}"#);
    for (input, rule) in [
        (r#"{"a":["forbidden"]}"#.to_owned(), Some("word")),
        (format!(r#"{{"a":{{"b":"{KEY}"}}}}"#), Some("key")),
        (r#"{"path":"/etc"}"#.to_owned(), None),
        (r#"{"a":"fine"}"#.to_owned(), None),
    ] {
        let parts = [extra("first", r#"{"x":1}"#), extra("second", &input)];
        let judged = policies.with(&tool_call, &parts);
        let denied = (judged.verdict == Verdict::Deny).then_some(judged.rule.clone()).flatten();
        assert_eq!(denied.as_deref(), rule, "{input}");
        assert_eq!(judged.verdict.passes(), rule.is_none());
        assert_eq!(judged.reason.contains("in `second`"), rule.is_some(), "{}", judged.reason);
        assert!(!format!("{:?}", judged.denial(&tool_call)).contains(KEY));
    }
}

#[test]
fn extra_input_never_helps_a_call_pass() {
    let policies = policies(&policy_text(
        "p",
        "default: deny",
        &[
            "id: words, when: { all: [{ arg: $, contains: please }, { arg: $, not_contains: sudo }] }, verdict: allow",
            "id: must, priority: 1, when: { arg: $, not_contains: please }, verdict: deny",
        ],
    ));
    let polite = call("t", r#"{"a":"please"}"#);
    let rude = call("t", r#"{"a":"now"}"#);
    let verdict = |call: &ToolCall, input: &str| policies.with(call, &[extra("x", input)]).verdict;
    assert_eq!(verdict(&polite, r#"{"a":"anything"}"#), Verdict::Allow);
    assert_eq!(verdict(&polite, r#"{"a":"sudo"}"#), Verdict::Deny);
    assert_eq!(verdict(&rude, r#"{"a":"please"}"#), Verdict::Deny);
}

#[test]
fn what_cannot_be_read_counts_against_the_call() {
    let tool_call = call("t", "{}");
    let large = ExtraInput { input: Arguments::oversize("{"), ..extra("x", "{}") };
    for (rule, verdict) in [
        ("id: key, when: { secret: any }, verdict: deny", Verdict::Deny),
        ("id: mask, verdict: sanitize, sanitize: { detectors: [secret] }", Verdict::Deny),
        ("id: path, when: { arg: path, contains: a }, verdict: deny", Verdict::Allow),
    ] {
        let judged = rules(&[rule]).with(&tool_call, std::slice::from_ref(&large));
        assert_eq!(judged.verdict, verdict, "{rule}");
        if verdict == Verdict::Deny {
            assert!(judged.reason.contains("`x` cannot be"), "{}", judged.reason);
        }
    }
}

#[test]
fn what_is_found_is_replaced_in_each_part_or_refused() {
    let policies = rules(&["id: mask, verdict: sanitize, sanitize: { detectors: [secret] }"]);
    let tool_call = call("t", r#"{"a":"x"}"#);
    let held = format!(r#"{{"a": "{KEY}","n":1.50}}"#);
    let judged = policies.with(&tool_call, &[extra("one", r#"{"n":1}"#), extra("two", &held)]);
    let masked = held.replace(KEY, "[REDACTED:aws_access_key_id]");
    assert_eq!(judged.rewritten_extra(), [None, Some(masked)]);
    assert_eq!((judged.rewritten(), judged.is_rewritten()), (None, true));
    assert_eq!(judged.replaced, ["aws_access_key_id"]);
    let fixed = ExtraInput { is_fixed: true, ..extra("state", &held) };
    let judged = policies.with(&tool_call, &[fixed]);
    assert_eq!((judged.verdict, judged.rewritten_extra().len()), (Verdict::Deny, 0));
    assert!(judged.reason.contains("`state` cannot be sanitized"), "{}", judged.reason);
}

#[test]
fn every_reading_of_a_call_is_judged_and_the_strictest_counts() {
    let policies = rules(&[
        "id: name, tool: delete, verdict: deny",
        "id: mask, tool: send, verdict: sanitize, sanitize: { detectors: [secret] }",
        "id: key, tool: post, when: { secret: any }, verdict: deny",
    ]);
    let tool_call = call("x", &format!(r#"{{"a":"{KEY}"}}"#));
    let read = |name: &str| {
        let label = format!("as `{name}`");
        vec![OtherReading {
            call: ToolCall { name: call(name, "").name, ..tool_call.clone() },
            label,
        }]
    };
    let judge = |name: &str, extra: &[ExtraInput]| {
        policies.also(&tool_call, AlsoJudged { readings: &read(name), extra })
    };
    let denied = judge("delete", &[]);
    assert_eq!((denied.verdict, denied.rule.as_deref()), (Verdict::Deny, Some("name")));
    assert!(denied.reason.starts_with("as `delete`: "), "{}", denied.reason);
    let sent = judge("send", &[]);
    assert_eq!(sent.rewritten(), Some(r#"{"a":"[REDACTED:aws_access_key_id]"}"#));
    assert!(sent.permit(&tool_call).is_some());
    assert_eq!(judge("other", &[]).verdict, Verdict::Allow);
    let clean = call("x", "{}");
    let held = extra("m", &format!(r#"{{"a":"{KEY}"}}"#));
    let readings = vec![OtherReading { call: call("post", "{}"), label: String::new() }];
    let others = AlsoJudged { readings: &readings, extra: std::slice::from_ref(&held) };
    assert_eq!(policies.also(&clean, others).verdict, Verdict::Deny);
}

#[test]
fn a_secret_that_only_some_read_cannot_be_replaced() {
    let policies = rules(&["id: mask, verdict: sanitize, sanitize: { detectors: [secret] }"]);
    let tool_call = call("t", r#"{"a":"AKIAIOSF\ufffdODNN7EXAMPLX"}"#);
    let shorter = call("t", &format!(r#"{{"a":"{KEY}"}}"#));
    let readings = vec![OtherReading { call: shorter, label: "without halves".to_owned() }];
    let judged = policies.also(&tool_call, AlsoJudged { readings: &readings, extra: &[] });
    assert_eq!((judged.verdict, judged.rewritten()), (Verdict::Deny, None));
}

#[test]
fn a_message_that_is_not_a_call_is_judged_by_its_content() {
    let policies = policies(&policy_text(
        "p",
        "default: deny",
        &[
            "id: name, tool: elicitation/create, verdict: deny",
            "id: key, priority: 1, when: { secret: any }, verdict: deny",
            "id: ticket, when: { arg: $, not_contains: TICKET }, verdict: deny",
        ],
    ));
    let named = call("elicitation/create", "");
    let judge = |input: &str| {
        policies.judge_sent(&named, &[extra("result", input)], &NOON, Findings::Of(&[]))
    };
    assert_eq!(judge(r#"{"a":"x"}"#).verdict, Verdict::Allow);
    let denied = judge(&format!(r#"{{"a":"{KEY}"}}"#));
    assert_eq!(denied.rule.as_deref(), Some("key"));
    assert!(denied.denial(&named).unwrap().reason.contains("in `result`"));
}

#[test]
fn the_index_covers_extra_input_too() {
    let lines: Vec<String> = (0..40)
        .map(|n| format!("id: r{n}, when: {{ arg: $, contains: word{n}x }}, verdict: deny"))
        .collect();
    let policies = rules(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let judged = policies.with(&call("t", "{}"), &[extra("m", r#"{"a":"word17x"}"#)]);
    assert_eq!(judged.rule.as_deref(), Some("r17"));
    assert_eq!(policies.with(&call("t", "{}"), &[extra("m", "{}")]).verdict, Verdict::Allow);
}
