//! Which policies judge: none, those of the file, those of the file as it is now.

use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::Ask;
use callgate_testkit::upstream::{Answer, Upstream};
use serde_json::Value;

use crate::support::{
    ALLOW, CHAT, DENY, MESSAGES, SAID, ask, emptied, gateway, setup, turns, whole_turns,
};

/// A body that would not survive being read.
const ODD: &str = "{ \"odd\" :  [1.0, \"delete_all\" ] } trailing";

#[test]
fn without_policies_a_response_is_copied_and_recorded_as_unjudged() {
    let upstream = Upstream::always(Answer::json(200, ODD).header("etag", "\"x\""));
    let setup = setup(&upstream, ALLOW, "");
    let config = std::fs::read_to_string(setup.folder().join("callgate.yaml")).unwrap();
    let config = config.replace("policies: [rules.yaml]", "policies: []\nprotect: off");
    let gateway = setup.file("callgate.yaml", &config).start();
    is_copied_unjudged(&gateway);
}

#[test]
fn with_mode_off_a_response_is_copied_and_recorded_as_unjudged() {
    let upstream = Upstream::always(Answer::json(200, ODD).header("etag", "\"x\""));
    is_copied_unjudged(&gateway(&upstream, DENY, "gateway: { mode: off }"));
}

fn is_copied_unjudged(gateway: &Gateway) {
    for path in [MESSAGES, CHAT] {
        let reply = ask(path).send(gateway.address());
        assert_eq!((reply.status, reply.text()), (200, ODD.to_owned()));
        assert_eq!(reply.header("etag"), Some("\"x\""));
    }
    let unjudged = |gateway: &Gateway| {
        let turns = gateway.turns().into_iter();
        turns.filter(|turn| turn["verdict"]["action"] == "unjudged").count()
    };
    assert!(gateway.wait_until(|gateway| unjudged(gateway) == 2), "{:?}", gateway.turns());
}

#[test]
fn with_mode_calls_only_calls_are_still_judged() {
    let upstream = Upstream::always(whole_turns("delete_all", "{}")[0].1.clone());
    let gateway = gateway(&upstream, DENY, "gateway: { mode: calls-only }");
    let reply = ask(MESSAGES).send(gateway.address());
    assert!(!reply.text().contains("tool_use\""), "{}", reply.text());
}

/// Whether a call of `delete_all` gets through now.
fn passes(gateway: &Gateway) -> bool {
    let reply = ask(CHAT).send(gateway.address());
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()["choices"][0]["message"].get("tool_calls").is_some()
}

fn chat_server() -> Upstream {
    Upstream::always(whole_turns("delete_all", "{}")[1].1.clone())
}

fn events_of(gateway: &Gateway, kind: &str) -> Vec<Value> {
    gateway.events().into_iter().filter(|record| record["type"] == kind).collect()
}

#[test]
fn an_edited_policy_takes_effect() {
    let upstream = chat_server();
    let gateway = gateway(&upstream, ALLOW, "");
    assert!(passes(&gateway));
    gateway.replace("rules.yaml", DENY);
    assert!(gateway.wait_until(|gateway| !passes(gateway)), "the new policy is not used");
    // In place, as some editors write.
    std::fs::write(gateway.folder().join("rules.yaml"), ALLOW).unwrap();
    assert!(gateway.wait_until(passes), "the newest policy is not used");
    let loaded = |gateway: &Gateway| events_of(gateway, "policy_loaded").len() >= 3;
    assert!(gateway.wait_until(loaded), "{:?}", gateway.events());
}

#[test]
fn a_broken_edit_keeps_the_last_good_policy() {
    let upstream = chat_server();
    let gateway = gateway(&upstream, DENY, "");
    gateway.replace("rules.yaml", "policy: broken\nrules: [ { id: x, verdict: perhaps } ]\n");
    let rejected = |gateway: &Gateway| events_of(gateway, "policy_rejected").len() == 1;
    assert!(gateway.wait_until(rejected), "{:?}", gateway.events());
    assert!(!passes(&gateway));
    let health = |gateway: &Gateway| Ask::get("/readyz").send(gateway.address());
    let reply = health(&gateway);
    assert_eq!((reply.status, reply.json()["status"].clone()), (200, "degraded".into()));
    gateway.replace("rules.yaml", ALLOW);
    assert!(gateway.wait_until(passes));
    assert!(gateway.wait_until(|gateway| health(gateway).json()["status"] == "ok"));
}

#[test]
fn a_policy_file_that_vanishes_keeps_the_last_good_policy() {
    let upstream = chat_server();
    let gateway = gateway(&upstream, DENY, "");
    std::fs::remove_file(gateway.folder().join("rules.yaml")).unwrap();
    let rejected = |gateway: &Gateway| !events_of(gateway, "policy_rejected").is_empty();
    assert!(gateway.wait_until(rejected), "{:?}", gateway.events());
    assert!(!passes(&gateway));
    gateway.replace("rules.yaml", ALLOW);
    assert!(gateway.wait_until(passes), "the file came back and is not used");
}

#[test]
fn a_hangup_reads_the_policies_again() {
    let upstream = chat_server();
    let gateway = gateway(&upstream, ALLOW, "");
    let before = events_of(&gateway, "policy_loaded").len();
    gateway.replace("rules.yaml", DENY);
    gateway.signal("HUP");
    assert!(gateway.wait_until(|gateway| !passes(gateway)));
    gateway.signal("HUP");
    let loaded = |gateway: &Gateway| events_of(gateway, "policy_loaded").len() > before;
    assert!(gateway.wait_until(loaded), "{:?}", gateway.events());
    assert!(!passes(&gateway));
}

#[test]
fn a_symlink_that_is_swapped_takes_effect() {
    let upstream = chat_server();
    let setup = setup(&upstream, ALLOW, "").file("one.yaml", ALLOW).file("two.yaml", DENY);
    let link = setup.folder().join("rules.yaml");
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("one.yaml", &link).unwrap();
    let gateway = setup.start();
    assert!(passes(&gateway));
    let fresh = gateway.folder().join("fresh");
    std::os::unix::fs::symlink("two.yaml", &fresh).unwrap();
    std::fs::rename(&fresh, &link).unwrap();
    assert!(gateway.wait_until(|gateway| !passes(gateway)));
}

#[test]
fn a_stream_keeps_the_policy_it_began_with_or_the_newer_one() {
    // A swap in the middle of a stream must not let a half-judged call slip through.
    let [(path, answer), _] = turns("delete_all", "{}");
    let (answer, whole) = emptied(answer);
    let text = String::from_utf8(whole).unwrap();
    let at = text
        .find("event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1")
        .unwrap();
    let (head, tail) = text.split_at(at);
    let answer = answer.send(head).step(callgate_testkit::upstream::AnswerStep::Stall).send(tail);
    let upstream = Upstream::always(answer);
    let gateway = gateway(&upstream, DENY, "");
    let mut exchange =
        callgate_testkit::http::Exchange::open(gateway.address(), &ask(path)).unwrap();
    assert!(exchange.read_until(SAID));
    gateway.replace("rules.yaml", "policy: other\nrules:\n  - { id: r, tool: delete_all, verdict: deny, reason: Still not. }\n");
    let loaded = |gateway: &Gateway| events_of(gateway, "policy_loaded").len() >= 2;
    assert!(gateway.wait_until(loaded));
    upstream.release();
    let reply = exchange.finish().unwrap();
    assert!(!reply.text().contains("tool_use\""), "{}", reply.text());
}

#[test]
fn a_broken_policy_at_the_start_is_reported_and_nothing_runs() {
    let upstream = chat_server();
    let broken = "policy: broken\nrules: [ { id: x, verdict: perhaps } ]\n";
    let said = setup(&upstream, broken, "").try_start().expect_err("it started");
    assert!(said.contains("rules.yaml") && said.contains("perhaps"), "{said}");
}

#[test]
fn a_broken_setting_at_the_start_is_reported_and_nothing_runs() {
    let upstream = chat_server();
    let said = setup(&upstream, ALLOW, "on_deny: shout").try_start().expect_err("it started");
    assert!(said.contains("callgate.yaml") && said.contains("on_deny"), "{said}");
}
