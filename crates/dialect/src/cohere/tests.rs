use serde_json::{Value, json};

use crate::request::testing::restore;
use crate::request::{NotRestored, RemovedCall, RemovedTurn};
use crate::{
    After, ArgumentsPiece, Canonical, Carrier, Dialect, Limits, Reading, Unreadable, What,
};

const START: &str = r#"{"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"rm_1","type":"function","function":{"name":"rm","arguments":""}}}}}"#;

fn read(events: &[&str]) -> Result<Reading, Unreadable> {
    let mut reader = Dialect::Cohere.reader(&Limits::default());
    let mut last = Ok(Reading::default());
    for event in events {
        last = reader.read(None, event);
    }
    last
}

fn body(data: &str) -> Result<Reading, Unreadable> {
    Dialect::Cohere.reader(&Limits::default()).read_body(data)
}

/// Name, arguments and carrier of every piece.
fn pieces(reading: &Reading) -> Vec<(Option<&str>, &ArgumentsPiece, Carrier)> {
    let piece = |part: &'_ crate::Part| matches!(part.what, What::Piece(_));
    let parts = reading.parts.iter().filter(|part| piece(part));
    parts
        .filter_map(|part| match &part.what {
            What::Piece(piece) => Some((piece.name.as_deref(), &piece.arguments, piece.carrier)),
            _ => None,
        })
        .collect()
}

#[test]
fn a_call_comes_in_pieces() {
    let start = read(&[START]).unwrap();
    let fragment = |text: &str| ArgumentsPiece::Fragment(text.into());
    assert_eq!(pieces(&start), [(Some("rm"), &fragment(""), Carrier::Listed)]);
    let delta = r#"{"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":"{\"a\":"}}}}}"#;
    let piece = read(&[START, delta]).unwrap();
    assert_eq!(pieces(&piece), [(None, &fragment(r#"{\"a\":"#), Carrier::Listed)]);
    let end = r#"{"type":"tool-call-end","index":0}"#;
    assert!(matches!(read(&[START, end]).unwrap().parts[0].what, What::End(crate::Slot(0))));
    for orphan in [delta, end] {
        assert_eq!(read(&[orphan]).unwrap_err(), Unreadable::Orphan, "{orphan}");
        let other = orphan.replace("\"index\":0", "\"index\":3");
        assert_eq!(read(&[START, &other]).unwrap_err(), Unreadable::Orphan, "{other}");
    }
}

#[test]
fn the_word_null_is_no_arguments() {
    let null = START.replace(r#""arguments":"""#, r#""arguments":"null""#);
    assert_eq!(pieces(&read(&[&null]).unwrap())[0].1, &ArgumentsPiece::None);
    let delta = r#"{"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":"{}"}}}}}"#;
    let behind = read(&[&null, delta]).unwrap();
    assert!(matches!(&behind.parts[0].what, What::Piece(piece) if piece.refuse.is_some()));
}

#[test]
fn a_plan_is_not_an_answer() {
    let plan =
        read(&[r#"{"type":"tool-plan-delta","delta":{"message":{"tool_plan":"I"}}}"#]).unwrap();
    assert_eq!((plan.text.is_some(), plan.text_lane), (true, super::PLAN));
    let text = r#"{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"I"}}}}"#;
    let text = read(&[text]).unwrap();
    assert_eq!((text.text.is_some(), text.text_lane), (true, super::LANE));
    let thinking =
        r#"{"type":"content-delta","index":0,"delta":{"message":{"content":{"thinking":"I"}}}}"#;
    assert!(read(&[thinking]).unwrap().text.is_none());
}

#[test]
fn all_tokens_and_the_reason_are_read() {
    let end = r#"{"type":"message-end","delta":{"finish_reason":"TOOL_CALL","usage":{"billed_units":{"input_tokens":62,"output_tokens":35},"tokens":{"input_tokens":968,"output_tokens":90}}}}"#;
    let tally = read(&[end]).unwrap().tally.unwrap();
    assert_eq!((tally.input, tally.output), (Some(968), Some(90)));
    assert_eq!(tally.stop_reason.as_deref(), Some("TOOL_CALL"));
    let billed = r#"{"id":"x","message":{"role":"assistant","content":[]},"finish_reason":"COMPLETE","usage":{"billed_units":{"input_tokens":62}}}"#;
    assert_eq!(body(billed).unwrap().tally.unwrap().input, Some(62));
}

#[test]
fn errors_differ_from_other_apis() {
    let failure = r#"{"type":"message-end","delta":{"finish_reason":"ERROR","error":"broke"}}"#;
    for event in [failure, r#"{"message":"broke"}"#, r#"{"type":"error","message":"broke"}"#] {
        assert!(read(&[event]).unwrap().after == After::Failure, "{event}");
    }
    assert!(body(r#"{"id":"x","message":"broke"}"#).unwrap().parts.is_empty());
    for foreign in [
        r#"{"choices":[]}"#,
        r#"{"type":"message","role":"assistant","content":[]}"#,
        r#"{"text":"hi","generation_id":"g"}"#,
        r#"{"message":{"content":"hi"}}"#,
    ] {
        assert_eq!(body(foreign).unwrap_err(), Unreadable::Foreign, "{foreign}");
    }
    for foreign in [r#"{"type":"message_start"}"#, r#"{"event_type":"text-generation"}"#] {
        assert_eq!(read(&[foreign]).unwrap_err(), Unreadable::Foreign, "{foreign}");
    }
}

#[test]
fn calls_in_other_places_are_strays() {
    for event in [
        START.replace("tool-call-start", "tool-call-new"),
        START.replace("tool-call-start", "content-delta"),
        START.replace("\"index\":0", "\"x\":{\"name\":\"rm\",\"arguments\":\"{}\"}"),
    ] {
        let reading = read(&[&event]).unwrap();
        assert_eq!(pieces(&reading).last().unwrap().2, Carrier::Stray, "{event}");
    }
    // A citation quotes results of the client's own tools.
    let citation = r#"{"type":"citation-start","index":0,"delta":{"message":{"citations":{"text":"x","sources":[{"type":"tool","tool_output":{"name":"rm","input":"x"}}]}}}}"#;
    let reading = read(&[citation]).unwrap();
    assert!(reading.parts.is_empty() && reading.repeats_texts);
    let reader = Dialect::Cohere.reader(&Limits::default());
    let texts: Vec<&str> = reader.texts(citation).into_iter().map(|at| at.of(citation)).collect();
    assert_eq!(texts, ["x"]);
}

#[test]
fn the_texts_of_a_body_are_found() {
    let body = r#"{"id":"x","message":{"role":"assistant","tool_plan":"p","content":[{"type":"text","text":"t"},{"type":"thinking","thinking":"h"}],"citations":[{"text":"c"}]}}"#;
    let reader = Dialect::Cohere.reader(&Limits::default());
    let texts: Vec<&str> = reader.texts(body).into_iter().map(|at| at.of(body)).collect();
    assert_eq!(texts, ["p", "t", "c"]);
}

fn removed(place: usize, notice: &str) -> RemovedTurn {
    let call = Canonical {
        id: "rm_1".into(),
        name: "rm".into(),
        arguments: String::new(),
        free_text: false,
        anonymous: false,
    };
    let call = RemovedCall {
        id: "rm_1".into(),
        original: Dialect::Cohere.original(None, &call),
        place,
        notice: Some(notice.into()),
        why: "no".into(),
    };
    RemovedTurn { calls: vec![call], ..RemovedTurn::default() }
}

/// The messages of a request with the assistant's `turn` in it, once the call is back.
fn restored(turn: Value, place: usize) -> Vec<Value> {
    let request = json!({"model":"m","messages":[{"role":"user","content":"Hi"}, turn,
        {"role":"user","content":"Why?"}]});
    let restored =
        restore(Dialect::Cohere, &request.to_string(), &[removed(place, "blocked")]).unwrap();
    assert_eq!(restored.restored, ["rm_1"], "{:?}", restored.skipped);
    let body: Value = serde_json::from_str(&restored.body.unwrap()).unwrap();
    body["messages"].as_array().unwrap()[1..].to_vec()
}

#[test]
fn a_removed_call_goes_back_to_its_place() {
    let call = json!({"id":"rm_1","type":"function","function":{"name":"rm","arguments":"{}"}});
    let result = json!({"role":"tool","tool_call_id":"rm_1","content":"no"});
    let kept = json!({"id":"ls_1","type":"function","function":{"name":"ls","arguments":"{}"}});
    let plan = "I will clean up.";
    for (turn, place, want) in [
        (
            json!({"role":"assistant","tool_plan":plan,"content":"blocked"}),
            0,
            json!({"role":"assistant","tool_plan":plan,"tool_calls":[call]}),
        ),
        (
            json!({"content":[{"type":"text","text":"blocked"}],"role":"assistant"}),
            0,
            json!({"role":"assistant","tool_calls":[call]}),
        ),
        (
            json!({"role":"assistant","content":[{"type":"text","text":"A"},{"type":"text","text":"blocked"}],"tool_calls":[]}),
            0,
            json!({"role":"assistant","content":[{"type":"text","text":"A"}],"tool_calls":[call]}),
        ),
        (
            json!({"role":"assistant","content":"blocked","tool_calls":[kept]}),
            1,
            json!({"role":"assistant","tool_calls":[kept, call]}),
        ),
        (
            json!({"role":"assistant","content":"blocked","tool_calls":[kept]}),
            0,
            json!({"role":"assistant","tool_calls":[call, kept]}),
        ),
    ] {
        let messages = restored(turn, place);
        assert_eq!(messages[..2], [want, result.clone()]);
    }
}

#[test]
fn a_call_is_not_put_back_where_it_cannot_be_answered() {
    let turn = r#"{"role":"assistant","content":"blocked"}"#;
    let last = format!(r#"{{"messages":[{turn}]}}"#);
    let again =
        format!(r#"{{"messages":[{turn},{{"role":"tool","tool_call_id":"rm_1","content":"x"}}]}}"#);
    let elsewhere =
        r#"{"messages":[{"role":"user","content":"blocked"},{"role":"user","content":"x"}]}"#;
    for (request, why) in [
        (last.as_str(), NotRestored::Unanswered),
        (again.as_str(), NotRestored::Present),
        (elsewhere, NotRestored::NotFound),
    ] {
        let restored = restore(Dialect::Cohere, request, &[removed(0, "blocked")]).unwrap();
        assert_eq!(restored.body, None, "{request}");
        assert_eq!(
            restored.skipped,
            [crate::request::SkippedCall { id: "rm_1".to_owned(), why }],
            "{request}"
        );
    }
}
