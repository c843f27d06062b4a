//! What a record must hold, because nobody can add it later.

use callgate_testkit::gateway::{Gateway, Setup};
use callgate_testkit::upstream::{Answer, Upstream};
use serde_json::{Value, json};

use crate::support::{ALLOW, MESSAGES, ask, gateway, setup, whole_turns};

/// The records of one kind, newest first.
fn of_kind(gateway: &Gateway, kind: &str) -> Vec<Value> {
    let mut found = gateway.events();
    found.retain(|event| event["type"] == kind);
    found.reverse();
    found
}

const RULES: &str = "policy: p
rules:
  - { id: no-delete, tool: delete_all, verdict: deny, reason: Nothing is deleted. }
  - { id: seen, tool: 'delete_*', verdict: audit }
  - { id: late, tool: delete_all, verdict: deny, priority: 200 }
";

#[test]
fn a_verdict_names_its_code_its_policies_and_every_rule_that_matched() {
    let upstream = Upstream::always(whole_turns("delete_all", r#"{"a":1}"#)[0].1.clone());
    // The rule looks at the arguments, so that all of them are asked.
    let rules =
        RULES.replace("verdict: deny, reason", "when: { arg: a, gt: 0 }, verdict: deny, reason");
    let gateway = gateway(&upstream, &rules, "");
    assert_eq!(ask(MESSAGES).send(gateway.address()).status, 200);
    let verdict = gateway.calls()[0]["verdict"].clone();
    assert_eq!((&verdict["code"], &verdict["rule"]), (&json!("rule"), &json!("no-delete")));
    let mut matched: Vec<&str> = verdict["matched"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["rule"].as_str().unwrap())
        .collect();
    matched.sort_unstable();
    assert_eq!(matched, ["late", "no-delete", "seen"]);
    let loaded = &of_kind(&gateway, "policy_loaded")[0]["policies"];
    assert_eq!(loaded["digest"], verdict["policy_digest"]);
    let files = loaded["files"].as_array().unwrap();
    let is_rules = |file: &&Value| file["path"].as_str().unwrap().ends_with("rules.yaml");
    let file = files.iter().find(is_rules).unwrap();
    assert_eq!(file["owner"], callgate_decide::login::own().unwrap());
    assert!(file["modified"].is_string(), "{file}");
}

#[test]
fn codes_tell_reasons_apart() {
    let default_deny = "policy: p\ndefault: deny\nrules: []\n";
    let ask_rule = "policy: p\nrules:\n  - { id: a, tool: '*', verdict: ask }\n";
    for (policy, settings, expected) in [
        (ALLOW, "", "default"),
        (default_deny, "", "default"),
        (ask_rule, "", "approval_missing"),
        (ALLOW, "mcp: { deny_servers: [git] }", "server_denied"),
        (ALLOW, "mcp: { deny_tools: [{ server: git, tool: push }] }", "tool_denied"),
        (ALLOW, "mcp: { fail_closed: true }", "unknown_tool"),
    ] {
        let upstream = Upstream::always(whole_turns("mcp__git__push", "{}")[0].1.clone());
        let gateway = gateway(&upstream, policy, settings);
        assert_eq!(ask(MESSAGES).send(gateway.address()).status, 200);
        let call = &gateway.calls()[0];
        assert_eq!(call["verdict"]["code"], expected, "{settings} {policy}");
        let waited = call["timing"].get("waited_ms").is_some();
        assert_eq!(waited, expected == "approval_missing", "{call}");
    }
}

#[test]
fn a_reload_tells_what_changed_and_what_got_weaker() {
    let upstream = Upstream::always(whole_turns("delete_all", "{}")[0].1.clone());
    let gateway = gateway(&upstream, RULES, "");
    let before = of_kind(&gateway, "policy_loaded")[0]["policies"]["digest"].clone();
    let weaker = RULES
        .replace("  - { id: late, tool: delete_all, verdict: deny, priority: 200 }\n", "")
        .replace("Nothing is deleted.", "Nothing.")
        + "  - { id: new, tool: x, verdict: deny }\n";
    gateway.replace("rules.yaml", &weaker);
    assert!(gateway.wait_until(|gateway| of_kind(gateway, "policy_loaded").len() == 2));
    let loaded = of_kind(&gateway, "policy_loaded")[0]["policies"].clone();
    assert_eq!(loaded["before"], before);
    assert_ne!(loaded["digest"], before);
    assert_eq!(loaded["added"], json!(["p/new"]));
    assert_eq!(loaded["removed"], json!(["p/late"]));
    assert_eq!(loaded["changed"], json!(["p/no-delete"]));
    // It is recorded after the policies.
    assert!(gateway.wait_until(|gateway| !of_kind(gateway, "weakened").is_empty()));
    let weakened = of_kind(&gateway, "weakened");
    assert_eq!(weakened.len(), 1, "{weakened:?}");
    assert_eq!(weakened[0]["policies"]["weakened"], json!(["rule p/late (deny) was removed"]));
    assert!(gateway.said().contains("rule p/late (deny) was removed"), "{}", gateway.said());
    let doctor = String::from_utf8(gateway.run(&["doctor"]).stdout).unwrap();
    assert!(doctor.contains("rule p/late (deny) was removed"), "{doctor}");
    // Stricter again: nothing is lost.
    gateway.replace("rules.yaml", RULES);
    assert!(gateway.wait_until(|gateway| of_kind(gateway, "policy_loaded").len() == 3));
    assert!(gateway.wait_until(|gateway| of_kind(gateway, "weakened").len() == 2));
    let weakened = of_kind(&gateway, "weakened");
    assert_eq!(weakened.len(), 2, "a rule that was new is gone: {weakened:?}");
}

#[test]
fn a_setting_that_stops_less_is_reported_too() {
    let upstream = Upstream::always(whole_turns("delete_all", "{}")[0].1.clone());
    let gateway = gateway(&upstream, ALLOW, "mcp: { deny_servers: [git, mail] }");
    let config = std::fs::read_to_string(gateway.folder().join("callgate.yaml")).unwrap();
    gateway.replace("callgate.yaml", &config.replace("[git, mail]", "[git]"));
    assert!(gateway.wait_until(|gateway| !of_kind(gateway, "weakened").is_empty()));
    let told = of_kind(&gateway, "weakened")[0]["policies"]["weakened"].clone();
    assert_eq!(told, json!(["`mcp.deny_servers` may stop less than before"]));
    gateway.replace("callgate.yaml", &config.replace("[git, mail]", "[git, mail, web]"));
    assert!(gateway.wait_until(|gateway| of_kind(gateway, "policy_loaded").len() == 3));
    assert_eq!(of_kind(&gateway, "weakened").len(), 1);
    gateway.replace("callgate.yaml", &format!("{config}gateway: {{ mode: off }}\n"));
    assert!(gateway.wait_until(|gateway| of_kind(gateway, "weakened").len() == 2));
    let told = of_kind(&gateway, "weakened")[0]["policies"]["weakened"].to_string();
    assert!(told.contains("`gateway.mode` may stop less"), "{told}");
}

#[test]
fn a_session_has_a_beginning_and_an_end() {
    let upstream = Upstream::always(whole_turns("read_file", "{}")[0].1.clone());
    let gateway = gateway(&upstream, ALLOW, "audit: { session_idle: 2s }");
    let with = |session: &str| ask(MESSAGES).header("x-callgate-session", session);
    for session in ["one", "one", "two"] {
        assert_eq!(with(session).send(gateway.address()).status, 200);
    }
    let begun = of_kind(&gateway, "session_started");
    let mut sessions: Vec<&Value> = begun.iter().map(|it| &it["principal"]["session"]).collect();
    sessions.reverse();
    assert_eq!(sessions, ["one", "two"]);
    assert_eq!(begun[0]["principal"]["user"], callgate_decide::login::own().unwrap());
    let first_call = gateway.calls().last().unwrap()["seq"].as_u64();
    assert!(begun[1]["seq"].as_u64() < first_call, "in front of its first record");
    let ended = |gateway: &Gateway| of_kind(gateway, "session_ended").len();
    assert!(gateway.wait_until(|gateway| ended(gateway) == 2), "both have ended");
    assert_eq!(with("one").send(gateway.address()).status, 200);
    assert_eq!(
        of_kind(&gateway, "session_started").len(),
        3,
        "a client that comes back starts a new session"
    );
}

/// Tokens as each API tells them: read from a cache, and thought in.
#[test]
fn tokens_from_a_cache_and_for_thinking_are_counted_separately() {
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "t", "input": {} });
    let usage = json!({
        "input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 100,
        "output_tokens": 20, "output_tokens_details": { "thinking_tokens": 7 },
    });
    let messages = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [call],
        "stop_reason": "tool_use", "stop_sequence": null, "usage": usage,
    });
    let upstream = Upstream::always(Answer::json(200, messages.to_string()));
    let gateway = gateway(&upstream, ALLOW, "");
    assert_eq!(ask(MESSAGES).send(gateway.address()).status, 200);
    assert!(gateway.wait_until(|gateway| !gateway.turns().is_empty()));
    let expected = json!({ "input": 115, "cached": 100, "output": 20, "reasoning": 7 });
    assert_eq!(gateway.turns()[0]["tokens"], expected);
    assert_eq!(gateway.calls()[0]["tokens"], expected);
}

#[test]
fn a_program_that_makes_calls_is_named() {
    let caller = json!({ "type": "code_execution_20250825", "tool_id": "srvtoolu_1" });
    for (caller, expected) in [
        (caller, json!({ "type": "code_execution_20250825", "id": "srvtoolu_1" })),
        (json!({ "type": "direct" }), Value::Null),
    ] {
        let call = json!({
            "type": "tool_use", "id": "toolu_1", "name": "t", "input": {}, "caller": caller,
        });
        let message = json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [call],
            "stop_reason": "tool_use", "stop_sequence": null,
            "usage": { "input_tokens": 1, "output_tokens": 1 },
        });
        let upstream = Upstream::always(Answer::json(200, message.to_string()));
        let gateway = Setup::start(setup(&upstream, ALLOW, ""));
        assert_eq!(ask(MESSAGES).send(gateway.address()).status, 200);
        assert_eq!(gateway.calls()[0]["tool"]["caller"], expected);
    }
}
