//! Settings that change while the gateway runs: in force at once, or reported until a restart.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use callgate_testkit::gateway::{Gateway, Setup};
use callgate_testkit::http::Ask;
use callgate_testkit::upstream::Upstream;
use serde_json::{Value, json};

use crate::support::{ALLOW, CHAT, DENY, ask, binary, gateway, setup, whole_turns};

/// An upstream whose model calls this tool.
fn calls(tool: &str, arguments: &str) -> Upstream {
    Upstream::always(whole_turns(tool, arguments)[1].1.clone())
}

/// Whether the call of the model gets through now.
fn passes(gateway: &Gateway) -> bool {
    let reply = ask(CHAT).send(gateway.address());
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()["choices"][0]["message"].get("tool_calls").is_some()
}

fn config(gateway: &Gateway) -> String {
    fs::read_to_string(gateway.folder().join("callgate.yaml")).unwrap()
}

/// The same config with more lines.
fn extend(gateway: &Gateway, more: &str) -> String {
    let before = config(gateway);
    gateway.replace("callgate.yaml", &format!("{before}{more}\n"));
    before
}

fn health(gateway: &Gateway) -> Value {
    Ask::get("/healthz").send(gateway.address()).json()
}

fn count(gateway: &Gateway, kind: &str) -> usize {
    gateway.events().iter().filter(|event| event["type"] == kind).count()
}

#[test]
fn lists_of_mcp_tools_take_effect() {
    let upstream = calls("mcp__notes__delete_all", "{}");
    let gateway = gateway(&upstream, ALLOW, "");
    assert!(passes(&gateway));
    let before = extend(&gateway, "mcp: { deny_tools: [{ server: notes, tool: 'delete_*' }] }");
    assert!(gateway.wait_until(|gateway| !passes(gateway)), "the new list is not in force");
    assert_eq!(health(&gateway)["restart_needed"], json!([]));
    gateway.replace("callgate.yaml", &before);
    assert!(gateway.wait_until(passes), "the list is gone and still in force");
}

#[test]
fn another_address_of_a_provider_takes_effect() {
    let (one, other) = (calls("first", "{}"), calls("second", "{}"));
    let gateway = gateway(&one, ALLOW, "");
    let called = |gateway: &Gateway| {
        let reply = ask(CHAT).send(gateway.address()).json();
        let call = &reply["choices"][0]["message"]["tool_calls"][0];
        call["function"]["name"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(called(&gateway), "first");
    gateway.replace("callgate.yaml", &config(&gateway).replace(&one.url(), &other.url()));
    assert!(gateway.wait_until(|gateway| called(gateway) == "second"), "{}", gateway.said());
}

#[test]
fn limits_and_the_treatment_of_large_arguments_take_effect() {
    let upstream = calls("write", r#"{"text":"0123456789012345678901234567890123456789"}"#);
    let gateway = gateway(&upstream, ALLOW, "limits: { arguments: 1MiB }\noversize: deny");
    assert!(passes(&gateway));
    gateway.replace("callgate.yaml", &config(&gateway).replace("1MiB", "32"));
    assert!(gateway.wait_until(|gateway| !passes(gateway)), "the new limit is not in force");
    gateway
        .replace("callgate.yaml", &config(&gateway).replace("oversize: deny", "oversize: allow"));
    assert!(gateway.wait_until(passes), "`oversize` is not in force");
}

#[test]
fn the_wording_of_a_denial_takes_effect() {
    let upstream = calls("delete_all", "{}");
    let gateway = Setup::new(binary(), &upstream.url(), DENY, "").start();
    let explains = |gateway: &Gateway| {
        ask(CHAT).send(gateway.address()).text().contains("Nothing is deleted.")
    };
    assert!(explains(&gateway));
    extend(&gateway, "on_deny: silent");
    assert!(gateway.wait_until(|gateway| !explains(gateway)), "`on_deny` is not in force");
}

#[test]
fn settings_that_need_a_restart_are_reported_until_they_are_set_back() {
    let gateway = gateway(&calls("any", "{}"), ALLOW, "");
    assert_eq!(health(&gateway)["restart_needed"], json!([]));
    // `doctor` looks where the file says; the gateway got its address by a flag, so that is no
    // change.
    extend(&gateway, &format!("listen: {}", gateway.address()));
    let before = extend(
        &gateway,
        "gateway: { workers: 3 }\nmcp: { servers: { docs: { url: 'http://127.0.0.1:9/' } } }",
    );
    let needed = ["gateway.workers", "mcp.servers.docs.type", "mcp.servers.docs.url"];
    let reported = |gateway: &Gateway| health(gateway)["restart_needed"] == json!(needed);
    assert!(gateway.wait_until(reported), "{}", health(&gateway));
    assert_eq!(health(&gateway)["status"], "ok", "what is in force works");
    for name in needed {
        let line = format!("`{name}` changed; restart callgate to apply it");
        assert!(gateway.wait_until(|gateway| gateway.said().contains(&line)), "{line}");
        let doctor = gateway.run(&["doctor"]);
        let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
        assert!(said.contains(&line), "{line}: {said}");
        assert!(doctor.status.success(), "{said}");
    }
    let doctor = gateway.run(&["doctor", "--json"]);
    let doctor: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    assert_eq!(doctor["gateway"]["restart_needed"], json!(needed));
    gateway.replace("callgate.yaml", &before);
    let settled = |gateway: &Gateway| health(gateway)["restart_needed"] == json!([]);
    assert!(gateway.wait_until(settled), "{}", health(&gateway));
    assert!(gateway.wait_until(|gateway| gateway.said().contains("no restart is needed")));
    let gateway = gateway.restart();
    assert_eq!(health(&gateway)["restart_needed"], json!([]));
}

#[test]
fn a_provider_whose_key_is_not_set_keeps_the_last_good_settings() {
    let upstream = calls("mcp__notes__delete_all", "{}");
    let gateway = gateway(&upstream, ALLOW, "");
    let before = config(&gateway);
    let keyed =
        before.replace("dialect: openai-chat", "dialect: openai-chat, api_key_env: NOT_SET");
    gateway.replace("callgate.yaml", &format!("{keyed}mcp: {{ deny_servers: [notes] }}\n"));
    assert!(gateway.wait_until(|gateway| count(gateway, "policy_rejected") == 1));
    assert_eq!(health(&gateway)["status"], "degraded");
    assert!(gateway.said().contains("NOT_SET is not set"), "{}", gateway.said());
    assert!(passes(&gateway), "a part of a rejected config is in force");
}

#[test]
fn a_file_that_a_rejected_config_names_is_watched_too() {
    let upstream = calls("delete_all", "{}");
    let gateway = gateway(&upstream, ALLOW, "");
    let named = config(&gateway).replace("[rules.yaml]", "[rules.yaml, more.yaml]");
    gateway.replace("callgate.yaml", &named);
    assert!(gateway.wait_until(|gateway| count(gateway, "policy_rejected") == 1));
    assert!(passes(&gateway));
    gateway.replace("more.yaml", DENY);
    assert!(gateway.wait_until(|gateway| !passes(gateway)), "the file is there and not loaded");
}

/// Lets everybody write a file.
fn open_to_all(path: &std::path::Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o666)).unwrap();
}

#[test]
fn a_file_that_others_can_change_is_warned_about() {
    let setup = setup(&calls("any", "{}"), ALLOW, "");
    let rules = setup.folder().join("rules.yaml");
    open_to_all(&rules);
    let gateway = setup.start();
    let line = format!(
        "other users can change `{0}`: its mode is 0666; run `chmod go-w {0}`",
        rules.display()
    );
    assert!(gateway.said().contains(&line), "{}", gateway.said());
    let doctor = gateway.run(&["doctor", "--json"]);
    let doctor: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    assert_eq!(doctor["exposed"], json!([line]));
}

#[test]
fn with_strict_a_file_that_others_can_change_is_refused() {
    let upstream = calls("delete_all", "{}");
    let setup = setup(&upstream, ALLOW, "").strict();
    let rules = setup.folder().join("rules.yaml");
    open_to_all(&rules);
    let said = setup.try_start().expect_err("it started");
    assert!(said.contains("other users can change") && said.contains("chmod go-w"), "{said}");

    let gateway = crate::support::setup(&upstream, ALLOW, "").strict().start();
    assert!(passes(&gateway));
    let rules = gateway.folder().join("rules.yaml");
    let fresh = gateway.folder().join("fresh");
    fs::write(&fresh, DENY).unwrap();
    open_to_all(&fresh);
    fs::rename(&fresh, &rules).unwrap();
    assert!(gateway.wait_until(|gateway| count(gateway, "policy_rejected") == 1));
    assert!(passes(&gateway), "a policy that anybody may have written is in force");
    assert_eq!(health(&gateway)["status"], "degraded");
    // What is in the file stays: only who may write it changes.
    fs::set_permissions(&rules, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(gateway.wait_until(|gateway| !passes(gateway)), "the file is safe and not loaded");
}
