//! Calls that a gateway recorded, judged again by other policies.

use callgate_testkit::upstream::Upstream;
use serde_json::json;

use crate::support::{ALLOW, DENY, MESSAGES, ask, gateway, whole_turns};

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
