//! A script that one call writes and a later one runs.

use callgate_testkit::gateway::Gateway;
use callgate_testkit::upstream::{Answer, Request, Upstream};
use serde_json::{Value, json};

use crate::support::{MESSAGES, ask, gateway, turns, whole_turns};

const POLICY: &str = "policy: p\nrules:\n  - { id: keep-srv, when: { deletes: [\"/srv/**\"] }, verdict: deny, reason: It is needed. }\n";

/// A model that makes the call which the request asks for, streamed or not.
fn model() -> Upstream {
    Upstream::start(|request: &Request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let wanted: Value = serde_json::from_str(body["system"].as_str().unwrap()).unwrap();
        let (tool, input) = (wanted["tool"].as_str().unwrap(), wanted["input"].to_string());
        match body["stream"].as_bool() {
            Some(true) => turns(tool, &input)[0].1.clone(),
            _ => whole_turns(tool, &input)[0].1.clone(),
        }
    })
}

struct Session<'g> {
    gateway: &'g Gateway,
    name: &'static str,
    stream: bool,
}

impl Session<'_> {
    /// Has the model make this call. Returns the verdict on its record.
    #[track_caller]
    fn call(&self, tool: &str, input: Value) -> String {
        let before = self.gateway.calls().len();
        let wanted = json!({ "tool": tool, "input": input }).to_string();
        let body = json!({ "model": "m", "max_tokens": 9, "messages": [], "system": wanted, "stream": self.stream });
        let ask = ask(MESSAGES).body(body.to_string()).header("x-callgate-session", self.name);
        let reply = ask.send(self.gateway.address());
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert!(self.gateway.wait_until(|gateway| gateway.calls().len() == before + 1));
        let last = self.gateway.calls().pop().unwrap();
        last["verdict"]["action"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn bash(&self, command: &str) -> String {
        self.call("Bash", json!({ "command": command }))
    }
}

#[test]
fn a_script_is_judged_when_a_later_call_runs_it() {
    let upstream = model();
    let gateway = gateway(&upstream, POLICY, "protect: off");
    for (name, stream) in [("whole", false), ("streamed", true)] {
        let session = Session { gateway: &gateway, name, stream };
        let script =
            json!({ "file_path": "/w/clean.sh", "content": "#!/bin/sh\nrm -rf /srv/data\n" });
        assert_eq!(session.call("Write", script), "allow");
        for command in ["bash clean.sh", "cd /w && ./clean.sh", "sh \"$PWD\"/clean.sh"] {
            assert_eq!(session.bash(command), "deny", "{name}: {command}");
        }
        assert_eq!(session.bash("cat clean.sh"), "allow", "{name}");
        // The session makes it harmless.
        let edit =
            json!({ "file_path": "/w/clean.sh", "old_string": "/srv/data", "new_string": "build" });
        assert_eq!(session.call("Edit", edit), "allow");
        assert_eq!(session.bash("bash clean.sh"), "allow", "{name}");
    }
}

#[test]
fn a_script_is_known_after_a_restart_and_only_to_its_session() {
    let upstream = model();
    let gateway = gateway(&upstream, POLICY, "");
    let session = Session { gateway: &gateway, name: "a", stream: true };
    assert_eq!(session.bash("printf 'all:\\n\\trm -rf /srv/data\\n' > Makefile"), "allow");
    let gateway = gateway.restart();
    let session = Session { gateway: &gateway, name: "a", stream: true };
    assert_eq!(session.bash("make all"), "deny");
    let other = Session { gateway: &gateway, name: "b", stream: true };
    assert_eq!(other.bash("make all"), "allow");
}

#[test]
fn many_other_files_do_not_hide_a_script() {
    let upstream = model();
    let gateway = gateway(&upstream, POLICY, "");
    let session = Session { gateway: &gateway, name: "a", stream: false };
    let script = json!({ "file_path": "/w/clean.sh", "content": "rm -rf /srv/data\n" });
    assert_eq!(session.call("Write", script), "allow");
    let fillers: String = (0..100).map(|at| format!("echo x > /w/{at}.txt\n")).collect();
    assert_eq!(session.bash(&fillers), "allow");
    for command in [
        "bash /w/clean.sh",
        "for f in /w/*.sh; do sh \"$f\"; done",
        "find /w -name '*.sh' -exec sh {} \\;",
        "ls /w/*.sh | xargs -n1 bash",
    ] {
        assert_eq!(session.bash(command), "deny", "{command}");
    }
    assert_eq!(session.bash("for f in /w/*.txt; do sh \"$f\"; done"), "allow");
}

/// Both calls are complete at the same time.
#[test]
fn a_script_is_judged_when_a_call_of_the_same_answer_runs_it() {
    let upstream = Upstream::start(|_: &Request| {
        let script = json!({ "file_path": "/w/clean.sh", "content": "rm -rf /srv/data\n" });
        let call = |id: &str, name: &str, input: Value| json!({ "type": "tool_use", "id": id, "name": name, "input": input });
        let body = json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
            "content": [
                call("call_1", "Write", script),
                call("call_2", "Bash", json!({ "command": "sh /w/clean.sh" })),
                call("call_3", "Bash", json!({ "command": "ls" })),
            ],
            "stop_reason": "tool_use", "stop_sequence": null,
            "usage": { "input_tokens": 1, "output_tokens": 1 },
        });
        Answer::json(200, body.to_string())
    });
    let gateway = gateway(&upstream, POLICY, "");
    let body = json!({ "model": "m", "max_tokens": 9, "messages": [] });
    let reply = ask(MESSAGES).body(body.to_string()).send(gateway.address());
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert!(gateway.wait_until(|gateway| gateway.calls().len() == 3));
    let verdicts: Vec<Value> =
        gateway.calls().iter().map(|call| call["verdict"]["action"].clone()).collect();
    assert_eq!(verdicts, ["allow", "deny", "allow"]);
}

#[test]
fn a_script_that_code_has_written_is_judged() {
    let upstream = model();
    let gateway = gateway(&upstream, POLICY, "");
    let session = Session { gateway: &gateway, name: "a", stream: false };
    let write = "python3 -c \"open('/w/x.sh', 'w').write('rm -rf /srv/data')\"";
    assert_eq!(session.bash(write), "allow");
    assert_eq!(session.bash("sh /w/x.sh"), "deny");
    assert_eq!(session.bash("echo 'rm -rf \"$1\"' > /w/y.sh"), "allow");
    assert_eq!(session.bash("sh /w/y.sh /srv/data"), "deny");
    assert_eq!(session.bash("sh /w/y.sh build"), "allow");
}

#[test]
fn a_denied_call_writes_nothing() {
    let policy = POLICY.to_owned()
        + "  - { id: no-home, when: { writes: [\"~/**\"] }, verdict: deny, reason: Stay out. }\n";
    let upstream = model();
    let gateway = gateway(&upstream, &policy, "");
    let session = Session { gateway: &gateway, name: "a", stream: false };
    let script = json!({ "file_path": "~/x.sh", "content": "rm -rf /srv/data" });
    assert_eq!(session.call("Write", script), "deny");
    assert_eq!(session.bash("bash ~/x.sh"), "allow");
}
