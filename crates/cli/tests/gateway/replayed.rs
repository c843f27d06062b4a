//! Calls that a gateway recorded, judged again by other policies.

use callgate_testkit::gateway::Gateway;
use callgate_testkit::upstream::Upstream;
use serde_json::json;

use crate::support::{ALLOW, DENY, MESSAGES, ask, gateway, turns, whole_turns};

#[test]
fn a_recorded_call_is_judged_by_another_policy() {
    let upstream = Upstream::always(whole_turns("delete_all", r#"{"a":1}"#)[0].1.clone());
    let gateway = gateway(&upstream, ALLOW, "");
    assert_eq!(ask(MESSAGES).send(gateway.address()).status, 200);
    gateway.replace("deny.yaml", DENY);
    let run = |words: &[&str]| {
        let ran = gateway.run(&[words, &["--policy", "deny.yaml", "--json"]].concat());
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        serde_json::from_slice::<serde_json::Value>(&ran.stdout).unwrap()
    };
    let replayed = run(&["policy", "replay"]);
    assert_eq!((&replayed["calls"], &replayed["changed"]), (&json!(1), &json!(1)), "{replayed}");
    let change = &replayed["changes"][0];
    assert_eq!(change["before"], json!({ "verdict": "allow", "rule": "allow (default)" }));
    assert_eq!(change["after"], json!({ "verdict": "deny", "rule": "deny/no-delete" }));
    let id = change["examples"][0]["id"].as_str().unwrap();
    let why = run(&["why", id]);
    assert_eq!((&why["same"], &why["decision"]["rule"]), (&json!(false), &json!("deny/no-delete")));
    assert_eq!(run(&["policy", "coverage"])["uncovered"], 0);
}

/// Of such a call only the beginning of the arguments is on record, which says nothing about the
/// rest.
#[test]
fn a_call_with_too_large_arguments_is_not_judged_again() {
    let rules = "policy: p\nrules:\n  - { id: no-rm, tool: Bash, when: { arg: command, matches: rm }, verdict: deny }\n";
    let input = format!("{{\"command\":\"echo {}\"}}", "x".repeat(2000));
    for answers in [turns("Bash", &input), whole_turns("Bash", &input)] {
        let upstream = Upstream::always(answers[0].1.clone());
        let gateway = gateway(&upstream, rules, "limits: { arguments: 1KiB }\non_deny: explain");
        assert_eq!(ask(MESSAGES).send(gateway.address()).status, 200);
        assert!(gateway.wait_until(|gateway: &Gateway| !gateway.calls().is_empty()));
        let call = gateway.calls().remove(0);
        let (action, cut) = (&call["verdict"]["action"], &call["tool"]["input_cut"]);
        assert_eq!((action, cut), (&json!("deny"), &json!(true)), "{call}");
        let kept = call["tool"]["input"].as_str().unwrap();
        assert!(input.starts_with(kept) && kept.len() > 500, "{call}");
        assert_eq!(
            call["tool"]["input_hash"],
            json!(null),
            "a hash of what is kept proves nothing"
        );
        let ran = gateway.run(&["policy", "replay", "--json"]);
        let replayed: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
        assert_eq!(replayed["not_judged"], json!({ "truncated": 1 }), "{replayed}");
    }
}
