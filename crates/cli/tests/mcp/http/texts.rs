//! What servers say is looked at: results, lists, greetings.

use callgate_testkit::upstream::Answer;
use serde_json::{Value, json};

use super::support::{ALLOW, Client, Era, ORDER, Server, message, said, text};
use crate::support::{text_of, tool};

/// The answer of a server to a call, whole and as an event.
fn both_ways(result: &Value, more: &str, check: impl Fn(&Value)) {
    for as_events in [false, true] {
        let result = result.clone();
        let server = Server::with(Era::Modern, move |_, said| {
            let answer = message(said, result.clone());
            (said["method"] == "tools/call").then(|| match as_events {
                true => Answer::stream(format!("id: 1\ndata: {answer}\n\n")),
                false => Answer::json(200, answer),
            })
        });
        let gateway = server.gateway(ALLOW, more);
        let mut client = Client::modern(&gateway);
        let ask = client.asking("tools/call", json!({ "name": "echo" }));
        let reply = client.send(&ask);
        let kind = if as_events { "text/event-stream" } else { "application/json" };
        assert_eq!(reply.header("content-type"), Some(kind), "{}", reply.text());
        check(&said(&reply));
    }
}

#[test]
fn what_nobody_sees_is_taken_out_of_a_result() {
    let hidden = "a\u{e0041}\u{e0042}b\u{202e}c\u{1b}[31md";
    let result =
        json!({ "resultType": "complete", "content": [{ "type": "text", "text": hidden }] });
    both_ways(&result, "inspect: { block_at: none }", |answer| {
        assert_eq!(text_of(answer), "abcd");
    });
}

#[test]
fn a_result_that_gives_orders_is_withheld() {
    let fine = json!([{ "type": "text", "text": "fine" }]);
    let result = json!({ "resultType": "complete", "content": fine, "structuredContent": { "note": ORDER } });
    both_ways(&result, "", |answer| {
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
        assert!(!answer.to_string().contains("id_rsa"), "{answer}");
    });
}

#[test]
fn a_poisoned_tool_is_not_shown_and_not_called() {
    let server = Server::new(Era::Modern);
    server.show(vec![tool("echo", "Says it again."), tool("helper", ORDER)]);
    let gateway = server.gateway(ALLOW, "");
    let mut client = Client::modern(&gateway);
    let list = client.ask("tools/list", json!({}));
    assert!(!list.to_string().contains("helper"), "{list}");
    assert!(list.to_string().contains("echo"), "{list}");
    let answer = client.call("helper", json!({}));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(server.heard("tools/call").is_empty());
}

#[test]
fn a_greeting_that_gives_orders_comes_without_them() {
    let server = Server::with(Era::Legacy, |_, said| {
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": { "name": "x", "version": "1" }, "instructions": ORDER });
        (said["method"] == "initialize")
            .then(|| Answer::json(200, message(said, hello)).header("mcp-session-id", "one"))
    });
    let gateway = server.gateway(ALLOW, "");
    let mut client = Client::new(&gateway, Era::Legacy);
    let hello = client.hello();
    assert!(!hello.text().contains("id_rsa"), "{}", hello.text());
    assert_eq!(hello.json()["result"]["serverInfo"]["name"], "x");
    assert_eq!(client.session(), Some("one"));
}

#[test]
fn an_answer_to_something_else_is_not_forwarded() {
    let server = Server::with(Era::Modern, |_, said| {
        (said["method"] == "tools/call")
            .then(|| Answer::json(200, text(&json!({ "id": 4711 }), "not yours")))
    });
    let gateway = server.gateway(ALLOW, "");
    let mut client = Client::modern(&gateway);
    let ask = client.asking("tools/call", json!({ "name": "echo" }));
    let reply = client.send(&ask);
    assert_eq!((reply.status, &reply.json()["id"]), (502, &json!(1)), "{}", reply.text());
    assert!(!reply.text().contains("not yours"));
}

#[test]
fn all_of_an_error_of_the_transport_is_looked_at() {
    let server = Server::with(Era::Modern, |_, said| {
        let error = json!({ "code": -32000, "message": "No." });
        let body = json!({ "jsonrpc": "2.0", "id": said["id"], "error": error, "detail": ORDER });
        (said["method"] == "tools/call").then(|| Answer::json(400, body.to_string()))
    });
    let gateway = server.gateway(ALLOW, "");
    let mut client = Client::modern(&gateway);
    let ask = client.asking("tools/call", json!({ "name": "echo" }));
    let reply = client.send(&ask);
    assert_eq!(reply.status, 400);
    assert!(!reply.text().contains("id_rsa"), "{}", reply.text());
    assert!(reply.text().contains("withheld"), "{}", reply.text());
}
