//! What is on record of calls at this door.

use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::Ask;
use callgate_testkit::upstream::Answer;
use serde_json::{Value, json};

use super::support::{ALLOW, Client, DENY, Era, Server};
use crate::support::text_of;

fn of_type(gateway: &Gateway, kind: &str) -> Vec<Value> {
    let all = gateway.calls().into_iter().chain(gateway.events());
    all.filter(|record| record["type"] == kind).collect()
}

#[test]
fn a_call_is_on_record_with_whom_and_where() {
    let server = Server::new(Era::Legacy);
    let gateway = server.gateway(DENY, "");
    let mut client = Client::new(&gateway, Era::Legacy)
        .with("x-callgate-session", "mine")
        .with("x-callgate-agent", "claude-code");
    client.hello();
    let ask = client.asking("tools/call", json!({ "name": "echo", "arguments": { "text": "hi" } }));
    let reply = client.send(&ask);
    client.call("delete_all", json!({}));
    // Nobody waits for the record of a refusal.
    gateway.wait_until(|gateway| of_type(gateway, "mcp_tool_called").len() == 2);
    let calls = of_type(&gateway, "mcp_tool_called");
    assert_eq!(calls.len(), 2, "{calls:?}");
    let call = calls.iter().find(|call| call["tool"]["name"] == "echo").unwrap();
    assert_eq!(call["verdict"]["action"], "allow", "{call}");
    assert_eq!(call["tool"]["server"], "s", "{call}");
    assert_eq!(call["mcp"]["server_type"], "http", "{call}");
    assert_eq!(call["mcp"]["address"], format!("{}/mcp", server.upstream().url()), "{call}");
    assert_eq!(call["principal"]["session"], "mine", "{call}");
    assert_eq!(call["principal"]["agent"], "claude-code", "{call}");
    assert_eq!(call["principal"]["user"], callgate_decide::login::own().unwrap(), "{call}");
    assert!(call["tool"]["definition_hash"].is_string(), "{call}");
    assert_eq!(call["request_id"].as_str(), reply.header("x-callgate-request"), "{call}");
    let denied = calls.iter().find(|call| call["tool"]["name"] == "delete_all").unwrap();
    assert_eq!(denied["verdict"]["action"], "deny", "{denied}");
    let listed = gateway.run(&["mcp", "calls", "--server", "s", "--action", "block", "--json"]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains("delete_all") && !listed.contains("\"echo\""), "{listed}");
}

/// What the model said: a call of the server's tool.
fn turn(id: &str, input: &Value) -> Answer {
    let block = json!({ "type": "tool_use", "id": id, "name": "mcp__s__echo", "input": input });
    let message = json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [block], "stop_reason": "tool_use", "stop_sequence": null, "usage": { "input_tokens": 1, "output_tokens": 1 } });
    Answer::json(200, message.to_string())
}

#[test]
fn a_call_is_joined_with_what_the_model_said() {
    let server = Server::with(Era::Modern, |request, said| {
        let id = said["messages"][0]["content"].as_str()?.to_owned();
        (request.path == "/v1/messages").then(|| turn(&id, &json!({ "text": id })))
    });
    let gateway = server.gateway(ALLOW, "");
    let models = |id: &str| {
        let body = json!({ "model": "m", "max_tokens": 1, "messages": [{ "role": "user", "content": id }] });
        let reply = Ask::post("/v1/messages", body.to_string()).send(gateway.address());
        assert!(reply.text().contains("mcp__s__echo"), "{}", reply.text());
    };
    let mut client = Client::modern(&gateway);
    models("toolu_1");
    models("toolu_2");
    let meta = json!({ "claudecode/toolUseId": "toolu_1" });
    let by_id = client.ask(
        "tools/call",
        json!({ "name": "echo", "arguments": { "text": "toolu_1" }, "_meta": meta }),
    );
    assert_eq!(text_of(&by_id), "done");
    client.call("echo", json!({ "text": "toolu_2" }));
    client.call("echo", json!({ "text": "nobody said this" }));
    let said = of_type(&gateway, "mcp_tool_call_intercepted");
    assert_eq!(said.len(), 2, "{said:?}");
    assert_eq!(said[0]["mcp"]["address"], format!("{}/mcp", server.upstream().url()), "{said:?}");
    let done = of_type(&gateway, "mcp_tool_called");
    assert_eq!(done.len(), 3, "{done:?}");
    assert_eq!(done[0]["mcp"]["joined"], said[0]["id"], "by its id: {done:?}");
    assert_eq!(done[1]["mcp"]["joined"], said[1]["id"], "by its arguments: {done:?}");
    assert!(done[2]["mcp"].get("joined").is_none_or(Value::is_null), "{done:?}");
    let strays = |gateway: &Gateway| of_type(gateway, "uncorrelated_execution").len() == 1;
    assert!(gateway.wait_until(strays), "{:?}", of_type(&gateway, "uncorrelated_execution"));
}
