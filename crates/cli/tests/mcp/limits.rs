//! Rates, flows and `fail_closed`: what is said in the config holds for every process.

use serde_json::json;

use crate::support::{Place, simple, text_of, tool};

const ALLOW: &str = "policy: p\nrules: []\n";

#[test]
fn a_rate_is_one_for_all_processes() {
    let place = Place::new(ALLOW, "mcp: { rate: { calls: 2, per: hour, burst: 2 } }");
    let (mut first, mut second) = (place.scripted("s", simple()), place.scripted("s", simple()));
    first.hello();
    second.hello();
    assert_eq!(text_of(&first.call("echo", json!({}))), "done");
    assert_eq!(text_of(&second.call("echo", json!({}))), "done");
    for wrapped in [&mut first, &mut second] {
        let answer = wrapped.call("echo", json!({}));
        assert_eq!(answer["result"]["isError"], true, "{answer}");
    }
    first.end();
    second.end();
}

#[test]
fn what_was_read_here_is_not_sent_there() {
    let place = Place::new(ALLOW, "");
    let flows = "  flows: { read_then_send: block }\n";
    place.declare(&[("notes", "reads: [get_note]"), ("mail", "sends: [send]")], flows);
    let answers = |name: &str| {
        let mut answers = simple();
        answers["tools/list"] = json!({ "result": { "tools": [tool(name, "Does it.")] } });
        answers
    };
    let mut mail = place.scripted("mail", answers("send"));
    mail.hello();
    assert_eq!(text_of(&mail.call("send", json!({ "text": "hi" }))), "done");
    let mut notes = place.scripted("notes", answers("get_note"));
    notes.hello();
    assert_eq!(text_of(&notes.call("get_note", json!({}))), "done");
    let answer = mail.call("send", json!({ "text": "the note" }));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(text_of(&answer).contains("get_note"), "{answer}");
    notes.end();
    assert!(!mail.end().received.contains("the note"));
}

#[test]
fn closed_to_servers_that_are_not_declared() {
    let place = Place::new(ALLOW, "mcp: { fail_closed: true }");
    let end = place.scripted("s", simple()).end();
    assert_eq!(end.code, Some(1), "{end:?}");
    assert!(end.received.is_empty());
}

/// A server with one tool of this name.
fn with_tool(name: &str) -> serde_json::Value {
    let mut answers = simple();
    answers["tools/list"] = json!({ "result": { "tools": [tool(name, "Does it.")] } });
    answers
}

#[test]
fn a_name_that_was_taken_over_is_not_called() {
    for (watch, is_shown) in [("block", false), ("alert", true)] {
        let place = Place::new(ALLOW, "");
        let flows = format!("  flows: {{ take_over: {watch} }}\n");
        place.declare(&[("notes", ""), ("extra", "")], &flows);
        let mut notes = place.scripted("notes", with_tool("get_note"));
        notes.hello();
        assert_eq!(text_of(&notes.call("get_note", json!({}))), "done");
        let mut extra = place.scripted("extra", with_tool("Get_Note"));
        extra.hello();
        assert_eq!(extra.tools().len(), usize::from(is_shown), "{watch}");
        let answer = extra.call("Get_Note", json!({}));
        assert_eq!(answer["result"]["isError"] == true, !is_shown, "{watch}: {answer}");
        if !is_shown {
            assert!(text_of(&answer).contains("`notes` used first"), "{answer}");
        }
        assert_eq!(text_of(&notes.call("get_note", json!({}))), "done", "the first one keeps it");
        notes.end();
        assert_eq!(extra.end().received.contains("\"tools/call\""), is_shown);
    }
}

#[test]
fn a_burst_ends_for_all_processes_at_once() {
    let burst = "mcp: { flows: { burst: { calls: 3, window: 1h, then: block } } }";
    let place = Place::new(ALLOW, burst);
    let (mut first, mut second) = (place.scripted("s", simple()), place.scripted("t", simple()));
    first.hello();
    second.hello();
    for wrapped in [&mut first, &mut second] {
        assert_eq!(text_of(&wrapped.call("echo", json!({}))), "done");
    }
    assert_eq!(text_of(&first.call("echo", json!({}))), "done");
    for wrapped in [&mut first, &mut second] {
        let answer = wrapped.call("echo", json!({}));
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(text_of(&answer).contains("mcp.flows"), "{answer}");
    }
    let received = first.end().received + &second.end().received;
    assert_eq!(received.matches("\"tools/call\"").count(), 3, "{received}");
}
