//! What is on record of a call.

use callgate_testkit::gateway::Gateway;
use callgate_testkit::upstream::{Answer, Upstream};
use serde_json::{Value, json};

use crate::support::{ALLOW, CHAT, DENY, MESSAGES, ask, gateway, turns, whole_turns};

fn only_call(gateway: &Gateway) -> Value {
    let mut calls = gateway.calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    calls.remove(0)
}

#[test]
fn an_allowed_call_is_on_record_with_all_about_it() {
    for answers in
        [turns("read_file", r#"{"path":"a"}"#), whole_turns("read_file", r#"{"path":"a"}"#)]
    {
        for (path, answer) in answers {
            let upstream = Upstream::always(answer);
            let gateway = gateway(&upstream, ALLOW, "");
            let reply = ask(path).send(gateway.address());
            assert_eq!(reply.status, 200);
            let call = only_call(&gateway);
            let provider = if path == MESSAGES { "anthropic" } else { "openai" };
            assert_eq!(call["type"], "tool_call", "{call}");
            assert_eq!(call["surface"], "response", "{call}");
            assert_eq!(call["provider"], provider, "{call}");
            assert_eq!(
                (&call["tool"]["name"], &call["tool"]["call_id"]),
                (&json!("read_file"), &json!("call_1")),
                "{call}"
            );
            assert_eq!(call["verdict"]["action"], "allow", "{call}");
            assert_eq!(call["payload"]["tool_name"], "read_file", "{call}");
            assert_eq!(call["payload"]["blocked"], false, "{call}");
            assert!(call["payload"]["tool_input"].to_string().contains("path"), "{call}");
            assert!(call["model"].is_string(), "{call}");
            assert_eq!(call["request_id"], reply.header("x-callgate-request").unwrap(), "{call}");
        }
    }
}

#[test]
fn usage_and_stop_reason_join_the_call() {
    let [(path, answer), _] = turns("read_file", "{}");
    let upstream = Upstream::always(answer);
    let gateway = gateway(&upstream, ALLOW, "");
    ask(path).send(gateway.address());
    let joined = |gateway: &Gateway| {
        let call = only_call(gateway);
        call["payload"]["tokens_input"] == 10
            && call["payload"]["tokens_output"] == 20
            && call["stop_reason"] == "tool_use"
    };
    assert!(gateway.wait_until(joined), "{}", only_call(&gateway));
}

#[test]
fn a_denied_call_is_on_record_with_rule_and_reason_and_input() {
    for (path, answer) in turns("delete_all", r#"{"path":"/"}"#) {
        let upstream = Upstream::always(answer);
        let gateway = gateway(&upstream, DENY, "");
        let reply = ask(path).send(gateway.address());
        let call = only_call(&gateway);
        let verdict = &call["verdict"];
        assert_eq!(
            (&verdict["action"], &verdict["rule"], &verdict["policy"]),
            (&json!("deny"), &json!("no-delete"), &json!("deny")),
            "{call}"
        );
        assert_eq!(verdict["reason"], "Nothing is deleted.", "{call}");
        assert_eq!(call["payload"]["blocked"], true, "{call}");
        let complete = |gateway: &Gateway| {
            only_call(gateway)["payload"]["tool_input"].to_string().contains("path")
        };
        assert!(gateway.wait_until(complete), "{}", only_call(&gateway));
        // The notice leads to the record.
        let id = call["id"].as_str().unwrap();
        assert!(reply.text().contains(id), "{}", reply.text());
        let shown = gateway.run(&["calls", "show", id]);
        assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
        assert!(String::from_utf8_lossy(&shown.stdout).contains("delete_all"));
    }
}

#[test]
fn the_notice_names_tool_rule_reason_and_hint() {
    let policy = "policy: p\nrules:\n  - { id: no-delete, tool: delete_all, verdict: deny, reason: Nothing is deleted., hint: Ask the operator. }\n";
    for (path, answer) in whole_turns("delete_all", "{}") {
        let upstream = Upstream::always(answer);
        let gateway = gateway(&upstream, policy, "");
        let text = ask(path).send(gateway.address()).text();
        for word in ["delete_all", "no-delete", "Nothing is deleted.", "Ask the operator."] {
            assert!(text.contains(word), "{path}: no `{word}` in {text}");
        }
    }
}

#[test]
fn the_record_is_there_when_the_call_is() {
    // The client has the whole call: so the record can be read, at once.
    let upstream = Upstream::always(whole_turns("read_file", "{}")[1].1.clone());
    let gateway = gateway(&upstream, ALLOW, "");
    for number in 1..=10 {
        assert_eq!(ask(CHAT).send(gateway.address()).status, 200);
        assert_eq!(gateway.calls().len(), number);
    }
}

#[test]
fn a_released_call_is_on_record_after_a_kill() {
    let [(path, answer), _] = turns("read_file", "{}");
    let upstream = Upstream::always(answer.step(callgate_testkit::upstream::AnswerStep::Stall));
    let gateway = gateway(&upstream, ALLOW, "");
    let mut exchange =
        callgate_testkit::http::Exchange::open(gateway.address(), &ask(path)).unwrap();
    assert!(exchange.read_until("message_stop"));
    gateway.signal("KILL");
    assert_eq!(only_call(&gateway)["tool"]["name"], "read_file");
}

#[test]
fn a_turn_without_calls_is_counted() {
    let body = r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hi."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":20}}"#;
    let upstream = Upstream::always(Answer::json(200, body));
    let gateway = gateway(&upstream, ALLOW, "");
    for _ in 0..3 {
        assert_eq!(ask(MESSAGES).send(gateway.address()).text(), body);
    }
    assert!(gateway.calls().is_empty());
    let counted = |gateway: &Gateway| {
        let ran = gateway.run(&["stats", "--json"]);
        let stats: Value = serde_json::from_slice(&ran.stdout).unwrap_or_default();
        stats["turns"]["without_calls"] == 3 && stats["turns"]["tokens_input"] == 30
    };
    let stats = || String::from_utf8_lossy(&gateway.run(&["stats", "--json"]).stdout).into_owned();
    assert!(gateway.wait_until(counted), "{}", stats());
}

#[test]
fn the_chain_of_records_holds() {
    let upstream = Upstream::always(whole_turns("delete_all", "{}")[1].1.clone());
    let gateway = gateway(&upstream, DENY, "");
    for _ in 0..5 {
        ask(CHAT).send(gateway.address());
    }
    let gateway = gateway.restart();
    ask(CHAT).send(gateway.address());
    let verified = gateway.run(&["audit", "verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    assert_eq!(gateway.calls().len(), 6);
}
