//! Removed calls, put back into the next request: what the official clients do not show.

use std::sync::atomic::{AtomicUsize, Ordering};

use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::Ask;
use callgate_testkit::provider::{POLICY, Provider, TurnPart};
use callgate_testkit::upstream::{Answer, Upstream};
use serde_json::{Value, json};

use crate::support::{CHAT, MESSAGES, gateway};

/// A model that says nothing and calls one denied tool.
fn mute() -> Provider {
    Provider::default()
        .script("mute", vec![vec![TurnPart::call("{n}_1a", "delete_all", r#"{ "path": "/" }"#)]])
}

fn server(provider: Provider) -> Upstream {
    Upstream::start(move |request| provider.answer(request))
}

fn first(script: &str) -> Value {
    json!({ "role": "user", "content": format!("[script {script} #1] Please.") })
}

fn post(gateway: &Gateway, path: &str, key: &str, messages: &[Value]) -> (u16, Value) {
    let body = json!({ "model": "any", "max_tokens": 64, "messages": messages });
    let bearer = format!("Bearer {key}");
    let ask = Ask::post(path, body.to_string()).header("authorization", &bearer);
    let reply = ask.send(gateway.address());
    (reply.status, reply.json())
}

/// The first turn of a script, as the client has it: ready to be sent back.
fn given(gateway: &Gateway, path: &str, script: &str) -> Vec<Value> {
    let (status, body) = post(gateway, path, "none", &[first(script)]);
    assert_eq!(status, 200, "{body}");
    let turn = match path {
        MESSAGES => json!({ "role": "assistant", "content": body["content"] }),
        _ => body["choices"][0]["message"].clone(),
    };
    vec![first(script), turn, json!({ "role": "user", "content": "Go on." })]
}

#[test]
fn a_turn_with_nothing_but_a_denied_call_is_restored() {
    for settings in ["on_deny: explain", "on_deny: silent"] {
        for path in [MESSAGES, CHAT] {
            let upstream = server(mute());
            let gateway = gateway(&upstream, POLICY, settings);
            let messages = given(&gateway, path, "mute");
            assert!(!messages[1].to_string().contains("tool_use\""), "{}", messages[1]);
            let (status, body) = post(&gateway, path, "none", &messages);
            assert_eq!(status, 200, "{settings} {path}: {body}");
        }
    }
}

/// Only what must be read is bounded: without a removed call the same request streams through.
#[test]
fn a_request_that_is_too_large_to_be_read_gets_413() {
    for path in [MESSAGES, CHAT] {
        let upstream = server(mute());
        let gateway = gateway(&upstream, POLICY, "limits: { request: 4KiB }");
        let large = json!({ "role": "user", "content": "x".repeat(8 << 10) });
        let (status, body) = post(&gateway, path, "none", &[first("mute"), large.clone()]);
        assert_ne!(status, 413, "{path}: {body}");
        let mut messages = given(&gateway, path, "mute");
        messages.push(large);
        let (status, body) = post(&gateway, path, "none", &messages);
        assert_eq!(status, 413, "{path}: {body}");
        assert!(body.to_string().contains("limits.request"), "{body}");
    }
}

#[test]
fn a_token_count_is_of_the_restored_request() {
    let upstream = server(Provider::scripted());
    let gateway = gateway(&upstream, POLICY, "");
    let messages = given(&gateway, MESSAGES, "all by name");
    let (status, body) = post(&gateway, "/v1/messages/count_tokens", "none", &messages);
    assert_eq!(status, 200, "{body}");
    assert!(upstream.requests().pop().unwrap().json().to_string().contains("1_1a"));
}

#[test]
fn a_turn_is_restored_only_for_whom_it_was_made() {
    for path in [MESSAGES, CHAT] {
        let upstream = server(Provider::scripted());
        let gateway = gateway(&upstream, POLICY, "");
        let messages = given(&gateway, path, "all by name");
        let (status, _) = post(&gateway, path, "someone else", &messages);
        assert_eq!(status, 400, "{path}: restored for another credential");
        let sent = String::from_utf8(upstream.requests().pop().unwrap().body).unwrap();
        assert!(!sent.contains("1_1a"), "{path}: {sent}");
        let (status, body) = post(&gateway, path, "none", &messages);
        assert_eq!(status, 200, "{path}: {body}");
    }
}

/// Some clients send what the provider knows them by in the query.
#[test]
fn a_credential_in_the_query_tells_whom_a_turn_is_for() {
    for name in ["access_token", "key"] {
        let upstream = server(mute());
        let gateway = gateway(&upstream, POLICY, "");
        let path = |value: &str| format!("{MESSAGES}?{name}={value}");
        let (_, body) = post(&gateway, &path("mine"), "none", &[first("mute")]);
        let turn = json!({ "role": "assistant", "content": body["content"] });
        let messages = [first("mute"), turn, json!({ "role": "user", "content": "Go on." })];
        let (status, body) = post(&gateway, &path("theirs"), "none", &messages);
        assert_eq!(status, 400, "{name}: restored for another credential: {body}");
        let (status, body) = post(&gateway, &path("mine"), "none", &messages);
        assert_eq!(status, 200, "{name}: {body}");
    }
}

#[test]
fn a_notice_outside_of_an_assistant_message_means_nothing() {
    for path in [MESSAGES, CHAT] {
        let upstream = server(Provider::scripted());
        let gateway = gateway(&upstream, POLICY, "");
        let messages = given(&gateway, path, "all by name");
        let notice = messages[1]["content"].clone();
        let quoted =
            json!({ "role": "user", "content": format!("[script all by name #1] {notice}") });
        let (status, body) = post(&gateway, path, "none", std::slice::from_ref(&quoted));
        assert_eq!(status, 200, "{body}");
        let sent = upstream.requests().pop().unwrap().json();
        assert_eq!(sent["messages"], json!([quoted]), "{path}");
    }
}

#[test]
fn a_turn_the_client_changed_goes_as_it_was_sent() {
    for path in [MESSAGES, CHAT] {
        let upstream = server(mute());
        let gateway = gateway(&upstream, POLICY, "");
        let mut messages = given(&gateway, path, "mute");
        messages[1]["content"] = "Something else.".into();
        post(&gateway, path, "none", &messages);
        let sent = upstream.requests().pop().unwrap().json();
        assert_eq!(sent["messages"], Value::from(messages), "{path}");
    }
}

#[test]
fn the_rest_of_a_restored_request_stays_byte_for_byte() {
    let upstream = server(Provider::scripted());
    let gateway = gateway(&upstream, POLICY, "");
    let messages = given(&gateway, CHAT, "all by name");
    let odd = "{ \"n\" : 1.0, \"n2\": 12345678901234567890,\r\n\"u\":\"\\u00fc\", \"messages\": ";
    let body = format!("{odd}{} , \"last\" : [ ] }}\n", Value::from(messages));
    let ask = Ask::post(CHAT, body).header("authorization", "Bearer none");
    let reply = ask.send(gateway.address());
    assert_eq!(reply.status, 200, "{}", reply.text());
    let sent = String::from_utf8(upstream.requests().pop().unwrap().body).unwrap();
    assert!(sent.starts_with(odd) && sent.ends_with(" , \"last\" : [ ] }\n"), "{sent}");
    assert!(sent.contains("1_1a"), "{sent}");
}

#[test]
fn a_compressed_request_is_restored_too() {
    use callgate_testkit::upstream::BodyCoding;
    let upstream = server(Provider::scripted());
    let gateway = gateway(&upstream, POLICY, "");
    let messages = given(&gateway, CHAT, "all by name");
    let body = json!({ "model": "any", "messages": messages }).to_string();
    let ask = Ask::post(CHAT, BodyCoding::Gzip.encode(body.as_bytes()))
        .header("authorization", "Bearer none")
        .header("content-encoding", "gzip");
    let reply = ask.send(gateway.address());
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(upstream.requests().pop().unwrap().header("content-encoding"), None);
}

#[test]
fn a_restored_call_reaches_no_record_as_a_new_one() {
    let upstream = server(Provider::scripted());
    let gateway = gateway(&upstream, POLICY, "");
    let messages = given(&gateway, MESSAGES, "one by name");
    assert_eq!(gateway.calls().len(), 2);
    let results = json!([{ "type": "tool_result", "tool_use_id": "1_1a", "content": "x" }]);
    let messages =
        [messages[0].clone(), messages[1].clone(), json!({ "role": "user", "content": results })];
    // The same turn again and again, as agents send it.
    for _ in 0..2 {
        let (status, body) = post(&gateway, MESSAGES, "none", &messages);
        assert_eq!(status, 200, "{body}");
    }
    assert_eq!(gateway.calls().len(), 6, "two calls in each of three responses");
}

/// Turns that look alike and lost the same call are restored in order, each with a call of its own.
#[test]
fn every_silent_turn_of_a_conversation_is_restored() {
    let made = AtomicUsize::new(0);
    let upstream = Upstream::start(move |_| {
        let id = format!("toolu_{}", made.fetch_add(1, Ordering::SeqCst));
        let call = json!({ "type": "tool_use", "id": id, "name": "delete_all", "input": {} });
        let body = json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "any",
            "content": [call], "stop_reason": "tool_use", "stop_sequence": null,
            "usage": { "input_tokens": 1, "output_tokens": 1 } });
        Answer::json(200, body.to_string())
    });
    let gateway = gateway(&upstream, POLICY, "on_deny: silent");
    let user = json!({ "role": "user", "content": "Go on." });
    let mut messages = vec![user.clone()];
    // A turn of another conversation that looks the same: any of them can take its place.
    post(&gateway, MESSAGES, "none", &messages);
    for turn in 0..4 {
        let (status, body) = post(&gateway, MESSAGES, "none", &messages);
        assert_eq!(status, 200, "{body}");
        let sent = upstream.requests().pop().unwrap().json();
        let calls: Vec<&Value> = sent["messages"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|message| message["role"] == "assistant")
            .map(|message| &message["content"][0]["id"])
            .collect();
        let want: Vec<String> = (0..turn).map(|number| format!("toolu_{number}")).collect();
        assert_eq!(calls, want.iter().collect::<Vec<_>>(), "turn {turn}: {sent}");
        messages.push(json!({ "role": "assistant", "content": body["content"] }));
        messages.push(user.clone());
    }
}

/// The model quotes a notice in a later turn, and the client has dropped the turn that showed it.
#[test]
fn a_notice_that_the_model_quotes_gets_no_call() {
    let upstream = server(Provider::scripted());
    let gateway = gateway(&upstream, POLICY, "");
    let shown = given(&gateway, MESSAGES, "all by name");
    let notice = shown[1]["content"].as_array().unwrap().last().unwrap()["text"].clone();
    let notice = notice.as_str().unwrap();
    assert!(notice.contains("Record: "), "{notice}");
    for text in [notice.to_owned(), format!("It said:\n\n{notice}")] {
        let thinking = json!({ "type": "thinking", "thinking": "", "signature": "another" });
        let quoted = json!([thinking, { "type": "text", "text": text }]);
        let messages = [
            first("all by name"),
            json!({ "role": "assistant", "content": quoted }),
            json!({ "role": "user", "content": "Go on." }),
        ];
        post(&gateway, MESSAGES, "none", &messages);
        let sent = upstream.requests().pop().unwrap().json();
        assert_eq!(sent["messages"], Value::from(messages.to_vec()));
    }
    let (status, body) = post(&gateway, MESSAGES, "none", &shown);
    assert_eq!(status, 200, "{body}");
}
