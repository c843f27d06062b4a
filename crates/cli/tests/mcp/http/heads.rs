//! What heads repeat of bodies.

use callgate_testkit::http::Ask;
use serde_json::{Value, json};

use super::support::{ALLOW, Client, Era, Server};
use crate::support::{text_of, tool};

/// A tool that wants two of its arguments repeated.
fn query() -> Value {
    let mut query = tool("query", "Asks.");
    query["inputSchema"]["properties"] = json!({
        "region": { "type": "string", "x-mcp-header": "Region" },
        "n": { "type": "integer", "x-mcp-header": "N" },
        "text": { "type": "string" },
    });
    query
}

fn server() -> Server {
    let server = Server::new(Era::Modern);
    server.show(vec![tool("echo", "Says it again."), query()]);
    server
}

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

fn body(params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{{params},{META}}}}}"#)
}

#[test]
fn a_head_that_says_something_else_is_refused() {
    let server = server();
    let gateway = server.gateway(ALLOW, "");
    let client = Client::modern(&gateway);
    let call = r#""name":"query","arguments":{"region":"eu","n":42}"#;
    let wrong: [&[(&str, &str)]; 14] = [
        &[("mcp-method", "tools/list")],
        &[("mcp-method", "tools/call"), ("mcp-method", "ping")],
        &[("mcp-method", "Tools/Call")],
        &[("mcp-name", "echo")],
        &[("mcp-name", "query"), ("mcp-name", "echo")],
        &[("mcp-name", "=?base64?ZWNobw==?=")],
        &[("mcp-name", "=?base64?***?=")],
        &[("mcp-name", "=?base64?cXVlcnk?=")],
        &[("mcp-protocol-version", "2025-11-25")],
        &[("mcp-param-region", "us")],
        &[("mcp-param-region", "eu"), ("mcp-param-region", "us")],
        &[("mcp-param-region", "=?base64?dXM=?=")],
        &[("mcp-param-n", "43")],
        &[("mcp-param-n", "42, 43")],
    ];
    for headers in wrong {
        let ask = headers
            .iter()
            .fold(client.post(&body(call)), |ask, (name, value)| ask.header(name, value));
        refused(&client, &ask, headers[0].0);
    }
    let older = Client::new(&gateway, Era::Legacy);
    refused(&older, &older.post(&body(call)), "mcp-protocol-version");
    // A header that repeats an argument which is not there.
    let ask = client.post(&body(r#""name":"query""#)).header("mcp-param-region", "eu");
    refused(&client, &ask, "mcp-param-region");
    assert!(server.heard("tools/call").is_empty(), "{:?}", server.seen());

    let right = client
        .post(&body(call))
        .header("mcp-method", "tools/call")
        .header("mcp-name", "=?base64?cXVlcnk=?=")
        .header("mcp-param-region", "eu")
        .header("mcp-param-n", "42");
    assert_eq!(text_of(&client.send(&right).json()), "done");
    let call = server.heard("tools/call").pop().unwrap();
    assert_eq!(call.header("mcp-name"), Some("=?base64?cXVlcnk=?="), "it goes on as it came");
}

#[track_caller]
fn refused(client: &Client, ask: &Ask, header: &str) {
    let reply = client.send(ask);
    let answer = reply.json();
    assert_eq!(
        (reply.status, &answer["error"]["code"]),
        (400, &json!(-32020)),
        "{ask:?}: {answer}"
    );
    assert_eq!(answer["id"], 7, "{ask:?}");
    // A program can tell which one it is.
    assert_eq!(answer["error"]["data"]["header"], header, "{ask:?}: {answer}");
}

#[test]
fn arguments_that_are_rewritten_are_rewritten_in_the_head_as_well() {
    let policy = "policy: p\nrules:\n  - { id: no-keys, surface: mcp, verdict: sanitize, sanitize: { detectors: [secret], replace: typed }, reason: Keys stay. }\n";
    let server = server();
    let gateway = server.gateway(policy, "");
    let client = Client::modern(&gateway);
    let secret = "AKIAIOSFODNN7EXAMPLX";
    let params = format!(r#""name":"query","arguments":{{"region":"{secret}","n":1,"text":"x"}}"#);
    let ask = client
        .post(&body(&params))
        .header("mcp-method", "tools/call")
        .header("mcp-name", "query")
        .header("mcp-param-region", secret)
        .header("mcp-param-n", "1")
        // Nobody declared this one.
        .header("mcp-param-other", secret);
    assert_eq!(text_of(&client.send(&ask).json()), "done");
    let call = server.heard("tools/call").pop().unwrap();
    let region = call.json()["params"]["arguments"]["region"].as_str().unwrap().to_owned();
    assert!(region.contains("REDACTED"), "{region}");
    assert_eq!(call.header("mcp-param-region"), Some(region.as_str()));
    assert_eq!(call.header("mcp-param-n"), Some("1"));
    assert!(!format!("{call:?}").contains(secret), "{call:?}");
}
