//! What is bounded, and what happens there.

use std::io::Write as _;
use std::net::TcpStream;

use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::{Ask, Exchange};
use callgate_testkit::upstream::{Answer, AnswerStep};
use serde_json::{Value, json};

use super::access::add_key;
use super::support::{ALLOW, Client, Era, Server};
use crate::support::{text_of, tool};

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;

#[test]
fn a_client_that_stops_within_a_message_is_given_up() {
    let server = Server::new(Era::Modern);
    let setup = server.setup(ALLOW, "", "").also("gateway: { client_body_timeout: 1s }");
    let gateway = server.start(setup);
    let address = gateway.address();
    let bytes = Client::modern(&gateway).post(CALL).to_bytes(address);
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&bytes[..bytes.len() - 10]).unwrap();
    let reply = Exchange::on(stream, "POST").and_then(Exchange::finish).unwrap();
    assert_eq!(reply.status, 408, "{}", reply.text());
    assert!(reply.json()["error"]["message"].as_str().unwrap().contains("stalled"));
    assert!(server.heard("tools/call").is_empty());
}

const QUESTION: &str =
    r#"{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"Which?"}}"#;
const ACCEPTED: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"action":"accept"}}"#;

/// A server that asks in every stream, and names its conversations.
fn asking() -> Server {
    Server::with(Era::Legacy, |request, _| {
        let stream = || Answer::stream(format!("data: {QUESTION}\n\n")).step(AnswerStep::Stall);
        (request.method == "GET").then(stream)
    })
}

/// A client that was asked. The stream stays open.
fn asked(client: &mut Client) -> Exchange {
    client.hello();
    let mut stream = client.open(&client.bare("GET"));
    assert!(stream.read_until("Which?"));
    stream
}

/// Whether what a client answers reaches the server: if not, nothing is known about its question.
fn is_answered(server: &Server, client: &Client) -> bool {
    assert_eq!(client.say(ACCEPTED).status, 202);
    let session = client.session();
    server.seen().iter().any(|request| {
        request.json()["result"]["action"] == "accept"
            && request.header("mcp-session-id") == session
    })
}

#[test]
fn a_key_with_many_sessions_loses_its_own_oldest() {
    let server = asking();
    let setup = server.setup(ALLOW, "", "conversations: 3").listen("0.0.0.0:0");
    let [quiet, loud] = ["quiet", "loud"].map(|name| add_key(&setup, name));
    let gateway = server.start(setup);
    let client = |key: &str| Client::new(&gateway, Era::Legacy).with("x-callgate-key", key);
    let mut first = client(&quiet);
    let _stream = asked(&mut first);
    let mut many: Vec<Client> = (0..4).map(|_| client(&loud)).collect();
    let _streams: Vec<Exchange> = many.iter_mut().map(asked).collect();
    // Without the id of a conversation, clients are distinguished by how they identify themselves.
    let ping = r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#;
    for session in ["a", "b", "c"] {
        let ask = Ask::post("/mcp/s", ping).header("x-callgate-key", &loud);
        ask.header("x-callgate-session", session).send(gateway.address());
    }
    assert!(is_answered(&server, &first), "nobody else makes room");
    assert!(
        !is_answered(&server, &many[0]),
        "the oldest session of the key that has many is forgotten"
    );
    let mut newest = client(&loud);
    let _stream = asked(&mut newest);
    assert!(is_answered(&server, &newest), "the newest is not");
}

#[test]
fn what_is_odd_is_logged_up_to_a_bound() {
    let server = Server::new(Era::Legacy);
    let gateway = server.gateway(ALLOW, "");
    let client = Client::legacy(&gateway);
    for _ in 0..100 {
        assert_eq!(client.say("{").status, 400);
    }
    let logged = |said: &str| said.matches("a message was not forwarded").count();
    assert!(gateway.wait_until(|gateway| logged(&gateway.said()) >= 64), "{}", gateway.said());
    assert_eq!(logged(&gateway.said()), 64);
}

/// Lists within lists, this many levels.
fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

#[test]
fn values_within_values_are_read_to_a_depth() {
    // The message, its result or params, and in a call the arguments, are levels themselves.
    let answer = |said: &Value| {
        let levels = said["params"]["arguments"]["levels"].as_u64().unwrap_or(0);
        let nested = nested(usize::try_from(levels).unwrap());
        let id = &said["id"];
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"structuredContent":{nested}}}}}"#
        )
    };
    let server = Server::with(Era::Legacy, move |_, said| {
        (said["method"] == "tools/call").then(|| Answer::json(200, answer(said)))
    });
    let gateway = server.gateway(ALLOW, "");
    let mut client = Client::legacy(&gateway);
    let passed = client.call("echo", json!({ "levels": 94 }));
    assert_eq!(passed["result"]["structuredContent"].to_string(), nested(94));
    let withheld = client.call("echo", json!({ "levels": 95 }));
    assert_eq!(withheld["result"]["isError"], true, "{withheld}");
    assert!(text_of(&withheld).contains("withheld"), "{withheld}");
    let calling = |levels: usize| {
        let nested = nested(levels);
        format!(
            r#"{{"jsonrpc":"2.0","id":90,"method":"tools/call","params":{{"name":"echo","arguments":{{"x":{nested}}}}}}}"#
        )
    };
    assert_eq!(client.say(&calling(93)).status, 200);
    let refused = client.say(&calling(94));
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (400, &json!(-32700)));
}

/// The memory that a gateway takes, in KiB.
#[cfg(target_os = "linux")]
fn memory(gateway: &Gateway) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", gateway.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn conversations_that_see_the_same_list_hold_it_once() {
    let says = "This one says what it received, and nothing else. ".repeat(40);
    let tools: Vec<Value> = (0..300).map(|at| tool(&format!("tool_{at}"), &says)).collect();
    let server = Server::new(Era::Legacy);
    server.show(tools);
    let gateway = server.gateway(ALLOW, "");
    let listing = |count: usize| (0..count).for_each(|_| drop(Client::legacy(&gateway).tools()));
    listing(10);
    let before = memory(&gateway);
    listing(100);
    let more = memory(&gateway).saturating_sub(before);
    // A list is 600 KB: with one of their own, they would hold 60 MB and more.
    assert!(more < 20_000, "a hundred conversations take {more} KiB");
}
