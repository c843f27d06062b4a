use callgate_wire::{Framing, Style};

use super::*;
use crate::Dialect;
use crate::request::ClientCall;
use crate::request::testing::denied;

fn stream(events: &[(&str, &str)]) -> Vec<u8> {
    let (style, mut out) = (Style::default_of(Framing::EventStream), Vec::new());
    events.iter().for_each(|(name, data)| style.event(Some(name), data, &mut out));
    out
}

const EVENTS: [(&str, &str); 9] = [
    ("messageStart", r#"{"role":"assistant","p":"ab"}"#),
    ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"Hm."}}}"#),
    (
        "contentBlockDelta",
        r#"{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"s="}}}"#,
    ),
    ("contentBlockStop", r#"{"contentBlockIndex":0}"#),
    ("contentBlockDelta", r#"{"contentBlockIndex":1,"delta":{"text":"a \ud83d"},"p":"x"}"#),
    ("contentBlockDelta", "{\"contentBlockIndex\":1,\n \"delta\":{\"text\":\"\\ude00\"}}"),
    (
        "contentBlockStart",
        r#"{"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"c","name":"rm"}}}"#,
    ),
    ("contentBlockDelta", r#"{"contentBlockIndex":2,"delta":{"toolUse":{"input":"{ \"p\":"}}}"#),
    ("contentBlockDelta", r#"{"contentBlockIndex":2,"delta":{"toolUse":{"input":"1 }"}}}"#),
];
const END: [(&str, &str); 2] = [
    ("messageStop", r#"{"stopReason":"tool_use"}"#),
    ("metadata", r#"{"usage":{"inputTokens":5}}"#),
];
const THOUGHT: &str = r#"{"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"s="}}}"#;
const TEXT: &str = r#"{"text":"a \ud83d\ude00"}"#;
const CALL: &str = r#"{"toolUse":{"toolUseId":"c","name":"rm","input":{ "p":1 }}}"#;

/// What a stream says in pieces is put together to the byte.
#[test]
fn a_turn_is_what_the_provider_produced() {
    let continuing = Dialect::Converse.continuing().unwrap();
    let turn = continuing.turn(stream(&[&EVENTS[..], &END].concat())).unwrap();
    assert_eq!(turn.content, format!("[{THOUGHT},{TEXT},{CALL}]"));
    assert_eq!(turn.usage, r#"{"inputTokens":5}"#);
    let body = format!(
        r#"{{"output":{{"message":{{"role":"assistant","content":[{TEXT}, {CALL}]}}}},"usage":{{"x":1}}}}"#
    );
    let turn = continuing.turn(&body).unwrap();
    assert_eq!(turn.content, format!("[{TEXT},{CALL}]"));
    let redacted = (
        "contentBlockDelta",
        r#"{"contentBlockIndex":0,"delta":{"reasoningContent":{"redactedContent":"AA=="}}}"#,
    );
    let turn = continuing.turn(stream(&[redacted])).unwrap();
    assert_eq!(turn.content, r#"[{"reasoningContent":{"redactedContent":"AA=="}}]"#);
}

#[test]
fn a_turn_with_something_unknown_is_not_continued() {
    let continuing = Dialect::Converse.continuing().unwrap();
    for odd in [
        ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"citation":{"title":"x"}}}"#),
        ("contentBlockDelta", r#"{"contentBlockIndex":1,"delta":{"citation":{"title":"x"}}}"#),
        (
            "contentBlockStart",
            r#"{"contentBlockIndex":3,"start":{"toolResult":{"toolUseId":"c"}}}"#,
        ),
        (
            "contentBlockStart",
            r#"{"contentBlockIndex":3,"start":{"toolUse":{"toolUseId":"d","name":"nova_grounding","type":"server_tool_use"}}}"#,
        ),
        ("throttlingException", r#"{"message":"slow"}"#),
    ] {
        let all = [&EVENTS[..], &[odd], &END].concat();
        assert!(continuing.turn(stream(&all)).is_err(), "{odd:?}");
    }
    assert!(continuing.turn("{}").is_err());
}

#[test]
fn what_is_left_of_a_broken_answer_is_its_text_and_the_calls_that_left() {
    let continuing = Dialect::Converse.continuing().unwrap();
    let mut part = stream(&EVENTS);
    part.extend_from_slice(&[0, 0, 1]);
    let known = [ClientCall::new("c".to_owned(), "rm", "{}")];
    assert_eq!(continuing.rest(&part, &known), Some(format!("[{TEXT},{CALL}]")));
    assert_eq!(continuing.rest(&part, &[]), Some(format!("[{TEXT}]")));
    assert_eq!(continuing.rest(stream(&EVENTS[..4]), &known), None);
}

#[test]
fn the_next_request_is_the_last_one_with_the_turn_and_its_results() {
    let continuing = Dialect::Converse.continuing().unwrap();
    let calls = [denied("c", "{}")];
    let turn = DeniedTurn { content: "[1]", calls: &calls, names: &["rm"] };
    let request = |body: &str| continuing.request(body, &turn);
    let body = r#"{ "messages" : [ {"role":"user","content":[]} ] , "x": 1.0}"#;
    let want = concat!(
        r#"{ "messages" : [ {"role":"user","content":[]},{"role":"assistant","content":[1]},"#,
        r#"{"role":"user","content":[{"toolResult":{"toolUseId":"c","content":[{"text":"no \"rm\""}],"status":"error"}}]} ] , "x": 1.0}"#
    );
    assert_eq!(request(body).unwrap(), want);
    let with = |extra: &str| request(&body.replace("\"x\": 1.0", extra)).is_ok();
    assert!(!with(r#""toolConfig":{"toolChoice":{"tool":{"name":"rm"}}}"#));
    assert!(with(r#""toolConfig":{"toolChoice":{"tool":{"name":"ls"}}}"#));
    assert!(with(r#""toolConfig":{"toolChoice":{"any":{}}}"#));
    assert!(request(r#"{"messages":[{"role":"assistant","content":[]}]}"#).is_err());
    assert!(request("{").is_err());
    assert!(continuing.wants_json(r#"{"outputConfig":{"textFormat":{"type":"json_schema"}}}"#));
    assert!(!continuing.wants_json("{}"));
}
