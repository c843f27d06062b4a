//! Names that a server does not list, and may take for one that it does.

use callgate_testkit::gateway::Gateway;
use serde_json::json;

use crate::http::support::{Client, Era, Server};
use crate::support::{Place, simple, text_of, tool};

const DENY: &str = "policy: p\nrules:\n  - { id: no-delete, tool: delete_all, surface: mcp, verdict: deny, reason: Nothing is deleted. }\n";
const ALLOW: &str = "policy: p\nrules: []\n";

/// Spellings that some server or a program before it takes for `delete_all`.
const SPELLINGS: [&str; 10] = [
    "x__delete_all",
    "s.delete_all",
    "s/delete_all",
    "s:delete_all",
    "s-delete_all",
    "mcp_s_delete_all",
    "deleteAll",
    "d\u{435}lete_all",
    "\u{ff44}elete_all",
    "x\u{ff3f}\u{ff3f}DELETE_ALL",
];

#[test]
fn a_call_under_another_spelling_is_judged_as_the_tool_it_may_be_read_as() {
    let place = Place::new(DENY, "");
    let mut wrapped = place.scripted("s", simple());
    wrapped.hello();
    for name in SPELLINGS {
        let answer = wrapped.call(name, json!({}));
        assert_eq!(answer["result"]["isError"], true, "{name}: {answer}");
        let text = text_of(&answer);
        for part in ["no-delete", "Nothing is deleted."] {
            assert!(text.contains(part), "{name}: {text}");
        }
    }
    // Names of others are others, and so is one that only ends alike.
    for name in ["x__echo", "undelete_all", "other"] {
        assert_eq!(text_of(&wrapped.call(name, json!({}))), "done", "{name}");
    }
    let received = wrapped.end().received;
    let calls = received.lines().filter(|line| line.contains("tools/call"));
    assert_eq!(calls.count(), 3, "{received}");
    let calls = place.json(&["calls", "--json"]);
    let told = |name: &str| calls.iter().find(|call| call["tool"]["name"] == name).unwrap();
    for name in SPELLINGS {
        let call = told(name);
        assert_eq!(call["verdict"]["action"], "deny", "{call}");
        assert!(call["detail"].as_str().unwrap().contains("judged as `delete_all`"), "{call}");
    }
    assert!(told("x__echo")["detail"].as_str().unwrap().contains("judged as `echo`"));
    assert!(told("undelete_all")["detail"].is_null());
}

#[test]
fn a_name_that_the_server_lists_is_that_tool() {
    let mut answers = simple();
    let tools = [tool("x__delete_all", "Deletes a draft."), tool("delete_all", "Deletes.")];
    answers["tools/list"] = json!({ "result": { "tools": tools } });
    let place = Place::new(DENY, "");
    let mut wrapped = place.scripted("s", answers);
    wrapped.hello();
    assert_eq!(text_of(&wrapped.call("x__delete_all", json!({}))), "done");
    assert_eq!(wrapped.call("delete_all", json!({}))["result"]["isError"], true);
    wrapped.end();
    let calls = place.json(&["calls", "--json"]);
    assert!(calls.iter().all(|call| call["detail"].is_null()), "{calls:?}");
}

#[test]
fn lists_pins_limits_and_replacements_know_the_tool_by_its_other_spellings() {
    let by_list = "mcp: { deny_tools: [{ server: s, tool: delete_all }] }";
    let by_rate = "policy: p\nrules:\n  - { id: slow, tool: delete_all, surface: mcp, limit: { calls: 1, per: hour }, verdict: deny }\n";
    for (policy, settings, before, told) in
        [(ALLOW, by_list, false, "mcp.tools"), (by_rate, "", true, "slow")]
    {
        let place = Place::new(policy, settings);
        let mut wrapped = place.scripted("s", simple());
        wrapped.hello();
        if before {
            assert_eq!(text_of(&wrapped.call("delete_all", json!({}))), "done");
        }
        let answer = wrapped.call("x__delete_all", json!({}));
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(text_of(&answer).contains(told), "{answer}");
        wrapped.end();
    }
    // The definition has changed: no spelling of it is called.
    let place = Place::new(ALLOW, "");
    let mut wrapped = place.scripted("s", simple());
    wrapped.hello();
    wrapped.tools();
    wrapped.end();
    let mut answers = simple();
    answers["tools/list"] = json!({ "result": { "tools": [tool("echo", "Says it again."), tool("delete_all", "Other.")] } });
    let mut wrapped = place.scripted("s", answers);
    wrapped.hello();
    let answer = wrapped.call("x__delete_all", json!({}));
    assert!(text_of(&answer).contains("mcp.pins"), "{answer}");
    assert_eq!(text_of(&wrapped.call("x__echo", json!({}))), "done");
    wrapped.end();
    let mask = "policy: p\nrules:\n  - { id: mask, tool: echo, surface: mcp, verdict: sanitize, sanitize: { detectors: [secret] } }\n";
    let place = Place::new(mask, "");
    let mut wrapped = place.scripted("s", simple());
    wrapped.hello();
    assert_eq!(
        text_of(&wrapped.call("x__echo", json!({ "text": "AKIAIOSFODNN7EXAMPLX" }))),
        "done"
    );
    let received = wrapped.end().received;
    assert!(
        received.contains("[REDACTED:aws") && !received.contains("AKIAIOSFODNN7EXAMPLX"),
        "{received}"
    );
}

#[test]
fn over_http_as_well() {
    for era in [Era::Legacy, Era::Modern] {
        let server = Server::new(era);
        let gateway: Gateway = server.gateway(DENY, "");
        let mut client = Client::new(&gateway, era);
        if era == Era::Legacy {
            client.hello();
        }
        for name in ["x__delete_all", "s.delete_all", "Delete_All"] {
            let answer = client.call(name, json!({}));
            assert_eq!(answer["result"]["isError"], true, "{name}: {answer}");
            assert!(text_of(&answer).contains("no-delete"), "{answer}");
        }
        assert_eq!(text_of(&client.call("x__echo", json!({}))), "done");
        assert_eq!(server.heard("tools/call").len(), 1);
    }
}

const KEEP: &str = "policy: p\nrules:\n  - { id: keep, server: s, tool: delete_repo, verdict: deny, reason: Repositories stay. }\n";

/// Spellings of a tool that a rule names and the server does not list.
const UNLISTED: [&str; 7] = [
    "delete_repo",
    "delete-repo",
    "d\u{435}lete_repo",
    "s_delete_repo",
    "mcp__s__delete_repo",
    "functions.delete_repo",
    "functions.mcp__s__delete_repo",
];

#[test]
fn a_rule_on_an_unlisted_tool_finds_its_spellings() {
    let place = Place::new(KEEP, "");
    let mut wrapped = place.scripted("s", simple());
    wrapped.hello();
    let server = Server::new(Era::Legacy);
    let gateway: Gateway = server.gateway(KEEP, "");
    let mut client = Client::legacy(&gateway);
    for name in UNLISTED {
        for answer in [wrapped.call(name, json!({})), client.call(name, json!({}))] {
            assert_eq!(answer["result"]["isError"], true, "{name}: {answer}");
            assert!(text_of(&answer).contains("Repositories stay."), "{name}: {answer}");
        }
    }
    for name in ["delete_repo_notes", "s_delete_repo_notes", "t_delete_repo"] {
        for answer in [wrapped.call(name, json!({})), client.call(name, json!({}))] {
            assert_eq!(text_of(&answer), "done", "{name}: {answer}");
        }
    }
    wrapped.end();
}
