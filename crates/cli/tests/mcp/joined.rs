//! A call in a model's answer, and the same call on its way to the server.

use std::path::Path;

use callgate_testkit::gateway::{Gateway, Setup};
use callgate_testkit::http::Ask;
use callgate_testkit::upstream::{Answer, Upstream};
use serde_json::{Value, json};

use crate::support::{Place, simple, text_of, tool};

const ALLOW: &str = "policy: p\nrules: []\n";

/// A model that makes one call.
pub(crate) fn model(name: &str, input: &Value) -> Upstream {
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": name, "input": input });
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [call],
        "stop_reason": "tool_use", "stop_sequence": null,
        "usage": { "input_tokens": 1, "output_tokens": 1 },
    });
    Upstream::always(Answer::json(200, message.to_string()))
}

pub(crate) fn ask() -> Ask {
    let messages = json!([{ "role": "user", "content": "hi" }]);
    let body = json!({ "model": "any", "max_tokens": 64, "messages": messages });
    Ask::post("/v1/messages", body.to_string()).header("authorization", "Bearer none")
}

/// The records of this kind, oldest first.
fn of_kind(place: &Place, kind: &str) -> Vec<Value> {
    let mut found = place.json(&["mcp", "calls", "--json", "--type", kind]);
    found.reverse();
    found
}

#[test]
fn an_execution_is_joined_to_the_models_call_by_its_id() {
    // A plugin's server has the plugin in its name.
    for name in ["mcp__s__echo", "mcp__plugin_my_tools_s__echo"] {
        let upstream = model(name, &json!({ "text": "hi" }));
        let binary = Path::new(env!("CARGO_BIN_EXE_callgate"));
        let gateway = Setup::new(binary, &upstream.url(), ALLOW, "").start();
        let place = Place::at(gateway.folder());
        let mut wrapped = place.scripted("s", simple());
        wrapped.hello();
        assert_eq!(wrapped.tools(), ["echo", "delete_all"]);
        let reply = ask().send(gateway.address());
        assert!(reply.text().contains("toolu_1"), "{}", reply.text());
        let mut call = |id: &str, text: &str| {
            let meta = json!({ "claudecode/toolUseId": id });
            let arguments = json!({ "text": text });
            let params = json!({ "name": "echo", "arguments": arguments, "_meta": meta });
            assert_eq!(text_of(&wrapped.ask("tools/call", params)), "done");
        };
        // The client has rewritten the arguments: only the id shows the match.
        call("toolu_1", "something else");
        call("toolu_2", "of no model");
        wrapped.end();
        let intended = of_kind(&place, "mcp_tool_call_intercepted");
        assert_eq!(intended.len(), 1, "{name}: {intended:?}");
        assert_eq!(intended[0]["tool"]["server"], "s", "{name}");
        let called = of_kind(&place, "mcp_tool_called");
        assert_eq!(called[0]["mcp"]["joined"], intended[0]["id"], "{called:?}");
        assert_eq!(called[1]["mcp"]["joined"], Value::Null, "{called:?}");
        let user = callgate_decide::login::own().unwrap();
        for record in [&intended[0], &called[0]] {
            assert_eq!(record["principal"]["user"], user, "one person at both doors: {record}");
        }
        // What nobody could add later: the request, and where it came from.
        assert!(called[0]["tool"]["rpc_id"].is_string(), "{called:?}");
        assert!(called[0]["cwd"].is_string() && called[0]["home"].is_string(), "{called:?}");
        assert_eq!(called[0]["verdict"]["policy_digest"], intended[0]["verdict"]["policy_digest"]);
        let strays = of_kind(&place, "uncorrelated_execution");
        assert_eq!(strays.len(), 1, "{strays:?}");
        assert_eq!(strays[0]["tool"]["call_id"], "toolu_2", "{strays:?}");
    }
}

/// A gateway with these settings, and the place of its store.
fn gateway(upstream: &Upstream, settings: &str) -> (Gateway, Place) {
    let binary = Path::new(env!("CARGO_BIN_EXE_callgate"));
    let gateway = Setup::new(binary, &upstream.url(), ALLOW, settings).start();
    let place = Place::at(gateway.folder());
    (gateway, place)
}

/// A shim that lists its one tool, in these words.
fn listed(place: &Place, description: &str) {
    let mut answers = simple();
    answers["tools/list"] = json!({ "result": { "tools": [tool("echo", description)] } });
    let mut wrapped = place.scripted("s", answers);
    wrapped.hello();
    wrapped.tools();
    wrapped.end();
}

#[test]
fn a_changed_definition_stops_the_call_in_an_answer_until_it_is_trusted() {
    let upstream = model("mcp__s__echo", &json!({}));
    let (gateway, place) = gateway(&upstream, "");
    listed(&place, "Says it again.");
    let passes = || ask().send(gateway.address()).text().contains("toolu_1");
    assert!(passes());
    listed(&place, "Says it again, and to others.");
    assert!(gateway.wait_until(|_| !passes()), "a tool whose pin changed passes");
    let text = ask().send(gateway.address()).text();
    assert!(text.contains("mcp.pins") && text.contains("pins diff"), "{text}");
    let trusted = place.run(&["mcp", "pins", "trust", "--server", "s", "--tool", "echo"]);
    assert!(trusted.status.success(), "{trusted:?}");
    assert!(gateway.wait_until(|_| passes()), "it is trusted again");
}

#[test]
fn a_rate_counts_a_call_once_at_the_first_door_that_sees_it() {
    let upstream = model("mcp__s__echo", &json!({ "text": "hi" }));
    let (gateway, place) = gateway(&upstream, "mcp: { rate: { calls: 2, per: hour, burst: 2 } }");
    let mut wrapped = place.scripted("s", simple());
    wrapped.hello();
    assert_eq!(wrapped.tools(), ["echo", "delete_all"]);
    let mut execute = || {
        let meta = json!({ "claudecode/toolUseId": "toolu_1" });
        let params = json!({ "name": "echo", "arguments": { "text": "hi" }, "_meta": meta });
        wrapped.ask("tools/call", params)["result"]["isError"] == true
    };
    for _ in 0..2 {
        assert!(ask().send(gateway.address()).text().contains("toolu_1"));
        assert!(!execute(), "the execution of a call that was counted is counted again");
    }
    let text = ask().send(gateway.address()).text();
    assert!(!text.contains("toolu_1") && text.contains("mcp.rate"), "{text}");
    assert!(execute(), "an execution without a call of a model is counted by itself");
    wrapped.end();
}

/// A server's door does not see the conversation: what the gateway found about the model's call counts.
#[test]
fn the_origin_of_a_value_is_that_of_the_models_call() {
    let policy = "policy: p\nrules:\n  - { id: injected, tool: echo, when: { origin: { arg: text, only: tool_result } }, verdict: deny, reason: From a page. }\n";
    let upstream = model("mcp__s__echo", &json!({ "text": "hi" }));
    let binary = Path::new(env!("CARGO_BIN_EXE_callgate"));
    let gateway = Setup::new(binary, &upstream.url(), policy, "").start();
    let place = Place::at(gateway.folder());
    let mut wrapped = place.scripted("s", simple());
    wrapped.hello();
    wrapped.tools();
    assert!(ask().send(gateway.address()).text().contains("toolu_1"), "the user wrote it");
    let mut call = |id: &str| {
        let meta = json!({ "claudecode/toolUseId": id });
        let params = json!({ "name": "echo", "arguments": { "text": "hi" }, "_meta": meta });
        wrapped.ask("tools/call", params)["result"]["isError"] == true
    };
    assert!(!call("toolu_1"), "it is known that the user wrote it");
    assert!(call("toolu_2"), "of a call without a model nothing is known");
    wrapped.end();
    let called = of_kind(&place, "mcp_tool_called");
    assert_eq!(called[0]["origins"], json!([{ "arg": "text", "only_tool_result": false }]));
    assert_eq!(called[1]["origins"], json!([{ "arg": "text", "only_tool_result": null }]));
}
