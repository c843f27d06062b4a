use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn removed() -> RemovedTurn {
    let call = RemovedCall {
        id: "c1".into(),
        original: "{}".into(),
        place: 0,
        notice: Some("N".into()),
        why: "no".into(),
    };
    RemovedTurn { calls: vec![call], ..RemovedTurn::default() }
}

#[test]
fn a_request_that_cannot_be_read_is_an_error() {
    for dialect in [Dialect::Anthropic, Dialect::OpenAiChat] {
        for request in [
            "",
            "[]",
            "null",
            "{",
            r#"{"messages":[]} x"#,
            r#"{"messages":{}}"#,
            r#"{"messages":[1]}"#,
            r#"{"messages":[],"messages":[]}"#,
            r#"{"messages":[],"Messages":[]}"#,
            r#"{"messages":[{"role":"user","role":"assistant"}]}"#,
            r#"{"messages":[{"role":"user","content":"a","content":"b"}]}"#,
            r#"{"messages":[{"role":"user","content":[{"text":"a","text":"b"}]}]}"#,
            r#"{"messages":[{"role":"user","content":"a"}],"x":[1,]}"#,
        ] {
            assert!(restore(dialect, request, &[removed()]).is_err(), "{dialect:?} {request}");
        }
    }
}

#[test]
fn a_request_without_turns_is_not_read() {
    for dialect in [Dialect::Anthropic, Dialect::OpenAiChat] {
        assert_eq!(restore(dialect, "{", &[]), Ok(Restored::default()));
    }
}

#[test]
fn odd_but_readable_requests_are_left_alone() {
    for dialect in [Dialect::Anthropic, Dialect::OpenAiChat] {
        for request in [
            "{}",
            r#" {"messages":[]} "#,
            r#"{"messages":[{}]}"#,
            r#"{"messages":[{"role":5,"content":7},{"role":"user","content":null}]}"#,
            r#"{"messages":[{"role":"assistant","content":["N",5,null,{}]}]}"#,
            r#"{"messages":[{"role":"assistant","content":[{"type":1,"text":2,"id":3}]}]}"#,
        ] {
            let restored = restore(dialect, request, &[removed()]).unwrap();
            assert_eq!(restored.body, None, "{request}");
            assert_eq!(
                restored.skipped,
                [crate::request::SkippedCall { id: "c1".to_owned(), why: NotRestored::NotFound }],
                "{request}"
            );
        }
    }
}

/// Texts as clients may change notices: merged, truncated, repeated.
fn mangled() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec!["N1", "N2", "\n\n", "\n", " ", "A", "\u{1F600}"]);
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn kept(dialect: Dialect, id: &str, place: usize, notice: bool) -> RemovedCall {
    let original = match dialect {
        Dialect::Anthropic => json!({"type":"tool_use","id":id,"name":"x","input":{}}),
        _ => json!({"id":id,"type":"function","function":{"name":"x"}}),
    };
    let notice = notice.then(|| id.replace("call", "N"));
    RemovedCall { id: id.into(), original: original.to_string(), place, notice, why: "no".into() }
}

proptest! {
    #[test]
    fn whatever_clients_make_of_a_turn_the_request_stays_whole(
        texts in prop::collection::vec(mangled(), 1..4),
        as_string: bool,
        places in (0..5_usize, 0..5_usize),
        notices: (bool, bool),
        sibling: bool,
    ) {
        for dialect in [Dialect::Anthropic, Dialect::OpenAiChat] {
            let mut blocks: Vec<Value> =
                texts.iter().map(|text| json!({"type":"text","text":text})).collect();
            let mut message = json!({"role":"assistant"});
            if sibling && dialect == Dialect::Anthropic {
                blocks.push(json!({"type":"tool_use","id":"call0","name":"x","input":{}}));
            }
            if sibling && dialect == Dialect::OpenAiChat {
                message["tool_calls"] = json!([{"id":"call0"}]);
            }
            message["content"] = match as_string {
                true => json!(texts.concat()),
                false => Value::Array(blocks),
            };
            let request = json!({"messages":[message,{"role":"user","content":"Go"}]}).to_string();
            let turn = RemovedTurn {
                calls: vec![
                    kept(dialect, "call1", places.0, notices.0),
                    kept(dialect, "call2", places.1, notices.1),
                ],
                ..RemovedTurn::default()
            };
            let turn = testing::as_sent(dialect, &request, &[turn]).remove(0);
            let restored = restore(dialect, &request, std::slice::from_ref(&turn)).unwrap();
            let Some(body) = restored.body else {
                prop_assert_eq!(restored.skipped.len(), 2);
                continue;
            };
            prop_assert_eq!(restored.restored.len(), 2);
            let read: Value = serde_json::from_str(&body).unwrap();
            for id in ["call1", "call2"] {
                let said = |key: &str| body.matches(&format!("\"{key}\":\"{id}\"")).count();
                prop_assert_eq!(said("id"), 1);
                prop_assert_eq!(said("tool_use_id") + said("tool_call_id"), 1);
            }
            let content = &read["messages"][0]["content"];
            for block in content.as_array().into_iter().flatten() {
                let blank = block["text"].as_str().is_some_and(|text| text.trim().is_empty());
                let came = texts.iter().any(|text| block["text"] == text.as_str());
                prop_assert!(!blank || came || dialect == Dialect::OpenAiChat, "{}", content);
            }
            // There is nothing left to find.
            let again = restore(dialect, &body, &[turn]).unwrap();
            prop_assert_eq!(again.body, None);
        }
    }
}
