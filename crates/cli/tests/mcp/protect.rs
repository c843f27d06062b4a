//! Rules on what a call would do, and self-protection, in front of an MCP server.

use serde_json::{Value, json};

use crate::support::{Place, simple, text_of, tool};

/// A server for files and commands.
fn files() -> Value {
    let mut answers = simple();
    let names = ["read_file", "write_file", "move_file", "run_command"];
    answers["tools/list"]["result"]["tools"] = names.map(|name| tool(name, "Does it.")).into();
    answers
}

/// After a denial, the config cannot be edited through a server either; with and without policies.
#[test]
fn a_server_cannot_be_used_to_change_callgate() {
    for policy in ["policies: [builtin:starter]", "policies: []"] {
        let place = Place::new("policy: unused\nrules: []\n", "");
        let config = format!("store: sqlite:callgate.db\n{policy}\n");
        std::fs::write(place.path().join("callgate.yaml"), config).unwrap();
        let file = place.path().join("callgate.yaml").to_str().unwrap().to_owned();
        let mut wrapped = place.scripted("files", files());
        wrapped.hello();
        if policy.contains("starter") {
            let answer = wrapped.call("read_file", json!({ "path": "~/.ssh/id_rsa" }));
            assert!(text_of(&answer).contains("no-secrets"), "{answer}");
        }
        for (tool, arguments) in [
            ("write_file", json!({ "path": file, "content": "policies: []" })),
            ("move_file", json!({ "source": file, "destination": "/tmp/gone" })),
            ("run_command", json!({ "command": format!("sed -i s/starter// {file}") })),
            ("run_command", json!({ "command": "pkill callgate" })),
        ] {
            let answer = wrapped.call(tool, arguments);
            let text = text_of(&answer);
            assert!(text.contains("policy self-protection"), "{policy} {tool}: {text}");
        }
        let read = wrapped.call("read_file", json!({ "path": "README.md" }));
        assert_eq!(text_of(&read), "done");
        let received = wrapped.end().received;
        assert!(!received.contains("callgate.yaml") && !received.contains("pkill"), "{received}");
    }
}

#[test]
fn it_can_be_turned_off() {
    let place = Place::new("policy: none\nrules: []\n", "protect: off");
    let file = place.path().join("callgate.yaml").to_str().unwrap().to_owned();
    let mut wrapped = place.scripted("files", files());
    wrapped.hello();
    let answer = wrapped.call("write_file", json!({ "path": file, "content": "x" }));
    assert_eq!(text_of(&answer), "done", "the scripted server writes nothing");
    wrapped.end();
}

/// The rule that `gateway/effects.rs` tries with the tools of agents.
#[test]
fn one_rule_on_effects_holds_for_a_server_too() {
    let place = Place::new(include_str!("../one_rule.yaml"), "");
    let mut wrapped = place.scripted("filesystem", files());
    wrapped.hello();
    let read = json!({ "path": "/srv/vault/plan.txt" });
    for (tool, arguments) in [
        ("read_file", read.clone()),
        ("write_file", json!({ "path": "/srv/app/../vault/plan.txt", "content": "x" })),
        ("run_command", json!({ "command": "cat /srv/vault/*" })),
    ] {
        let answer = wrapped.call(tool, arguments);
        assert!(text_of(&answer).contains("leave-the-vault-alone"), "{tool}: {answer}");
    }
    let answer = wrapped.call("read_file", json!({ "path": "/srv/app/plan.txt" }));
    assert_eq!(text_of(&answer), "done");
    assert!(!wrapped.end().received.contains("vault"));
}

#[test]
fn a_script_that_one_server_writes_is_known_when_another_runs_it() {
    let policy = "policy: p\nrules:\n  - { id: keep-srv, when: { deletes: [\"/srv/**\"] }, verdict: deny, reason: It is needed. }\n";
    let place = Place::new(policy, "");
    let mut answers = simple();
    answers["tools/list"]["result"]["tools"] =
        json!([tool("write_file", "Writes."), tool("execute_command", "Runs.")]);
    let mut files = place.scripted("files", answers.clone());
    files.hello();
    let script = json!({ "path": "/w/clean.sh", "content": "rm -rf /srv/data" });
    assert_eq!(text_of(&files.call("write_file", script)), "done");
    files.end();
    let mut shell = place.scripted("shell", answers);
    shell.hello();
    let denied = shell.call("execute_command", json!({ "command": "sh /w/clean.sh" }));
    assert!(text_of(&denied).contains("keep-srv"), "{denied}");
    let other = shell.call("execute_command", json!({ "command": "sh /w/other.sh" }));
    assert_eq!(text_of(&other), "done");
    shell.end();
}
