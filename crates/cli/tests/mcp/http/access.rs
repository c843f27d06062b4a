//! Who may come in, and as whom.

use callgate_testkit::gateway::Setup;
use callgate_testkit::http::{Ask, Reply};
use callgate_testkit::upstream::{Answer, AnswerStep};
use serde_json::json;

use super::support::{ALLOW, Client, Era, Server, result};
use crate::support::text_of;

/// Makes a key; gives it as it was shown.
#[track_caller]
pub(crate) fn add_key(setup: &Setup, name: &str) -> String {
    let ran = setup.run(&["keys", "add", name, "--user", name]);
    let text = String::from_utf8(ran.stdout).unwrap();
    let key = text.split_whitespace().find(|word| word.starts_with("cg_"));
    key.unwrap_or_else(|| panic!("no key in {text}")).trim_matches(['"', ',']).to_owned()
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;

/// Whether a refusal is an error as clients of MCP read one: without an id, for it answers nothing.
#[track_caller]
fn is_readable(reply: &Reply) {
    assert_eq!(reply.header("content-type"), Some("application/json"));
    let said = reply.json();
    assert_eq!((&said["jsonrpc"], said.get("id")), (&json!("2.0"), None), "{said}");
    assert_eq!(said["error"]["code"], 1403, "{said}");
    assert!(said["error"]["message"].as_str().unwrap().starts_with("callgate"), "{said}");
}

#[test]
fn pages_of_other_sites_and_other_names_stay_out() {
    let server = Server::new(Era::Modern);
    let gateway = server.gateway(ALLOW, "");
    let client = Client::modern(&gateway);
    for (name, value, status) in [
        ("origin", "https://evil.example", 403),
        ("origin", "null", 403),
        ("sec-fetch-site", "cross-site", 403),
        ("host", "evil.example", 421),
    ] {
        for method in ["POST", "GET", "DELETE"] {
            let ask = match method {
                "POST" => client.post(CALL),
                method => client.bare(method),
            };
            let reply = client.send(&ask.header(name, value));
            assert_eq!(reply.status, status, "{method} {name}: {}", reply.text());
            assert_eq!(reply.header("access-control-allow-origin"), None);
            is_readable(&reply);
        }
    }
    assert!(server.seen().is_empty(), "{:?}", server.seen());
    let reply = client.send(&client.post(CALL).header("origin", "http://localhost:6274"));
    assert_eq!(text_of(&reply.json()), "done");
}

#[test]
fn another_address_needs_a_key_and_nobody_is_sent_to_sign_in() {
    let server = Server::new(Era::Modern);
    let setup = server.setup(ALLOW, "", "").listen("0.0.0.0:0");
    let key = add_key(&setup, "ci");
    let gateway = server.start(setup);
    let client = Client::modern(&gateway);
    let last = if key.ends_with('x') { "y" } else { "x" };
    let wrong = format!("{}{last}", &key[..key.len() - 1]);
    for ask in [
        client.post(CALL),
        client.post(CALL).header("x-callgate-key", &wrong),
        client.post(CALL).header("authorization", &format!("Bearer {key}")),
        client
            .post(CALL)
            .header("x-callgate-key", &key)
            .header("authorization", &format!("Bearer {key}")),
        client.post(CALL).header("x-callgate-key", &key).header("x-own", &format!("a {key} b")),
        client.bare("GET"),
        Ask::post(&format!("/mcp/s?key={key}"), CALL).header("x-callgate-key", &key),
    ] {
        let reply = client.send(&ask);
        assert_eq!(reply.status, 403, "{ask:?}: {}", reply.text());
        assert!(reply.text().contains("callgate"), "{}", reply.text());
        assert_eq!(reply.header("www-authenticate"), None);
        is_readable(&reply);
    }
    assert!(server.seen().is_empty(), "{:?}", server.seen());
    let reply = client.send(&client.post(CALL).header("x-callgate-key", &key));
    assert_eq!(text_of(&reply.json()), "done");
    assert!(!format!("{:?}", server.seen()).contains(&key), "the key went on");
    let call = gateway.calls().pop().unwrap();
    assert_eq!(
        (&call["principal"]["key"], &call["principal"]["user"]),
        (&json!("ci"), &json!("ci")),
        "{call}"
    );
}

#[test]
fn an_expired_key_is_refused_and_told_how_it_is_renewed() {
    let server = Server::new(Era::Modern);
    let setup = server.setup(ALLOW, "", "").listen("0.0.0.0:0");
    let key = add_key(&setup, "ci");
    assert!(setup.run(&["keys", "renew", "ci", "--expires", "0s"]).status.success());
    let gateway = server.start(setup);
    let client = Client::modern(&gateway).with("x-callgate-key", &key);
    let reply = client.send(&client.post(CALL));
    assert_eq!(reply.status, 403, "{}", reply.text());
    is_readable(&reply);
    assert!(reply.text().contains("has expired"), "{}", reply.text());
    assert!(reply.text().contains("callgate keys renew ci"), "{}", reply.text());
    assert!(server.heard("tools/call").is_empty());
    assert!(gateway.run(&["keys", "renew", "ci", "--expires", "1h"]).status.success());
    assert!(gateway.wait_until(|_| client.send(&client.post(CALL)).status == 200));
}

#[test]
fn nobody_uses_up_what_another_key_may_call() {
    let rule = "policy: p\nrules:\n  - { id: slowly, surface: mcp, limit: { calls: 2, per: hour }, verdict: deny, reason: Too many. }\n";
    for (policy, more) in [
        (rule, ""),
        (ALLOW, "rate: { calls: 2, per: hour }"),
        (ALLOW, "flows: { burst: { calls: 2, window: 1h, then: block } }"),
    ] {
        for session in [None, Some("of-mine")] {
            let server = Server::new(Era::Modern);
            let setup = server.setup(policy, "", more).listen("0.0.0.0:0");
            let [mine, theirs] = ["mine", "theirs"].map(|name| add_key(&setup, name));
            let gateway = server.start(setup);
            let passes = |key: &str| {
                let client = Client::modern(&gateway).with("x-callgate-key", key);
                let claims = |name: &str| client.clone().with("x-callgate-session", name);
                let mut client = session.map_or_else(|| client.clone(), claims);
                text_of(&client.call("echo", json!({}))) == "done"
            };
            assert!(passes(&theirs) && passes(&theirs));
            assert!(!passes(&theirs), "{more}: there is no limit");
            assert!(passes(&mine), "{policy}{more}, claiming {session:?}");
        }
    }
}

#[test]
fn a_server_that_nobody_declared() {
    let server = Server::new(Era::Modern);
    let gateway = server.gateway(ALLOW, "");
    for path in ["/mcp/other", "/mcp", "/mcp/", "/mcp/s2/x"] {
        let reply = Ask::post(path, CALL).send(gateway.address());
        assert_eq!(reply.status, 404, "{path}");
        assert!(reply.text().contains("mcp.servers"), "{path}: {}", reply.text());
    }
    for path in ["/mcp/s/more", "/mcp/../mcp/s", "/mcp/%73", "/mcp/s/.."] {
        let reply = Ask::post(path, CALL).send(gateway.address());
        assert!(matches!(reply.status, 400 | 404), "{path}: {}", reply.text());
    }
    assert!(server.heard("tools/call").is_empty());
}

#[test]
fn a_server_that_may_not_be_spoken_to() {
    let server = Server::new(Era::Modern);
    let gateway = server.setup(ALLOW, "", "deny_servers: [s]").start();
    let client = Client::modern(&gateway);
    let reply = client.say(CALL);
    assert_eq!(
        (reply.status, &reply.json()["error"]["code"]),
        (200, &json!(1403)),
        "{}",
        reply.text()
    );
    assert_eq!(client.say(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#).status, 202);
    assert_eq!(client.send(&client.bare("GET")).status, 403);
    assert_eq!(client.send(&client.bare("DELETE")).status, 403);
    assert!(server.seen().is_empty(), "not even at start-up: {:?}", server.seen());
}

#[test]
fn two_principals_share_no_conversation() {
    // What the server asks one client, another one cannot answer, even if it knows the name.
    let question =
        r#"{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"Which?"}}"#;
    let server = Server::with(Era::Legacy, move |request, said| match said["method"].as_str() {
        Some("initialize") => None,
        Some("tools/list") => {
            request.header("mcp-session-id")?;
            Some(result(said, json!({ "tools": [] })))
        }
        _ if request.method == "GET" => {
            Some(Answer::stream(format!("data: {question}\n\n")).step(AnswerStep::Stall))
        }
        _ => None,
    });
    let setup = server.setup(ALLOW, "", "").listen("0.0.0.0:0");
    let [mine, other] = ["mine", "other"].map(|name| add_key(&setup, name));
    let gateway = setup.start();
    let mut client = Client::new(&gateway, Era::Legacy).with("x-callgate-key", &mine);
    client.hello();
    let mut stream = client.open(&client.bare("GET"));
    assert!(stream.read_until("Which?"));
    let thief = Client::new(&gateway, Era::Legacy)
        .with("x-callgate-key", &other)
        .with("mcp-session-id", client.session().unwrap());
    let answer = r#"{"jsonrpc":"2.0","id":2,"result":{"action":"accept"}}"#;
    let is_answered =
        || server.seen().iter().any(|request| request.json()["result"]["action"] == "accept");
    // The server is not asked: with a token of ours it could not tell them apart.
    let before = server.seen().len();
    assert_eq!(thief.say(answer).status, 404);
    assert_eq!(thief.send(&thief.bare("GET")).status, 404);
    assert_eq!(thief.send(&thief.bare("DELETE")).status, 404);
    assert_eq!(server.seen().len(), before, "{:?}", server.seen());
    assert_eq!(client.say(answer).status, 202);
    assert!(is_answered());
}
