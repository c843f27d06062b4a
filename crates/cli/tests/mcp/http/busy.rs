//! While something large is looked at, everybody else is served.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use callgate_testkit::gateway::{Gateway, Setup};
use callgate_testkit::upstream::{Answer, AnswerStep};
use serde_json::{Value, json};

use super::support::{ALLOW, Client, Era, Server, binary, text};
use crate::support::text_of;

/// Takes long enough to look at for many small calls.
const LARGE: usize = 24 << 20;

/// A client leaves after this many small calls.
const LEAVES: usize = 4;

/// How an answer comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum As {
    Json,
    Events,
}

/// A server whose tool `large` says much, the end of it when it is released. Its tool `slow` does
/// not come to an end.
fn server(how: As) -> Server {
    Server::with(Era::Legacy, move |_, said| match said["params"]["name"].as_str()? {
        "slow" => Some(Answer::stream(": working\n\n").pause(60_000)),
        "large" => {
            let body = text(said, &"All is well. ".repeat(LARGE / 13));
            let (first, last) = body.split_at(body.len() - 1);
            Some(match how {
                As::Json => Answer::json(200, first).step(AnswerStep::Stall).send(last),
                As::Events => Answer::stream(format!("data: {first}"))
                    .step(AnswerStep::Stall)
                    .send(format!("{last}\n\n")),
            })
        }
        _ => None,
    })
}

/// A gateway with one thread for everything.
fn gateway(server: &Server) -> Gateway {
    let url = server.upstream().url();
    let servers = format!("mcp:\n  servers:\n    s: {{ url: \"{url}/mcp\" }}");
    let settings = format!("gateway: {{ workers: 1 }}\n{servers}");
    server.start(Setup::new(binary(), &url, ALLOW, &settings))
}

fn calling(id: u64, tool: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool } })
}

/// Calls a tool, and notes when the first of its answer is there.
fn note(client: &Client, id: u64, tool: &str, begun: &Arc<AtomicBool>) -> JoinHandle<usize> {
    let (client, begun) = (client.clone(), Arc::clone(begun));
    let body = calling(id, tool).to_string();
    thread::spawn(move || {
        let mut exchange = client.open(&client.post(&body));
        exchange.more();
        begun.store(true, Ordering::SeqCst);
        exchange.finish().unwrap().body.len()
    })
}

#[test]
fn a_large_answer_holds_nobody_else_up() {
    for how in [As::Json, As::Events] {
        let server = server(how);
        let gateway = gateway(&server);
        let (one, mut other) = (Client::legacy(&gateway), Client::legacy(&gateway));
        assert_eq!(text_of(&other.call("echo", json!({}))), "done");
        let begun = Arc::new(AtomicBool::new(false));
        let large = note(&one, 100, "large", &begun);
        assert!(server.upstream().wait_until(|upstream| upstream.sent() > LARGE - 1000), "{how:?}");
        let mut slow = one.open(&one.post(&calling(101, "slow").to_string()));
        assert!(slow.read_until("working"));
        server.upstream().release();
        // A request of the same session waits.
        let same = note(&one, 102, "echo", &Arc::default());
        let (mut served, mut slow) = (0, Some(slow));
        while !begun.load(Ordering::SeqCst) {
            assert_eq!(text_of(&other.call("echo", json!({}))), "done");
            served += 1;
            // By now it is looked at, and a client leaves.
            if let Some(slow) = slow.take_if(|_| served == LEAVES) {
                slow.leave();
            }
        }
        assert!(large.join().unwrap() >= LARGE, "{how:?}");
        assert!(same.join().unwrap() > 0);
        // A few are served before the last of the answer is there, or before anybody leaves.
        assert!(served > 3 * LEAVES, "{how:?}: {served} calls were served before the large answer");
    }
}
