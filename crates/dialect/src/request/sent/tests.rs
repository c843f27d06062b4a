use serde_json::{Value, json};

use super::super::{ClientCall, RemovedCall, TextDigest};
use super::*;

const RECORD: &str = "0199a8f3-7c1e-7d2a-9b4e-5f60718293a4";
const OTHER: &str = "0199a8f3-7c1e-7d2a-9b4e-5f60718293a5";

fn sent_in(messages: Value) -> Vec<SentTurn> {
    sent(Dialect::Anthropic, &json!({ "messages": messages }).to_string()).unwrap().turns
}

fn notice(record: &str) -> String {
    format!("blocked\nRecord: {record}")
}

/// A turn of which the client received a notice, thinking and a call.
fn kept() -> RemovedTurn {
    let call = RemovedCall {
        id: "gone".into(),
        original: "{}".into(),
        place: 0,
        notice: Some(notice(RECORD)),
        why: notice(OTHER),
    };
    let mut text = TextDigest::new();
    text.add(&notice(RECORD));
    let client = ClientTurn {
        text: text.finish(),
        plan: None,
        calls: vec![ClientCall::new("toolu_1".into(), "ls", "{\"a\":1}")],
        signatures: vec![signature_hash("sig")],
    };
    RemovedTurn {
        client: Some(client),
        calls: vec![call],
        response: Some("resp".into()),
        conversation: Some("conv".into()),
        ..RemovedTurn::default()
    }
}

fn assistant(text: &str, signature: Option<&str>, id: &str, a: u32) -> Value {
    let thinking = signature.map(|it| json!({"type": "thinking", "thinking": "", "signature": it}));
    let text = json!({"type": "text", "text": text});
    let call = json!({"type": "tool_use", "id": id, "name": "ls", "input": {"a": a}});
    let content: Vec<Value> = thinking.into_iter().chain([text, call]).collect();
    json!({"role": "assistant", "content": content})
}

#[test]
fn a_turn_has_keys_in_common_with_the_request_only_if_it_is_in_there() {
    let kept = kept();
    let finds = |turn: &Value| {
        let sent = sent_in(json!([turn])).remove(0);
        sent.keys.iter().any(|key| kept.keys().contains(key))
    };
    let text = notice(RECORD);
    assert!(finds(&assistant(&text, Some("sig"), "toolu_1", 1)));
    assert!(finds(&assistant(&text, None, "toolu_1", 1)), "without thinking");
    assert!(finds(&assistant(&text, None, "", 1)), "without ids");
    assert!(!finds(&assistant(&text, Some("gis"), "toolu_1", 1)));
    assert!(!finds(&assistant(&text, None, "toolu_2", 1)));
    assert!(!finds(&assistant(&text, None, "toolu_1", 2)));
    assert!(!finds(&assistant(&notice(OTHER), Some("sig"), "toolu_1", 1)));
    assert!(!finds(&json!({"role": "assistant", "content": text})));
}

#[test]
fn a_turn_that_was_changed_leaves_traces() {
    let kept = kept();
    let leaves = |turn: Value| {
        let sent = sent_in(json!([turn])).remove(0);
        sent.traces.iter().any(|trace| kept.traces().contains(trace))
    };
    assert!(leaves(assistant("x", None, "toolu_1", 2)), "the ids of the calls");
    assert!(leaves(assistant("x", Some("sig"), "toolu_2", 2)), "a signature");
    let quoted = format!("It said:\n{}more", notice(RECORD));
    assert!(leaves(json!({"role": "assistant", "content": quoted})), "a notice");
    assert!(!leaves(assistant(&notice(OTHER), Some("gis"), "toolu_2", 1)));
}

#[test]
fn only_the_assistant_is_looked_at_the_newest_turn_first() {
    let (one, two) = (assistant("one", None, "a", 1), assistant("two", None, "b", 1));
    let user = json!({"role": "user", "content": notice(RECORD)});
    let turns = sent_in(json!([one, user, two, user]));
    let alone = |turn: Value| sent_in(json!([turn])).remove(0);
    let [two, one] = [SentTurn { at: 2..3, ..alone(two) }, alone(one)];
    assert_eq!(turns, [two, one]);
}

#[test]
fn a_request_without_messages_has_no_turns_and_an_unreadable_one_is_an_error() {
    for dialect in [Dialect::Anthropic, Dialect::OpenAiChat] {
        assert_eq!(sent(dialect, "{}"), Ok(Sent::default()));
        assert_eq!(sent(dialect, r#"{"messages":[{}]}"#), Ok(Sent::default()));
        assert!(sent(dialect, r#"{"messages":{}}"#).is_err());
    }
    // An empty turn has no key.
    let nothing = SentTurn { at: 0..1, ..SentTurn::default() };
    assert_eq!(sent_in(json!([{"role": "assistant", "content": " "}])), [nothing]);
}

#[test]
fn the_oldest_are_left_out() {
    let messages: Vec<Value> = (0..Sent::MAX + 9)
        .map(|n| json!({"role": "assistant", "content": n.to_string()}))
        .collect();
    let turns = sent_in(Value::Array(messages));
    assert_eq!(turns.len(), Sent::MAX);
    let oldest = sent_in(json!([{"role": "assistant", "content": "9"}])).remove(0);
    assert_eq!(turns.last(), Some(&SentTurn { at: 9..10, ..oldest }));
}

#[test]
fn a_turn_of_which_nothing_is_known_is_found_by_the_provider_s_ids_alone() {
    let unknown = RemovedTurn { client: None, ..kept() };
    assert!(unknown.keys().is_empty() && unknown.traces().is_empty() && unknown.alike().is_none());
    assert_eq!(unknown.states(), ["resp", "conv"]);
}

#[test]
fn alike_are_turns_that_lost_the_same_calls() {
    let (one, mut other) = (kept(), kept());
    other.calls[0].id = "another".into();
    other.client.as_mut().unwrap().signatures.clear();
    assert_eq!(one.alike(), other.alike());
    assert_ne!(one.alike(), RemovedTurn { removed: [1; 32], ..kept() }.alike());
    other.client.as_mut().unwrap().text = None;
    assert_ne!(one.alike(), other.alike());
}
