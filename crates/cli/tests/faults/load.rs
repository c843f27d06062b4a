//! Streams with calls, many at once.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use callgate_dialect::Dialect;
use callgate_testkit::clients;
use callgate_testkit::http::{Ask, Exchange};
use callgate_testkit::provider::{Provider, TurnPart};
use callgate_testkit::upstream::{Answer, Request, Upstream};
use serde_json::{Value, json};

use crate::support::{CHAT, MESSAGES, emptied};

/// Judges a call only when it is whole, and allows it.
pub(crate) const HELD: &str = "policy: held\nrules:\n  - { id: never, when: { arg: absent, equals: never }, verdict: deny, reason: never }\n";

/// Answers each numbered request with a turn whose call has that number as its id, frame by frame.
pub(crate) fn numbered_server() -> Upstream {
    let call = TurnPart::call("call_{n}", "read_file", r#"{"path":"a file","number":"{n}"}"#);
    let turn = vec![TurnPart::text("Here it comes."), call];
    let provider = Provider::default().script("turn", vec![turn]);
    Upstream::start(move |request| framewise(provider.answer(request)))
}

/// The request for the turn of that number. Even ones go to one API, odd ones to the other.
pub(crate) fn numbered_ask(number: usize) -> Ask {
    let path = if number.is_multiple_of(2) { MESSAGES } else { CHAT };
    let message = json!({ "role": "user", "content": format!("[script turn #{number}]") });
    let body = json!({ "model": "any", "max_tokens": 64, "stream": true, "messages": [message] });
    Ask::post(path, body.to_string()).header("authorization", "Bearer none")
}

/// The same answer, with a write for each frame.
pub(crate) fn framewise(answer: Answer) -> Answer {
    let (answer, body) = emptied(answer);
    let text = String::from_utf8(body).unwrap();
    // Far enough apart that of many streams some are always under way.
    text.split_inclusive("\n\n").fold(answer, |answer, frame| answer.send(frame).pause(1))
}

/// Whether this much of a stream holds a whole call: arguments that are one JSON object.
pub(crate) fn holds_call(body: &[u8]) -> bool {
    let events = clients::events(&String::from_utf8_lossy(body));
    let arguments: String = events.iter().filter_map(|(_, event)| arguments_of(event)).collect();
    serde_json::from_str::<Value>(&arguments).is_ok_and(|value| value.is_object())
}

fn arguments_of(event: &Value) -> Option<&str> {
    let messages = event["delta"]["partial_json"].as_str();
    let chat = &event["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"];
    messages.or(chat.as_str())
}

/// Whether any client would end up with a call.
pub(crate) fn shows_call(path: &str, body: &[u8]) -> bool {
    let dialect = if path == MESSAGES { Dialect::Anthropic } else { Dialect::OpenAiChat };
    clients::readings(dialect, body).values().any(|calls| !calls.is_empty())
}

/// What clients got to see.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    next: AtomicUsize,
    /// The ids of the calls that some client holds, whole.
    released: Mutex<BTreeSet<String>>,
    cut: AtomicUsize,
}

impl Seen {
    /// Asks again and again, until the gateway does not answer any more.
    pub(crate) fn ask_on(&self, address: SocketAddr) {
        while self.ask_once(address) {}
    }

    /// Asks once. False if there was no answer, or not all of it.
    pub(crate) fn ask_once(&self, address: SocketAddr) -> bool {
        let number = self.next.fetch_add(1, Ordering::SeqCst);
        let Ok(mut exchange) = Exchange::open(address, &numbered_ask(number)) else {
            return false;
        };
        while exchange.more() {}
        if holds_call(&exchange.reply().body) {
            self.released.lock().unwrap().insert(format!("call_{number}"));
        }
        if !exchange.reply().is_whole {
            self.cut.fetch_add(1, Ordering::SeqCst);
        }
        exchange.reply().is_whole
    }

    pub(crate) fn released(&self) -> BTreeSet<String> {
        self.released.lock().unwrap().clone()
    }

    /// How many answers were cut off.
    pub(crate) fn cut(&self) -> usize {
        self.cut.load(Ordering::SeqCst)
    }
}

/// The ids of the calls among these records.
pub(crate) fn call_ids(records: &[Value]) -> BTreeSet<String> {
    let id = |record: &Value| record["tool"]["call_id"].as_str().unwrap_or_default().to_owned();
    records.iter().map(id).collect()
}

/// The number of a request, for servers that answer by it.
pub(crate) fn model_of(request: &Request) -> String {
    request.json()["model"].as_str().unwrap_or_default().to_owned()
}
