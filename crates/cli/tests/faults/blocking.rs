//! A store that is locked holds up nobody but the calls that wait for it.

use callgate_testkit::http::{Ask, Exchange};
use callgate_testkit::upstream::{Answer, AnswerFeed, AnswerStep, Upstream};
use serde_json::{Value, json};

use crate::load::holds_call;
use crate::stores::lock;
use crate::support::{CHAT, gateway};

const STREAMS: usize = 200;

/// Every call is counted in the store.
const COUNTED: &str = "policy: counted\nrules:\n  - { id: slowly, limit: { calls: 1000, per: hour }, verdict: deny, reason: Too many. }\n";

fn chunk(delta: &Value) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": null });
    let chunk = json!({
        "id": "c_1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice],
    });
    format!("data: {chunk}\n\n")
}

fn text(text: &str) -> String {
    chunk(&json!({ "content": text }))
}

fn call() -> String {
    let function = json!({ "name": "read_file", "arguments": "{}" });
    let call = json!({ "index": 0, "id": "call_1", "type": "function", "function": function });
    chunk(&json!({ "tool_calls": [call] }))
}

fn ask(number: usize) -> Ask {
    let message = json!({ "role": "user", "content": "hi" });
    let body = json!({ "model": number.to_string(), "stream": true, "messages": [message] });
    Ask::post(CHAT, body.to_string()).header("authorization", "Bearer none")
}

#[test]
fn a_locked_store_holds_up_no_text_of_any_stream() {
    let feeds: Vec<AnswerFeed> = (0..STREAMS).map(|_| AnswerFeed::default()).collect();
    let fed = feeds.clone();
    let upstream = Upstream::start(move |request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let number: usize = body["model"].as_str().unwrap().parse().unwrap();
        Answer::stream(text("begin")).step(AnswerStep::Feed(fed[number].clone()))
    });
    let gateway = gateway(&upstream, COUNTED, "");
    let open = |number| Exchange::open(gateway.address(), &ask(number)).unwrap();
    let mut streams: Vec<Exchange> = (0..STREAMS).map(open).collect();
    for stream in &mut streams {
        assert!(stream.read_until("begin"));
    }
    let locked = lock(&gateway.folder().join("callgate.db"));
    for feed in &feeds {
        feed.say(call());
        (0..10).for_each(|number| feed.say(text(&format!("frame-{number}"))));
    }
    for (number, stream) in streams.iter_mut().enumerate() {
        assert!(stream.read_until("frame-9"), "stream {number} waits for the store");
        assert!(!holds_call(&stream.reply().body), "a call left without its record");
    }
    drop(locked);
    upstream.release();
    for stream in streams {
        assert_eq!(stream.finish().unwrap().status, 200);
    }
}
