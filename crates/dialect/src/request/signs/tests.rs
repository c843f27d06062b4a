use serde_json::json;

use super::super::{RemovedCall, TextDigest};
use super::*;

const RECORD: &str = "0199a8f3-7c1e-7d2a-9b4e-5f60718293a4";
const OTHER: &str = "0199a8f3-7c1e-7d2a-9b4e-5f60718293a5";

fn digest_of(text: &str) -> [u8; 32] {
    let mut digest = TextDigest::new();
    digest.add(text);
    digest.finish()
}

#[test]
fn messages_show_their_signs_the_newest_first() {
    let request = json!({"messages": [
        {"role": "assistant", "content": format!("Record: {RECORD}more")},
        {"role": "user", "content": format!("Record: {OTHER}")},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "t", "signature": "sig"},
            {"type": "text", "text": format!("blocked\nRecord: {OTHER}\n\nRecord: r1 \nNo Record: x")},
            {"type": "tool_use", "id": "toolu_1", "name": "x", "input": {}},
        ]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_2"}]},
    ]});
    let signs = signs(Dialect::Anthropic, &request.to_string()).unwrap();
    assert_eq!(signs.ids, ["toolu_1"]);
    assert_eq!(signs.signatures, ["sig"]);
    assert_eq!(signs.records, [OTHER, "r1", RECORD]);
    assert_eq!(signs.digests.last(), Some(&digest_of(&format!("Record: {RECORD}more"))));
    assert_eq!(signs.digests.len(), 2);
}

#[test]
fn chat_messages_show_them_too() {
    let request = json!({"messages": [
        {"role": "assistant", "content": null, "tool_calls": [{"id": "c1"}, {"id": ""}, {}]},
        {"role": "tool", "tool_call_id": "c2", "content": "Record: no"},
        {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"text": "\nRecord: r"}]},
    ]});
    let signs = signs(Dialect::OpenAiChat, &request.to_string()).unwrap();
    assert_eq!((signs.ids, signs.signatures.len()), (vec!["c1".to_owned()], 0));
    assert_eq!(signs.records, ["r"]);
    assert_eq!(signs.digests, [digest_of("a\nRecord: r")]);
}

#[test]
fn a_request_without_messages_shows_none_and_an_unreadable_one_is_an_error() {
    for dialect in [Dialect::Anthropic, Dialect::OpenAiChat] {
        assert!(signs(dialect, "{}").unwrap().is_empty());
        assert!(signs(dialect, r#"{"messages":[{}]}"#).unwrap().is_empty());
        assert!(signs(dialect, r#"{"messages":{}}"#).is_err());
    }
}

#[test]
fn the_oldest_are_left_out() {
    let message = |n: usize| {
        let calls = [json!({"id": format!("a{n}")}), json!({"id": format!("b{n}")})];
        json!({"role": "assistant", "content": format!("{n}\nRecord: {n}"), "tool_calls": calls})
    };
    let messages: Vec<_> = (0..Signs::MAX + 9).map(message).collect();
    let request = json!({ "messages": messages }).to_string();
    let signs = signs(Dialect::OpenAiChat, &request).unwrap();
    let lengths = [signs.ids.len(), signs.records.len(), signs.digests.len()];
    assert_eq!(lengths, [Signs::MAX; 3]);
    assert_eq!(signs.ids.first(), Some(&format!("a{}", Signs::MAX + 8)));
    assert_eq!(signs.records.last().map(String::as_str), Some("9"));
}

#[test]
fn a_removed_turn_has_the_signs_that_its_request_shows() {
    let call = RemovedCall {
        id: "gone".into(),
        original: "{}".into(),
        place: 0,
        notice: Some(format!("blocked\nRecord: {RECORD}")),
        why: format!("Record: {OTHER}"),
    };
    let turn = RemovedTurn {
        siblings: vec!["c1".into(), String::new()],
        signatures: vec!["sig".into()],
        left: Some([7; 32]),
        calls: vec![call],
        response: Some("resp".into()),
        conversation: Some("conv".into()),
    };
    let want = Signs {
        ids: vec!["c1".into()],
        signatures: vec!["sig".into()],
        records: vec![RECORD.into()],
        digests: vec![[7; 32]],
        states: vec!["resp".into(), "conv".into()],
    };
    assert_eq!(turn.signs(), want);
    assert!(RemovedTurn::default().signs().is_empty());
}
