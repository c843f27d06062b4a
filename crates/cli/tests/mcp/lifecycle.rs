//! A wrapped server lives and ends as it would alone.

use serde_json::json;

use crate::support::{Place, simple};

const ALLOW: &str = "policy: p\nrules: []\n";

#[test]
fn its_exit_code_and_its_errors_are_its_own() {
    let place = Place::new(ALLOW, "");
    let mut wrapped = place.scripted_with("s", json!({ "answers": simple(), "exit": 7 }), &[]);
    wrapped.hello();
    let end = wrapped.end();
    assert_eq!(end.code, Some(7));
    assert!(end.said.contains("the scripted server ends"), "{}", end.said);
}

#[test]
fn keys_of_the_agent_are_not_for_servers() {
    let place = Place::new(ALLOW, "");
    let script = json!({ "answers": simple(), "environment": true });
    let mut wrapped = place.scripted_with("s", script.clone(), &[]);
    wrapped.hello();
    let received = wrapped.end().received;
    assert!(
        received.contains("\"PATH\"") && !received.contains("sk-not-for-servers"),
        "{received}"
    );
    let mut wrapped = place.scripted_with("t", script, &["--env", "ANTHROPIC_API_KEY"]);
    wrapped.hello();
    assert!(wrapped.end().received.contains("sk-not-for-servers"));
}

#[test]
fn a_server_that_does_not_end_is_ended() {
    let place = Place::new(ALLOW, "");
    let script =
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)";
    let wrapped = place.wrap("s", &["--grace", "200ms"], &["python3", "-c", script]);
    assert_eq!(wrapped.end().code, Some(128 + 9));
}

#[test]
fn a_signal_is_handed_on() {
    let place = Place::new(ALLOW, "");
    let script = "import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(42))\nprint('{\"jsonrpc\":\"2.0\",\"method\":\"notifications/ready\"}', flush=True)\ntime.sleep(600)";
    let wrapped = place.wrap("s", &[], &["python3", "-c", script]);
    assert_eq!(wrapped.hear()["method"], "notifications/ready");
    let id = wrapped.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(wrapped.end().code, Some(42));
}

#[test]
fn a_command_that_is_not_there_or_not_the_one_that_was_pinned_is_not_started() {
    let place = Place::new(ALLOW, "");
    let end = place.wrap("s", &[], &["no-such-program"]).end();
    assert_eq!(end.code, Some(2));
    assert!(end.said.contains("no-such-program"), "{}", end.said);
    let end =
        place.wrap("s", &["--sha256", &"0".repeat(64)], &["python3", "-c", "print('ran')"]).end();
    assert_eq!(end.code, Some(2));
    assert!(end.said.contains("pinned"), "{}", end.said);
}

#[test]
fn a_server_that_is_not_wanted_is_not_started() {
    let place = Place::new(ALLOW, "mcp: { deny_servers: [\"bad*\"] }");
    let end = place.scripted("bad-one", simple()).end();
    assert_eq!(end.code, Some(1));
    assert!(end.said.contains("bad-one") && end.received.is_empty(), "{end:?}");
}
