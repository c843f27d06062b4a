//! A conversation with a name, and requests that stand alone: lists, calls, refusals.

use callgate_testkit::upstream::Answer;
use serde_json::json;

use super::support::{ALLOW, Client, DENY, Era, Server, said, text};
use crate::support::text_of;

#[test]
fn a_conversation_of_the_older_revisions() {
    let server = Server::new(Era::Legacy);
    let gateway = server.gateway(DENY, "");
    let mut client = Client::new(&gateway, Era::Legacy);
    let hello = client.hello();
    // The name of the conversation is the server's, and goes to it with everything that follows.
    let named = client.session().unwrap().to_owned();
    assert!(named.starts_with("session-"), "{named}");
    assert_eq!(hello.json()["result"]["serverInfo"]["name"], "scripted");
    assert_eq!(client.tools(), ["echo"], "what may not be called is not shown");
    assert_eq!(text_of(&client.call("echo", json!({}))), "done");
    for request in server.seen().iter().skip(1) {
        assert_eq!(request.header("mcp-session-id"), Some(named.as_str()), "{request:?}");
        assert_eq!(request.header("mcp-protocol-version"), Some("2025-11-25"));
        assert_eq!(request.path, "/mcp");
    }
    assert_eq!(client.send(&client.bare("DELETE")).status, 200);
    let last = server.seen().pop().unwrap();
    assert_eq!((last.method.as_str(), last.header("mcp-session-id")), ("DELETE", Some(&*named)));
}

#[test]
fn a_denied_call_is_a_result_and_the_server_never_hears_of_it() {
    for era in [Era::Legacy, Era::Modern] {
        let server = Server::new(era);
        let gateway = server.gateway(DENY, "");
        let mut client = Client::new(&gateway, era);
        if era == Era::Legacy {
            client.hello();
        }
        let ask = client.asking("tools/call", json!({ "name": "delete_all", "arguments": {} }));
        let reply = client.send(&ask);
        assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
        let answer = reply.json();
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let kind = (era == Era::Modern).then(|| json!("complete"));
        assert_eq!(answer["result"].get("resultType"), kind.as_ref(), "{era:?}: {answer}");
        for part in ["delete_all", "no-delete", "Nothing is deleted.", "not executed"] {
            assert!(text_of(&answer).contains(part), "{part}: {answer}");
        }
        assert_eq!(text_of(&client.call("echo", json!({}))), "done");
        let calls = server.heard("tools/call");
        assert_eq!(calls.len(), 1, "{calls:?}");
        assert_eq!(calls[0].json()["params"]["name"], "echo");
    }
}

#[test]
fn an_allowed_call_and_its_answer_pass_byte_for_byte() {
    let said = json!({ "id": "x" });
    let answer = text(&said, "done").replace("{\"content\"", "{ \"kept\" : 1.50,\n\"content\"");
    let told = answer.clone();
    let server = Server::with(Era::Legacy, move |request, _| {
        let is_call = String::from_utf8_lossy(&request.body).contains("tools\\/call");
        is_call.then(|| Answer::json(200, told.clone()))
    });
    let gateway = server.gateway(ALLOW, "");
    let client = Client::legacy(&gateway);
    let body = "{ \"params\":{\"arguments\":{\"big\":12345678901234567890123,\"t\":\"\\ud83d\",\n \"e\":\"A\"},\"name\":\"echo\"}, \"method\":\"tools\\/call\",\"jsonrpc\":\"2.0\",\"id\":\"x\",\"extra\":1 }";
    let reply = client.say(body);
    assert_eq!(reply.text(), answer);
    let calls = server.seen();
    assert_eq!(String::from_utf8_lossy(&calls.last().unwrap().body), body);
}

#[test]
fn what_is_no_business_of_the_server_does_not_go_to_it() {
    let server = Server::new(Era::Legacy);
    let gateway = server.gateway(ALLOW, "");
    let client = Client::legacy(&gateway)
        .with("origin", "http://localhost:3000")
        .with("cookie", "a=b")
        .with("referer", "http://localhost:3000/")
        .with("x-callgate-agent", "mine")
        .with("x-forwarded-for", "10.0.0.1")
        .with("mcp_session_id", "other")
        .with("mcp-na_me", "other")
        .with("x-own", "kept");
    let reply =
        client.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#);
    assert_eq!(text_of(&said(&reply)), "done");
    let call = server.heard("tools/call").pop().unwrap();
    assert_eq!(call.header("x-own"), Some("kept"));
    for name in [
        "origin",
        "cookie",
        "referer",
        "x-callgate-agent",
        "x-forwarded-for",
        "mcp_session_id",
        "mcp-na_me",
    ] {
        assert_eq!(call.header(name), None, "{name}");
    }
    assert_eq!(call.header("host"), Some(server.upstream().address().to_string().as_str()));
}

#[test]
fn two_session_ids_are_refused() {
    let server = Server::new(Era::Legacy);
    let gateway = server.gateway(ALLOW, "");
    let client = Client::legacy(&gateway);
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;
    server.begin();
    let long = "s".repeat(5000);
    for other in ["other", long.as_str(), "sess\u{e4}ion"] {
        let ask = client.post(body).header("mcp-session-id", other);
        assert_eq!(client.send(&ask).status, 400, "{other}");
    }
    let fresh = Client::new(&gateway, Era::Legacy);
    assert_eq!(fresh.send(&fresh.post(body).header("mcp-session-id", &long)).status, 400);
    assert!(server.seen().is_empty(), "{:?}", server.seen());
}
