//! What a client sends in addition to the arguments of its calls, over HTTP.

use callgate_testkit::upstream::{Answer, AnswerStep};
use serde_json::{Value, json};

use super::support::{Client, Era, Server, result, said};
use crate::support::text_of;

const SECRET: &str = "AKIAIOSFODNN7EXAMPLX";
const MASKED: &str = "[REDACTED:aws_access_key_id]";

const DENY: &str = "policy: p\nrules:\n  - { id: no-keys, surface: mcp, when: { secret: any }, verdict: deny, reason: Keys stay here. }\n";
const MASK: &str = "policy: p\nrules:\n  - { id: mask-keys, surface: mcp, verdict: sanitize, sanitize: { detectors: [secret] } }\n";

/// A call that answers what the server has asked in between.
fn answering(with: &str) -> Value {
    let content = json!({ "note": with });
    json!({
        "name": "echo",
        "arguments": { "text": "a" },
        "inputResponses": { "q": { "action": "accept", "content": content } },
        "_meta": { "vendor/x": with, "progressToken": 1 },
    })
}

#[test]
fn extra_input_of_a_call_is_judged_and_replaced() {
    let server = Server::new(Era::Modern);
    let gateway = server.gateway(DENY, "");
    let mut client = Client::modern(&gateway);
    let denied = client.ask("tools/call", answering(SECRET));
    assert_eq!(denied["result"]["isError"], true, "{denied}");
    for part in ["in `inputResponses`", "no-keys"] {
        assert!(text_of(&denied).contains(part), "{denied}");
    }
    assert_eq!(text_of(&client.ask("tools/call", answering("x"))), "done");
    let calls = server.heard("tools/call");
    assert_eq!(calls.len(), 1);
    assert!(!String::from_utf8_lossy(&calls[0].body).contains(SECRET));

    let gateway = server.gateway(MASK, "");
    let mut client = Client::modern(&gateway);
    let ask = client.asking("tools/call", answering(SECRET));
    assert_eq!(text_of(&said(&client.send(&ask))), "done");
    let call = server.heard("tools/call").pop().unwrap().json();
    assert_eq!(call["params"]["inputResponses"], answering(MASKED)["inputResponses"]);
    assert_eq!(call["params"]["_meta"]["vendor/x"], MASKED);
    assert_eq!(call["params"]["arguments"], json!({ "text": "a" }));
}

#[test]
fn input_for_a_task_belongs_to_the_call_that_began_it() {
    let server = Server::with(Era::Modern, |_, said| {
        let task = json!({ "resultType": "task", "taskId": "t-1", "status": "input_required" });
        match said["method"].as_str()? {
            "tools/call" => Some(result(said, task)),
            "tasks/update" => Some(result(said, json!({ "resultType": "complete" }))),
            _ => None,
        }
    });
    let policy = DENY.replace("surface: mcp", "surface: mcp, tool: echo");
    let gateway = server.gateway(&policy, "");
    let mut client = Client::modern(&gateway);
    client.call("echo", json!({}));
    let update = |with: &str| json!({ "taskId": "t-1", "inputResponses": answering(with)["inputResponses"] });
    let denied = client.ask("tasks/update", update(SECRET));
    assert_eq!(denied["error"]["code"], 1403, "{denied}");
    assert!(client.ask("tasks/update", update("x"))["result"].is_object());
    assert_eq!(server.heard("tasks/update").len(), 1);
}

/// A server that asks something on the stream of a call.
fn asking(era: Era) -> Server {
    let question =
        r#"{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"Which?"}}"#;
    Server::with(era, move |_, said| {
        let stream = Answer::stream(format!("data: {question}\n\n")).step(AnswerStep::Stall);
        (said["method"] == "tools/call").then_some(stream)
    })
}

#[test]
fn an_answer_to_the_server_is_judged_where_conversations_have_names_and_where_they_have_none() {
    let answer = |with: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":2, "result":{{"action":"accept","content":{{"a":"{with}"}}}}}}"#
        )
    };
    for era in [Era::Legacy, Era::Modern] {
        for (policy, tool) in [(DENY, ""), (DENY, ", tool: elicitation/create"), (MASK, "")] {
            let server = asking(era);
            let gateway =
                server.gateway(&policy.replace("surface: mcp", &format!("surface: mcp{tool}")), "");
            let mut client = Client::new(&gateway, era);
            if era == Era::Legacy {
                client.hello();
            }
            let call = client.asking("tools/call", json!({ "name": "echo" }));
            let mut stream = client.open(&call);
            assert!(stream.read_until("Which?"));
            server.begin();
            assert_eq!(client.say(&answer(SECRET)).status, 202);
            let heard = server.seen().pop().unwrap();
            let heard = String::from_utf8(heard.body.to_vec()).unwrap();
            if policy == MASK {
                assert_eq!(heard, answer(MASKED));
                continue;
            }
            assert!(!heard.contains(SECRET), "{era:?}: {heard}");
            let heard: Value = serde_json::from_str(&heard).unwrap();
            assert_eq!((&heard["id"], &heard["error"]["code"]), (&json!(2), &json!(-1)), "{heard}");
            let recorded = gateway.wait_until(|gateway| {
                gateway.events().iter().any(|event| {
                    event["verdict"]["rule"] == "no-keys" && event["verdict"]["action"] == "deny"
                })
            });
            assert!(recorded, "{:?}", gateway.events());
        }
        let server = asking(era);
        let gateway = server.gateway(DENY, "");
        let mut client = Client::new(&gateway, era);
        if era == Era::Legacy {
            client.hello();
        }
        let call = client.asking("tools/call", json!({ "name": "echo" }));
        let mut stream = client.open(&call);
        assert!(stream.read_until("Which?"));
        server.begin();
        assert_eq!(client.say(&answer("x")).status, 202);
        assert_eq!(server.seen().pop().unwrap().body.to_vec(), answer("x").into_bytes());
    }
}
