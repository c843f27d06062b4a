//! callgate as an MCP server over HTTP.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Stdio};

use callgate_testkit::http::{Ask, Exchange, Reply};
use serde_json::{Value, json};

use super::{POLICY, modern};
use crate::support::Place;

/// A server that listens.
pub(crate) struct Listening {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Place {
    pub(crate) fn listen(&self, address: &str) -> Listening {
        let mut command = self.callgate();
        command.args(["mcp", "serve", "--listen", address]);
        let mut child = command.stderr(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let said =
            lines.find_map(|line| Some(line.strip_prefix("listening on http://")?.to_owned()));
        // A peer that writes must be read.
        std::thread::spawn(move || lines.for_each(drop));
        let address = said.expect("it does not listen");
        Listening { child, address: address.strip_suffix("/mcp").unwrap().parse().unwrap() }
    }
}

/// A request of the older revisions.
fn plain(method: &str, params: Value) -> Ask {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    Ask::post("/mcp", body.to_string()).header("accept", "application/json, text/event-stream")
}

/// A request of the newer ones.
fn newer(method: &str, params: Value) -> Ask {
    let name = params.get("name").or(params.get("uri")).and_then(Value::as_str).map(str::to_owned);
    let ask = plain(method, modern(params))
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", method);
    name.iter().fold(ask, |ask, name| ask.header("Mcp-Name", name))
}

fn code(reply: &Reply) -> (u16, i64) {
    (reply.status, reply.json()["error"]["code"].as_i64().unwrap_or(0))
}

#[test]
fn both_families_of_revisions_are_answered() {
    let place = Place::new(POLICY, "");
    let server = place.listen("127.0.0.1:0");
    let ask = |ask: Ask| ask.send(server.address);
    let hello = ask(plain("initialize", json!({ "protocolVersion": "2025-06-18" })));
    assert_eq!(hello.json()["result"]["protocolVersion"], "2025-06-18");
    assert!(hello.header("mcp-session-id").is_none());
    let told = Ask::post("/mcp", r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(ask(told).status, 202);
    let call = json!({ "name": "evaluate", "arguments": { "tool": "send_email" } });
    for asked in [plain("tools/call", call.clone()), newer("tools/call", call)] {
        let answer = ask(asked);
        assert_eq!(answer.status, 200);
        assert_eq!(answer.json()["result"]["structuredContent"]["rule"], "no-mail");
    }
    let health = ask(newer("resources/read", json!({ "uri": "config://health" })));
    assert_eq!(health.json()["result"]["resultType"], "complete");
    assert_eq!(code(&ask(newer("ping", json!({})))), (404, -32601));
    assert_eq!(code(&ask(plain("tools/run", json!({})))), (200, -32601));
    assert_eq!(code(&ask(newer("tools/call", json!({ "name": "no" })))), (200, -32602));
}

#[test]
fn what_another_site_or_the_wrong_form_asks_is_refused() {
    let place = Place::new(POLICY, "");
    let server = place.listen("127.0.0.1:0");
    let ask = |ask: Ask| ask.send(server.address);
    let list = || plain("tools/list", json!({}));
    assert_eq!(ask(list().header("origin", "https://evil.example")).status, 403);
    assert_eq!(ask(list().header("host", "evil.example")).status, 421);
    assert_eq!(ask(list().header("origin", "http://localhost:3000")).status, 200);
    assert_eq!(ask(list().header("sec-fetch-site", "cross-site")).status, 403);
    for method in ["GET", "DELETE"] {
        let reply = ask(Ask::new(method, "/mcp").header("accept", "text/event-stream"));
        assert_eq!((reply.status, reply.header("allow")), (405, Some("POST")), "{method}");
    }
    assert_eq!(ask(Ask::post("/mcp/notes", "{}")).status, 404);
    assert_eq!(ask(Ask::post("/v1/messages", "{}")).status, 404, "it forwards nothing");
    assert_eq!(ask(Ask::get("/healthz")).status, 404, "it is no gateway");
    let text = Ask::new("POST", "/mcp").header("content-type", "text/plain");
    assert_eq!(ask(text).status, 415);
    assert_eq!(ask(list().header("accept", "text/html")).status, 200, "the other one does");
    for (body, expected) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#, (400, -32600)),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, (400, -32600)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}"#, (400, -32700)),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, (400, -32600)),
        ("", (400, -32700)),
    ] {
        assert_eq!(code(&ask(Ask::post("/mcp", body))), expected, "{body}");
    }
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(16 << 20));
    assert_eq!(ask(Ask::post("/mcp", large)).status, 413);
    let other = newer("tools/list", json!({})).header("mcp-method", "tools/call");
    assert_eq!(code(&ask(other)), (400, -32020));
    let silent = plain("tools/list", modern(json!({})));
    assert_eq!(code(&ask(silent)), (400, -32020));
    let unknown = list().header("mcp-protocol-version", "2027-01-01");
    assert_eq!(code(&ask(unknown)), (400, -32022));
}

#[test]
fn a_subscription_reports_a_changed_policy_and_the_end() {
    let place = Place::new(POLICY, "");
    let mut server = place.listen("127.0.0.1:0");
    let wanted = json!({ "notifications": { "resourceSubscriptions": ["config://rules"] } });
    let listen = newer("subscriptions/listen", wanted);
    let mut stream = Exchange::open(server.address, &listen).unwrap();
    assert_eq!(stream.reply().header("content-type"), Some("text/event-stream"));
    assert!(stream.read_until("notifications/subscriptions/acknowledged"));
    place.rules(&POLICY.replace("No mail.", "Never."));
    assert!(stream.read_until(r#""method":"notifications/resources/updated""#));
    let id = server.child.id().to_string();
    std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap();
    let rest = stream.finish().unwrap();
    assert!(rest.text().contains(r#""resultType":"complete""#), "{}", rest.text());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

/// Anyone who reaches it from elsewhere can read everything it reports.
#[test]
fn on_any_other_address_a_key_is_needed() {
    let place = Place::new(POLICY, "");
    let added = place.run(&["keys", "add", "ann"]);
    let key = String::from_utf8(added.stdout).unwrap();
    let server = place.listen("0.0.0.0:0");
    let address = SocketAddr::from(([127, 0, 0, 1], server.address.port()));
    let list = || plain("tools/list", json!({}));
    assert_eq!(list().send(address).status, 403);
    assert_eq!(list().header("x-callgate-key", "cg_wrong").send(address).status, 403);
    assert_eq!(list().header("x-callgate-key", key.trim()).send(address).status, 200);
}
