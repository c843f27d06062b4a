//! What is bounded, and what happens there.

use std::io::Write as _;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use callgate_testkit::http::{Ask, Exchange};
use callgate_testkit::upstream::{Answer, Step};

use super::access::add_key;
use super::support::{ALLOW, Client, Era, Server};

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;

#[test]
fn a_client_that_stops_within_a_message_is_given_up() {
    let server = Server::new(Era::Modern);
    let gateway = server.gateway(ALLOW, "");
    let (address, begun) = (gateway.address(), Instant::now());
    let bytes = Client::modern(&gateway).post(CALL).to_bytes(address);
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&bytes[..bytes.len() - 10]).unwrap();
    // The client of the tests is less patient than the gateway: it looks later.
    thread::sleep(Duration::from_secs(45));
    let reply = Exchange::on(stream, "POST").and_then(Exchange::finish).unwrap();
    assert_eq!(reply.status, 408, "{}", reply.text());
    assert!(reply.json()["error"]["message"].as_str().unwrap().contains("stopped coming"));
    assert!(begun.elapsed() > Duration::from_secs(55), "it was not waited for");
    assert!(server.heard("tools/call").is_empty());
}

const QUESTION: &str =
    r#"{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"Which?"}}"#;
const ACCEPTED: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"action":"accept"}}"#;

/// A server that asks in every stream, and names its conversations.
fn asking() -> Server {
    Server::with(Era::Legacy, |request, _| {
        let stream = || Answer::stream(format!("data: {QUESTION}\n\n")).step(Step::Stall);
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

/// Whether what a client answers reaches the server: if not, nothing is known of its question.
fn is_answered(server: &Server, client: &Client) -> bool {
    assert_eq!(client.say(ACCEPTED).status, 202);
    let session = client.session();
    server.seen().iter().any(|request| {
        request.json()["result"]["action"] == "accept"
            && request.header("mcp-session-id") == session
    })
}

#[test]
fn whoever_has_many_conversations_makes_room_with_their_own() {
    let server = asking();
    let setup = server.setup(ALLOW, "", "conversations: 3").listen("0.0.0.0:0");
    let [quiet, loud] = ["quiet", "loud"].map(|name| add_key(&setup, name));
    let gateway = server.start(setup);
    let client = |key: &str| Client::new(&gateway, Era::Legacy).with("x-callgate-key", key);
    let mut first = client(&quiet);
    let _stream = asked(&mut first);
    let mut many: Vec<Client> = (0..4).map(|_| client(&loud)).collect();
    let _streams: Vec<Exchange> = many.iter_mut().map(asked).collect();
    // Without the name of a conversation it is what a client says of itself that tells them apart.
    let ping = r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#;
    for session in ["a", "b", "c"] {
        let ask = Ask::post("/mcp/s", ping).header("x-callgate-key", &loud);
        ask.header("x-callgate-session", session).send(gateway.address());
    }
    assert!(is_answered(&server, &first), "nobody else makes room");
    assert!(!is_answered(&server, &many[0]), "the oldest of whoever has many is forgotten");
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
    let logged = |said: &str| said.matches("a message was not handed on").count();
    assert!(gateway.wait_until(|gateway| logged(&gateway.said()) >= 64), "{}", gateway.said());
    assert_eq!(logged(&gateway.said()), 64);
}
