use serde_json::{Value, json};

use crate::Dialect;
use crate::request::testing::{client_turn, restore};
use crate::request::{NotRestored, RemovedCall, RemovedTurn, Restored, sent};

fn original(name: &str, id: &str) -> Value {
    json!({ "type": "function_call", "id": id, "name": name, "arguments": {}, "signature": "s" })
}

fn removed(name: &str, id: &str, notice: Option<&str>) -> RemovedCall {
    RemovedCall {
        id: id.into(),
        original: original(name, id).to_string(),
        place: 0,
        notice: notice.map(str::to_owned),
        why: format!("no {name}"),
    }
}

fn turn(calls: Vec<RemovedCall>) -> RemovedTurn {
    RemovedTurn { calls, response: Some("i1".into()), ..RemovedTurn::default() }
}

fn result(name: &str, id: &str) -> Value {
    json!({ "type": "function_result", "call_id": id, "name": name, "is_error": true,
        "result": format!("no {name}") })
}

fn said(text: &str) -> Value {
    json!({ "type": "model_output", "content": [{ "type": "text", "text": text }] })
}

fn user(text: &str) -> Value {
    json!({ "type": "user_input", "content": [{ "type": "text", "text": text }] })
}

fn put_back(request: &Value, turns: &[RemovedTurn]) -> (Value, Restored) {
    let restored = restore(Dialect::Interactions, &request.to_string(), turns).unwrap();
    let body = restored.body.clone().unwrap_or_else(|| request.to_string());
    (serde_json::from_str(&body).unwrap(), restored)
}

#[test]
fn a_call_the_provider_keeps_is_answered() {
    let turns = [turn(vec![removed("rm", "a", None), removed("ls", "b", Some("x"))])];
    let results = [result("rm", "a"), result("ls", "b")];
    let step = json!({ "type": "function_result", "call_id": "c", "result": "ok" });
    for (input, behind) in [
        (json!("Why \"that\"?"), vec![user("Why \"that\"?")]),
        (json!([step]), vec![step.clone()]),
        (json!([]), vec![]),
        (json!({ "type": "text", "text": "hi" }), vec![json!({ "type": "text", "text": "hi" })]),
    ] {
        let request = json!({ "model": "m", "previous_interaction_id": "i1", "input": input });
        let (got, restored) = put_back(&request, &turns);
        let want: Vec<Value> = results.iter().cloned().chain(behind).collect();
        assert_eq!(got["input"], json!(want));
        assert_eq!(restored.restored, ["a", "b"]);
    }
}

#[test]
fn answered_calls_and_other_interactions_are_unchanged() {
    let turns = [turn(vec![removed("rm", "a", None)])];
    let answered = json!([{ "type": "function_result", "call_id": "a", "result": "ok" }]);
    let inside = json!([{ "type": "user_input", "content": answered }]);
    for (previous, input, why) in [
        ("i1", answered, NotRestored::Present),
        ("i1", inside, NotRestored::Present),
        ("i1", Value::Null, NotRestored::Unanswered),
        ("i2", json!("hi"), NotRestored::NotFound),
    ] {
        let request = json!({ "previous_interaction_id": previous, "input": input });
        let (got, restored) = put_back(&request, &turns);
        assert_eq!(got, request);
        assert_eq!(restored.skipped, [crate::request::SkippedCall { id: "a".to_owned(), why }]);
    }
}

#[test]
fn a_call_replaces_its_notice() {
    let turns = [turn(vec![removed("rm", "a", Some("blocked: rm"))])];
    let thought = json!({ "type": "thought", "signature": "t" });
    let request = json!({ "input": [user("hi"), thought, said("blocked: rm"), user("Why?")] });
    let (got, _) = put_back(&request, &turns);
    let want = json!([user("hi"), thought, original("rm", "a"), result("rm", "a"), user("Why?")]);
    assert_eq!(got["input"], want);
    // Clients join texts.
    let request = json!({ "input": [said("First.\n\nblocked: rm"), user("Why?")] });
    let (got, _) = put_back(&request, &turns);
    assert_eq!(got["input"][0], said("First."));
    assert_eq!(got["input"][1], original("rm", "a"));
}

#[test]
fn a_silent_turn_is_known_by_all_of_it() {
    let turn = turn(vec![removed("rm", "a", None)]);
    let sibling = original("ls", "b");
    let answer = json!({ "type": "function_result", "call_id": "b", "result": "ok" });
    for first in [json!({ "type": "thought", "signature": "t" }), said("Look:")] {
        let request = json!({ "input": [first, sibling, answer] });
        let (got, _) = put_back(&request, std::slice::from_ref(&turn));
        let want = json!([first, sibling, original("rm", "a"), result("rm", "a"), answer]);
        assert_eq!(got["input"], want);
        // The id alone is not enough.
        let mut other = original("ls", "b");
        other["arguments"]["x"] = json!(1);
        let client = client_turn(Dialect::Interactions, &request.to_string());
        let turn = RemovedTurn { client, ..turn.clone() };
        let request = json!({ "input": [first, other, answer] });
        assert_eq!(put_back(&request, &[turn]).0, request);
    }
}

#[test]
fn a_request_names_the_interaction() {
    let request = json!({ "previous_interaction_id": "i1", "input": "hi" }).to_string();
    assert_eq!(sent(Dialect::Interactions, &request).unwrap().states, ["i1"]);
    assert_eq!(turn(Vec::new()).states(), ["i1"]);
}
