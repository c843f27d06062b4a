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

#[test]
fn a_signal_to_end_is_meant() {
    let place = Place::new(ALLOW, "");
    let script = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('{\"jsonrpc\":\"2.0\",\"method\":\"notifications/ready\"}', flush=True)\ntime.sleep(600)";
    let wrapped = place.wrap("s", &["--grace", "200ms"], &["python3", "-c", script]);
    assert_eq!(wrapped.hear()["method"], "notifications/ready");
    let id = wrapped.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(wrapped.wait(), Some(128 + 9));
}

/// A client that writes until nothing more is taken, then leaves. Prints how callgate ended.
const LEAVES: &str = r#"
import os, subprocess, sys, time
wrapped = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
os.set_blocking(wrapped.stdin.fileno(), False)
line = b'{"jsonrpc":"2.0","method":"notifications/x","params":{"t":"' + b'x' * 50000 + b'"}}\n'
rest, last = b'', time.time()
while time.time() - last < 2:
    rest = rest or line
    try:
        rest = rest[os.write(wrapped.stdin.fileno(), rest):]
        last = time.time()
    except BlockingIOError:
        time.sleep(0.05)
wrapped.stdin.close()
print(wrapped.wait(timeout=30))
"#;

#[test]
fn a_client_that_leaves_is_noticed_although_the_server_reads_nothing() {
    let place = Place::new(ALLOW, "mcp: { message_limit: 100KiB }");
    let config = place.path().join("callgate.yaml");
    let ran = std::process::Command::new("python3")
        .args(["-c", LEAVES, env!("CARGO_BIN_EXE_callgate"), "--config"])
        .arg(config)
        .args(["mcp", "wrap", "--server", "s", "--grace", "200ms", "--"])
        .args(["python3", "-c", "import time; time.sleep(600)"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert_eq!(said.trim(), "143", "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn a_server_that_closes_its_output_is_at_its_end() {
    let place = Place::new(ALLOW, "");
    let script = "import os, time\nos.close(1)\ntime.sleep(600)";
    let wrapped = place.wrap("s", &["--grace", "200ms"], &["python3", "-c", script]);
    assert_eq!(wrapped.wait(), Some(128 + 15));
}

#[test]
fn a_server_cannot_read_our_environment() {
    let place = Place::new(ALLOW, "");
    let script = "import os, json\ntry:\n    said = open(f'/proc/{os.getppid()}/environ').read()\nexcept OSError:\n    said = 'closed'\nprint(json.dumps({'jsonrpc': '2.0', 'method': 'notifications/x', 'params': {'root': os.getuid() == 0, 'closed': said == 'closed'}}), flush=True)";
    let wrapped = place.wrap("s", &[], &["python3", "-c", script]);
    let said = wrapped.hear();
    // Nothing is closed to root.
    assert!(said["params"]["closed"] == true || said["params"]["root"] == true, "{said}");
    wrapped.end();
}

#[test]
fn a_server_has_a_name() {
    let place = Place::new(ALLOW, "");
    for name in ["", "a/b", "a b"] {
        let end = place.wrap(name, &[], &["python3", "-c", "print('ran')"]).end();
        assert_eq!(end.code, Some(2), "{name}");
    }
}
