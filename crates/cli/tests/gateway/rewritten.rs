//! Turns that lost a call, sent back by clients that hold them in a form of their own.

use std::fmt::Write;

use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::Ask;
use callgate_testkit::provider::{POLICY, Provider, TurnPart};
use callgate_testkit::upstream::{Answer, Upstream};
use serde_json::{Value, json};

use crate::support::{CHAT, MESSAGES, gateway};

const RESPONSES: &str = "/v1/responses";

/// How a provider of Responses reports its items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// Texts in pieces, as OpenAI does.
    InPieces,
    /// Each item when it begins and when it is done, and no pieces.
    Added,
    /// Each item when it is done.
    Done,
    /// All items at the end.
    AtTheEnd,
    /// As one body.
    Whole,
}

const ALL: [Told; 5] = [Told::InPieces, Told::Added, Told::Done, Told::AtTheEnd, Told::Whole];

fn message(id: &str, text: &str) -> Value {
    json!({ "type": "message", "id": id, "role": "assistant", "status": "completed",
        "content": [{ "type": "output_text", "text": text, "annotations": [] }] })
}

fn call(place: usize, name: &str) -> Value {
    json!({ "type": "function_call", "id": format!("fc_{place}"), "call_id": format!("call_{place}"),
        "name": name, "arguments": "{}", "status": "completed" })
}

fn output(place: usize) -> Value {
    json!({ "type": "function_call_output", "call_id": format!("call_{place}"), "output": "ok" })
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

/// A text, a denied call, and two that are allowed.
fn turn() -> [Value; 4] {
    let calls = [call(1, "delete_all"), call(2, "read_file"), call(3, "read_file")];
    let [one, two, three] = calls;
    [message("msg_0", "One moment."), one, two, three]
}

fn response(status: &str, output: &[Value]) -> Value {
    json!({ "id": "resp_1", "object": "response", "created_at": 1, "status": status,
        "model": "any", "output": output, "usage": null })
}

/// The events of an item.
fn told(items: &[Value], how: Told) -> Answer {
    if how == Told::Whole {
        return Answer::json(200, response("completed", items).to_string());
    }
    let mut events =
        vec![json!({ "type": "response.created", "response": response("in_progress", &[]) })];
    for (index, item) in items.iter().enumerate().filter(|_| how != Told::AtTheEnd) {
        let event = |kind: &str, item: &Value| json!({ "type": format!("response.{kind}"), "output_index": index, "item": item });
        let mut begun = item.clone();
        if how == Told::InPieces && item["type"] == "message" {
            begun["content"] = json!([]);
        }
        if how != Told::Done {
            events.push(event("output_item.added", &begun));
        }
        if begun != *item {
            events.push(json!({ "type": "response.output_text.delta", "output_index": index,
                "content_index": 0, "item_id": item["id"], "delta": item["content"][0]["text"] }));
        }
        events.push(event("output_item.done", item));
    }
    events.push(json!({ "type": "response.completed", "response": response("completed", items) }));
    let mut out = String::new();
    for event in events {
        write!(out, "event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()).unwrap();
    }
    Answer::stream(out)
}

fn post(gateway: &Gateway, path: &str, body: &Value) -> (u16, String) {
    let ask = Ask::post(path, body.to_string()).header("authorization", "Bearer none");
    let reply = ask.send(gateway.address());
    (reply.status, reply.text())
}

/// The items that a client has of the answer: as they were done, or as the end or the body lists
/// them.
fn items_of(answer: &str, how: Told) -> Vec<Value> {
    if how == Told::Whole {
        let body: Value = serde_json::from_str(answer).unwrap();
        return body["output"].as_array().unwrap().clone();
    }
    let events = callgate_testkit::clients::events(answer);
    let of = |kind: &str| {
        let of_kind = events.iter().filter(move |(_, event)| event["type"] == kind);
        of_kind.map(|(_, event)| event.clone()).collect::<Vec<_>>()
    };
    match how {
        Told::AtTheEnd => {
            let last = of("response.completed").pop().unwrap();
            last["response"]["output"].as_array().unwrap().clone()
        }
        _ => of("response.output_item.done").iter().map(|event| event["item"].clone()).collect(),
    }
}

/// Has a turn told, sends what `rewrite` makes of it, and answers what the provider then got.
#[track_caller]
fn sent_back(how: Told, settings: &str, rewrite: impl Fn(Vec<Value>) -> Vec<Value>) -> Vec<Value> {
    let upstream = Upstream::start(move |_| told(&turn(), how));
    let gateway = gateway(&upstream, POLICY, settings);
    let stream = how != Told::Whole;
    let (status, answer) = post(
        &gateway,
        RESPONSES,
        &json!({ "model": "any", "stream": stream, "input": [user("hi")] }),
    );
    assert_eq!(status, 200, "{answer}");
    assert!(!answer.contains("delete_all\""), "{how:?}: {answer}");
    let input = [vec![user("hi")], rewrite(items_of(&answer, how)), vec![user("Go on.")]].concat();
    post(&gateway, RESPONSES, &json!({ "model": "any", "stream": stream, "input": input }));
    let sent = upstream.requests().pop().unwrap().json();
    sent["input"].as_array().unwrap().clone()
}

fn is_restored(sent: &[Value]) -> bool {
    let place = sent.iter().position(|item| item["name"] == "delete_all");
    let result = place.and_then(|place| sent.get(place + 1));
    let notice =
        sent.iter().any(|item| item.to_string().contains("Record: ") && item["output"].is_null());
    !notice && result.is_some_and(|item| item["call_id"] == "call_1" && item["output"].is_string())
}

#[test]
fn a_turn_is_known_again_however_its_text_came() {
    for how in ALL {
        for settings in ["on_deny: explain", "on_deny: silent"] {
            let outputs = |items: Vec<Value>| [items, vec![output(2), output(3)]].concat();
            let sent = sent_back(how, settings, outputs);
            assert!(is_restored(&sent), "{how:?} {settings}: {sent:?}");
            let changed = |mut items: Vec<Value>| {
                items[0] = message("msg_0", "Two moments.");
                outputs(items)
            };
            let sent = sent_back(how, settings, changed);
            assert!(!is_restored(&sent), "{how:?} {settings}: another text: {sent:?}");
        }
    }
}

#[test]
fn each_output_may_stand_behind_its_call() {
    for how in ALL {
        let sent = sent_back(how, "", |items| {
            let output = |item: &Value| match item["call_id"].as_str() {
                Some(id) => vec![
                    item.clone(),
                    json!({ "type": "function_call_output", "call_id": id, "output": "ok" }),
                ],
                None => vec![item.clone()],
            };
            items.iter().flat_map(output).collect()
        });
        assert!(is_restored(&sent), "{how:?}: {sent:?}");
    }
}

/// A client that lets the provider keep the items refers to each.
#[test]
fn references_must_be_to_the_whole_turn() {
    let refer = |items: &[Value]| -> Vec<Value> {
        items.iter().map(|item| json!({ "type": "item_reference", "id": item["id"] })).collect()
    };
    for how in ALL {
        let outputs = vec![output(2), output(3)];
        let sent = sent_back(how, "", |items| [refer(&items), outputs.clone()].concat());
        assert!(is_restored(&sent), "{how:?}: {sent:?}");
        for rewrite in [
            // Another text next to them, a part of them, and one that is not of the turn.
            &(|items: Vec<Value>| [refer(&items), vec![message("msg_9", "Done.")]].concat())
                as &dyn Fn(Vec<Value>) -> Vec<Value>,
            &|items| refer(&items[1..2]),
            &|items| [refer(&items), refer(&[call(9, "read_file")])].concat(),
        ] {
            let sent = sent_back(how, "", |items| [rewrite(items), outputs.clone()].concat());
            assert!(!is_restored(&sent), "{how:?}: {sent:?}");
        }
    }
}

/// A client that makes one text of a turn may put nothing, or one line end, between its parts.
#[test]
fn a_notice_may_be_joined_to_other_text() {
    let script = vec![TurnPart::text("One moment."), TurnPart::call("{n}_1a", "delete_all", "{}")];
    for path in [MESSAGES, CHAT] {
        for joint in ["", "\n", "\n\n", " "] {
            let provider = Provider::default().script("joined", vec![script.clone()]);
            let upstream = Upstream::start(move |request| provider.answer(request));
            let gateway = gateway(&upstream, POLICY, "");
            let body = |messages: &[Value]| json!({ "model": "any", "max_tokens": 64, "messages": messages });
            let first = user("[script joined #1] Please.");
            let (_, answer) = post(&gateway, path, &body(std::slice::from_ref(&first)));
            let answer: Value = serde_json::from_str(&answer).unwrap();
            let text = match path {
                MESSAGES => {
                    let texts = answer["content"].as_array().unwrap().iter();
                    texts
                        .map(|block| block["text"].as_str().unwrap())
                        .collect::<Vec<_>>()
                        .join(joint)
                }
                _ => {
                    let text = answer["choices"][0]["message"]["content"].as_str().unwrap();
                    text.replacen("\n\n", joint, 1)
                }
            };
            let turn = json!({ "role": "assistant", "content": text });
            let (status, answer) = post(&gateway, path, &body(&[first, turn, user("Go on.")]));
            let sent = upstream.requests().pop().unwrap().json();
            assert!(sent.to_string().contains("1_1a"), "{path} {joint:?}: {sent}");
            // A space is left at the end of the text, which the strict model takes for a change.
            assert!(status == 200 || joint == " ", "{path} {joint:?}: {answer}");
        }
    }
}
