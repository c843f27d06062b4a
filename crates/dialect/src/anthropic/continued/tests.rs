use super::*;
use crate::Dialect;
use crate::request::testing::denied;

fn call(id: &str) -> RemovedCall {
    denied(id, &format!(r#"{{"type":"tool_use","id":"{id}","name":"rm","input":{{}}}}"#))
}

fn event(data: &str) -> String {
    format!("event: x\ndata: {data}\n\n")
}

/// What a stream says in pieces is put together to the byte.
#[test]
fn a_streamed_turn_is_what_the_provider_produced() {
    let events = [
        r#"{"type":"message_start","message":{"content":[],"usage":{"input_tokens":5,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"a \ud83d"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"\ude00 b"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig=="}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"T","citations":[]}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"wo\n"}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"citations_delta","citation":{"n":1}}}"#,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"c","name":"rm","input":{}}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{ \"p\":\"\\ud83d"}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"\\ude00\" }"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let stream: String = events.iter().map(|data| event(data)).collect();
    let turn = Dialect::Anthropic.continuing().unwrap().turn(&stream).unwrap();
    let want = concat!(
        r#"[{"type":"thinking","thinking":"a \ud83d\ude00 b","signature":"sig=="},"#,
        r#"{"type":"text","text":"Two\n","citations":[{"n":1}]},"#,
        r#"{"type":"tool_use","id":"c","name":"rm","input":{ "p":"\ud83d\ude00" }}]"#
    );
    assert_eq!(turn.content, want);
    assert_eq!(turn.usage, r#"{"input_tokens":5,"output_tokens":9}"#);
}

#[test]
fn a_turn_with_something_unknown_is_not_continued() {
    let start =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}"#;
    let odd = r#"{"type":"content_block_delta","index":0,"delta":{"type":"new_delta","x":1}}"#;
    let continuing = Dialect::Anthropic.continuing().unwrap();
    assert!(continuing.turn(&(event(start) + &event(odd))).is_err());
    assert!(continuing.turn(event(start)).is_ok());
    let elsewhere = start.replace("\"index\":0", "\"index\":3");
    assert!(continuing.turn(event(&elsewhere)).is_err());
    let container = r#"{"content":[],"container":{"id":"x"}}"#;
    assert!(continuing.turn(container).is_err());
}

#[test]
fn the_next_request_is_the_last_one_with_the_turn_and_its_results() {
    let continuing = Dialect::Anthropic.continuing().unwrap();
    let calls = [call("c")];
    let turn = DeniedTurn { content: "[1]", calls: &calls, names: &["rm"] };
    let request = |body: &str| continuing.request(body, &turn);
    let body = r#"{ "messages" : [ {"role":"user","content":"x"} ] , "n": 1.0}"#;
    let want = concat!(
        r#"{ "messages" : [ {"role":"user","content":"x"},{"role":"assistant","content":[1]},"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","is_error":true,"#,
        r#""content":"no \"rm\""}]} ] , "n": 1.0}"#
    );
    assert_eq!(request(body).unwrap(), want);
    let with = |extra: &str| body.replace("\"n\": 1.0", extra);
    assert!(request(&with(r#""tool_choice":{"type":"tool","name":"rm"}"#)).is_err());
    assert!(request(&with(r#""tool_choice":{"type":"tool","name":"ls"}"#)).is_ok());
    assert!(request(&with(r#""tool_choice":{"type":"any"}"#)).is_ok());
    assert!(request(&with(r#""thread":{"type":"continue"}"#)).is_err());
    assert!(request(r#"{"messages":[{"role":"assistant","content":"{"}]}"#).is_err());
    assert!(request("{").is_err());
}

#[test]
fn whole_answers_become_one_message() {
    let one = r#"{"id":"1","content":[{"type":"thinking"},{"type":"text","text":"a"}],
        "stop_reason":"end_turn","usage":{"input_tokens":5,"x":{"y":1},"tier":"a"}}"#;
    let two = r#"{"id":"2","content":[{"type":"redacted_thinking"},{"type":"tool_use","id":"c"}],
        "stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":7,"x":{"y":2},"tier":"b","z":null}}"#;
    let joined = Dialect::Anthropic.continuing().unwrap().join(&[one.into(), two.into()]).unwrap();
    let want = serde_json::json!({ "id": "1",
        "content": [{ "type": "thinking" }, { "type": "text", "text": "a" }, { "type": "tool_use", "id": "c" }],
        "stop_reason": "tool_use", "stop_sequence": null,
        "usage": { "input_tokens": 12, "x": { "y": 3 }, "tier": "b", "z": null } });
    assert_eq!(serde_json::from_str::<serde_json::Value>(&joined).unwrap(), want, "{joined}");
}
