use super::*;
use crate::Dialect;
use crate::continued::StoredTurn;
use crate::request::ClientCall;
use crate::request::testing::denied;

const CALL: &str = r#"{"type":"function_call","id":"fc_c","call_id":"c","name":"rm","arguments":"{ }","status":"completed"}"#;
const SEALED: &str =
    r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"sealed"}"#;
const OPEN: &str = r#"{"type":"reasoning","id":"rs_2","summary":[]}"#;

fn call(original: &str) -> RemovedCall {
    denied("c", original)
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
    let stored = r#"{"input":"x","previous_response_id":"resp_0"}"#;
    assert_eq!(
        request(stored).unwrap(),
        want.replace(r#""store":false"#, r#""previous_response_id":"resp_0""#)
    );
    assert!(request(r#"{"input":[],"store":false}"#).is_err());
    assert!(request("{").is_err());
    let with = |extra: &str| request(&list.replace(" ], ", &format!(" ], {extra}, "))).is_ok();
    for (extra, goes_on) in [
        (r#""background":true"#, false),
        (r#""background":false"#, true),
        (r#""previous_response_id":"resp_1""#, true),
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

/// Thinking stays if the provider says that it stores the response, because it finds it by its id.
#[test]
fn what_the_provider_stores_is_identified() {
    let continuing = Dialect::Responses.continuing().unwrap();
    let answer = |store: &str| {
        format!(
            r#"{{"id":"resp_1","created_at":7,{store}"status":"completed","output":[{OPEN},{CALL}]}}"#
        )
    };
    let identity = Some(r#"{"id":"resp_1","created_at":7}"#.to_owned());
    for (store, content, want) in [
        (r#""store":true,"#, format!("{OPEN},{CALL}"), identity.clone()),
        ("", CALL.to_owned(), identity),
        (r#""store":false,"#, CALL.to_owned(), None),
    ] {
        let turn = continuing.turn(answer(store)).unwrap();
        assert_eq!((turn.content, turn.identity), (content, want), "{store}");
    }
}

#[test]
fn several_stored_answers_are_read_as_one() {
    let continuing = Dialect::Responses.continuing().unwrap();
    let stored = continuing.stored(StoredTurn {
        identities: &[r#"{"id":"a","created_at":1,"previous_response_id":null}"#, r#"{"id":"b"}"#],
        shown: &[r#"{"output":[1,2]}"#.to_owned(), r#"{"output":[]}"#.to_owned()],
        usage: r#"{"input_tokens":5}"#,
        behind: "",
    });
    let stored = stored.unwrap();
    assert_eq!((stored.ids, stored.last.as_str()), (vec!["a".to_owned(), "b".to_owned()], "b"));
    let last = r#"{"id":"b","created_at":9,"previous_response_id":"p","output":[3],"usage":{"input_tokens":2},"model":"m"}"#;
    let want = r#"{"id":"a","created_at":1,"previous_response_id":null,"output":[1,2,3],"usage":{"input_tokens":7},"model":"m"}"#;
    assert_eq!(crate::read_again(last, &stored.shown).as_deref(), Some(want));
    assert_eq!(crate::read_again("[]", &stored.shown), None);
    let of = |identities: &[&str]| {
        let turn = StoredTurn { identities, shown: &[], usage: "{}", behind: "" };
        continuing.stored(turn)
    };
    assert!(of(&[]).is_none() && of(&["{}"]).is_none());
    assert!(
        Dialect::Anthropic
            .continuing()
            .unwrap()
            .stored(StoredTurn {
                identities: &["{\"id\":\"a\"}"],
                shown: &[],
                usage: "{}",
                behind: ""
            })
            .is_none()
    );
}
