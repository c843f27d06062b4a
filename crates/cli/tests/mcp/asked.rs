//! What a server may ask of its client.

use serde_json::{Value, json};

use crate::support::{Place, simple};

const ALLOW: &str = "policy: p\nrules: []\n";

/// A server that asks for something in the midst of a call.
fn asks(method: &str, params: &Value) -> Value {
    let wants = json!({ "jsonrpc": "2.0", "id": "w1", "method": method, "params": params });
    let mut answers = simple();
    answers["tools/call"]["first"] = json!([wants.to_string()]);
    answers
}

/// What the server was answered.
fn answered(received: &str) -> Value {
    let answer = received.lines().find(|line| line.contains("\"w1\"")).unwrap_or_default();
    serde_json::from_str(answer).unwrap_or_default()
}

/// The actions on record that a setting is the reason of.
fn recorded(place: &Place, setting: &str) -> Vec<Value> {
    let events = place.json(&["events", "--json"]).into_iter();
    let by_it = events.filter(|event| event["verdict"]["rule"] == format!("mcp.{setting}"));
    by_it.map(|event| event["verdict"]["action"].clone()).collect()
}

#[test]
fn questions_obey_their_settings() {
    let question = json!({ "message": "Which one?", "requestedSchema": { "type": "object" } });
    for (setting, method, params) in
        [("elicitation", "elicitation/create", question), ("roots", "roots/list", json!({}))]
    {
        for (watch, told) in [("alert", Some("audit")), ("allow", None)] {
            let place = Place::new(ALLOW, &format!("mcp: {{ {setting}: {watch} }}"));
            let mut wrapped = place.scripted("s", asks(method, &params));
            wrapped.hello();
            wrapped
                .say(r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo"}}"#);
            assert_eq!(wrapped.hear()["method"], method, "{watch}");
            assert_eq!(wrapped.hear()["id"], 5);
            wrapped.say(r#"{"jsonrpc":"2.0","id":"w1","result":{"of":"the client"}}"#);
            wrapped.call("echo", json!({}));
            let received = wrapped.end().received;
            assert_eq!(answered(&received)["result"]["of"], "the client", "{watch}: {received}");
            let told: Vec<Value> = told.into_iter().map(Value::from).collect();
            assert_eq!(recorded(&place, setting).first(), told.first(), "{setting}: {watch}");
        }
    }
}

#[test]
fn a_refused_question_is_answered_for_the_client() {
    let question = json!({ "message": "Which one?", "requestedSchema": { "type": "object" } });
    for (setting, method, params) in
        [("elicitation", "elicitation/create", question), ("roots", "roots/list", json!({}))]
    {
        let place = Place::new(ALLOW, &format!("mcp: {{ {setting}: block }}"));
        let mut wrapped = place.scripted("s", asks(method, &params));
        wrapped.hello();
        wrapped.say(r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo"}}"#);
        assert_eq!(wrapped.hear()["id"], 5, "only the answer to the call comes through");
        let answer = answered(&wrapped.end().received);
        match setting {
            // As a person would say no.
            "elicitation" => assert_eq!(answer["result"]["action"], "decline", "{answer}"),
            _ => assert_eq!(answer["error"]["code"], -1, "{answer}"),
        }
        assert_eq!(recorded(&place, setting), ["deny"]);
    }
}

#[test]
fn a_server_that_never_stops_asking_does_not_fill_the_store() {
    let wants = |n: u32| json!({ "jsonrpc": "2.0", "id": n, "method": "roots/list" }).to_string();
    let mut answers = simple();
    answers["tools/call"]["first"] = (0..1100).map(wants).collect();
    let place = Place::new(ALLOW, "mcp: { roots: block }\naudit: { durability: process }");
    let mut wrapped = place.scripted("s", answers);
    wrapped.hello();
    // The later calls begin when the budget is used up.
    for _ in 0..3 {
        wrapped.call("echo", json!({}));
    }
    wrapped.end();
    let count = |rule: &str| {
        let events = place.json(&["events", "--json", "--limit", "10000"]).into_iter();
        events.filter(|event| event["verdict"]["rule"] == rule).count()
    };
    assert_eq!(count("mcp.roots"), 1024);
    let warned = place.json(&["calls", "--json", "--limit", "100"]).into_iter();
    let warned: Vec<String> =
        warned.filter_map(|it| it["detail"].as_str().map(str::to_owned)).collect();
    assert_eq!(warned.len(), 2, "{warned:?}");
    assert!(warned[1].contains("1024 requests from the server are recorded"), "{warned:?}");
    assert!(warned[0].contains("2276 requests from the server were only counted"), "{warned:?}");
}
