use super::*;
use crate::event::{After, What};
use crate::request::testing::restore;
use crate::request::{RemovedCall, RemovedTurn};
use crate::{Canonical, Dialect, Limits};

fn chunk(reader: &mut Reader, data: &str) -> Result<Reading, Unreadable> {
    reader.read(Some(b"chunk"), data)
}

const MESSAGE: &str = r#"{"type":"message_start","message":{"content":[]}}"#;
const BLOCK: &str = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"rm","input":{}}}"#;
const NOVA: &str = r#"{"contentBlockStart":{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"t1","name":"rm"}}}}"#;
const CHAT: &str = r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t1","function":{"name":"rm","arguments":""}}]}}]}"#;

#[track_caller]
fn is_call(reading: &Reading) {
    let is_call =
        |what: &What| matches!(what, What::Piece(piece) if piece.name.as_deref() == Some("rm"));
    assert!(reading.parts.iter().any(|part| is_call(&part.what)), "{reading:?}");
}

#[test]
fn the_first_chunk_shows_the_api() {
    for (first, call) in [(MESSAGE, BLOCK), (NOVA, NOVA), (CHAT, CHAT)] {
        let mut reader = Reader::new(8);
        chunk(&mut reader, first).unwrap();
        if first != call {
            is_call(&chunk(&mut reader, call).unwrap());
        }
        assert!(reader.has_read_any());
    }
    is_call(&chunk(&mut Reader::new(8), NOVA).unwrap());
    is_call(&chunk(&mut Reader::new(8), CHAT).unwrap());
}

#[test]
fn a_response_is_of_one_api() {
    let mut reader = Reader::new(8);
    chunk(&mut reader, MESSAGE).unwrap();
    for other in [NOVA, CHAT, r#"{"generation":"Hi"}"#] {
        assert_eq!(chunk(&mut reader, other).unwrap_err(), Unreadable::Foreign, "{other}");
    }
    assert_eq!(reader.read(Some(b"other"), BLOCK).unwrap_err(), Unreadable::Foreign);
    assert!(
        reader.read(Some(b"throttlingException"), r#"{"message":"m"}"#).unwrap().after
            == After::Failure
    );
}

#[test]
fn names_of_events_are_not_asked_for() {
    assert_eq!(chunk(&mut Reader::new(8), MESSAGE).unwrap().rename, None);
}

#[test]
fn plain_text_passes_and_unknown_calls_do_not() {
    let text = r#"{"outputText":"Hi","index":0,"tool_calls":[]}"#;
    assert_eq!(chunk(&mut Reader::new(8), text).unwrap().text.unwrap().of(text), "Hi");
    for data in [
        r#"{"generation":"","tool_calls":[{"f":1}]}"#,
        r#"{"generation":"","x":[{"T\u006fol_Calls":{"f":1}}]}"#,
    ] {
        let read = chunk(&mut Reader::new(8), data);
        assert!(matches!(read, Err(Unreadable::Ambiguous(_))), "{data} {read:?}");
    }
    for data in
        [r#"{"x":{"name":"rm","arguments":"{}"}}"#, r#"{"x":{"type":"tool_use","name":"rm"}}"#]
    {
        let mut reader = Dialect::Invoke.reader(&Limits::default());
        is_call(&reader.read(Some(b"chunk"), data).unwrap());
    }
}

#[test]
fn an_exception_is_no_place_for_a_call() {
    let data = r#"{"message":"m","x":{"functionCall":{"name":"rm"}}}"#;
    let read = Reader::new(8).read(Some(b"throttlingException"), data);
    assert_eq!(read.unwrap_err(), Unreadable::Foreign);
}

/// A removed call is restored in the form of its own API.
#[test]
fn requests_are_of_the_same_apis() {
    let call = Canonical {
        id: "t1".into(),
        name: "rm".into(),
        arguments: "{\"a\":1}".into(),
        free_text: false,
        anonymous: false,
    };
    let table = [
        (
            r#"{"type":"tool_use","id":"t1","name":"rm","input":{}}"#,
            r#"{"anthropic_version":"x","messages":[{"role":"assistant","content":"blocked"},{"role":"user","content":"?"}]}"#,
            r#""tool_use_id":"t1""#,
        ),
        (
            r#"{"toolUseId":"t1","name":"rm"}"#,
            r#"{"schemaVersion":"messages-v1","messages":[{"role":"assistant","content":[{"text":"blocked"}]},{"role":"user","content":[{"text":"?"}]}]}"#,
            r#""toolResult":{"toolUseId":"t1""#,
        ),
        (
            r#"{"index":0,"id":"t1","type":"function","function":{"name":"rm","arguments":""}}"#,
            r#"{"messages":[{"role":"assistant","content":"blocked"},{"role":"user","content":"?"}]}"#,
            r#""tool_call_id":"t1""#,
        ),
    ];
    for (opened, request, result) in table {
        let turn = RemovedTurn {
            calls: vec![RemovedCall {
                id: "t1".into(),
                original: Dialect::Invoke.original(Some(opened), &call),
                place: 0,
                notice: Some("blocked".into()),
                why: "no".into(),
            }],
            ..RemovedTurn::default()
        };
        let body = restore(Dialect::Invoke, request, &[turn]).unwrap().body.unwrap();
        assert!(
            body.contains(result) && body.contains(r#"{"a":1}"#) || body.contains(r#"{\"a\":1}"#),
            "{body}"
        );
    }
}
