//! What two peers would read differently is not forwarded in either direction.

use callgate_testkit::http::Ask;
use callgate_testkit::upstream::{Answer, BodyCoding};
use serde_json::{Value, json};

use super::support::{ALLOW, Client, DENY, Era, Server, events, said, text};
use crate::strict::SPELLINGS;
use crate::support::text_of;

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;

#[test]
fn odd_messages_of_the_client_are_refused() {
    let server = Server::new(Era::Legacy);
    let gateway = server.gateway(DENY, "message_limit: 64KiB");
    let client = Client::legacy(&gateway);
    server.begin();
    let large = CALL.replace("echo", &"e".repeat(100_000));
    let odd: [&[u8]; 17] = [
        br#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"delete_all"}}"#,
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"delete_all"}}"#,
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","n\u0061me":"delete_all"}}"#,
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","Name":"delete_all"}}"#,
        br#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete_all"}}]"#,
        b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"delete_all\"}}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"delete_all\xff\"}}",
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"x":NaN}}}"#,
        br#"{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"echo"}}"#,
        br#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"echo"}}"#,
        br#"{"jsonrpc":"2.0","id":[1],"method":"tools/call","params":{"name":"echo"}}"#,
        br#"{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#,
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["echo"]}"#,
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}} {}"#,
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","result":{}}"#,
        b"",
        large.as_bytes(),
    ];
    for body in odd {
        let shown = String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
        let reply = client.say(body);
        let expected = match body.len() > 65_536 {
            true => 413,
            // Its parameters are read later, where a client waits for an answer.
            false if shown.contains("\"Name\"") => 200,
            false => 400,
        };
        assert_eq!(reply.status, expected, "{shown}: {}", reply.text());
        assert!(reply.json()["error"]["code"].is_i64(), "{shown}: {}", reply.text());
    }
    // A request without an id is some server's call.
    let reply =
        client.say(r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"delete_all"}}"#);
    assert_eq!(reply.status, 202);
    assert!(server.heard("tools/call").is_empty(), "{:?}", server.seen());
    assert!(
        server.seen().iter().all(|request| request.json()["id"].is_string()),
        "{:?}",
        server.seen()
    );
}

#[test]
fn a_body_that_is_not_plainly_json_is_refused() {
    let server = Server::new(Era::Legacy);
    let gateway = server.gateway(ALLOW, "");
    let client = Client::legacy(&gateway);
    server.begin();
    let path = "/mcp/s";
    let typed = |kinds: &[&str]| {
        let ask = Ask::new("POST", path).header("mcp-session-id", client.session().unwrap());
        let ask = ask.header("content-length", &CALL.len().to_string());
        kinds.iter().fold(ask, |ask, kind| ask.header("content-type", kind))
    };
    for kinds in [
        &["text/plain"][..],
        &["application/json; charset=utf-16"],
        &["application/json; charset=utf-7"],
        &["application/json", "text/plain"],
        &["application/json-seq"],
        &[],
    ] {
        let mut bytes = typed(kinds).to_bytes(gateway.address());
        bytes.extend(CALL.as_bytes());
        let mut stream = std::net::TcpStream::connect(gateway.address()).unwrap();
        std::io::Write::write_all(&mut stream, &bytes).unwrap();
        let exchange = callgate_testkit::http::Exchange::on(stream, "POST").unwrap();
        assert_eq!(exchange.reply().status, 415, "{kinds:?}");
    }
    let coded = client.post(&BodyCoding::Gzip.encode(CALL.as_bytes()));
    assert_eq!(client.send(&coded.clone().header("content-encoding", "snappy")).status, 415);
    assert!(server.heard("tools/call").is_empty());
    // One that can be undone is undone.
    let reply = client.send(&coded.header("content-encoding", "gzip"));
    assert_eq!(text_of(&said(&reply)), "done");
    let call = server.heard("tools/call").pop().unwrap();
    assert_eq!(String::from_utf8_lossy(&call.body), CALL);
    assert_eq!(call.header("content-encoding"), None);
    let reply = client
        .send(&client.post(CALL).header("content-type", "application/json; charset=\"UTF-8\""));
    assert_eq!(reply.status, 415, "two of them are refused, whatever they contain");
}

/// A call whose answer is this, with what it is sent as.
#[track_caller]
fn answered(answer: Answer, settings: &str) -> Value {
    let server = Server::calling(Era::Legacy, answer);
    let gateway = server.gateway(ALLOW, settings);
    let reply = Client::legacy(&gateway).say(CALL);
    assert_eq!(reply.header("content-encoding"), None);
    match reply.header("content-type") {
        Some("text/event-stream") => events(&reply.text()).pop().unwrap_or(Value::Null),
        _ => reply.json(),
    }
}

#[test]
fn odd_answers_of_the_server_are_withheld_and_the_client_gets_an_error() {
    let done = text(&json!({ "id": 1 }), "done");
    let twice = done.replace("\"result\":", "\"result\":{},\"result\":");
    let nan = done.replace("\"isError\"", "").replace("\"content\":", "\"x\":NaN,\"content\":");
    let mut bad = done.clone().into_bytes();
    bad.insert(done.find("done").unwrap(), 0xff);
    let large = text(&json!({ "id": 1 }), &"x".repeat(200_000));
    let bodies: [Vec<u8>; 6] = [
        twice.into_bytes(),
        nan.into_bytes(),
        bad,
        format!("[{done}]").into_bytes(),
        format!("\u{feff}{done}").into_bytes(),
        large.into_bytes(),
    ];
    for body in bodies {
        let shown = String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
        let answer = answered(Answer::json(200, body.clone()), "message_limit: 100KiB");
        is_withheld(&answer, &shown);
        let mut event = b"data: ".to_vec();
        event.extend(&body);
        event.extend(b"\n\n");
        let answer = answered(Answer::stream(event), "message_limit: 100KiB");
        is_withheld(&answer, &shown);
    }
    for (kind, body) in
        [("text/html", done.as_str()), ("application/json", "hello"), ("text/event-stream", "")]
    {
        let answer = Answer::new(200).header("content-type", kind).send(body);
        let answer = answered(answer, "");
        assert!(answer.is_null() || !answer.to_string().contains("\"done\""), "{kind}: {answer}");
    }
}

#[track_caller]
fn is_withheld(answer: &Value, shown: &str) {
    assert!(
        !answer.to_string().contains("\"done\"") && !answer.to_string().contains("xxxx"),
        "{shown}: {answer}"
    );
    assert_eq!(answer["id"], 1, "the waiting client gets an error: {shown}: {answer}");
    assert!(answer.to_string().contains("withheld"), "{shown}: {answer}");
}

#[test]
fn coded_answers_are_undone_and_judged() {
    let done = text(&json!({ "id": 1 }), "done");
    let order = text(&json!({ "id": 1 }), super::support::ORDER);
    for coding in BodyCoding::ALL {
        for (body, passes) in [(&done, true), (&order, false)] {
            let stream = format!("data: {body}\n\n");
            for answer in [Answer::json(200, body.clone()), Answer::stream(stream)] {
                let answer = answered(answer.encoded(&[coding]), "");
                assert_eq!(answer["result"]["isError"] == true, !passes, "{coding:?}: {answer}");
                assert!(!answer.to_string().contains("id_rsa"), "{coding:?}: {answer}");
            }
        }
    }
    for answer in [Answer::json(200, done.clone()), Answer::stream(format!("data: {done}\n\n"))] {
        let answer = answered(answer.header("content-encoding", "snappy"), "");
        assert_eq!(answer["id"], 1, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("coding"), "{answer}");
    }
}

#[test]
fn a_small_body_that_becomes_a_huge_one_is_refused() {
    let bomb = text(&json!({ "id": 1 }), &" ".repeat(32 << 20));
    let answer = answered(Answer::json(200, bomb.clone()).encoded(&[BodyCoding::Brotli]), "");
    is_withheld(&answer, "a bomb");
    let answer =
        answered(Answer::stream(format!("data: {bomb}\n\n")).encoded(&[BodyCoding::Brotli]), "");
    is_withheld(&answer, "a bomb in a stream");
}

#[test]
fn a_method_in_another_spelling_is_not_forwarded() {
    for era in [Era::Legacy, Era::Modern] {
        let server = Server::new(era);
        let gateway = server.gateway(DENY, "");
        let mut client = Client::new(&gateway, era);
        if era == Era::Legacy {
            client.hello();
        }
        server.begin();
        for method in SPELLINGS {
            let (_, body) = client.request(method, json!({ "name": "delete_all" }));
            let answer = said(&client.say(&body));
            assert_eq!(answer["error"]["code"], -32601, "{era:?} {method:?}: {answer}");
        }
        assert!(server.seen().is_empty(), "{era:?}: {:?}", server.seen());
    }
}
