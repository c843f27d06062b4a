//! Chat turns that go on after a denial, against a provider that checks every request.

use callgate_dialect::Dialect;
use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::{Ask, Exchange, Reply};
use callgate_testkit::provider::POLICY;
use callgate_testkit::upstream::{Answer, AnswerStep, Request};
use serde_json::{Value, json};

use crate::continuing::{CONTINUE, failures, server, server_but, talk_officially};
use crate::support::{CHAT, gateway};

fn first(script: &str) -> Value {
    json!({ "role": "user", "content": format!("[script {script} #1] Please.") })
}

fn body(messages: &[Value], stream: bool) -> Value {
    let mut body = json!({ "model": "any", "stream": stream, "messages": messages });
    if stream {
        body["stream_options"] = json!({ "include_usage": true });
    }
    body
}

fn asked(body: &Value) -> Ask {
    Ask::post(CHAT, body.to_string()).header("authorization", "Bearer none")
}

fn post(gateway: &Gateway, messages: &[Value], stream: bool) -> Reply {
    asked(&body(messages, stream)).send(gateway.address())
}

/// The completion in a reply, read as strictly as a client can.
#[track_caller]
fn completion(reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{}", reply.text());
    let text = reply.text();
    if text.starts_with('{') {
        return reply.json();
    }
    let mut message = json!({ "role": "", "content": "", "tool_calls": [] });
    let (mut whole, mut is_over) = (Value::Null, false);
    for data in text.lines().filter_map(|line| line.strip_prefix("data: ")) {
        assert!(!is_over, "{text}");
        if data == "[DONE]" {
            is_over = true;
            continue;
        }
        let chunk: Value = serde_json::from_str(data).unwrap();
        assert!(whole.is_null() || whole["id"] == chunk["id"], "{text}");
        assert!(whole["usage"].is_null(), "something behind the usage: {text}");
        whole["id"] = chunk["id"].clone();
        whole["usage"] = chunk["usage"].clone();
        for choice in chunk["choices"].as_array().unwrap() {
            assert!(whole["finish_reason"].is_null(), "{text}");
            whole["finish_reason"] = choice["finish_reason"].clone();
            let delta = &choice["delta"];
            for key in ["role", "content"] {
                let more = delta[key].as_str().unwrap_or_default();
                message[key] = (message[key].as_str().unwrap().to_owned() + more).into();
            }
            for piece in delta["tool_calls"].as_array().unwrap_or(&Vec::new()) {
                let calls = message["tool_calls"].as_array_mut().unwrap();
                let index = piece["index"].as_u64().unwrap() as usize;
                match calls.get_mut(index) {
                    None => {
                        assert_eq!(index, calls.len(), "{text}");
                        let mut call = piece.clone();
                        call.as_object_mut().unwrap().remove("index");
                        calls.push(call);
                    }
                    Some(call) => {
                        let more = piece["function"]["arguments"].as_str().unwrap();
                        let so_far = call["function"]["arguments"].as_str().unwrap().to_owned();
                        call["function"]["arguments"] = (so_far + more).into();
                    }
                }
            }
        }
    }
    assert!(is_over, "{text}");
    assert_eq!(message["role"], "assistant");
    if message["tool_calls"] == json!([]) {
        message.as_object_mut().unwrap().remove("tool_calls");
    }
    let choice = json!({ "message": message, "finish_reason": whole["finish_reason"] });
    json!({ "id": whole["id"], "usage": whole["usage"], "choices": [choice] })
}

fn message(reply: &Reply) -> Value {
    completion(reply)["choices"][0]["message"].clone()
}

/// The conversation with the turn, and the results of its calls or a word of the user.
fn going_on(mut messages: Vec<Value>, turn: &Value) -> Vec<Value> {
    let calls = turn["tool_calls"].as_array().cloned().unwrap_or_default();
    messages.push(turn.clone());
    for call in &calls {
        messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": "ok" }));
    }
    if calls.is_empty() {
        messages.push(json!({ "role": "user", "content": "Go on." }));
    }
    messages
}

fn roles(request: &Request) -> Vec<String> {
    let messages = request.json()["messages"].as_array().unwrap().clone();
    messages.iter().map(|message| message["role"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_model_takes_another_way_in_the_same_turn() {
    for stream in [true, false] {
        let upstream = server();
        let mut gateway = gateway(&upstream, POLICY, CONTINUE);
        let messages = vec![first("other way")];
        let reply = post(&gateway, &messages, stream);
        let whole = completion(&reply);
        assert_eq!(whole["id"], "chatcmpl-1");
        assert_eq!(whole["choices"][0]["finish_reason"], "tool_calls");
        let usage = json!({ "prompt_tokens": 20, "completion_tokens": 40, "total_tokens": 60 });
        assert_eq!(whole["usage"], usage);
        let turn = message(&reply);
        assert_eq!(turn["tool_calls"][0]["function"]["name"], "read_file");
        let text = turn["content"].as_str().unwrap();
        let parts: Vec<&str> = text.split("\n\n").collect();
        let [said, notice, other] = parts.as_slice() else { panic!("{text}") };
        assert_eq!((*said, *other), ("I will delete it.", "Then I read it."));
        assert!(notice.starts_with("callgate blocked the tool call `delete_all` (rule no-delete"));
        let sent = upstream.requests();
        assert_eq!(sent.len(), 2);
        assert_eq!(roles(&sent[1]), ["user", "assistant", "tool"]);
        let result = &sent[1].json()["messages"][2];
        assert_eq!(result["tool_call_id"], "1_1a");
        assert!(result["content"].as_str().unwrap().contains("Nothing is deleted here."));

        // The provider checks every turn that it gave; restarted, the gateway still knows them.
        for _ in 0..2 {
            let reply = post(&gateway, &going_on(messages.clone(), &turn), stream);
            assert_eq!(message(&reply)["content"], "That was all.");
            let last = upstream.requests().pop().unwrap();
            assert_eq!(roles(&last), ["user", "assistant", "tool", "assistant", "tool"]);
            gateway = gateway.restart();
        }
    }
}

#[test]
fn two_denials_and_several_calls_are_more_requests() {
    for stream in [true, false] {
        for (script, requests) in [("two denials", 3), ("many", 2)] {
            let upstream = server();
            let gateway = gateway(&upstream, POLICY, CONTINUE);
            let messages = vec![first(script)];
            let whole = post(&gateway, &messages, stream);
            assert_eq!(completion(&whole)["usage"]["total_tokens"], 30 * requests);
            assert_eq!(upstream.requests().len(), requests, "{script}");
            let messages = going_on(messages, &message(&whole));
            let next = message(&post(&gateway, &messages, stream));
            assert_eq!(next["content"], "That was all.");
            // The turn stays restored as the conversation grows.
            let messages = going_on(messages, &next);
            assert_eq!(post(&gateway, &messages, stream).status, 200);
        }
    }
}

#[test]
fn a_turn_with_a_call_left_is_not_continued() {
    for stream in [true, false] {
        let upstream = server();
        let explained = message(&post(
            &gateway(&upstream, POLICY, "on_deny: explain"),
            &[first("mixed")],
            stream,
        ));
        let continued =
            message(&post(&gateway(&upstream, POLICY, CONTINUE), &[first("mixed")], stream));
        assert_eq!(explained, continued);
        assert_eq!(upstream.requests().len(), 2);
    }
}

#[test]
fn the_same_denied_action_ends_the_turn() {
    for stream in [true, false] {
        let upstream = server();
        let gateway = gateway(&upstream, POLICY, CONTINUE);
        let reply = post(&gateway, &[first("stubborn")], stream);
        assert_eq!(completion(&reply)["choices"][0]["finish_reason"], "stop");
        assert_eq!(upstream.requests().len(), 2);
        let turn = message(&reply);
        assert!(turn["content"].as_str().unwrap().contains("Reason: Nothing is deleted"), "{turn}");
    }
}

#[test]
fn the_number_of_rounds_the_tokens_and_the_time_are_bounded() {
    for limit in ["rounds: 1", "tokens: 50", "tokens: 1", "time: 1ms"] {
        let upstream = server();
        let settings = format!("{CONTINUE}\ncontinue: {{ {limit} }}");
        let gateway = gateway(&upstream, POLICY, &settings);
        let reply = post(&gateway, &[first("two denials")], true);
        assert_eq!(completion(&reply)["choices"][0]["finish_reason"], "stop", "{limit}");
        let requests = if matches!(limit, "rounds: 1" | "tokens: 50") { 2 } else { 1 };
        assert_eq!(upstream.requests().len(), requests, "{limit}");
        let messages = going_on(vec![first("two denials")], &message(&reply));
        let reply = post(&gateway, &messages, true);
        assert_eq!(reply.status, 200, "{limit}: {}", reply.text());
    }
}

/// What the client has is complete whatever happens to the next answer, and the conversation goes on.
#[test]
fn a_next_answer_that_fails_ends_the_turn_with_an_explanation() {
    for (name, fail) in failures() {
        let upstream = server_but(1, fail);
        let gateway = gateway(&upstream, POLICY, CONTINUE);
        let messages = vec![first("other way")];
        let reply = post(&gateway, &messages, true);
        assert_eq!(completion(&reply)["choices"][0]["finish_reason"], "stop", "{name}");
        let turn = message(&reply);
        assert!(turn.to_string().contains("callgate blocked the tool call"), "{name}: {turn}");
        let sent = upstream.requests().len();
        post(&gateway, &going_on(messages, &turn), true);
        let next = upstream.requests()[sent].json().to_string();
        assert!(next.contains("1_1a"), "{name}: {next}");
        assert!(!next.contains("callgate blocked the tool call `delete_all` ("), "{name}: {next}");
    }
}

#[test]
fn several_choices_and_a_demanded_tool_are_not_asked_for_again() {
    let demanded = json!({ "type": "function", "function": { "name": "delete_all" } });
    for (key, value) in [("tool_choice", demanded), ("n", json!(2))] {
        let upstream = server();
        let gateway = gateway(&upstream, POLICY, CONTINUE);
        let mut request = body(&[first("other way")], true);
        request[key] = value;
        let reply = asked(&request).send(gateway.address());
        assert_eq!(completion(&reply)["choices"][0]["finish_reason"], "stop", "{key}");
        assert_eq!(upstream.requests().len(), 1, "{key}");
    }
}

#[test]
fn text_rules_apply_to_the_later_request() {
    let text = "text:\n  - { id: quiet, in: request, keywords: [\"I will delete it\"], verdict: mask, reason: Quiet. }\n";
    let upstream = server_but(1, |_| Answer::json(500, "{}"));
    let gateway = gateway(&upstream, &format!("{POLICY}{text}"), CONTINUE);
    post(&gateway, &[first("other way")], true);
    let sent = upstream.requests();
    assert_eq!(sent.len(), 2);
    let second = sent[1].json().to_string();
    assert!(second.contains("1_1a") && !second.contains("I will delete it"), "{second}");
}

/// Text rules that hold text back work in every answer of a turn.
#[test]
fn text_rules_apply_to_all_answers() {
    let text = "text:\n  - { id: quiet, in: response, keywords: [\"I read it\"], verdict: mask, reason: Quiet. }\n";
    for stream in [true, false] {
        let upstream = server();
        let gateway = gateway(&upstream, &format!("{POLICY}{text}"), CONTINUE);
        let turn = message(&post(&gateway, &[first("other way")], stream));
        let content = turn["content"].as_str().unwrap();
        assert!(content.starts_with("I will delete it.\n\ncallgate blocked"), "{content}");
        assert!(!content.contains("I read it") && content.contains("Then "), "{content}");
        assert_eq!(turn["tool_calls"][0]["id"], "1_3a");
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
    assert!(open.read_until("I will"));
    open.leave();
    assert!(gateway.wait_until(|gateway| !gateway.turns().is_empty()));
    upstream.release();
    assert!(gateway.events().iter().all(|event| event["type"] != "continued"));
    assert_eq!(upstream.requests().len(), 1);
}

#[test]
fn the_client_hears_something_between_the_answers() {
    let upstream = server_but(1, |usual| {
        let whole = usual.body();
        Answer::raw("").step(AnswerStep::Pause(std::time::Duration::from_millis(3500))).send(
            [
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
                &*whole,
            ]
            .concat(),
        )
    });
    let gateway = gateway(&upstream, POLICY, CONTINUE);
    let reply = post(&gateway, &[first("other way")], true);
    assert!(reply.text().contains("\n\n: callgate waits\n\n"), "{}", reply.text());
    assert_eq!(completion(&reply)["choices"][0]["finish_reason"], "tool_calls");
}

#[test]
fn a_stopping_gateway_ends_the_turn() {
    let upstream = server_but(1, |_| Answer::raw("").step(AnswerStep::Stall));
    let mut gateway = gateway(&upstream, POLICY, CONTINUE);
    let mut open =
        Exchange::open(gateway.address(), &asked(&body(&[first("other way")], true))).unwrap();
    assert!(open.read_until("I will"));
    assert!(upstream.wait_until(|upstream| upstream.requests().len() == 2));
    gateway.signal("TERM");
    let whole = completion(&open.finish().unwrap());
    assert_eq!(whole["choices"][0]["finish_reason"], "stop");
    assert_eq!(whole["usage"]["total_tokens"], 30);
    assert!(gateway.ended().is_some());
}

#[test]
fn a_turn_the_client_changed_goes_as_it_was_sent() {
    let upstream = server();
    let gateway = gateway(&upstream, POLICY, CONTINUE);
    let turn = message(&post(&gateway, &[first("other way")], true));
    let mut messages = going_on(vec![first("other way")], &turn);
    messages[1]["content"] = "Something else.".into();
    post(&gateway, &messages, true);
    let sent = upstream.requests().pop().unwrap().json();
    assert_eq!(sent["messages"], Value::from(messages));
}

#[test]
fn without_a_notice_no_trace_of_the_denial_is_left() {
    for stream in [true, false] {
        let upstream = server();
        let settings = format!("{CONTINUE}\ncontinue: {{ notice: none }}");
        let gateway = gateway(&upstream, POLICY, &settings);
        let turn = message(&post(&gateway, &[first("other way")], stream));
        assert_eq!(turn["content"], "I will delete it.\n\nThen I read it.");
        let reply = post(&gateway, &going_on(vec![first("other way")], &turn), stream);
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
}

/// A notice would make JSON that a client asked for unreadable.
#[test]
fn json_that_was_asked_for_has_no_notice() {
    for stream in [true, false] {
        let upstream = server();
        let gateway = gateway(&upstream, POLICY, CONTINUE);
        let mut request = body(&[first("many")], stream);
        request["response_format"] = json!({ "type": "json_object" });
        assert_eq!(message(&asked(&request).send(gateway.address()))["content"], "Fine.");
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
        let call = gateway.calls().remove(0);
        let shown = gateway.run(&["calls", "show", call["id"].as_str().unwrap()]);
        let shown = String::from_utf8(shown.stdout).unwrap();
        assert_eq!(shown.matches("asked again").count(), 2, "{shown}");
    }
}

#[test]
fn official_clients_read_several_answers_as_one() {
    talk_officially(Dialect::OpenAiChat);
}
