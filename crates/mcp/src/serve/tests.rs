//! Messages in, answers out, with a minimal host.

mod over_http;

use serde_json::{Value, json};

use super::connection::PipeSubscriptions;
use super::*;

/// A host with one tool and two resources.
#[derive(Debug)]
pub(crate) struct Small {
    tools: Vec<ServedTool>,
}

const ABOUT: ServerInfo =
    ServerInfo { name: "small", title: "Small", version: "7", instructions: "Ask \"echo\"." };

const fn resource(uri: &'static str) -> Resource {
    Resource { uri, name: "n", title: "t", description: "d", mime_type: "text/plain" }
}

const RESOURCES: [Resource; 2] = [resource("a://one"), resource("a://two")];

impl ServerContent for Small {
    fn about(&self) -> &ServerInfo {
        &ABOUT
    }

    fn resources(&self) -> &[Resource] {
        &RESOURCES
    }

    fn tools(&self) -> &[ServedTool] {
        &self.tools
    }

    fn read(&self, uri: &str) -> Result<String, String> {
        match uri {
            "a://one" => Ok("line\n\"quoted\"".to_owned()),
            _ => Err("the disk is gone".to_owned()),
        }
    }

    fn call(&self, _: &str, arguments: &str) -> CallResult {
        match arguments {
            "{}" => CallResult::Failed("say something".to_owned()),
            "{\"panic\":1}" => panic!("asked for"),
            _ => CallResult::Done { structured: arguments.to_owned(), text: "said".to_owned() },
        }
    }
}

pub(crate) fn service() -> Service<Small> {
    let definition = r#"{"name":"echo","inputSchema":{"type":"object"}}"#.to_owned();
    Service::new(Arc::new(Small { tools: vec![ServedTool { name: "echo", definition }] }))
}

/// The metadata of every request in the newer revisions.
pub(crate) fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// Parameters in the newer revisions.
pub(crate) fn modern(mut params: Value) -> Value {
    params["_meta"] = meta();
    params
}

pub(crate) fn request(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": "r", "method": method, "params": params }).to_string()
}

/// A client on a pipe.
#[derive(Default)]
struct Client(PipeSubscriptions);

impl Client {
    fn say(&mut self, line: &str) -> Option<Value> {
        let notified = self.0.take(service().line(line.as_bytes()));
        notified.map(|text| {
            assert!(!text.contains('\n'), "a message is a line: {text}");
            serde_json::from_str(&text).unwrap()
        })
    }

    #[track_caller]
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.say(&request(method, &params)).unwrap();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!("r")), "{answer}");
        answer
    }

    fn changed(&self, uris: &[&'static str]) -> Vec<Value> {
        self.0.changed(uris).iter().map(|text| serde_json::from_str(text).unwrap()).collect()
    }
}

#[track_caller]
fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn a_handshake_agrees_on_a_revision_that_both_support() {
    let table = [
        ("2024-11-05", "2024-11-05"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ];
    for (requested, spoken) in table {
        let hello = Client::default().ask("initialize", json!({ "protocolVersion": requested }));
        let result = &hello["result"];
        assert_eq!(result["protocolVersion"], spoken);
        assert_eq!(result["serverInfo"]["name"], "small");
        assert_eq!(result["instructions"], "Ask \"echo\".");
        assert_eq!(result["capabilities"]["resources"]["subscribe"], true);
        assert!(result.get("resultType").is_none(), "{result}");
    }
    assert_eq!(code(&Client::default().ask("initialize", json!({}))), -32602);
}

#[test]
fn requests_of_the_newer_revisions_are_independent() {
    let mut client = Client::default();
    let found = client.ask("server/discover", modern(json!({})));
    assert_eq!(found["result"]["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(found["result"]["resultType"], "complete");
    let server = &found["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(server, &json!({ "name": "small", "title": "Small", "version": "7" }));
    for list in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        let result = &client.ask(list, modern(json!({})))["result"];
        assert_eq!(result["cacheScope"], "public", "{list}");
        assert!(result["ttlMs"].is_u64(), "{list}");
        let old = &client.ask(list, json!({}))["result"];
        assert!(old.get("ttlMs").is_none() && old.get("_meta").is_none(), "{old}");
    }
    let read = client.ask("resources/read", modern(json!({ "uri": "a://one" })));
    assert_eq!(
        (&read["result"]["ttlMs"], &read["result"]["cacheScope"]),
        (&json!(0), &json!("private"))
    );
}

#[test]
fn request_metadata_is_checked() {
    let mut client = Client::default();
    let mut bad = meta();
    bad["io.modelcontextprotocol/protocolVersion"] = json!("2027-01-01");
    let answer = client.ask("tools/list", json!({ "_meta": bad }));
    assert_eq!(code(&answer), -32022);
    let data = json!({ "supported": ["2026-07-28"], "requested": "2027-01-01" });
    assert_eq!(answer["error"]["data"], data);
    let only = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    assert_eq!(code(&client.ask("tools/list", json!({ "_meta": only }))), -32602);
    bad["io.modelcontextprotocol/protocolVersion"] = json!(20260728);
    assert_eq!(code(&client.ask("tools/list", json!({ "_meta": bad }))), -32602);
    assert_eq!(code(&client.ask("server/discover", json!({}))), -32602);
    assert_eq!(code(&client.ask("subscriptions/listen", json!({ "notifications": {} }))), -32602);
}

#[test]
fn each_family_has_its_own_methods() {
    let mut client = Client::default();
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    for gone in ["initialize", "ping", "resources/subscribe", "logging/setLevel"] {
        assert_eq!(code(&client.ask(gone, modern(json!({ "uri": "a://one" })))), -32601, "{gone}");
    }
    for unknown in ["logging/setLevel", "tools/run", ""] {
        assert_eq!(code(&client.ask(unknown, json!({}))), -32601, "{unknown}");
    }
}

#[test]
fn a_call_is_answered_or_reports_why_not() {
    let mut client = Client::default();
    let answer = client.ask("tools/call", json!({ "name": "echo", "arguments": { "a": [1] } }));
    let expected = json!({
        "content": [{ "type": "text", "text": "said" }],
        "structuredContent": { "a": [1] },
        "isError": false,
    });
    assert_eq!(answer["result"], expected);
    let failed = client.ask("tools/call", modern(json!({ "name": "echo" })));
    assert_eq!(failed["result"]["isError"], true);
    assert_eq!(failed["result"]["resultType"], "complete");
    assert_eq!(failed["result"]["content"][0]["text"], "say something");
    let table = [
        json!({ "name": "Echo" }),
        json!({ "name": 1 }),
        json!({}),
        json!({ "name": "echo", "arguments": [] }),
        json!({ "name": "echo", "arguments": "a" }),
    ];
    for params in table {
        assert_eq!(code(&client.ask("tools/call", params.clone())), -32602, "{params}");
    }
    let page = client.ask("tools/list", json!({ "cursor": "next" }));
    assert_eq!(code(&page), -32602);
    assert!(client.ask("tools/list", json!({ "cursor": null }))["result"].is_object());
}

#[test]
fn a_resource_is_read_or_is_not_there() {
    let mut client = Client::default();
    let read = client.ask("resources/read", json!({ "uri": "a://one" }));
    let contents =
        json!([{ "uri": "a://one", "mimeType": "text/plain", "text": "line\n\"quoted\"" }]);
    assert_eq!(read["result"]["contents"], contents);
    let missing = json!({ "uri": "a://three" });
    let old = client.ask("resources/read", missing.clone());
    assert_eq!((code(&old), &old["error"]["data"]), (-32002, &missing));
    let new = client.ask("resources/read", modern(missing.clone()));
    assert_eq!((code(&new), &new["error"]["data"]), (-32602, &missing));
    assert_eq!(code(&client.ask("resources/read", json!({ "uri": "a://two" }))), -32603);
}

#[test]
fn a_subscriber_of_the_older_revisions_is_notified_until_it_unsubscribes() {
    let mut client = Client::default();
    assert!(client.changed(&["a://one"]).is_empty());
    assert_eq!(client.ask("resources/subscribe", json!({ "uri": "a://one" }))["result"], json!({}));
    let notified = json!({
        "jsonrpc": "2.0",
        "method": "notifications/resources/updated",
        "params": { "uri": "a://one" },
    });
    assert_eq!(client.changed(&["a://two", "a://one"]), [notified]);
    assert!(client.changed(&["a://two"]).is_empty());
    assert_eq!(code(&client.ask("resources/subscribe", json!({ "uri": "a://x" }))), -32002);
    client.ask("resources/unsubscribe", json!({ "uri": "a://one" }));
    assert!(client.changed(&["a://one"]).is_empty());
}

#[test]
fn a_subscription_is_acknowledged_and_then_notified() {
    let mut client = Client::default();
    let requested = json!({
        "toolsListChanged": true,
        "resourceSubscriptions": ["a://two", "b://nothing"],
    });
    let line = request("subscriptions/listen", &modern(json!({ "notifications": requested })));
    let first = client.say(&line).unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    let id = json!({ "io.modelcontextprotocol/subscriptionId": "r" });
    let acknowledged =
        json!({ "_meta": id, "notifications": { "resourceSubscriptions": ["a://two"] } });
    assert_eq!(first["params"], acknowledged);
    let notified = client.changed(&["a://one", "a://two"]);
    assert_eq!(notified.len(), 1);
    assert_eq!(notified[0]["params"], json!({ "_meta": id, "uri": "a://two" }));
    assert_eq!(code(&client.say(&line).unwrap()), -32600, "the id is taken");
    let end: Value = serde_json::from_str(&client.0.ended()[0]).unwrap();
    assert_eq!((&end["id"], &end["result"]["_meta"]), (&json!("r"), &id));
    let off = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"r"}}"#;
    assert_eq!(client.say(off), None);
    assert!(client.changed(&["a://two"]).is_empty() && client.0.ended().is_empty());
}

#[test]
fn subscriptions_are_limited() {
    let mut client = Client::default();
    let params = modern(json!({ "notifications": {} }));
    let listen = |id: u32| {
        json!({ "jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params })
            .to_string()
    };
    for id in 0..32 {
        let first = client.say(&listen(id)).unwrap();
        assert_eq!(first["params"]["notifications"], json!({}), "{id}");
    }
    assert_eq!(code(&client.say(&listen(32)).unwrap()), 1403);
}

#[test]
fn ambiguous_messages_are_refused() {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let table = [
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#.to_owned(), -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":1,"a":2}}}"#.to_owned(), -32600),
        (format!("[{ping}]"), -32600),
        (format!("\u{feff}{ping}"), -32700),
        (format!("{ping}\r{ping}"), -32600),
        (ping.replace(":1", ":1.0"), -32600),
        (ping.replace(":1", ":null"), -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}"#.to_owned(), -32700),
        (ping.replace("2.0", "1.0"), -32600),
        (format!("{ping} x"), -32700),
    ];
    for (line, expected) in table {
        assert_eq!(code(&Client::default().say(&line).unwrap()), expected, "{line}");
    }
    for silent in
        ["", "  ", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, r#"{"jsonrpc":"2.0","method":"x"}"#]
    {
        assert_eq!(Client::default().say(silent), None, "{silent}");
    }
}
