use crate::{Carrier, Dialect, Limits, Reading, What};

fn stray(what: &What) -> Option<&str> {
    match what {
        What::Piece(piece) if piece.carrier == Carrier::Stray => piece.name.as_deref(),
        _ => None,
    }
}

fn strays(reading: &Reading) -> Vec<&str> {
    reading.parts.iter().filter_map(|part| stray(&part.what)).collect()
}

fn body(data: &str) -> Reading {
    Dialect::OpenAiChat.reader(&Limits::default()).read_body(data).unwrap()
}

fn chunk(data: &str) -> Reading {
    Dialect::OpenAiChat.reader(&Limits::default()).read(None, data).unwrap()
}

const CALL: &str = r#"{"index":0,"id":"a","type":"function","function":{"name":"run","arguments":"{\"name\":\"x\",\"input\":1}"}}"#;

#[test]
fn calls_in_their_place_are_no_strays() {
    let calls = format!(r#""tool_calls":[{CALL}]"#);
    for said in [
        format!(r#""delta":{{{calls}}}"#),
        // One server sends them twice.
        format!(r#""delta":{{{calls}}},"message":{{{calls}}}"#),
        r#""delta":{"tool_calls":[{"index":0,"type":"custom","custom":{"name":"run","input":"x"}}]}"#.into(),
        r#""delta":{"tool_calls":[{"index":0,"type":"function_call","call_id":"a","function":{"name":"run","arguments":""}}]}"#.into(),
        r#""delta":{"function_call":{"name":"run","arguments":"{}"}}"#.into(),
        r#""delta":{"executed_tools":[{"name":"search","index":0,"type":"function","arguments":"{}","output":"[]"}]}"#.into(),
    ] {
        let data = format!(r#"{{"choices":[{{"index":0,{said}}}]}}"#);
        let reading = chunk(&data);
        assert!(strays(&reading).is_empty() && reading.parts.len() == 1, "{data}");
    }
}

#[test]
fn a_stored_completion_may_repeat_its_request() {
    let tools = r#""tools":[{"type":"function","function":{"name":"run","parameters":{}}}],"tool_choice":{"type":"function","function":{"name":"run"}}"#;
    let completion = format!(
        r#"{{"object":"chat.completion",{tools},"choices":[{{"index":0,"message":{{"content":"Hi"}},"finish_reason":"stop"}}]}}"#
    );
    assert!(strays(&body(&completion)).is_empty());
    let page = format!(r#"{{"object":"list","data":[{completion}]}}"#);
    assert!(strays(&body(&page)).is_empty());
}

#[test]
fn calls_elsewhere_are_strays() {
    for (data, name) in [
        (r#"{"choices":[{"index":0,"delta":{"name":"evil","input":{}}}]}"#, "evil"),
        (
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","name":"evil","arguments":"{}"}]}}]}"#,
            "evil",
        ),
        (r#"{"choices":[{"index":0,"delta":{"content":"Hi"},"toolUse":{"name":"evil"}}]}"#, "evil"),
        (r#"{"choices":[{"index":0,"delta":{}}],"tools":[{"name":"evil","args":{}}]}"#, "evil"),
        (r#"{"choices":[],"name":"evil","arguments":"{}"}"#, "evil"),
        (r#"{"error":{"message":"m","call":{"name":"evil","input":{}}}}"#, "evil"),
    ] {
        assert_eq!(strays(&chunk(data)), [name], "{data}");
    }
}
