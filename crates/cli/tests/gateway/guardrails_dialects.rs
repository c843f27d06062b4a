//! Rules about text, and rules that sanitize calls, through the gateway in every dialect; and the
//! places of requests that they read.

use callgate_dialect::Dialect;
use callgate_testkit::clients;
use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::{Ask, Reply};
use callgate_testkit::made::{self, Called, Said};
use callgate_testkit::shapes;
use callgate_testkit::upstream::{Answer, Upstream};
use serde_json::{Value, json};

use crate::support::{gateway, hits, is_refusal};

const SECRET: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

const MASK: &str = "policy: p\nrules: []\ntext:\n  - { id: no-keys, in: response, detect: [secret], verdict: mask, reason: Keys stay here. }\n";
const BLOCK: &str = "policy: p\nrules: []\ntext:\n  - { id: no-word, keywords: [xyzzy], verdict: block, reason: Not that word. }\n";
const SANITIZE: &str = "policy: p\nrules:\n  - { id: clean, verdict: sanitize, sanitize: { detectors: [secret] }, reason: No keys in calls. }\n";
const NO_CARDS: &str = "policy: p\nrules: []\ntext:\n  - { id: no-cards, in: request, detect: [card], verdict: mask, reason: Cards stay here. }\n";

/// Where a dialect has its answers, streamed or whole.
fn path(dialect: Dialect, is_stream: bool) -> &'static str {
    match (dialect, is_stream) {
        (Dialect::Anthropic, _) => "/v1/messages",
        (Dialect::OpenAiChat, _) => "/v1/chat/completions",
        (Dialect::Responses, _) => "/v1/responses",
        (Dialect::Gemini, true) => "/v1beta/models/m:streamGenerateContent?alt=sse",
        (Dialect::Gemini, false) => "/v1beta/models/m:generateContent",
        (Dialect::Interactions, _) => "/v1beta/interactions",
        (Dialect::Ollama, _) => "/api/chat",
        (Dialect::Cohere, _) => "/v2/chat",
        (Dialect::Converse, true) => "/model/m/converse-stream",
        (Dialect::Converse, false) => "/model/m/converse",
        (Dialect::Invoke, true) => "/model/m/invoke-with-response-stream",
        (Dialect::Invoke, false) => "/model/m/invoke",
    }
}

/// What a gateway with this policy makes of an answer that says this, streamed and whole.
fn through(policy: &str, said: &Said<'_>, mut check: impl FnMut(Dialect, &Reply, &Gateway)) {
    for dialect in Dialect::ALL {
        for is_stream in [true, false] {
            let body = match is_stream {
                true => made::stream(dialect, said, 16),
                false => made::whole(dialect, said),
            };
            let kind = match (dialect, is_stream) {
                (_, false) => "application/json",
                (Dialect::Ollama, _) => "application/x-ndjson",
                (Dialect::Converse | Dialect::Invoke, _) => "application/vnd.amazon.eventstream",
                _ => "text/event-stream",
            };
            let answer = Answer::new(200).send(body).header("content-type", kind);
            let upstream = Upstream::always(answer.dribbled());
            let gateway = gateway(&upstream, policy, "");
            let body = json!({ "model": "m", "stream": is_stream, "messages": [{ "role": "user", "content": "hi" }] });
            let ask = Ask::post(path(dialect, is_stream), body.to_string());
            let reply = ask.header("authorization", "Bearer none").send(gateway.address());
            assert_eq!(reply.status, 200, "{dialect:?}: {}", reply.text());
            check(dialect, &reply, &gateway);
        }
    }
}

/// Every string that a client reads, one after the other.
fn strings(dialect: Dialect, body: &[u8]) -> String {
    fn collect(value: &Value, out: &mut String) {
        match value {
            Value::String(text) => out.push_str(text),
            Value::Array(list) => list.iter().for_each(|it| collect(it, out)),
            Value::Object(members) => members.values().for_each(|it| collect(it, out)),
            _ => {}
        }
    }
    let mut out = String::new();
    for frame in shapes::frames(dialect, body) {
        if let Ok(value) = serde_json::from_slice::<Value>(&frame) {
            collect(&value, &mut out);
        }
    }
    out
}

#[test]
fn every_dialect_is_masked() {
    let text = format!("Take {SECRET} with you.");
    through(MASK, &Said { text: &text, calls: &[] }, |dialect, reply, gateway| {
        let left = strings(dialect, &reply.body);
        for piece in ["ghp_", "efgh", "mnop", "0123456789"] {
            assert!(!left.contains(piece), "{dialect:?}: {left}");
        }
        // The replacement may be in a piece after the word.
        for piece in ["Take ", "[REDACTED:github_token]", "you."] {
            assert!(left.contains(piece), "{dialect:?}: {left}");
        }
        let found = hits(gateway);
        assert_eq!(found.len(), 1, "{dialect:?}: {found:?}");
        assert_eq!(found[0]["guardrail"]["action"], "mask", "{dialect:?}");
        assert_eq!(found[0]["guardrail"]["direction"], "response", "{dialect:?}");
    });
}

#[test]
fn every_dialect_is_blocked() {
    let text = "First the plugh, then xyzzy, then more.";
    through(BLOCK, &Said { text, calls: &[] }, |dialect, reply, gateway| {
        let left = strings(dialect, &reply.body);
        assert!(left.contains("stopped by a content policy"), "{dialect:?}: {left}");
        for word in ["xyzzy", "then more", "no-word", "Not that word"] {
            assert!(!left.contains(word), "{dialect:?}: {left}");
        }
        let found = hits(gateway);
        assert_eq!(found[0]["guardrail"]["action"], "block", "{dialect:?}: {found:?}");
    });
}

#[test]
fn every_dialect_has_its_calls_sanitized() {
    let input = json!({ "deep": [{ "token": format!("x {SECRET} y") }], "n": 1 }).to_string();
    let call = Called { id: "call_1", name: "Bash", arguments: &input };
    through(SANITIZE, &Said { text: "Here.", calls: &[call] }, |dialect, reply, gateway| {
        let left = strings(dialect, &reply.body);
        for piece in ["ghp_", "efgh", "mnop", "0123456789"] {
            assert!(!left.contains(piece), "{dialect:?}: {left}");
        }
        let mut seen = clients::readings(dialect, &reply.body);
        // It counts every copy.
        seen.remove(clients::ANYWHERE);
        assert!(seen.values().all(|calls| calls.len() <= 1), "{dialect:?}: {seen:?}");
        // Not every reader puts pieces together, and some read another model's API.
        let has_arguments = |calls: &Vec<clients::Call>| format!("{calls:?}").contains("deep");
        assert!(seen.values().any(has_arguments), "{dialect:?}: {seen:?}");
        let calls = gateway.calls();
        assert_eq!(calls.len(), 1, "{dialect:?}: {calls:?}");
        assert_eq!(calls[0]["verdict"]["action"], "allow", "{dialect:?}: {calls:?}");
        assert_eq!(calls[0]["verdict"]["sanitized"][0]["rule"], "clean", "{dialect:?}: {calls:?}");
        assert!(!calls[0].to_string().contains("ghp_"), "{dialect:?}: {calls:?}");
    });
}

/// Requests that say this in a place that is easily missed.
fn hidden(said: &Value) -> Vec<(&'static str, Value)> {
    let key = said.as_str().map_or_else(|| said.to_string(), str::to_owned);
    let user = |part: Value| json!([{ "role": "user", "content": [part] }]);
    let result = |value: Value| {
        user(json!({ "toolResult": { "toolUseId": "t", "content": [{ "json": value }] } }))
    };
    let converse = json!({ "messages": user(json!({ "text": key })) });
    vec![
        ("/model/m/converse", json!({ "messages": result(json!({ "deep": [said] })) })),
        ("/model/m/converse", json!({ "messages": result(json!({ (key.as_str()): 1 })) })),
        (
            "/model/m/converse",
            json!({ "messages": user(json!({ "document": { "format": "txt", "name": "n", "source": { "text": key } } })) }),
        ),
        ("/model/m/count-tokens", json!({ "input": { "converse": converse } })),
        (
            "/v1/responses",
            json!({ "model": "m", "prompt": { "id": "p", "variables": { "a": key } } }),
        ),
        (
            "/v1/messages",
            json!({ "model": "m", "messages": user(json!({ "type": "thinking", "thinking": key })) }),
        ),
        (
            "/v1/messages",
            json!({ "model": "m", "messages": user(json!({ "type": "document", "context": key, "source": { "type": "text", "data": "d" } })) }),
        ),
        (
            "/v1beta/models/m:generateContent",
            json!({ "contents": [{ "role": "user", "parts": [{ "text": key, "thought": true }] }] }),
        ),
    ]
}

#[test]
fn a_request_is_blocked_wherever_it_says_it() {
    let upstream = Upstream::always(Answer::json(200, "{}"));
    let gateway = gateway(&upstream, BLOCK, "");
    let doubled = r#"{"model":"m","messages":[{"role":"assistant","content":[{"type":"text","type":"thinking","text":"say xyzzy"}]}]}"#;
    let mut asks: Vec<(&str, String)> =
        hidden(&json!("say xyzzy")).iter().map(|(path, body)| (*path, body.to_string())).collect();
    asks.push(("/v1/messages", doubled.to_owned()));
    // What is encoded cannot be read, and is not sent on unread.
    asks.push(("/model/m/count-tokens", r#"{"input":{"invokeModel":{"body":"e30="}}}"#.to_owned()));
    for (path, body) in asks {
        let ask = Ask::post(path, body.clone()).header("authorization", "Bearer none");
        let reply = ask.send(gateway.address());
        is_refusal(&reply, path, 400);
        assert!(upstream.requests().is_empty(), "{path}: {body}");
    }
}

/// A number that is masked becomes a string.
#[test]
fn a_request_is_masked_wherever_it_says_it() {
    for said in [json!(4_111_111_111_111_111_u64), json!("pay 4111 1111 1111 1111 now")] {
        for (path, body) in hidden(&said) {
            let upstream = Upstream::always(Answer::json(200, "{}"));
            let gateway = gateway(&upstream, NO_CARDS, "");
            let ask = Ask::post(path, body.to_string()).header("authorization", "Bearer none");
            ask.send(gateway.address());
            let sent = String::from_utf8(upstream.request().body).unwrap();
            assert!(!sent.contains("1111") && sent.contains("[REDACTED:card]"), "{path}: {sent}");
            assert!(serde_json::from_str::<Value>(&sent).is_ok(), "{path}: {sent}");
            assert_eq!(hits(&gateway)[0]["guardrail"]["direction"], "request", "{path}");
        }
    }
}

/// Every detector that is listed can be asked for in a policy, by the name it is listed under.
#[test]
fn the_detectors_that_are_listed_can_be_used() {
    let upstream = Upstream::always(Answer::json(200, "{}"));
    let gateway = gateway(&upstream, MASK, "");
    let listed = gateway.run(&["policy", "detectors", "--json"]);
    assert!(listed.status.success(), "{listed:?}");
    let lines = String::from_utf8(listed.stdout).unwrap();
    let listed: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = listed.iter().map(|it| it["detector"].as_str().unwrap()).collect();
    assert!(names.contains(&"card") && names.contains(&"email"), "{names:?}");
    assert!(listed.iter().all(|it| it["finds"].as_str().is_some_and(|finds| !finds.is_empty())));
    let policy = format!(
        "policy: all\nrules: []\ntext:\n  - {{ id: all, detect: [{}], verdict: audit, reason: All. }}\n",
        names.join(", ")
    );
    gateway.replace("all.yaml", &policy);
    let file = gateway.folder().join("all.yaml");
    let checked = gateway.run(&["policy", "check", file.to_str().unwrap()]);
    assert!(checked.status.success(), "{checked:?}");
    let table = gateway.run(&["policy", "detectors"]);
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.starts_with("DETECTOR") && table.lines().count() == names.len() + 1, "{table}");
}
