//! Policies and settings that change while a shim runs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Place, Wrapped, simple, text_of};

const ALLOW: &str = "policy: allow\nrules: []\n";
const DENY: &str = "policy: deny\nrules:\n  - { id: no-delete, tool: delete_all, surface: mcp, verdict: deny, reason: Nothing is deleted. }\n";

/// A slow machine has loaded a file within this.
const PATIENCE: Duration = Duration::from_secs(120);

impl Place {
    /// Writes a file as editors do: it is never half there.
    fn replace(&self, name: &str, text: &str) {
        let fresh = self.path().join("fresh");
        fs::write(&fresh, text).unwrap();
        fs::rename(fresh, self.path().join(name)).unwrap();
    }

    fn config(&self) -> String {
        fs::read_to_string(self.path().join("callgate.yaml")).unwrap()
    }

    /// Waits for a record of this kind.
    #[track_caller]
    fn wait_for(&self, kind: &str) -> Value {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            let events = self.json(&["events", "--json"]);
            if let Some(event) = events.into_iter().find(|event| event["type"] == kind) {
                return event;
            }
        }
        panic!("there is no {kind}");
    }
}

impl Wrapped {
    fn is_denied(&mut self, tool: &str, arguments: Value) -> bool {
        self.call(tool, arguments)["result"]["isError"] == true
    }

    /// Calls until the answer is this one.
    #[track_caller]
    fn wait_until_denied(&mut self, denied: bool, tool: &str, arguments: &Value) {
        let end = Instant::now() + PATIENCE;
        while self.is_denied(tool, arguments.clone()) != denied {
            assert!(Instant::now() < end, "the change is not in force");
        }
    }
}

fn shim(place: &Place) -> Wrapped {
    let mut wrapped = place.scripted("s", simple());
    wrapped.hello();
    wrapped
}

#[test]
fn an_edited_policy_reaches_an_open_conversation() {
    let place = Place::new(ALLOW, "");
    let mut wrapped = shim(&place);
    assert_eq!(text_of(&wrapped.call("delete_all", json!({}))), "done");
    place.replace("rules.yaml", DENY);
    wrapped.wait_until_denied(true, "delete_all", &json!({}));
    assert_eq!(wrapped.tools(), ["echo"], "what is denied by its name is not listed either");
    assert_eq!(
        place.wait_for("policy_loaded")["detail"],
        place.path().join("rules.yaml").to_str().unwrap()
    );
    place.replace("rules.yaml", ALLOW);
    wrapped.wait_until_denied(false, "delete_all", &json!({}));
    let said = wrapped.end().said;
    assert!(!said.contains("loaded"), "a reload that works is no news to the agent: {said}");
}

#[test]
fn a_broken_edit_keeps_the_last_good_policy_and_is_recorded() {
    let place = Place::new(DENY, "");
    let mut wrapped = shim(&place);
    place.replace("rules.yaml", "policy: broken\nrules: [ { id: x, verdict: perhaps } ]\n");
    let rejected = place.wait_for("policy_rejected");
    assert!(rejected["detail"].as_str().unwrap().contains("rules.yaml:2"), "{rejected}");
    assert!(wrapped.is_denied("delete_all", json!({})));
    // A file that is gone is not one that allows everything.
    fs::remove_file(place.path().join("rules.yaml")).unwrap();
    assert!(wrapped.is_denied("delete_all", json!({})));
    place.replace("rules.yaml", ALLOW);
    wrapped.wait_until_denied(false, "delete_all", &json!({}));
    let said = wrapped.end().said;
    assert!(said.contains("the last valid ones stay in force"), "{said}");
}

#[test]
fn lists_of_servers_and_tools_reach_an_open_conversation() {
    let place = Place::new(ALLOW, "");
    let before = place.config();
    let mut wrapped = shim(&place);
    assert!(!wrapped.is_denied("delete_all", json!({})));
    place.replace(
        "callgate.yaml",
        &format!("{before}mcp: {{ deny_tools: [{{ tool: delete_all }}] }}\n"),
    );
    wrapped.wait_until_denied(true, "delete_all", &json!({}));
    assert!(!wrapped.is_denied("echo", json!({})));
    place.replace("callgate.yaml", &format!("{before}mcp: {{ deny_servers: [s] }}\n"));
    wrapped.wait_until_denied(true, "echo", &json!({}));
    place.replace("callgate.yaml", &before);
    wrapped.wait_until_denied(false, "delete_all", &json!({}));
}

#[test]
fn the_limit_of_arguments_reaches_an_open_conversation() {
    let place = Place::new(ALLOW, "oversize: deny\n");
    let before = place.config();
    let mut wrapped = shim(&place);
    let long = json!({ "text": "0123456789012345678901234567890123456789" });
    assert!(!wrapped.is_denied("echo", long.clone()));
    place.replace("callgate.yaml", &format!("{before}limits: {{ arguments: 32 }}\n"));
    wrapped.wait_until_denied(true, "echo", &long);
    assert!(!wrapped.is_denied("echo", json!({})));
}

#[test]
fn settings_that_need_a_restart_are_named_on_standard_error() {
    let place = Place::new(ALLOW, "");
    let before = place.config();
    let mut wrapped = shim(&place);
    // Where the gateway listens, and what other servers are, is nothing to this one.
    let others = "listen: 127.0.0.1:1\nmcp:\n  servers:\n    other: { command: other }\n";
    let own =
        "    s: { command: another }\n  message_limit: 1MiB\n  deny_tools: [{ tool: echo }]\n";
    place.replace("callgate.yaml", &format!("{before}{others}{own}"));
    wrapped.wait_until_denied(true, "echo", &json!({}));
    let said = wrapped.end().said;
    for name in ["mcp.servers.s.command", "mcp.message_limit"] {
        let line = format!("`{name}` changed; restart this MCP server, or its agent, to apply it");
        assert!(said.contains(&line), "{line}: {said}");
    }
    assert!(!said.contains("`listen`") && !said.contains("other"), "{said}");
}

#[test]
fn a_file_that_others_can_change_is_warned_about() {
    let place = Place::new(ALLOW, "");
    let config = place.path().join("callgate.yaml");
    fs::set_permissions(&config, fs::Permissions::from_mode(0o646)).unwrap();
    let said = shim(&place).end().said;
    let line = format!("other users can change `{}`: its mode is 0646", config.display());
    assert!(said.contains(&line) && said.contains("chmod go-w"), "{said}");
}
