use super::*;
use crate::Dialect;
use crate::request::ClientCall;

const CALL: &str = r#"{"type":"function_call","id":"fc_c","call_id":"c","name":"rm","arguments":"{ }","status":"completed"}"#;
const SEALED: &str =
    r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"sealed"}"#;
const OPEN: &str = r#"{"type":"reasoning","id":"rs_2","summary":[]}"#;

fn call(original: &str) -> RemovedCall {
    RemovedCall {
        id: "c".to_owned(),
        original: original.to_owned(),
        place: 0,
        notice: None,
        why: "no \"rm\"".to_owned(),
    }
}

fn event(kind: &str, members: &str) -> String {
    format!("event: response.{kind}\ndata: {{\"type\":\"response.{kind}\",{members}}}\n\n")
}

/// Thinking that only the provider could have is left out, because it does not keep it.
#[test]
fn a_turn_is_what_the_provider_produced() {
    let continuing = Dialect::Responses.continuing().unwrap();
    let response = format!(
        r#"{{"status":"completed","output":[{SEALED}, {OPEN}, {CALL}],"usage":{{"input_tokens":5}}}}"#
    );
    let stream = event("output_item.done", &format!(r#""item":{CALL}"#))
        + &event("completed", &format!(r#""response":{response}"#));
    for answer in [response, stream] {
        let turn = continuing.turn(&answer).unwrap();
        assert_eq!(turn.content, format!("{SEALED},{CALL}"));
        assert_eq!(turn.usage, r#"{"input_tokens":5}"#);
    }
    // Some servers end a stream without the items.
    let empty = event("output_item.done", &format!(r#""item":{CALL}"#))
        + &event("completed", r#""response":{"status":"completed","output":[]}"#);
    assert_eq!(continuing.turn(&empty).unwrap().content, CALL);
    assert!(continuing.turn(r#"{"status":"failed","output":[{}]}"#).is_err());
    assert!(continuing.turn(r#"{"status":"completed","output":[]}"#).is_err());
}

#[test]
fn what_is_left_of_a_broken_answer_is_its_text_and_the_calls_that_left() {
    let continuing = Dialect::Responses.continuing().unwrap();
    let stream = event("output_item.done", &format!(r#""item":{SEALED}"#))
        + &event("output_item.done", &format!(r#""item":{CALL}"#))
        + &event("output_item.added", r#""item":{"type":"message","id":"msg_1"}"#)
        + &event("output_text.delta", r#""delta":"So \u00e9""#);
    let said = r#"{"id":"msg_1","type":"message","status":"incomplete","role":"assistant","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"So \u00e9"}]}"#;
    let known = [ClientCall::new("c".to_owned(), "rm", "{}")];
    assert_eq!(continuing.rest(&stream, &known), Some(format!("{CALL},{said}")));
    assert_eq!(continuing.rest(&stream, &[]).as_deref(), Some(said));
    assert_eq!(continuing.rest("", &[]), None);
}

#[test]
fn the_next_request_is_the_last_one_with_the_turn_and_its_results() {
    let continuing = Dialect::Responses.continuing().unwrap();
    let calls = [call(CALL)];
    let turn = DeniedTurn { content: CALL, calls: &calls, names: &["rm"] };
    let request = |body: &str| continuing.request(body, &turn);
    let result = r#"{"type":"function_call_output","call_id":"c","output":"no \"rm\""}"#;
    let list = r#"{ "input" : [ {"role":"user","content":"x"} ], "store":false}"#;
    let want = format!(
        r#"{{ "input" : [ {{"role":"user","content":"x"}},{CALL},{result} ], "store":false}}"#
    );
    assert_eq!(request(list).unwrap(), want);
    let want =
        format!(r#"{{"input":[{{"role":"user","content":"x"}},{CALL},{result}],"store":false}}"#);
    assert_eq!(request(r#"{"input":"x","store":false}"#).unwrap(), want);
    assert!(request(r#"{"input":"x"}"#).is_err(), "it is stored");
    assert!(request(r#"{"input":[],"store":false}"#).is_err());
    assert!(request("{").is_err());
    let with = |extra: &str| request(&list.replace(" ], ", &format!(" ], {extra}, "))).is_ok();
    for (extra, goes_on) in [
        (r#""background":true"#, false),
        (r#""background":false"#, true),
        (r#""previous_response_id":"resp_1""#, false),
        (r#""conversation":"conv_1""#, false),
        (r#""previous_response_id":null"#, true),
        (r#""tool_choice":"required""#, true),
        (r#""tool_choice":{"type":"function","name":"rm"}"#, false),
        (r#""tool_choice":{"type":"function","name":"ls"}"#, true),
        (r#""tool_choice":{"type":"rm"}"#, false),
        (
            r#""tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"rm"}]}"#,
            false,
        ),
        (
            r#""tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"rm"}]}"#,
            true,
        ),
    ] {
        assert_eq!(with(extra), goes_on, "{extra}");
    }
    let program = CALL.replace("\"name\"", "\"caller\":{\"type\":\"program\"},\"name\"");
    for original in [program.as_str(), r#"{"type":"computer_call","id":"cu_1","call_id":"c"}"#] {
        let calls = [call(original)];
        assert!(continuing.request(list, &DeniedTurn { calls: &calls, ..turn }).is_err());
    }
    for (format, json) in [("text", false), ("json_object", true), ("json_schema", true)] {
        let body = format!(r#"{{"text":{{"format":{{"type":"{format}"}}}}}}"#);
        assert_eq!(continuing.wants_json(&body), json, "{format}");
    }
}
