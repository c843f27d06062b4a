use super::*;
use crate::Dialect;
use crate::request::ClientCall;
use crate::request::testing::denied;

fn call(id: &str) -> RemovedCall {
    let function = r#""function":{"name":"rm","arguments":"{}"}"#;
    denied(id, &format!(r#"{{"id":"{id}","type":"function",{function}}}"#))
}

fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}

fn chunk(delta: &str) -> String {
    event(&format!(r#"{{"id":"x","choices":[{{"index":0,"delta":{delta}}}],"usage":null}}"#))
}

/// What a stream says in pieces is put together to the byte.
#[test]
fn a_streamed_turn_is_what_the_provider_produced() {
    let deltas = [
        r#"{"role":"assistant","content":"","refusal":null,"annotations":[]}"#,
        r#"{"reasoning":"Hm","reasoning_details":[{"type":"reasoning.text","index":0,"text":"H"}]}"#,
        r#"{"reasoning":".","reasoning_details":[{"type":"reasoning.text","index":0,"text":"m","signature":"s"}]}"#,
        r#"{"reasoning_details":[{"type":"reasoning.encrypted","index":1,"data":"d"}]}"#,
        r#"{"content":"a \ud83d"}"#,
        r#"{"content":"\ude00 b"}"#,
        r#"{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"rm","arguments":""},"extra_content":{"google":{"thought_signature":"t"}}}]}"#,
        r#"{"tool_calls":[{"index":0,"function":{"arguments":"{ \"p\":"}}]}"#,
        r#"{"tool_calls":[{"index":0,"function":{"arguments":"1}"}},{"index":1,"id":"d","type":"custom","custom":{"name":"sh","input":"l"}}]}"#,
        r#"{"tool_calls":[{"index":1,"custom":{"input":"s"}}]}"#,
    ];
    let mut stream: String = deltas.iter().map(|delta| chunk(delta)).collect();
    stream += &event(r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#);
    stream += &event(r#"{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":9}}"#);
    stream += &event("[DONE]");
    let turn = Dialect::OpenAiChat.continuing().unwrap().turn(&stream).unwrap();
    let want = concat!(
        r#"{"role":"assistant","content":"a \ud83d\ude00 b","reasoning":"Hm.","#,
        r#""reasoning_details":[{"type":"reasoning.text","index":0,"text":"Hm","signature":"s"},"#,
        r#"{"type":"reasoning.encrypted","index":1,"data":"d"}],"#,
        r#""tool_calls":[{"id":"c","type":"function","function":{"name":"rm","arguments":"{ \"p\":1}"},"#,
        r#""extra_content":{"google":{"thought_signature":"t"}}},"#,
        r#"{"id":"d","type":"custom","custom":{"name":"sh","input":"ls"}}]}"#
    );
    assert_eq!(turn.content, want);
    assert_eq!(turn.usage, r#"{"prompt_tokens":5,"completion_tokens":9}"#);
}

#[test]
fn a_whole_or_legacy_turn_is_what_the_provider_produced() {
    let turn = |said: &str| {
        let body = format!(
            r#"{{"choices":[{{"index":0,"message":{said},"finish_reason":"stop"}}],"usage":{{"n":1}}}}"#
        );
        Dialect::OpenAiChat.continuing().unwrap().turn(&body).map(|turn| turn.content)
    };
    let call = r#"{"id":"c","type":"function","function":{"name":"rm","arguments":"{}"}}"#;
    let said = format!(
        r#"{{"role":"assistant","content":null,"reasoning_content":"Hm.","refusal":null,"annotations":[],"tool_calls":[{call}]}}"#
    );
    let want = format!(
        r#"{{"role":"assistant","content":null,"reasoning_content":"Hm.","tool_calls":[{call}]}}"#
    );
    assert_eq!(turn(&said).unwrap(), want);
    let legacy =
        r#"{"role":"assistant","content":null,"function_call":{"name":"rm","arguments":"{}"}}"#;
    assert_eq!(turn(legacy).unwrap(), legacy);
    let parts = r#"{"role":"assistant","content":[{"type":"thinking","thinking":[]},{"type":"text","text":"a"}]}"#;
    assert_eq!(turn(parts).unwrap(), parts);
    assert!(turn(r#"{"role":"assistant","audio":{"id":"a"}}"#).is_err());
    let two = r#"{"choices":[{"index":0,"message":{}},{"index":1,"message":{}}]}"#;
    assert!(Dialect::OpenAiChat.continuing().unwrap().turn(two).is_err());
}

#[test]
fn what_is_left_of_a_broken_answer_is_its_text_and_the_calls_that_left() {
    let open = r#"{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#;
    let cut = r#"{"tool_calls":[{"index":1,"id":"d","type":"function","function":{"name":"ls","arguments":"{"}}]}"#;
    let stream = [r#"{"content":"So","reasoning":"Hm"}"#, open, cut].map(chunk).concat();
    let calls = ["c", "d"].map(|id| ClientCall::new(id.to_owned(), "ls", "{}"));
    let rest =
        |calls: &[ClientCall]| Dialect::OpenAiChat.continuing().unwrap().rest(&stream, calls);
    let want = r#"{"role":"assistant","content":"So","tool_calls":[{"id":"c","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#;
    assert_eq!(rest(&calls).as_deref(), Some(want));
    assert_eq!(rest(&[]).as_deref(), Some(r#"{"role":"assistant","content":"So"}"#));
    assert_eq!(Dialect::OpenAiChat.continuing().unwrap().rest(chunk("{}"), &calls), None);
}

#[test]
fn the_next_request_is_the_last_one_with_the_turn_and_its_results() {
    let continuing = Dialect::OpenAiChat.continuing().unwrap();
    let calls = [call("c")];
    let turn = DeniedTurn { content: "{\"role\":\"assistant\"}", calls: &calls, names: &["rm"] };
    let request = |body: &str| continuing.request(body, &turn);
    let body = r#"{ "messages" : [ {"role":"user","content":"x"} ] , "seed": 1.0}"#;
    let want = concat!(
        r#"{ "messages" : [ {"role":"user","content":"x"},{"role":"assistant"},"#,
        r#"{"role":"tool","tool_call_id":"c","content":"no \"rm\""} ] , "seed": 1.0}"#
    );
    assert_eq!(request(body).unwrap(), want);
    let with = |extra: &str| request(&body.replace("\"seed\": 1.0", extra)).is_ok();
    for (extra, goes_on) in [
        (r#""n":1"#, true),
        (r#""n":2"#, false),
        (r#""tool_choice":"required""#, true),
        (r#""tool_choice":{"type":"function","function":{"name":"rm"}}"#, false),
        (r#""tool_choice":{"type":"function","function":{"name":"ls"}}"#, true),
        (r#""tool_choice":{"type":"custom","custom":{"name":"rm"}}"#, false),
        (r#""function_call":{"name":"rm"}"#, false),
        (
            r#""tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"rm"}}]}}"#,
            false,
        ),
        (
            r#""tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"rm"}}]}}"#,
            true,
        ),
    ] {
        assert_eq!(with(extra), goes_on, "{extra}");
    }
    assert!(request(r#"{"messages":[{"role":"assistant","content":"{"}]}"#).is_err());
    assert!(request("{").is_err());
    let nameless = [RemovedCall { id: String::new(), ..call("") }];
    let turn = DeniedTurn { calls: &nameless, ..turn };
    assert!(continuing.request(body, &turn).is_err());
    for (format, json) in [("text", false), ("json_object", true), ("json_schema", true)] {
        let body = format!(r#"{{"response_format":{{"type":"{format}"}}}}"#);
        assert_eq!(continuing.wants_json(&body), json, "{format}");
    }
}

#[test]
fn whole_answers_become_one_completion() {
    let body = |id: &str, message: &str, finish: &str| {
        format!(
            r#"{{"id":"{id}","choices":[{{"index":0,"message":{message},"logprobs":{{"content":[]}},"finish_reason":"{finish}"}}],"usage":{{"total_tokens":5}}}}"#
        )
    };
    let join = |one: &str, two: &str| {
        let bodies = [body("1", one, "stop"), body("2", two, "tool_calls")];
        let joined = Dialect::OpenAiChat.continuing().unwrap().join(&bodies).unwrap();
        serde_json::from_str::<serde_json::Value>(&joined).unwrap()
    };
    let joined = join(
        r#"{"role":"assistant","content":"a","reasoning":"x"}"#,
        r#"{"role":"assistant","content":"b\"","reasoning":"y","tool_calls":[{"id":"c"}]}"#,
    );
    let message = serde_json::json!({ "role": "assistant", "content": "a\n\nb\"",
        "reasoning": "x\n\ny", "tool_calls": [{ "id": "c" }] });
    let want = serde_json::json!({ "id": "1", "usage": { "total_tokens": 10 }, "choices": [
        { "index": 0, "message": message, "logprobs": null, "finish_reason": "tool_calls" }] });
    assert_eq!(joined, want);
    let lists = join(r#"{"content":null}"#, r#"{"content":[{"type":"text","text":"b"}]}"#);
    let content = &lists["choices"][0]["message"]["content"];
    assert_eq!(*content, serde_json::json!([{ "type": "text", "text": "b" }]));
}
