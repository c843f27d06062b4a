//! Policies and lists that change while conversations with servers on the network are open.

use std::fs;

use callgate_testkit::gateway::Gateway;
use serde_json::json;

use super::support::{ALLOW, Client, DENY, Era, Server};
use crate::support::text_of;

/// Waits until the same client is answered otherwise.
#[track_caller]
fn wait_until(gateway: &Gateway, client: &mut Client, holds: impl Fn(&mut Client) -> bool) {
    let client = std::cell::RefCell::new(client);
    assert!(gateway.wait_until(|_| holds(&mut client.borrow_mut())), "the change is not in force");
}

#[test]
fn changes_reach_open_conversations() {
    for era in [Era::Legacy, Era::Modern] {
        let server = Server::new(era);
        let gateway = server.gateway(ALLOW, "");
        let mut client = match era {
            Era::Legacy => Client::legacy(&gateway),
            Era::Modern => Client::modern(&gateway),
        };
        assert_eq!(text_of(&client.call("delete_all", json!({}))), "done", "{era:?}");
        let is_refused =
            |client: &mut Client| client.call("delete_all", json!({}))["result"]["isError"] == true;
        gateway.replace("rules.yaml", DENY);
        wait_until(&gateway, &mut client, is_refused);
        gateway.replace("rules.yaml", ALLOW);
        wait_until(&gateway, &mut client, |client| !is_refused(client));

        // The whole server: not only calls to it.
        let config = gateway.folder().join("callgate.yaml");
        let before = fs::read_to_string(&config).unwrap();
        let is_shut =
            |client: &mut Client| client.ask("tools/list", json!({})).get("error").is_some();
        assert!(!is_shut(&mut client), "{era:?}");
        gateway.replace("callgate.yaml", &format!("{before}  deny_servers: [s]\n"));
        wait_until(&gateway, &mut client, is_shut);
        gateway.replace("callgate.yaml", &before);
        wait_until(&gateway, &mut client, |client| !is_shut(client));
    }
}
