//! Responses turns that go on after a denial, against a provider that checks every request.

use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::{Ask, Exchange, Reply};
use callgate_testkit::provider::POLICY;
use callgate_testkit::upstream::{Answer, AnswerStep, Request};
use serde_json::{Value, json};

use crate::continuing::{CONTINUE, failures, server, server_but};
use crate::support::gateway;

fn first(script: &str) -> Value {
    json!({ "role": "user", "content": format!("[script {script} #1] Please.") })
}

fn body(input: &[Value], stream: bool) -> Value {
    json!({ "model": "any", "store": false, "stream": stream, "input": input,
        "include": ["reasoning.encrypted_content"] })
}

fn asked(body: &Value) -> Ask {
    Ask::post("/v1/responses", body.to_string()).header("authorization", "Bearer none")
}

fn post(gateway: &Gateway, input: &[Value], stream: bool) -> Reply {
    asked(&body(input, stream)).send(gateway.address())
}

/// The response in a reply, read as strictly as a client can.
#[track_caller]
pub(crate) fn response(reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{}", reply.text());
    let text = reply.text();
    if text.starts_with('{') {
        return reply.json();
    }
    let (mut response, mut items) = (Value::Null, Vec::new());
    let (mut open, mut is_over, mut number) = (false, false, 0);
    for data in text.lines().filter_map(|line| line.strip_prefix("data: ")) {
        let event: Value = serde_json::from_str(data).unwrap();
        assert!(!is_over, "{text}");
        let at = event["sequence_number"].as_u64().unwrap();
        assert!(at + 1 >= number, "{at} behind {number}: {text}");
        number = at + 1;
        match event["type"].as_str().unwrap() {
            "response.created" => {
                assert!(response.is_null(), "{text}");
                response = event["response"].clone();
            }
            "response.output_item.added" => {
                assert!(!open && event["output_index"] == items.len(), "{text}");
                open = true;
            }
            "response.output_item.done" => {
                assert!(open && event["output_index"] == items.len(), "{text}");
                open = false;
                items.push(event["item"].clone());
            }
            "response.completed" => {
                assert_eq!(event["response"]["id"], response["id"], "{text}");
                response = event["response"].clone();
                is_over = true;
            }
            _ => {}
        }
    }
    assert!(is_over && !open, "{text}");
    assert_eq!(response["output"], Value::from(items), "{text}");
    response
}

pub(crate) fn kinds(response: &Value) -> Vec<&str> {
    let items = response["output"].as_array().unwrap().iter();
    items.map(|item| item["type"].as_str().unwrap()).collect()
}

pub(crate) fn texts(response: &Value) -> Vec<&str> {
    let items = response["output"].as_array().unwrap().iter();
    items.filter_map(|item| item["content"][0]["text"].as_str()).collect()
}

/// The conversation with the turn, and the results of its calls or a word of the user.
fn going_on(mut input: Vec<Value>, turn: &Value) -> Vec<Value> {
    let items = turn["output"].as_array().unwrap();
    let calls = items.iter().filter(|item| item["type"] == "function_call");
    let outputs: Vec<Value> = calls
        .map(|call| json!({ "type": "function_call_output", "call_id": call["call_id"], "output": "ok" }))
        .collect();
    input.extend(items.iter().cloned());
    match outputs.is_empty() {
        true => input.push(json!({ "role": "user", "content": "Go on." })),
        false => input.extend(outputs),
    }
    input
}

/// The types of the items of a request.
fn sent(request: &Request) -> Vec<String> {
    let items = request.json()["input"].as_array().unwrap().clone();
    items.iter().map(|item| item["type"].as_str().unwrap_or("user").to_owned()).collect()
}

const DENIED: [&str; 5] = ["user", "reasoning", "message", "function_call", "function_call_output"];

#[test]
fn the_model_takes_another_way_in_the_same_turn() {
    for stream in [true, false] {
        let upstream = server();
        let mut gateway = gateway(&upstream, POLICY, CONTINUE);
        let input = vec![first("other way")];
        let turn = response(&post(&gateway, &input, stream));
        assert_eq!(turn["id"], "resp_1");
        assert_eq!(turn["usage"]["total_tokens"], 60);
        let want = ["reasoning", "message", "message", "reasoning", "message", "function_call"];
        assert_eq!(kinds(&turn), want, "{turn}");
        let said = texts(&turn);
        let [one, notice, other] = said.as_slice() else { panic!("{said:?}") };
        assert_eq!((*one, *other), ("I will delete it.", "Then I read it."));
        assert!(notice.starts_with("callgate blocked the tool call `delete_all` (rule no-delete"));
        let requests = upstream.requests();
        assert_eq!(requests.len(), 2);
        assert_eq!(sent(&requests[1]), DENIED);
        let result = &requests[1].json()["input"][4];
        assert_eq!(result["call_id"], "1_1a");
        assert!(result["output"].as_str().unwrap().contains("Nothing is deleted here."));

        // The provider checks every turn that it gave; restarted, the gateway still knows them.
        for _ in 0..2 {
            let reply = post(&gateway, &going_on(input.clone(), &turn), stream);
            assert_eq!(texts(&response(&reply)), ["That was all."]);
            let last = sent(&upstream.requests().pop().unwrap());
            let rest = ["reasoning", "message", "function_call", "function_call_output"];
            assert_eq!(last, [&DENIED[..], &rest].concat());
            gateway = gateway.restart();
        }
    }
}

#[test]
fn two_denials_and_several_calls_are_more_requests() {
    for stream in [true, false] {
        for (script, requests) in [("two denials", 3), ("many", 2), ("redacted", 2)] {
            let upstream = server();
            let gateway = gateway(&upstream, POLICY, CONTINUE);
            let input = vec![first(script)];
            let turn = response(&post(&gateway, &input, stream));
            assert_eq!(upstream.requests().len(), requests, "{script}");
            let input = going_on(input, &turn);
            let next = response(&post(&gateway, &input, stream));
            assert_eq!(texts(&next), ["That was all."], "{script}");
            // The turn stays restored as the conversation grows.
            assert_eq!(post(&gateway, &going_on(input, &next), stream).status, 200, "{script}");
        }
    }
}

#[test]
fn a_turn_with_a_call_left_is_not_continued() {
    for stream in [true, false] {
        let upstream = server();
        let turn = |settings: &str| {
            let turn =
                response(&post(&gateway(&upstream, POLICY, settings), &[first("mixed")], stream));
            (kinds(&turn).join(" "), texts(&turn).join(" "))
        };
        let (explained, continued) = (turn("on_deny: explain"), turn(CONTINUE));
        assert_eq!(explained, continued);
        assert_eq!(upstream.requests().len(), 2);
    }
}

/// A response in the background, and a tool that the request demands, are not asked for again.
#[test]
fn background_and_demanded_turns_are_not_continued() {
    let demanded = json!({ "type": "function", "name": "delete_all" });
    for (key, value) in [("background", json!(true)), ("tool_choice", demanded)] {
        let upstream = server();
        let gateway = gateway(&upstream, POLICY, CONTINUE);
        let mut request = body(&[first("other way")], true);
        request[key] = value.clone();
        let turn = response(&asked(&request).send(gateway.address()));
        assert_eq!(upstream.requests().len(), 1, "{key}");
        assert_eq!(kinds(&turn), ["reasoning", "message", "message"], "{key} {value}");
        assert!(texts(&turn)[1].contains("Reason: Nothing is deleted"), "{turn}");
    }
}

#[test]
fn the_same_action_and_the_limits_end_the_turn() {
    for (script, limit, requests) in [
        ("stubborn", "", 2),
        ("two denials", "continue: { rounds: 1 }", 2),
        ("two denials", "continue: { tokens: 50 }", 2),
        ("two denials", "continue: { time: 1ms }", 1),
    ] {
        for stream in [true, false] {
            let upstream = server();
            let gateway = gateway(&upstream, POLICY, &format!("{CONTINUE}\n{limit}"));
            let turn = response(&post(&gateway, &[first(script)], stream));
            assert_eq!(upstream.requests().len(), requests, "{script} {limit}");
            assert!(!kinds(&turn).contains(&"function_call"), "{turn}");
            assert!(texts(&turn).last().unwrap().contains("Reason: "), "{turn}");
            if script != "stubborn" {
                let reply = post(&gateway, &going_on(vec![first(script)], &turn), stream);
                assert_eq!(reply.status, 200, "{limit}: {}", reply.text());
            }
        }
    }
}

/// What the client has is complete whatever happens to the next answer, and the conversation goes on.
#[test]
fn a_next_answer_that_fails_ends_the_turn_with_an_explanation() {
    for (name, fail) in failures() {
        let upstream = server_but(1, fail);
        let gateway = gateway(&upstream, POLICY, CONTINUE);
        let input = vec![first("other way")];
        let turn = response(&post(&gateway, &input, true));
        assert!(turn.to_string().contains("callgate blocked the tool call"), "{name}: {turn}");
        let before = upstream.requests().len();
        post(&gateway, &going_on(input, &turn), true);
        let next = upstream.requests()[before].json().to_string();
        assert!(next.contains("1_1a"), "{name}: {next}");
        assert!(!next.contains("callgate blocked the tool call `delete_all` ("), "{name}: {next}");
    }
}

/// Nothing is sent once the client is gone.
#[test]
fn a_client_that_left_is_not_asked_for() {
    let upstream = server_but(0, |usual| {
        let whole = usual.body();
        let (head, tail) = whole.split_at(whole.len() - 60);
        Answer::stream("").send(head.to_vec()).step(AnswerStep::Stall).send(tail.to_vec())
    });
    let gateway = gateway(&upstream, POLICY, CONTINUE);
    let mut open =
        Exchange::open(gateway.address(), &asked(&body(&[first("other way")], true))).unwrap();
    assert!(open.read_until("output_text.done"));
    open.leave();
    assert!(gateway.wait_until(|gateway| !gateway.turns().is_empty()));
    upstream.release();
    assert!(gateway.events().iter().all(|event| event["type"] != "continued"));
    assert_eq!(upstream.requests().len(), 1);
}

#[test]
fn a_stopping_gateway_ends_the_turn() {
    let upstream = server_but(1, |_| Answer::raw("").step(AnswerStep::Stall));
    let mut gateway = gateway(&upstream, POLICY, CONTINUE);
    let mut open =
        Exchange::open(gateway.address(), &asked(&body(&[first("other way")], true))).unwrap();
    assert!(open.read_until("output_text.done"));
    assert!(upstream.wait_until(|upstream| upstream.requests().len() == 2));
    gateway.signal("TERM");
    let turn = response(&open.finish().unwrap());
    assert_eq!(turn["usage"]["total_tokens"], 30);
    assert!(texts(&turn)[1].contains("Reason: Nothing is deleted"), "{turn}");
    assert!(gateway.ended().is_some());
}

#[test]
fn a_turn_the_client_changed_goes_as_it_was_sent() {
    let upstream = server();
    let gateway = gateway(&upstream, POLICY, CONTINUE);
    let turn = response(&post(&gateway, &[first("other way")], true));
    let mut input = going_on(vec![first("other way")], &turn);
    input[2]["content"][0]["text"] = "Something else.".into();
    post(&gateway, &input, true);
    let sent = upstream.requests().pop().unwrap().json();
    assert_eq!(sent["input"], Value::from(input));
}

#[test]
fn without_a_notice_or_with_json_no_trace_of_the_denial_is_left() {
    for stream in [true, false] {
        for settings in [format!("{CONTINUE}\ncontinue: {{ notice: none }}"), CONTINUE.to_owned()] {
            let upstream = server();
            let gateway = gateway(&upstream, POLICY, &settings);
            let mut request = body(&[first("other way")], stream);
            if settings == CONTINUE {
                request["text"] = json!({ "format": { "type": "json_object" } });
            }
            let turn = response(&asked(&request).send(gateway.address()));
            assert_eq!(texts(&turn), ["I will delete it.", "Then I read it."]);
            let reply = post(&gateway, &going_on(vec![first("other way")], &turn), stream);
            assert_eq!(reply.status, 200, "{}", reply.text());
        }
    }
}

#[test]
fn each_answer_is_on_record_and_the_denied_calls_are_announced() {
    for stream in [true, false] {
        let upstream = server();
        let gateway = gateway(&upstream, POLICY, CONTINUE);
        let reply = post(&gateway, &[first("two denials")], stream);
        assert!(gateway.wait_until(|gateway| gateway.turns().len() == 1));
        let turn = gateway.turns().remove(0);
        assert_eq!((&turn["tokens"]["input"], &turn["tokens"]["output"]), (&json!(10), &json!(20)));
        let continued: Vec<Value> =
            gateway.events().into_iter().filter(|event| event["type"] == "continued").collect();
        assert_eq!(continued.len(), 2, "{continued:?}");
        assert!(continued.iter().all(|event| event["request_id"] == turn["request_id"]));
        let text = reply.text();
        let comments = text.lines().filter(|line| line.starts_with(": callgate denied ")).count();
        let announced = (comments, reply.header("x-callgate-denied"));
        assert_eq!(announced, if stream { (2, None) } else { (0, Some("2")) });
    }
}

/// The end of a response repeats its texts: those that were masked stay masked.
#[test]
fn masked_text_stays_masked_in_a_continued_turn() {
    let rule = "text:\n  - { id: quiet, in: response, keywords: [\"I will delete it\"], verdict: mask, reason: Quiet. }\n";
    for stream in [true, false] {
        let upstream = server();
        let gateway = gateway(&upstream, &format!("{POLICY}{rule}"), CONTINUE);
        let reply = post(&gateway, &[first("other way")], stream);
        assert_eq!(upstream.requests().len(), 2);
        assert!(!reply.text().contains("I will delete it"), "{}", reply.text());
        assert_eq!(*texts(&response(&reply)).last().unwrap(), "Then I read it.");
    }
}
