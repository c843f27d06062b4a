//! Responses that the provider stores and that go on after a denial. The client knows all answers
//! by the id of the first one, against a provider that checks every request.

use callgate_dialect::Dialect;
use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::{Ask, Reply};
use callgate_testkit::provider::POLICY;
use callgate_testkit::upstream::{Answer, Upstream};
use serde_json::{Value, json};

use crate::continuing::{CONTINUE, failures, server, server_but, talk_officially};
use crate::continuing_responses::{kinds, response, texts};
use crate::support::gateway;

const RESPONSES: &str = "/v1/responses";

fn request(method: &str, path: &str, body: Option<&Value>) -> Ask {
    let ask = match body {
        Some(body) => Ask::post(path, body.to_string()),
        None => Ask::new(method, path),
    };
    ask.header("authorization", "Bearer none").header("content-type", "application/json")
}

fn post(gateway: &Gateway, body: &Value) -> Reply {
    request("POST", RESPONSES, Some(body)).send(gateway.address())
}

fn get(gateway: &Gateway, path: &str) -> Reply {
    request("GET", path, None).send(gateway.address())
}

/// The first request of a conversation that the provider stores.
fn first(script: &str, stream: bool) -> Value {
    json!({ "model": "any", "stream": stream, "input": format!("[script {script} #1] Please.") })
}

/// A request that goes on from a stored response with the result of its call.
fn next(turn: &Value, stream: bool) -> Value {
    let items = turn["output"].as_array().unwrap().iter();
    let calls = items.filter(|item| item["type"] == "function_call");
    let outputs: Vec<Value> = calls
        .map(|call| json!({ "type": "function_call_output", "call_id": call["call_id"], "output": "ok" }))
        .collect();
    let input = if outputs.is_empty() { json!("Go on.") } else { json!(outputs) };
    json!({ "model": "any", "stream": stream, "previous_response_id": turn["id"], "input": input })
}

fn last(upstream: &Upstream) -> Value {
    upstream.requests().pop().unwrap().json()
}

/// The merged response has the first id; a request that names it goes on from the last answer, also
/// after a restart.
#[test]
fn the_first_id_stands_for_the_last_answer() {
    for stream in [true, false] {
        for (script, answers) in [("other way", 2), ("two denials", 3), ("many", 2)] {
            let upstream = server();
            let mut gateway = gateway(&upstream, POLICY, CONTINUE);
            let turn = response(&post(&gateway, &first(script, stream)));
            assert_eq!((&turn["id"], upstream.requests().len()), (&json!("resp_1"), answers));
            assert_eq!(turn["usage"]["total_tokens"], 30 * answers, "{script}");
            // The next request has the whole conversation, and no other difference.
            let second = upstream.requests()[1].json();
            assert!(second["previous_response_id"].is_null(), "{second}");
            assert_eq!(second["input"][0]["role"], "user", "{second}");
            for round in 0..2 {
                let next = response(&post(&gateway, &next(&turn, stream)));
                assert_eq!(texts(&next), ["That was all."], "{script} {round}");
                let sent = last(&upstream);
                assert_eq!(sent["previous_response_id"], format!("resp_{answers}"), "{script}");
                gateway = gateway.restart();
            }
        }
    }
}

/// A turn may go on from a turn of several answers, and be continued itself.
#[test]
fn a_continued_turn_follows_another() {
    let upstream = server();
    let gateway = gateway(&upstream, POLICY, CONTINUE);
    let one = response(&post(&gateway, &first("twice", true)));
    assert_eq!((&one["id"], upstream.requests().len()), (&json!("resp_1"), 2));
    let two = response(&post(&gateway, &next(&one, true)));
    assert_eq!((&two["id"], upstream.requests().len()), (&json!("resp_3"), 4), "{two}");
    let sent = last(&upstream);
    assert_eq!(sent["previous_response_id"], "resp_2");
    let three = response(&post(&gateway, &next(&two, true)));
    assert_eq!(texts(&three), ["That was all."]);
    assert_eq!(last(&upstream)["previous_response_id"], "resp_4");
}

/// An id of one client means nothing to another.
#[test]
fn the_id_is_bound_to_the_credential() {
    let upstream = server();
    let gateway = gateway(&upstream, POLICY, CONTINUE);
    let turn = response(&post(&gateway, &first("other way", false)));
    let ask = Ask::post(RESPONSES, next(&turn, false).to_string())
        .header("authorization", "Bearer another");
    assert_eq!(ask.send(gateway.address()).status, 400);
    assert_eq!(last(&upstream)["previous_response_id"], "resp_1");
    let read = Ask::get("/v1/responses/resp_1").header("authorization", "Bearer another");
    assert_eq!(read.send(gateway.address()).status, 200);
    assert_eq!(upstream.requests().pop().unwrap().path, "/v1/responses/resp_1");
}

/// Reading the response gives what the client received. Only the record in the notice may differ.
#[test]
fn the_response_can_be_read_and_cancelled_by_the_first_id() {
    for stream in [true, false] {
        let upstream = server();
        let mut gateway = gateway(&upstream, POLICY, CONTINUE);
        let turn = response(&post(&gateway, &first("two denials", stream)));
        for _ in 0..2 {
            for (method, path) in [("GET", "/resp_1"), ("POST", "/resp_1/cancel")] {
                let body = (method == "POST").then(|| json!({}));
                let path = format!("{RESPONSES}{path}");
                let again = request(method, &path, body.as_ref()).send(gateway.address());
                let again = response(&again);
                for key in ["id", "created_at", "status", "usage", "output", "model"] {
                    assert_eq!(again[key], turn[key], "{method} {key}");
                }
                let sent = upstream.requests().pop().unwrap();
                assert_eq!(sent.path, path.replace("resp_1", "resp_3"));
            }
            let items = get(&gateway, "/v1/responses/resp_1/input_items").json();
            assert_eq!(items["data"].as_array().unwrap().len(), 1, "{items}");
            gateway = gateway.restart();
        }
        let reply = get(&gateway, "/v1/responses/resp_1?stream=true");
        assert_eq!(reply.status, 400, "{}", reply.text());
        assert!(reply.text().contains("several answers"), "{}", reply.text());
    }
}

/// Nothing is left at the provider. If it refuses, the client can try again.
#[test]
fn deleting_the_response_deletes_every_answer() {
    for refused in [false, true] {
        let upstream = server_but(3, move |usual| match refused {
            true => Answer::json(500, r#"{"error":{"message":"later"}}"#),
            false => usual,
        });
        let gateway = gateway(&upstream, POLICY, CONTINUE).restart();
        response(&post(&gateway, &first("two denials", true)));
        let gateway = gateway.restart();
        let delete = || {
            let ask = request("DELETE", "/v1/responses/resp_1", None);
            ask.send(gateway.address())
        };
        if refused {
            assert_eq!(delete().status, 500);
        }
        let reply = delete();
        let want = json!({ "id": "resp_1", "object": "response", "deleted": true });
        assert_eq!((reply.status, reply.json()), (200, want));
        for id in ["resp_1", "resp_2", "resp_3"] {
            let direct = Ask::get(&format!("/v1/responses/{id}")).send(upstream.address());
            assert!(direct.text().contains("not found"), "{id}: {}", direct.text());
        }
    }
}

/// Whatever happens to the next answer, the conversation goes on from the last complete one.
#[test]
fn a_next_answer_that_fails_is_not_gone_on_from() {
    for (name, fail) in failures() {
        let upstream = server_but(1, fail);
        let gateway = gateway(&upstream, POLICY, CONTINUE);
        let turn = response(&post(&gateway, &first("other way", true)));
        post(&gateway, &next(&turn, true));
        let sent = last(&upstream);
        assert_eq!(sent["previous_response_id"], "resp_1", "{name}: {sent}");
        let result = &sent["input"][0];
        assert_eq!(
            (&result["type"], &result["call_id"]),
            (&json!("function_call_output"), &json!("1_1a"))
        );
        assert!(result["output"].as_str().unwrap().contains("Nothing is deleted here."), "{name}");
        let again = response(&get(&gateway, "/v1/responses/resp_1"));
        assert!(!again.to_string().contains("\"delete_all\""), "{name}: {again}");
    }
}

/// Clients that keep the history themselves send the items or only their ids. Thinking that is not
/// sealed in an item is known by its id.
#[test]
fn items_and_references_to_them_become_the_real_turns() {
    for stream in [true, false] {
        for refers in [true, false] {
            let upstream = server();
            let mut gateway = gateway(&upstream, POLICY, CONTINUE);
            let turn = response(&post(&gateway, &first("two denials", stream)));
            let item = |item: &Value| match refers {
                true => json!({ "type": "item_reference", "id": item["id"] }),
                false => item.clone(),
            };
            let items = turn["output"].as_array().unwrap().iter().map(item);
            let mut input =
                vec![json!({ "role": "user", "content": first("two denials", stream)["input"] })];
            input.extend(items);
            input.extend(next(&turn, stream)["input"].as_array().unwrap().iter().cloned());
            for _ in 0..2 {
                let body = json!({ "model": "any", "stream": stream, "input": input });
                let reply = post(&gateway, &body);
                assert_eq!(texts(&response(&reply)), ["That was all."], "{refers}");
                gateway = gateway.restart();
            }
        }
    }
}

/// The provider itself adds to a conversation, and answers in the background whenever it likes.
#[test]
fn conversations_and_background_responses_are_explained() {
    let upstream = server();
    let gateway = gateway(&upstream, POLICY, CONTINUE);
    let conversation = || {
        let made = request("POST", "/v1/conversations", Some(&json!({}))).send(gateway.address());
        made.json()["id"].clone()
    };
    for (key, value) in [
        ("conversation", conversation()),
        ("conversation", json!({ "id": conversation() })),
        ("background", json!(true)),
    ] {
        let mut body = first("other way", false);
        body[key] = value;
        let before = upstream.requests().len();
        let turn = response(&post(&gateway, &body));
        assert_eq!(upstream.requests().len(), before + 1, "{key}");
        assert_eq!(kinds(&turn), ["reasoning", "message", "message"], "{key}: {turn}");
        assert!(texts(&turn)[1].contains("Reason: Nothing is deleted"), "{turn}");
    }
}

/// The official clients take several answers for one, and go on by the id or with the items.
#[test]
fn official_clients_read_several_answers_as_one() {
    talk_officially(Dialect::Responses);
}
