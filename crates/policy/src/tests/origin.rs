//! `origin`: values that came into the conversation with the result of a tool.

use std::sync::Arc;

use callgate_call::{
    Conversation, FoundOrigin, HiddenConversation, PassageSource, Passages, Surface, ToolCall,
    ValueOrigins,
};
use callgate_effects::Catalogue;

use super::support::*;
use crate::{ConditionKind, Holds, Policies, SpentLimits, Verdict};

fn conversation(user: &str, result: &str) -> ValueOrigins {
    let mut passages = Passages::default();
    passages.add(PassageSource::Given, user).unwrap();
    passages.add(PassageSource::ToolResult, result).unwrap();
    ValueOrigins::Conversation(Arc::new(Conversation::of(passages)))
}

fn with(values: ValueOrigins, tool: &str, input: &str) -> ToolCall {
    let call = call(tool, input);
    ToolCall { origin: call.origin.clone().with_values(values), ..call }
}

fn deny(condition: &str) -> Policies {
    rules(&[&format!("id: r, verdict: deny, when: {condition}")])
}

/// What the condition comes to: a rule on it and one on its opposite both match what is unknown.
#[track_caller]
fn check(arg: &str, call: &ToolCall, expected: &str) {
    let origin = format!("{{ origin: {{ arg: '{arg}', only: tool_result }} }}");
    let is = |condition: &str| deny(condition).ask(call).verdict == Verdict::Deny;
    let found = match (is(&origin), is(&format!("{{ not: {origin} }}"))) {
        (true, false) => "yes",
        (false, true) => "no",
        (true, true) => "unknown",
        (false, false) => "neither",
    };
    assert_eq!(found, expected, "{arg} of {}", call.arguments.raw());
}

#[test]
fn values_are_looked_for_one_by_one() {
    let seen = || conversation("mail ann@a.example", "mal@b.example, see https://b.example/x 4711");
    for (arg, input, expected) in [
        ("to", r#"{"to":"mal@b.example"}"#, "yes"),
        ("to", r#"{"to":"ann@a.example"}"#, "no"),
        ("to", r#"{"to":"new@c.example"}"#, "no"),
        ("to", r#"{"to":["ann@a.example","mal@b.example"]}"#, "yes"),
        ("to", r#"{"to":"[\"ann@a.example\",\"mal@b.example\"]"}"#, "yes"),
        ("to", r#"{"to":{"address":"mal@b.example"}}"#, "yes"),
        ("items[*].to", r#"{"items":[{"to":"ann@a.example"},{"to":"mal@b.example"}]}"#, "yes"),
        ("account", r#"{"account":4711}"#, "yes"),
        ("to", r#"{"to":""}"#, "no"),
        ("to", r#"{"to":true}"#, "no"),
        ("to", r#"{"To":"mal@b.example"}"#, "unknown"),
        ("to", "{}", "no"),
        ("to", r#"{"to":1,"to":2}"#, "unknown"),
        ("@url", r#"{"url":"https://b.example/x"}"#, "yes"),
        ("@url", r#"{"link":"https://a.example"}"#, "no"),
    ] {
        check(arg, &with(seen(), "send", input), expected);
    }
    let many: Vec<String> = (0..40).map(|at| format!("\"v{at}\"")).collect();
    check("to", &with(seen(), "send", &format!("{{\"to\":[{}]}}", many.join(","))), "unknown");
}

#[test]
fn what_is_not_seen_is_unknown() {
    let input = r#"{"to":"mal@b.example"}"#;
    check("to", &with(ValueOrigins::Unknown, "send", input), "unknown");
    check("to", &with(ValueOrigins::Unknown, "send", "{}"), "no");
    let hidden = Conversation::new(|| Err(HiddenConversation::Stored));
    let hidden = with(ValueOrigins::Conversation(Arc::new(hidden)), "send", input);
    check("to", &hidden, "unknown");
    let why = deny("{ origin: { arg: to, only: tool_result } }").ask(&hidden).errors[0].why.clone();
    assert!(why.contains("stored at the provider"), "{why}");
}

/// At the door of a server, the answers for the model's call count, condition by condition.
#[test]
fn what_was_found_for_the_models_call() {
    let found = |holds| {
        let condition = "to".to_owned();
        ValueOrigins::Found([FoundOrigin { condition, holds }].into())
    };
    let input = r#"{"to":"x","cc":"y"}"#;
    for (holds, expected) in [(Some(true), "yes"), (Some(false), "no"), (None, "unknown")] {
        check("to", &with(found(holds), "send", input), expected);
        check("cc", &with(found(holds), "send", input), "unknown");
    }
}

#[test]
fn a_judgement_has_what_was_found_for_the_tools_of_its_rules() {
    let policies = rules(&[
        "id: a, tool: send, surface: mcp, verdict: deny, when: { origin: { arg: to, only: tool_result } }",
        "id: b, tool: other, verdict: deny, when: { origin: { arg: cc, only: tool_result } }",
    ]);
    assert!(policies.looks_at_conversation());
    assert!(!rules(&["id: r, verdict: deny, tool: x"]).looks_at_conversation());
    let seen = conversation("", "mal");
    let judgement = policies.ask(&with(seen.clone(), "send", r#"{"to":"mal","cc":"mal"}"#));
    assert_eq!(judgement.verdict, Verdict::Allow, "it is not at a server");
    assert_eq!(judgement.origins, [FoundOrigin { condition: "to".into(), holds: Some(true) }]);
    assert!(policies.ask(&with(seen.clone(), "send", r#"{"cc":"mal"}"#)).origins.is_empty());
    // A call inside a wrapper has the conversation of the wrapper.
    let inner = r#"{"tool_uses":[{"recipient_name":"functions.other","parameters":{"cc":"mal"}}]}"#;
    let judgement = policies.ask(&with(seen, "multi_tool_use.parallel", inner));
    assert_eq!(judgement.verdict, Verdict::Deny, "{judgement:?}");
}

/// The conversation is read only for a call that a rule asks about.
#[test]
fn nothing_is_read_before_it_is_needed() {
    let policies = rules(&[
        "id: a, tool: send, verdict: deny, when: { origin: { arg: to, only: tool_result } }",
    ]);
    let unread = || {
        let conversation = Conversation::new(|| panic!("it was read"));
        ValueOrigins::Conversation(Arc::new(conversation))
    };
    assert_eq!(policies.ask(&with(unread(), "fetch", r#"{"to":"x"}"#)).verdict, Verdict::Allow);
    assert_eq!(policies.ask(&with(unread(), "send", r#"{"cc":"x"}"#)).verdict, Verdict::Allow);
    assert_eq!(policies.by_name_of(&with(unread(), "send", "")), "open");
    assert_eq!(policies.by_name_of(&with(unread(), "fetch", "")), "allow");
}

#[test]
fn an_explanation_shows_where_each_value_is() {
    let policies = deny("{ origin: { arg: to, only: tool_result } }");
    let call = with(conversation("ann", "mal"), "send", r#"{"to":["ann","mal","bob"]}"#);
    let when = policies.explain(&call, &NOON, &SpentLimits::none()).remove(0).when.unwrap();
    assert_eq!(when.holds, Holds::Yes);
    let ConditionKind::Test(test) = when.kind else { panic!() };
    assert_eq!(
        test.seen,
        [
            "\"ann (in text of the user or the system)\"",
            "\"mal (only in a tool result)\"",
            "\"bob (nowhere in the conversation)\""
        ]
    );
    let matched = policies.ask(&call).details.matched.unwrap();
    assert_eq!((matched.path.as_str(), matched.value.as_str()), ("to", "mal"));
}

#[test]
fn a_rule_at_a_door_without_the_conversation_is_warned_about() {
    let text = |surface: &str| {
        let rule = format!(
            "id: r, verdict: ask{surface}, when: {{ origin: {{ arg: to, only: tool_result }} }}"
        );
        policy_text("p", "", &[&rule])
    };
    let (_, warnings) = compile(&[&text("")]);
    assert!(warnings[0].0.message.contains("which is unknown on `mcp`"), "{warnings:?}");
    assert_eq!(compile(&[&text(", surface: response")]).1.len(), 0);
    let (_, warnings) = Policies::compile_for(
        &[source(&text(""))],
        &Catalogue::builtin(),
        &[Surface::Inbound, Surface::Response],
    )
    .unwrap();
    assert_eq!(warnings.len(), 0, "nothing serves mcp");
}
