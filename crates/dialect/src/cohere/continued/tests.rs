use super::*;
use crate::Dialect;
use crate::request::ClientCall;
use crate::request::testing::denied;

fn event(data: &str) -> String {
    format!("event: x\ndata: {data}\n\n")
}

const EVENTS: [&str; 9] = [
    r#"{"type":"message-start","id":"m","delta":{"message":{"role":"assistant"}}}"#,
    r#"{"type":"tool-plan-delta","delta":{"message":{"tool_plan":"I \ud83d"}}}"#,
    r#"{"type":"tool-plan-delta","delta":{"message":{"tool_plan":"\ude00."}}}"#,
    r#"{"type":"content-start","index":0,"delta":{"message":{"content":{"type":"thinking","thinking":""}}}}"#,
    r#"{"type":"content-delta","index":0,"delta":{"message":{"content":{"thinking":"Hm."}}}}"#,
    r#"{"type":"content-start","index":1,"delta":{"message":{"content":{"type":"text","text":"a"}}}}"#,
    r#"{"type":"content-delta","index":1,"delta":{"message":{"content":{"text":"b\n"}}}}"#,
    r#"{"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"c","type":"function","function":{"name":"rm","arguments":""}}}}}"#,
    r#"{"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":"{ \"p\":1 }"}}}}}"#,
];
const END: &str = r#"{"type":"message-end","delta":{"finish_reason":"TOOL_CALL","usage":{"tokens":{"input_tokens":5}}}}"#;
const CALL: &str =
    r#"{"id":"c","type":"function","function":{"name":"rm","arguments":"{ \"p\":1 }"}}"#;

/// What a stream says in pieces is put together to the byte.
#[test]
fn a_turn_is_what_the_provider_produced() {
    let continuing = Dialect::Cohere.continuing().unwrap();
    let stream: String = EVENTS.iter().chain(&[END]).map(|data| event(data)).collect();
    let stream = stream + "data: [DONE]\n\n";
    let want = format!(
        r#"{{"role":"assistant","tool_plan":"I \ud83d\ude00.","content":[{{"type":"thinking","thinking":"Hm."}},{{"type":"text","text":"ab\n"}}],"tool_calls":[{CALL}]}}"#
    );
    let turn = continuing.turn(&stream).unwrap();
    assert_eq!((turn.content, turn.usage.as_str()), (want, r#"{"tokens":{"input_tokens":5}}"#));
    let body = format!(
        r#"{{"message":{{"role":"assistant","tool_calls":[{CALL}],"content":"a"}},"usage":{{"x":1}}}}"#
    );
    let turn = continuing.turn(&body).unwrap();
    let want = format!(
        r#"{{"role":"assistant","content":[{{"type":"text","text":"a"}}],"tool_calls":[{CALL}]}}"#
    );
    assert_eq!((turn.content, turn.usage.as_str()), (want, r#"{"x":1}"#));
    // A call without arguments has no piece of them.
    let bare = event(EVENTS[7]) + &event(END);
    assert!(continuing.turn(&bare).unwrap().content.contains(r#""arguments":"{}""#));
    assert!(continuing.turn("{").is_err());
}

#[test]
fn what_is_left_of_a_broken_answer_is_its_text_and_the_calls_that_left() {
    let continuing = Dialect::Cohere.continuing().unwrap();
    let stream: String = EVENTS.iter().map(|data| event(data)).collect();
    let known = [ClientCall::new("c".to_owned(), "rm", "{}")];
    let rest = continuing.rest(&stream, &known).unwrap();
    assert!(rest.contains(CALL) && rest.contains("tool_plan") && !rest.contains("Hm."), "{rest}");
    let said = r#"{"role":"assistant","content":[{"type":"text","text":"ab\n"}]}"#;
    assert_eq!(continuing.rest(&stream, &[]).as_deref(), Some(said));
    assert_eq!(continuing.rest(event(EVENTS[1]), &known), None);
}

#[test]
fn the_next_request_is_the_last_one_with_the_turn_and_its_results() {
    let continuing = Dialect::Cohere.continuing().unwrap();
    let calls = [denied("c", "{}")];
    let turn = DeniedTurn { content: "{\"role\":\"assistant\"}", calls: &calls, names: &["rm"] };
    let request = |body: &str| continuing.request(body, &turn);
    let body = r#"{ "messages" : [ {"role":"user","content":"x"} ] , "seed": 1.0}"#;
    let want = concat!(
        r#"{ "messages" : [ {"role":"user","content":"x"},{"role":"assistant"},"#,
        r#"{"role":"tool","tool_call_id":"c","content":"no \"rm\""} ] , "seed": 1.0}"#
    );
    assert_eq!(request(body).unwrap(), want);
    let tool = |name: &str| format!(r#"{{"type":"function","function":{{"name":"{name}"}}}}"#);
    for (choice, names, goes_on) in [
        ("REQUIRED", vec!["rm"], false),
        ("REQUIRED", vec!["rm", "ls"], true),
        ("NONE", vec!["rm"], true),
    ] {
        let tools: Vec<String> = names.iter().map(|name| tool(name)).collect();
        let extra = format!(r#""tool_choice":"{choice}","tools":[{}]"#, tools.join(","));
        assert_eq!(request(&body.replace("\"seed\": 1.0", &extra)).is_ok(), goes_on, "{extra}");
    }
    assert!(request(r#"{"messages":[{"role":"assistant","content":"{"}]}"#).is_err());
    assert!(request("{").is_err());
    let nameless = [denied("", "{}")];
    assert!(continuing.request(body, &DeniedTurn { calls: &nameless, ..turn }).is_err());
    for (format, json) in [("text", false), ("json_object", true)] {
        let body = format!(r#"{{"response_format":{{"type":"{format}"}}}}"#);
        assert_eq!(continuing.wants_json(&body), json, "{format}");
    }
}
