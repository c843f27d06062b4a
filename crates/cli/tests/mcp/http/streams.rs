//! Streams of events: as the server sends them, as soon as it sends them, however they are cut.

use std::sync::atomic::{AtomicUsize, Ordering};

use callgate_testkit::upstream::{Answer, AnswerStep, BodyEnd};
use serde_json::{Value, json};

use super::support::{ALLOW, Client, DENY, Era, Server, events, text};
use crate::support::text_of;

fn calling(id: u64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "echo" } })
}

/// A stream with everything that may be in one in addition to messages; the answer has two lines.
fn stream() -> String {
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
    let done = text(&json!({ "id": 1 }), "dön\\u0065").replace(",\"result\"", ",\n\"result\"");
    let done = done.replace('\n', "\ndata: ");
    format!(
        "\u{feff}: hello\r\n\r\nid: 0\ndata:\n\nretry: 250\n\nevent: message\nid: 1\r\ndata: {progress}\r\n\r\n:keep\n\nid:2\ndata: {done}\n\n: bye\n\n"
    )
}

#[test]
fn events_pass_byte_for_byte_wherever_they_are_cut() {
    let body = stream().into_bytes();
    let expected = body.strip_prefix("\u{feff}".as_bytes()).unwrap().to_vec();
    let length = body.len();
    // The number of the call says where the stream is cut; the last one is sent byte by byte.
    let server = Server::with(Era::Legacy, move |_, said| {
        let cut = said["params"]["arguments"]["cut"]
            .as_u64()
            .filter(|_| said["method"] == "tools/call")?;
        let cut = usize::try_from(cut).unwrap();
        let answer = Answer::stream("").header("x-accel-buffering", "no");
        Some(match body.split_at_checked(cut) {
            Some((first, second)) => answer.send(first).pause(1).send(second),
            None => answer.send(body.clone()).dribbled(),
        })
    });
    let gateway = server.gateway(ALLOW, "");
    let mut client = Client::legacy(&gateway);
    client.tools();
    for cut in 0..=length + 1 {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "echo", "arguments": { "cut": cut } } });
        let reply = client.say(&body.to_string());
        assert_eq!(reply.header("content-type"), Some("text/event-stream"), "{}", reply.text());
        assert_eq!(reply.header("x-accel-buffering"), Some("no"));
        assert!(reply.body == expected, "cut at {cut}: {}", reply.text());
    }
}

#[test]
fn data_on_several_lines_is_one_message() {
    let server = Server::with(Era::Legacy, move |_, said| {
        let done = text(said, "done").replace(",\"result\"", ",\n: between\ndata: \"result\"");
        let list = r#"{"tools":[{"name":"delete_all"},{"name":"echo"}]}"#;
        let list =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\ndata: \"result\":{list}}}", said["id"]);
        Some(Answer::stream(match said["method"].as_str()? {
            "tools/call" => format!("data: {done}\n\n"),
            "tools/list" => format!("data: {list}\n\n"),
            _ => return None,
        }))
    });
    let gateway = server.setup(DENY, "", "").start();
    let mut client = Client::legacy(&gateway);
    let reply = client.say(&calling(100).to_string());
    assert!(
        reply.text().contains("done") && reply.text().contains(": between"),
        "{}",
        reply.text()
    );
    let ask = client.asking("tools/list", json!({}));
    let reply = client.send(&ask);
    assert!(
        reply.text().contains("echo") && !reply.text().contains("delete_all"),
        "{}",
        reply.text()
    );
}

#[test]
fn an_event_reaches_the_client_before_the_server_sends_the_next() {
    for era in [Era::Legacy, Era::Modern] {
        let first = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
        let server = Server::with(era, move |_, said| {
            (said["method"] == "tools/call").then(|| {
                Answer::stream(format!("data: {first}\n\n"))
                    .step(AnswerStep::Stall)
                    .send(format!("data: {}\n\n", text(said, "done")))
            })
        });
        let gateway = server.gateway(ALLOW, "");
        let mut client = match era {
            Era::Legacy => Client::legacy(&gateway),
            Era::Modern => Client::modern(&gateway),
        };
        let ask = client.asking("tools/call", json!({ "name": "echo" }));
        let mut exchange = client.open(&ask);
        assert!(exchange.read_until("progressToken"), "{era:?}");
        assert!(!exchange.reply().text().contains("done"));
        server.upstream().release();
        let reply = exchange.finish().unwrap();
        assert_eq!(text_of(&events(&reply.text())[1]), "done");
    }
}

#[test]
fn a_list_in_a_stream_is_judged_like_any_other() {
    let server = Server::with(Era::Legacy, |_, said| {
        let tools = json!({ "tools": [crate::support::tool("echo", "Says."), crate::support::tool("delete_all", "Deletes.")] });
        let list = super::support::message(said, tools);
        (said["method"] == "tools/list")
            .then(|| Answer::stream(format!("event: message\nid: 7\ndata: {list}\n\n")))
    });
    let gateway = server.setup(DENY, "", "").start();
    let mut client = Client::legacy(&gateway);
    let ask = client.asking("tools/list", json!({}));
    let reply = client.send(&ask);
    assert!(reply.text().starts_with("event: message\nid: 7\ndata: {"), "{}", reply.text());
    assert!(!reply.text().contains("delete_all"), "{}", reply.text());
}

#[test]
fn only_messages_enter_the_stream() {
    let server = Server::with(Era::Legacy, |_, said| {
        let call = said["method"] == "tools/call";
        let done = text(said, "done");
        let tail = text(said, "unfinished");
        let odd = "data: hello\n\ndata: [{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}]\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{\"tools\":[]}}\n\ndata: \u{feff}{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n";
        call.then(|| {
            Answer::stream(format!("{odd}data: {done}\n\ndata: {tail}\n")).framed(BodyEnd::Chunked)
        })
    });
    let gateway = server.gateway(ALLOW, "");
    let client = Client::legacy(&gateway);
    let reply = client.say(&calling(1).to_string());
    assert_eq!(reply.text(), format!("data: {}\n\n", text(&json!({ "id": 1 }), "done")));
    let odd = gateway.wait_until(|gateway| {
        gateway.calls().iter().any(|event| event.to_string().contains("did not send"))
    });
    assert!(odd, "what is withheld is on record: {:?}", gateway.calls());
}

#[test]
fn what_ends_a_line_for_some_clients_is_escaped() {
    for separator in ["\u{2028}", "\u{2029}", "\u{85}"] {
        let server = Server::with(Era::Legacy, move |_, said| {
            let inner = text(&json!({ "id": 1 }), "smuggled").replace('"', "\\\"");
            let body = text(said, "@").replace(
                '@',
                &format!("a{separator}{separator}data: {inner}{separator}{separator}"),
            );
            (said["method"] == "tools/call")
                .then(|| Answer::stream(format!("id: 4\ndata: {body}\n\n")))
        });
        let gateway = server.gateway(ALLOW, "inspect: { block_at: none, strip: false }");
        let client = Client::legacy(&gateway);
        let reply = client.say(&calling(1).to_string());
        assert!(!reply.text().contains(separator), "{}", reply.text());
        let answer = events(&reply.text()).pop().unwrap();
        assert!(text_of(&answer).contains(separator), "it is the same text: {answer}");
        assert!(reply.text().starts_with("id: 4\ndata: {"), "{}", reply.text());
    }
}

#[test]
fn an_event_beyond_the_limit_ends_the_stream_with_an_error() {
    let server = Server::with(Era::Legacy, |_, said| {
        let body = format!("data: {}\n\n", text(said, &"x".repeat(300_000)));
        (said["method"] == "tools/call").then(|| Answer::stream(body))
    });
    let gateway = server.gateway(ALLOW, "message_limit: 100KiB");
    let client = Client::legacy(&gateway);
    let reply = client.say(&calling(1).to_string());
    let answer = events(&reply.text()).pop().unwrap();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(1403)), "{answer}");
    assert!(reply.text().len() < 2000);
}

#[test]
fn a_number_whose_answer_never_came_can_be_used_again() {
    let calls = AtomicUsize::new(0);
    let server = Server::with(Era::Legacy, move |_, said| {
        (said["method"] == "tools/call").then(|| match calls.fetch_add(1, Ordering::SeqCst) {
            0 => Answer::stream(": nothing\n\n"),
            1 => Answer::stream(": nothing\n\n").step(AnswerStep::Stall),
            _ => Answer::json(200, text(said, "done")),
        })
    });
    let gateway = server.gateway(ALLOW, "");
    let client = Client::legacy(&gateway);
    assert_eq!(client.say(&calling(1).to_string()).text(), ": nothing\n\n");
    // This time the client does not wait. While it does, the number is taken.
    let mut exchange = client.open(&client.post(&calling(1).to_string()));
    assert!(exchange.read_until("nothing"));
    assert_eq!(client.say(&calling(1).to_string()).json()["error"]["code"], -32600);
    assert_eq!(client.say(&calling(1).to_string()).json()["error"]["code"], -32600);
    exchange.leave();
    assert!(server.upstream().wait_until(|upstream| upstream.left() == 1));
    let done = |_: &_| text_of_or(&client.say(&calling(1).to_string()).json()) == "done";
    assert!(gateway.wait_until(done));
    assert_eq!(server.heard("tools/call").len(), 3);
}

fn text_of_or(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn in_the_newer_revision_a_client_that_goes_away_calls_its_request_off() {
    for answer in [
        Answer::stream(": working\n\n").step(AnswerStep::Stall),
        Answer::json(200, "").framed(BodyEnd::Chunked).step(AnswerStep::Stall),
    ] {
        let server = Server::calling(Era::Modern, answer);
        let gateway = server.gateway(ALLOW, "");
        let mut client = Client::modern(&gateway);
        client.tools();
        let ask = client.asking("tools/call", json!({ "name": "echo" }));
        let address = gateway.address();
        let stream = std::net::TcpStream::connect(address).unwrap();
        std::io::Write::write_all(&mut &stream, &ask.to_bytes(address)).unwrap();
        assert!(server.upstream().wait_until(|_| !server.heard("tools/call").is_empty()));
        assert_eq!(server.upstream().left(), 0);
        drop(stream);
        assert!(server.upstream().wait_until(|upstream| upstream.left() == 1));
    }
}

#[test]
fn streams_that_listen_do_not_keep_the_gateway_from_stopping() {
    let server = Server::with(Era::Modern, |request, said| {
        let listens = said["method"] == "subscriptions/listen" || request.method == "GET";
        listens.then(|| Answer::stream(": hello\n\n").step(AnswerStep::Stall))
    });
    // Answers may take longer to finish than a test waits for the end of a gateway.
    let setup = server.setup(ALLOW, "", "").also("gateway: { shutdown_timeout: 10m }");
    let mut gateway = server.start(setup);
    let mut client = Client::modern(&gateway);
    let ask = client.asking("subscriptions/listen", json!({ "notifications": {} }));
    let mut streams = [client.open(&ask), client.open(&client.bare("GET"))];
    assert!(streams.iter_mut().all(|stream| stream.read_until("hello")));
    gateway.signal("TERM");
    assert!(gateway.ended().is_some());
}
