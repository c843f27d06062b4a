//! A wrapped server lives and ends as it would alone.

use serde_json::json;
use sha2::{Digest as _, Sha256};

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
    let script = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('{\"jsonrpc\":\"2.0\",\"method\":\"notifications/ready\"}', flush=True)\ntime.sleep(600)";
    let wrapped = place.wrap("s", &["--grace", "200ms"], &["python3", "-c", script]);
    assert_eq!(wrapped.hear()["method"], "notifications/ready");
    assert_eq!(wrapped.end().code, Some(128 + 9));
}

#[test]
fn a_signal_is_forwarded() {
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

#[test]
fn a_declared_program_is_the_one_that_was_declared() {
    let path = std::env::var_os("PATH").unwrap();
    let places = std::env::split_paths(&path).map(|folder| folder.join("python3"));
    let file = std::fs::read(places.into_iter().find(|place| place.is_file()).unwrap()).unwrap();
    let hash: String = Sha256::digest(file).iter().map(|byte| format!("{byte:02x}")).collect();
    for (hash, runs) in [(hash, true), ("0".repeat(64), false)] {
        let place = Place::new(ALLOW, "");
        place.declare(&[("s", &format!("sha256: \"{hash}\""))], "");
        let mut wrapped = place.scripted("s", simple());
        if runs {
            wrapped.hello();
        }
        let end = wrapped.end();
        assert_eq!(end.code, Some(if runs { 0 } else { 2 }), "{}", end.said);
        assert_eq!(end.received.is_empty(), !runs);
        assert_eq!(end.said.contains("pinned"), !runs, "{}", end.said);
    }
}

/// Ignores the end of its input, and says who it is.
const STAYS: &str = "import os, time\nprint('{\"jsonrpc\":\"2.0\",\"method\":\"notifications/ready\",\"params\":{\"id\":%d}}' % os.getpid(), flush=True)\ntime.sleep(600)";

#[cfg(target_os = "linux")]
#[test]
fn a_server_does_not_outlive_a_shim_that_was_killed() {
    let place = Place::new(ALLOW, "");
    let wrapped = place.wrap("s", &[], &["python3", "-c", STAYS]);
    let server = wrapped.hear()["params"]["id"].as_u64().unwrap();
    let id = wrapped.id().to_string();
    assert!(std::process::Command::new("kill").args(["-KILL", &id]).status().unwrap().success());
    wrapped.wait();
    let runs = || {
        let stat = std::fs::read_to_string(format!("/proc/{server}/stat")).unwrap_or_default();
        let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim().chars().next());
        state.is_some_and(|state| state != 'Z')
    };
    let end = std::time::Instant::now() + std::time::Duration::from_secs(120);
    while runs() && std::time::Instant::now() < end {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(!runs(), "the server {server} runs without its shim");
}

/// Longer than a test waits for the end of a shim.
const LONG: &str = "1h";

#[test]
fn a_server_that_is_gone_is_not_waited_for() {
    let place = Place::new(ALLOW, "");
    // What it started still holds its output.
    let wrapped = place.wrap("s", &["--grace", LONG], &["sh", "-c", "sleep 600 & exit 3"]);
    assert_eq!(wrapped.wait(), Some(3));
}

#[test]
fn a_client_that_said_all_and_left_gets_its_answers_at_once() {
    let place = Place::new(ALLOW, "");
    let flags = ["--grace", LONG];
    let mut wrapped = place.scripted_with("s", json!({ "answers": simple(), "exit": 5 }), &flags);
    // It has left before callgate reads the first line.
    wrapped.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let (answer, end) = wrapped.leave();
    assert!(answer.contains(r#""id": 1"#), "{answer}");
    assert_eq!(end.code, Some(5));
}

/// A terminal as standard input, on which nobody types. Prints how callgate ended.
const TERMINAL: &str = r#"
import os, pty, subprocess, sys
ours, theirs = pty.openpty()
wrapped = subprocess.Popen(sys.argv[1:], stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    print(wrapped.wait(timeout=60))
finally:
    wrapped.kill()
"#;

#[test]
fn nobody_has_to_press_a_key_for_the_end() {
    let place = Place::new(ALLOW, "");
    let config = place.path().join("callgate.yaml");
    let ran = std::process::Command::new("python3")
        .args(["-c", TERMINAL, env!("CARGO_BIN_EXE_callgate"), "--config"])
        .arg(config)
        .args(["mcp", "wrap", "--server", "s", "--", "sh", "-c", "exit 7"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert_eq!(said.trim(), "7", "{}", String::from_utf8_lossy(&ran.stderr));
}
