use serde_json::{Value, json};

use super::*;
use crate::Dialect;
use crate::continued::Continuing;
use crate::request::{ClientCall, EarlierAnswer, MergedTurn, RemovedTurn, restore, testing};

fn gemini() -> Continuing {
    Dialect::Gemini.continuing().unwrap()
}

fn removed(id: &str) -> RemovedCall {
    let call = json!({ "functionCall": { "id": id, "name": "rm", "args": {} } });
    testing::denied(id, &call.to_string())
}

const CHUNKS: [&str; 6] = [
    r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hm","thought":true}]},"index":0}],"usageMetadata":{"promptTokenCount":5}}"#,
    r#"{"candidates":[{"content":{"parts":[{"thought":true,"text":", \ud83d"},{"text":""}]}}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":"So "}]}}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":"it is."},{"text":"Signed.","thoughtSignature":"s0"}]}}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"functionCall":{"id":"c1","name":"rm","args":{ "p":"\u002f" }},"thoughtSignature":"s1"}]}}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"ls"}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":9}}"#,
];

const PARTS: &str = concat!(
    r#"[{"text":"Hm, \ud83d","thought":true},{"text":"So it is."},"#,
    r#"{"text":"Signed.","thoughtSignature":"s0"},"#,
    r#"{"functionCall":{"id":"c1","name":"rm","args":{ "p":"\u002f" }},"thoughtSignature":"s1"},"#,
    r#"{"functionCall":{"name":"ls"}}]"#
);

/// Every part with its signature, and texts that came in pieces as one.
#[test]
fn a_streamed_turn_is_what_the_provider_produced() {
    let events: String = CHUNKS.iter().map(|chunk| format!("data: {chunk}\r\n\r\n")).collect();
    let list = format!("[{}]", CHUNKS.join("\n,"));
    for answer in [events, list] {
        let turn = gemini().turn(&answer).unwrap();
        assert_eq!(turn.content, PARTS);
        assert_eq!(turn.usage, r#"{"promptTokenCount":5,"candidatesTokenCount":9}"#);
    }
    let wrapped = format!(r#"{{"response":{},"traceId":"t"}}"#, CHUNKS[4]);
    assert!(gemini().turn(&wrapped).unwrap().content.contains("\"s1\""));
}

#[test]
fn a_turn_that_cannot_be_given_back_is_not_continued() {
    let with = |part: &str, index: u8| {
        format!(r#"{{"candidates":[{{"content":{{"parts":[{part}]}},"index":{index}}}]}}"#)
    };
    assert!(gemini().turn(with(r#"{"text":"a"}"#, 0)).is_ok());
    for (answer, why) in [
        (with(r#"{"text":"a"}"#, 1), "candidates"),
        (with(r#"{"functionCall":{"name":"rm","willContinue":true}}"#, 0), "pieces"),
        (with(r#"{"functionCall":{}}"#, 0), "pieces"),
        (r#"{"error":{"code":500}}"#.to_owned(), "read"),
        ("{".to_owned(), "read"),
    ] {
        let error = gemini().turn(&answer).unwrap_err();
        assert!(error.0.contains(why), "{answer}: {error}");
    }
}

/// Of an answer that was cut off, the client has its texts, and the calls that left.
#[test]
fn the_rest_of_an_answer_is_what_the_client_has() {
    let events: String = CHUNKS.iter().map(|chunk| format!("data: {chunk}\r\n\r\n")).collect();
    let ls = ClientCall::new(String::new(), "ls", "{}");
    let rest = gemini().rest(&events, &[ls]).unwrap();
    assert_eq!(rest, r#"[{"text":"So it is."},{"functionCall":{"name":"ls"}}]"#);
    let cut = events.split("it is.").next().unwrap();
    assert_eq!(gemini().rest(cut, &[]).unwrap(), r#"[{"text":"So "}]"#);
    assert_eq!(gemini().rest("data: {", &[]), None);
}

fn denied<'a>(calls: &'a [RemovedCall], names: &'a [&'a str]) -> DeniedTurn<'a> {
    DeniedTurn { content: r#"[{"text":"x"}]"#, calls, names }
}

#[test]
fn the_next_request_has_the_turn_and_its_results() {
    let calls = [removed("c1"), removed("")];
    let turn = denied(&calls, &["rm"]);
    let user = r#"{"role":"user","parts":[{"text":"Go."}]}"#;
    let more = concat!(
        r#",{"role":"model","parts":[{"text":"x"}]},{"role":"user","parts":["#,
        r#"{"functionResponse":{"id":"c1","name":"rm","response":{"error":"no \"rm\""}}},"#,
        r#"{"functionResponse":{"name":"rm","response":{"error":"no \"rm\""}}}]}"#
    );
    for (before, behind) in [
        ("{\"contents\": [", "], \"x\":1}"),
        ("{\"model\":\"m\",\"request\":{\"contents\":[", "]}}"),
    ] {
        let next = gemini().request(&format!("{before}{user}{behind}"), &turn).unwrap();
        assert_eq!(next, format!("{before}{user}{more}{behind}"));
    }
}

#[test]
fn some_requests_have_no_next_one() {
    let calls = [removed("c1")];
    let turn = denied(&calls, &["rm"]);
    let with = |config: Value| {
        json!({ "contents": [{ "parts": [{ "text": "a" }] }], "toolConfig": config }).to_string()
    };
    let mode = |mode: &str, names: Value| {
        with(json!({ "functionCallingConfig": { "mode": mode, "allowedFunctionNames": names } }))
    };
    assert!(gemini().request(&mode("ANY", json!(["rm"])), &turn).is_err());
    assert!(gemini().request(&mode("ANY", json!(["rm", "ls"])), &turn).is_ok());
    assert!(gemini().request(&mode("ANY", json!([])), &turn).is_ok());
    assert!(gemini().request(&mode("AUTO", json!(["rm"])), &turn).is_ok());
    let snake = json!({ "contents": [{ "parts": [] }], "tool_config": { "function_calling_config":
        { "mode": "ANY", "allowed_function_names": ["rm"] } } });
    assert!(gemini().request(&snake.to_string(), &turn).is_err());
    let begun = r#"{"contents":[{"role":"model","parts":[]}]}"#;
    for request in [begun, r#"{"contents":[]}"#, "{}", "[]", "{"] {
        assert!(gemini().request(request, &turn).is_err(), "{request}");
    }
}

#[test]
fn a_format_is_noticed_in_every_spelling() {
    for config in [
        r#"{"generationConfig":{"responseMimeType":"application/json"}}"#,
        r#"{"generation_config":{"response_schema":{}}}"#,
        r#"{"request":{"contents":[],"generationConfig":{"responseJsonSchema":{}}}}"#,
    ] {
        let request = config.replacen('{', r#"{"contents":[],"#, 1);
        let request = if config.contains("request\"") { config } else { &request };
        assert!(gemini().wants_json(request), "{request}");
    }
    for config in [r#"{"temperature":1}"#, r#"{"responseMimeType":"text/plain"}"#] {
        assert!(!gemini().wants_json(&format!(r#"{{"contents":[],"generationConfig":{config}}}"#)));
    }
}

#[test]
fn a_merged_turn_is_restored_to_its_answers() {
    let earlier = EarlierAnswer {
        content:
            r#"[{"text":"One."},{"functionCall":{"id":"c1","name":"rm"},"thoughtSignature":"s1"}]"#
                .into(),
        results: gemini().results(&[removed("c1")]),
        ids: vec!["c1".into()],
    };
    let last = r#"[{"functionCall":{"id":"c2","name":"rm"}},{"functionCall":{"id":"c3","name":"ls","args":{}},"thoughtSignature":"s2"}]"#;
    let merged = MergedTurn { earlier: vec![earlier], last: last.into(), stored: None };
    // Some clients store every chunk as a content.
    let contents = json!([
        { "role": "user", "parts": [{ "text": "Go." }] },
        { "role": "model", "parts": [{ "text": "One.\n\nblocked" }] },
        { "role": "model", "parts": [{ "functionCall": { "id": "c3", "name": "ls", "args": {} } }] },
        { "role": "user", "parts": [{ "functionResponse": { "id": "c3", "name": "ls", "response": {} } }] },
    ]);
    let request = json!({ "contents": contents }).to_string();
    let client = testing::client_turn(Dialect::Gemini, &request);
    let turn = RemovedTurn { client, calls: vec![removed("c2")], ..RemovedTurn::default() };
    let turn = turn.merged(merged);
    let restored = restore(Dialect::Gemini, &request, &[turn]).unwrap();
    assert_eq!(restored.restored, ["c1", "c2"]);
    let body: Value = serde_json::from_str(&restored.body.unwrap()).unwrap();
    let contents = body["contents"].as_array().unwrap();
    let roles: Vec<&Value> = contents.iter().map(|content| &content["role"]).collect();
    assert_eq!(roles, ["user", "model", "user", "model", "user"]);
    assert_eq!(contents[1]["parts"][1]["thoughtSignature"], "s1");
    assert_eq!(contents[2]["parts"][0]["functionResponse"]["id"], "c1");
    assert_eq!(contents[3]["parts"][1]["thoughtSignature"], "s2");
    let ids: Vec<&Value> = contents[4]["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| &part["functionResponse"]["id"])
        .collect();
    assert_eq!(ids, ["c2", "c3"]);
}
