//! What clients of Gemini Interactions receive of responses from which a call was removed, and how
//! their next request is restored.

use callgate_dialect::Dialect;
use callgate_dialect::request::{RemovedTurn, restore};
use callgate_gate::{Ending, Note, OnDeny};
use callgate_testkit::clients;
use callgate_testkit::drive::{self, Run};
use serde_json::{Value, json};

const DIALECT: Dialect = Dialect::Interactions;

fn interaction(status: &str) -> Value {
    json!({ "id": "i1", "status": status, "object": "interaction", "model": "m" })
}

fn created() -> Value {
    json!({ "interaction": interaction("in_progress"), "event_type": "interaction.created" })
}

fn completed(status: &str) -> Value {
    json!({ "interaction": interaction(status), "event_type": "interaction.completed" })
}

fn start(index: u32, step: Value) -> Value {
    json!({ "index": index, "step": step, "event_type": "step.start" })
}

fn delta(index: u32, delta: Value) -> Value {
    json!({ "index": index, "delta": delta, "event_type": "step.delta" })
}

fn stop(index: u32) -> Value {
    json!({ "index": index, "event_type": "step.stop" })
}

fn call(index: u32, name: &str) -> Vec<Value> {
    let step = json!({ "id": format!("c{index}"), "type": "function_call", "name": name,
        "arguments": {}, "signature": "s" });
    let piece = json!({ "arguments": "{\"a\":1}", "type": "arguments_delta" });
    vec![start(index, step), delta(index, piece), stop(index)]
}

fn text(index: u32, text: &str) -> Vec<Value> {
    let output = json!({ "type": "model_output" });
    vec![start(index, output), delta(index, json!({ "text": text, "type": "text" })), stop(index)]
}

fn stream(events: &[Value]) -> String {
    let event =
        |data: &Value| format!("event: {}\ndata: {data}\n\n", data["event_type"].as_str().unwrap());
    events.iter().map(event).collect::<String>() + "event: done\ndata: [DONE]\n\n"
}

fn deny(on_deny: OnDeny, events: &[Value]) -> (Vec<Value>, Run) {
    let policies = drive::deny_names(&["evil"]);
    let run = drive::run(DIALECT, drive::settings(on_deny), &policies, [stream(events).as_bytes()]);
    assert_eq!(run.ending, Ending::Clean, "{}", run.text());
    (clients::events(&run.text()).into_iter().map(|(_, event)| event).collect(), run)
}

fn removed(run: &Run) -> RemovedTurn {
    let turn = |note: &Note| match note {
        Note::Removed(turn) => Some(turn.clone()),
        _ => None,
    };
    run.notes.iter().find_map(turn).unwrap()
}

fn whole(events: &[&[Value]]) -> Vec<Value> {
    events.concat()
}

#[test]
fn a_notice_is_a_step_in_place_of_the_call() {
    let events =
        whole(&[&[created()], &text(0, "hi"), &call(1, "evil"), &[completed("requires_action")]]);
    let (left, run) = deny(OnDeny::Explain, &events);
    assert_eq!(left[..4], events[..4]);
    assert_eq!(left[4], start(1, json!({ "type": "model_output" })));
    let notice = left[5]["delta"]["text"].as_str().unwrap().to_owned();
    assert!(notice.contains("evil"), "{notice}");
    assert_eq!((&left[6], &left[7]), (&stop(1), &completed("completed")));
    let turn = removed(&run);
    assert_eq!((turn.response.as_deref(), turn.calls[0].id.as_str()), (Some("i1"), "c1"));
    let original: Value = serde_json::from_str(&turn.calls[0].original).unwrap();
    assert_eq!((&original["arguments"], &original["signature"]), (&json!({ "a": 1 }), &json!("s")));
}

#[test]
fn indices_are_whole_where_nothing_takes_the_place() {
    let events = whole(&[
        &[created()],
        &text(3, "hi"),
        &call(4, "evil"),
        &call(5, "safe"),
        &[completed("requires_action")],
    ]);
    let (left, _) = deny(OnDeny::Silent, &events);
    let indices: Vec<u64> = left.iter().filter_map(|event| event["index"].as_u64()).collect();
    assert_eq!(indices, [3, 3, 3, 4, 4, 4]);
    assert_eq!(left[4]["step"]["name"], "safe");
    assert_eq!(left.last().unwrap(), &completed("requires_action"), "a call is left");
}

#[test]
fn a_turn_is_never_empty_and_its_status_is_consistent() {
    let update = |status: &str| json!({ "interaction_id": "i1", "status": status, "event_type": "interaction.status_update" });
    let alarm = json!({ "interaction_id": "i1", "event_type": "interaction.requires_action" });
    let events = whole(&[
        &[created(), update("in_progress")],
        &call(0, "evil"),
        &[update("requires_action"), alarm, completed("requires_action")],
    ]);
    let (left, _) = deny(OnDeny::Silent, &events);
    assert_eq!(left[2], start(0, json!({ "type": "model_output" })));
    assert!(!left[3]["delta"]["text"].as_str().unwrap().is_empty());
    assert_eq!(left[4..], [stop(0), update("completed"), completed("completed")]);
}

#[test]
fn pieces_of_two_calls_may_come_in_turn() {
    let (one, two) = (call(0, "safe"), call(1, "other"));
    let mixed = [
        created(),
        one[0].clone(),
        two[0].clone(),
        one[1].clone(),
        two[1].clone(),
        one[2].clone(),
        two[2].clone(),
        completed("requires_action"),
    ];
    for policies in [drive::allow_all(), drive::allow_all_held()] {
        let body = stream(&mixed);
        let run =
            drive::run(DIALECT, drive::settings(OnDeny::Explain), &policies, [body.as_bytes()]);
        let readings = clients::readings(DIALECT, &run.out);
        assert_eq!(readings["stopped"], clients::readings(DIALECT, body.as_bytes())["stopped"]);
    }
}

/// Arguments in the start, which some clients do not read, leave after it.
#[test]
fn a_call_leaves_whole_in_the_form_all_clients_read() {
    let mut events = whole(&[&[created()], &call(0, "safe"), &[completed("requires_action")]]);
    let honest = stream(&events);
    events[1]["step"]["arguments"] = json!({ "a": 1 });
    events.remove(2);
    let body = stream(&events);
    let settings = drive::settings(OnDeny::Explain);
    let run = drive::run(DIALECT, settings, &drive::allow_all(), [body.as_bytes()]);
    let sorted = |text: &str| clients::events(text);
    assert_eq!(sorted(&run.text()), sorted(&honest));
}

#[test]
fn a_body_loses_its_call() {
    let step = |name: &str| json!({ "type": "function_call", "id": name, "name": name, "arguments": { "a": 1 } });
    let body = |steps: Value, status: &str| {
        let mut body = interaction(status);
        body["steps"] = steps;
        body
    };
    let policies = drive::deny_names(&["evil"]);
    let run = |body: &Value, on_deny| {
        let body = body.to_string();
        let run = drive::run(DIALECT, drive::settings(on_deny), &policies, [body.as_bytes()]);
        serde_json::from_str::<Value>(&run.text()).unwrap()
    };
    let left = run(&body(json!([step("evil")]), "requires_action"), OnDeny::Explain);
    assert!(left["steps"][0]["content"][0]["text"].as_str().unwrap().contains("evil"), "{left}");
    assert_eq!(
        (&left["steps"][0]["type"], &left["status"]),
        (&json!("model_output"), &json!("completed"))
    );
    let both = body(json!([step("evil"), step("safe")]), "requires_action");
    assert_eq!(run(&both, OnDeny::Silent), body(json!([step("safe")]), "requires_action"));
    let left = run(&body(json!([step("evil")]), "requires_action"), OnDeny::Silent);
    assert_eq!(
        (left["steps"].as_array().unwrap().len(), &left["status"]),
        (1, &json!("completed"))
    );
}

/// The provider stores the call: the next request answers it.
#[test]
fn the_next_request_answers_stored_calls() {
    let events = whole(&[&[created()], &call(0, "evil"), &[completed("requires_action")]]);
    let (_, run) = deny(OnDeny::Explain, &events);
    let request = json!({ "model": "m", "previous_interaction_id": "i1", "input": "Why?" });
    let restored = restore(DIALECT, &request.to_string(), &[removed(&run)]).unwrap();
    let body: Value = serde_json::from_str(&restored.body.unwrap()).unwrap();
    assert_eq!(body["input"][0]["type"], "function_result");
    assert_eq!(
        (&body["input"][0]["call_id"], &body["input"][0]["is_error"]),
        (&json!("c0"), &json!(true))
    );
    assert_eq!(body["input"][1]["content"][0]["text"], "Why?");
}
