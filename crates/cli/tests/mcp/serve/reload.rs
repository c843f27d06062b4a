//! Policies that change while the server runs, and who learns of it.

use serde_json::{Value, json};

use super::{POLICY, modern};
use crate::support::{Place, Wrapped, simple};

impl Wrapped {
    /// The next notification.
    #[track_caller]
    fn told(&self) -> Value {
        let heard = self.hear();
        assert!(heard.get("id").is_none(), "{heard}");
        heard
    }
}

fn updated(uri: &str) -> Value {
    json!({
        "jsonrpc": "2.0",
        "method": "notifications/resources/updated",
        "params": { "uri": uri },
    })
}

#[test]
fn a_changed_policy_is_reported_and_in_force() {
    let place = Place::new(POLICY, "");
    let mut server = place.serve();
    server.hello();
    assert_eq!(
        server.ask("resources/subscribe", json!({ "uri": "config://rules" }))["result"],
        json!({})
    );
    place.rules(&POLICY.replace("No mail.", "No mail on Sundays."));
    assert_eq!(server.told(), updated("config://rules"));
    let judged = server.evaluate(json!({ "tool": "send_email" }));
    assert_eq!(judged["reason"], "No mail on Sundays.");
    assert!(server.read("config://rules").contains("No mail on Sundays."));

    server.ask("resources/unsubscribe", json!({ "uri": "config://rules" }));
    server.ask("resources/subscribe", json!({ "uri": "config://health" }));
    place.rules("policy: mine\nrules: [{ id: a, verdict: never }]\n");
    assert_eq!(server.told(), updated("config://health"));
    let health: Value = serde_json::from_str(&server.read("config://health")).unwrap();
    assert_eq!(
        (&health["status"], &health["policies"]["state"]),
        (&json!("degraded"), &json!("rejected"))
    );
    assert!(health["policies"]["rejected"].as_str().unwrap().contains("rules.yaml:2"), "{health}");
    let judged = server.evaluate(json!({ "tool": "send_email" }));
    assert_eq!(judged["reason"], "No mail on Sundays.", "the last good policies stay in force");

    place.rules(POLICY);
    assert_eq!(server.told(), updated("config://health"));
    let health: Value = serde_json::from_str(&server.read("config://health")).unwrap();
    assert_eq!((&health["status"], &health["policies"]["rules"]), (&json!("ok"), &json!(4)));
    assert_eq!(server.end().code, Some(0));
}

#[test]
fn a_listener_of_the_newer_revisions_is_notified() {
    let place = Place::new(POLICY, "");
    let mut server = place.serve();
    let listen = |id: &str, uris: Value| {
        let wanted = json!({ "notifications": { "resourceSubscriptions": uris } });
        let method = "subscriptions/listen";
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": modern(wanted) })
            .to_string()
    };
    server.say(listen("one", json!(["config://rules", "no://such"])));
    let first = server.told();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    let honoured = json!({ "resourceSubscriptions": ["config://rules"] });
    assert_eq!(first["params"]["notifications"], honoured);
    server.say(listen("two", json!(["audit://recent"])));
    server.told();
    place.rules(&POLICY.replace("No mail.", "Never."));
    let told = server.told();
    assert_eq!(told["method"], "notifications/resources/updated");
    let id = "io.modelcontextprotocol/subscriptionId";
    assert_eq!(told["params"], json!({ "_meta": { id: "one" }, "uri": "config://rules" }));
    let off = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "one" } });
    server.say(off.to_string());

    // Another client's call is recorded, and the policy changes: only the first is listened for.
    place.rules(POLICY);
    let mut notes = place.scripted("notes", simple());
    notes.hello();
    notes.call("delete_all", json!({}));
    notes.end();
    let told = server.told();
    assert_eq!(told["params"], json!({ "_meta": { id: "two" }, "uri": "audit://recent" }));
}
