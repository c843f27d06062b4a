//! What a server asks of a client, on a stream of its own (`GET`) or next to an answer.

use std::sync::Mutex;

use callgate_testkit::http::Exchange;
use callgate_testkit::upstream::{Answer, AnswerStep};
use serde_json::{Value, json};

use super::support::{ALLOW, Client, DENY, Era, ORDER, Server, events, message, text};
use crate::support::{text_of, tool};

const SAMPLING: &str = r#"{"jsonrpc":"2.0","id":"s1","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}"#;
const ELICITATION: &str = r#"{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"Which one?","requestedSchema":{"type":"object","properties":{}}}}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;

/// A server whose `GET` gives these events, and then stays open.
fn asking(stream: String) -> Server {
    Server::with(Era::Legacy, move |request, _| {
        (request.method == "GET").then(|| Answer::stream(stream.clone()).step(AnswerStep::Stall))
    })
}

/// Opens the stream of the server.
fn listen(client: &Client) -> Exchange {
    client.open(&client.bare("GET"))
}

/// What the server was answered to a request of its own.
fn answered(server: &Server, id: &Value) -> Option<Value> {
    let said = server.seen().into_iter().map(|request| request.json());
    let mut answers = said.filter(|said| said["id"] == *id && said.get("method").is_none());
    answers.next()
}

#[test]
fn sampling_is_refused_to_the_server_and_the_client_never_sees_it() {
    let server = asking(format!("id: 1\ndata: {SAMPLING}\n\n: still here\n\ndata: {PING}\n\n"));
    let gateway = server.gateway(ALLOW, "");
    let client = Client::legacy(&gateway);
    let mut stream = listen(&client);
    assert!(stream.read_until("\"ping\""));
    let seen = stream.reply().text();
    assert!(!seen.contains("sampling"), "{seen}");
    assert!(seen.contains(": still here"), "{seen}");
    let refused = json!("s1");
    assert!(server.upstream().wait_until(|_| answered(&server, &refused).is_some()));
    let answer = answered(&server, &refused).unwrap();
    assert_eq!(answer["error"]["code"], -1, "{answer}");
    let told = server.seen().into_iter().find(|request| request.json()["id"] == "s1").unwrap();
    assert_eq!(told.header("mcp-session-id"), client.session());
    assert_eq!((told.method.as_str(), told.path.as_str()), ("POST", "/mcp"));
}

#[test]
fn an_allowed_question_passes_and_its_answer_reaches_the_server() {
    let server = asking(format!("data: {ELICITATION}\n\n"));
    let gateway = server.gateway(ALLOW, "");
    let client = Client::legacy(&gateway);
    let mut stream = listen(&client);
    assert!(stream.read_until("Which one?"));
    assert_eq!(stream.reply().text(), format!("data: {ELICITATION}\n\n"));
    let answer = r#"{"jsonrpc":"2.0","id":2, "result":{"action":"accept","content":{}}}"#;
    assert_eq!(client.say(answer).status, 202);
    let said = server.seen().pop().unwrap();
    assert_eq!(String::from_utf8_lossy(&said.body), answer);
    // The second time nobody has asked, and what nobody has asked at all is not answered either.
    let count = server.seen().len();
    for unasked in [answer, r#"{"jsonrpc":"2.0","id":"x","result":{}}"#] {
        assert_eq!(client.say(unasked).status, 202);
    }
    assert_eq!(server.seen().len(), count, "{:?}", server.seen());
    // Another conversation is not asked either.
    let other = Client::legacy(&gateway);
    let count = server.seen().len();
    assert_eq!(other.say(answer).status, 202);
    assert_eq!(server.seen().len(), count);
}

#[test]
fn a_question_that_gives_orders_is_declined() {
    let question = ELICITATION.replace("Which one?", ORDER);
    let server = asking(format!("data: {question}\n\ndata: {PING}\n\n"));
    let gateway = server.gateway(ALLOW, "");
    let client = Client::legacy(&gateway);
    let mut stream = listen(&client);
    assert!(stream.read_until("\"ping\""));
    assert!(!stream.reply().text().contains("id_rsa"));
    assert!(server.upstream().wait_until(|_| answered(&server, &json!(2)).is_some()));
    assert_eq!(answered(&server, &json!(2)).unwrap()["result"]["action"], "decline");
}

#[test]
fn a_question_next_to_an_answer_is_judged_as_well() {
    let server = Server::with(Era::Legacy, |_, said| {
        let done = text(said, "done");
        (said["method"] == "tools/call")
            .then(|| Answer::stream(format!("data: {SAMPLING}\n\ndata: {done}\n\n")))
    });
    let gateway = server.gateway(ALLOW, "");
    let mut client = Client::legacy(&gateway);
    assert_eq!(text_of(&client.call("echo", json!({}))), "done");
    assert!(server.upstream().wait_until(|_| answered(&server, &json!("s1")).is_some()));
    let asked = gateway.wait_until(|gateway| {
        gateway.events().iter().any(|event| event.to_string().contains("sampling/createMessage"))
    });
    assert!(asked, "{:?}", gateway.events());
}

#[test]
fn a_server_that_asks_without_end_does_not_make_us_work_without_end() {
    let many: String = (0..3000)
        .map(|n| format!("data: {}\n\n", SAMPLING.replace("s1", &format!("s{n}"))))
        .collect();
    // It never takes an answer.
    let server = Server::with(Era::Legacy, move |request, said| {
        let is_answer = request.method == "POST" && said.get("method").is_none();
        match request.method == "GET" {
            true => Some(
                Answer::stream(many.clone())
                    .send(format!("data: {PING}\n\n"))
                    .step(AnswerStep::Stall),
            ),
            false => is_answer.then(|| Answer::raw("").step(AnswerStep::Stall)),
        }
    });
    let gateway = server.gateway(ALLOW, "");
    let client = Client::legacy(&gateway);
    let mut stream = listen(&client);
    assert!(stream.read_until("\"ping\""));
    let told = || server.seen().iter().filter(|it| it.json()["error"]["code"] == -1).count();
    // As many as may be on their way at once, and no more while it still works for others.
    assert!(server.upstream().wait_until(|_| told() >= 64), "{}", told());
    let mut other = Client::legacy(&gateway);
    assert_eq!(text_of(&other.call("echo", json!({}))), "done");
    assert_eq!(told(), 64);
}

#[test]
fn a_lost_answer_can_be_asked_for_again_and_is_judged_again() {
    // The answer to the call is lost: the stream ends after the first event.
    let call = Mutex::new(Value::Null);
    let server = Server::with(Era::Legacy, move |request, said| {
        let mut call = call.lock().unwrap();
        if said["method"] == "tools/call" {
            *call = said.clone();
            return Some(Answer::stream("id: 1\ndata:\n\n"));
        }
        let from = (request.method == "GET").then(|| request.header("last-event-id")).flatten()?;
        let answer = match from {
            "1" => text(&call, "found again"),
            _ => text(&call, ORDER),
        };
        let foreign = message(&json!({ "id": 77 }), json!({ "tools": [] }));
        Some(Answer::stream(format!("id: 2\ndata: {answer}\n\ndata: {foreign}\n\n")))
    });
    let gateway = server.gateway(ALLOW, "");
    let mut client = Client::legacy(&gateway);
    let ask = client.asking("tools/call", json!({ "name": "echo" }));
    let reply = client.send(&ask);
    assert_eq!(reply.text(), "id: 1\ndata:\n\n", "an event without a message passes");
    for (from, expected) in [("1", "found again"), ("1", "found again"), ("2", "withheld")] {
        let reply = client.send(&client.bare("GET").header("last-event-id", from));
        let answers = events(&reply.text());
        assert_eq!(
            answers.len(),
            1,
            "an answer without a request is not forwarded: {}",
            reply.text()
        );
        assert!(text_of(&answers[0]).contains(expected), "{from}: {}", reply.text());
        assert!(!reply.text().contains("id_rsa"));
    }
}

#[test]
fn an_answer_of_before_a_restart_is_judged_by_what_it_is() {
    let tools =
        json!({ "tools": [tool("echo", "Says it again."), tool("delete_all", "Deletes.")] });
    let answers = [
        message(&json!({ "id": 7 }), tools),
        text(&json!({ "id": 8 }), "found again"),
        text(&json!({ "id": 9 }), ORDER),
    ];
    let server = Server::with(Era::Legacy, move |request, _| {
        let resumes = request.method == "GET" && request.header("last-event-id").is_some();
        let stream = answers.iter().map(|answer| format!("data: {answer}\n\n")).collect::<String>();
        resumes.then(|| Answer::stream(stream))
    });
    let gateway = server.gateway(DENY, "");
    let client = Client::new(&gateway, Era::Legacy).with("mcp-session-id", "of-before");
    let reply = client.send(&client.bare("GET").header("last-event-id", "1"));
    let heard = events(&reply.text());
    assert_eq!(heard.len(), 3, "{}", reply.text());
    assert_eq!(heard[0]["result"]["tools"].as_array().unwrap().len(), 1, "{}", heard[0]);
    assert_eq!(text_of(&heard[1]), "found again");
    assert!(!reply.text().contains("id_rsa"));
}

#[test]
fn a_server_without_streams_says_so_itself() {
    let server = Server::new(Era::Legacy);
    let gateway = server.gateway(ALLOW, "");
    let client = Client::legacy(&gateway);
    let reply = client.send(&client.bare("GET"));
    assert_eq!((reply.status, reply.header("allow")), (405, Some("POST, DELETE")));
    let reply = client.send(&client.bare("PUT"));
    assert_eq!((reply.status, reply.header("allow")), (405, Some("GET, POST, DELETE")));
}
