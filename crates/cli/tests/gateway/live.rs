//! What an operator sees while a gateway runs: on a terminal, in the log, and with `doctor`.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use callgate_testkit::gateway::Gateway;
use callgate_testkit::upstream::Upstream;
use serde_json::Value;

use crate::support::{ALLOW, MESSAGES, ask, binary, gateway, setup, whole_turns};

const NO_PUSH: &str = "policy: mine\nrules:\n  - { id: no-push, tool: Bash, when: { arg: command, contains: push }, verdict: deny, reason: Nothing is pushed. }\n";

fn upstream(command: &str) -> Upstream {
    let input = serde_json::json!({ "command": command }).to_string();
    let [(_, answer), _] = whole_turns("Bash", &input);
    Upstream::start(move |_| answer.clone())
}

/// A denied call is printed as one line, with its command; one that passes is not.
#[test]
fn serve_prints_denied_calls_on_a_terminal() {
    let (denied, allowed) = (upstream("git push --force"), upstream("git status"));
    for (upstream, expected) in
        [(&denied, Some("deny  Bash: git push --force  mine/no-push")), (&allowed, None)]
    {
        let setup = setup(upstream, NO_PUSH, "");
        let config = setup.folder().join("callgate.yaml");
        let command = format!(
            "{} serve --listen 127.0.0.1:0 --config {}",
            binary().display(),
            config.display()
        );
        let mut child = Command::new("script")
            .args(["-qefc", &command, "/dev/null"])
            .env("COLUMNS", "80")
            .env("NO_COLOR", "1")
            .env("HOME", setup.folder())
            .env("XDG_RUNTIME_DIR", setup.folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let shown = Arc::new(Mutex::new(String::new()));
        let (mut stdout, into) = (child.stdout.take().unwrap(), Arc::clone(&shown));
        let reader = thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(n @ 1..) = stdout.read(&mut chunk) {
                into.lock().unwrap().push_str(&String::from_utf8_lossy(&chunk[..n]));
            }
        });
        let address = wait_for(&shown, |shown| {
            let (_, rest) = shown.split_once("listening on http://")?;
            rest.split_once('\r').map(|(address, _)| address.to_owned())
        });
        let reply = ask(MESSAGES).send(address.parse().unwrap());
        assert_eq!(reply.status, 200, "{}", reply.text());
        if let Some(expected) = expected {
            let line = wait_for(&shown, |shown| {
                shown.lines().find(|line| line.contains("  deny  ")).map(str::to_owned)
            });
            assert!(line.trim_end().ends_with(expected), "{line}");
        }
        // Ctrl-C, as a person ends it.
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"\x03").unwrap();
        stdin.flush().unwrap();
        child.wait().unwrap();
        reader.join().unwrap();
        let shown = shown.lock().unwrap().clone();
        assert_eq!(shown.matches("git ").count(), usize::from(expected.is_some()), "{shown}");
        assert!(shown.contains("stopped"), "{shown}");
    }
}

#[track_caller]
fn wait_for<T>(shown: &Mutex<String>, find: impl Fn(&str) -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = find(&shown.lock().unwrap()) {
            return found;
        }
        assert!(Instant::now() < until, "{}", shown.lock().unwrap());
        thread::sleep(Duration::from_millis(20));
    }
}

fn json_lines(said: &str) -> Vec<Value> {
    let parse =
        |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}"));
    said.lines().map(parse).collect()
}

/// From the first to the last line, with one line per decision and no arguments.
#[test]
fn json_logs_are_json_and_have_a_line_per_decision() {
    let upstream = upstream("git push --force");
    for (policy, verdict, rule) in [(NO_PUSH, "deny", Some("no-push")), (ALLOW, "allow", None)] {
        let mut gateway = setup(&upstream, policy, "").flag("--log-format").flag("json").start();
        let reply = ask(MESSAGES).send(gateway.address());
        assert_eq!(reply.status, 200, "{}", reply.text());
        gateway.replace("rules.yaml", "policy: [");
        assert!(gateway.wait_until(|gateway| gateway.said().contains("rejected")));
        gateway.signal("TERM");
        assert!(gateway.wait_until(|gateway| gateway.said().contains("\"stopped\"")));
        let status = gateway.ended();
        assert!(status.is_some_and(|status| status.success()), "{status:?}");
        let said = gateway.said();
        let lines = json_lines(&said);
        let decisions: Vec<&Value> =
            lines.iter().filter(|line| line["fields"]["message"] == "decision").collect();
        assert_eq!(decisions.len(), 1, "{said}");
        let fields = &decisions[0]["fields"];
        assert_eq!((&fields["verdict"], &fields["tool"]), (&verdict.into(), &"Bash".into()));
        assert_eq!(fields["rule"].as_str(), rule, "{fields}");
        assert!(fields["record"].is_string() && fields["request"].is_string(), "{fields}");
        assert!(!said.contains("git push"), "arguments are not logged: {said}");
        let first = lines[0]["fields"]["message"].as_str().unwrap().to_owned();
        let starts = lines.iter().any(|line| {
            line["fields"]["message"].as_str().is_some_and(|it| it.starts_with("listening on http"))
        });
        assert!(starts, "{first}");
    }
}

#[test]
fn a_gateway_that_does_not_start_says_so_in_json() {
    let upstream = upstream("ls");
    let setup = setup(&upstream, "policy: [", "").flag("--log-format").flag("json");
    let said = setup.try_start().map(|_: Gateway| ()).unwrap_err();
    let lines = json_lines(&said);
    assert_eq!(lines.len(), 1, "{said}");
    assert_eq!(lines[0]["level"], "ERROR");
    assert!(lines[0]["fields"]["problems"].as_str().unwrap().contains("rules.yaml:1"), "{said}");
}

/// While the gateway enforces the last valid rules, `doctor` says exactly that.
#[test]
fn doctor_knows_what_a_gateway_with_a_rejected_edit_enforces() {
    let upstream = upstream("ls");
    let gateway = gateway(&upstream, NO_PUSH, "");
    let listen = gateway.address().to_string();
    let doctor = || {
        let output = gateway.command(&["doctor"]).env("CALLGATE_LISTEN", &listen).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let calls = |shown: &str| {
        let line = shown.lines().find(|line| line.contains("calls in responses"));
        line.unwrap_or_default().to_owned()
    };
    let shown = doctor();
    assert!(calls(&shown).starts_with("enforced  "), "{shown}");
    assert!(shown.contains(&format!("gateway   running at {listen}\n")), "{shown}");

    gateway.replace("rules.yaml", "policy: [");
    assert!(gateway.wait_until(|gateway| gateway.said().contains("rejected")));
    let shown = doctor();
    let line = calls(&shown);
    assert!(
        line.starts_with("enforced  ") && line.ends_with(": by the last valid policies"),
        "{shown}"
    );
    assert!(shown.contains("policies  the policy is rejected"), "{shown}");
    assert!(shown.contains("but not healthy (status: degraded"), "{shown}");
    assert!(!shown.contains("another config"), "{shown}");
}
