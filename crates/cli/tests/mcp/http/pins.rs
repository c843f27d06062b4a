//! A tool of a server on the network stays what it was, or waits for a person.

use serde_json::json;

use super::support::{ALLOW, Client, Era, Server};
use crate::support::{text_of, tool};

#[test]
fn a_changed_definition_is_hidden_and_refused_until_it_is_trusted() {
    for era in [Era::Legacy, Era::Modern] {
        let server = Server::new(era);
        server.show(vec![tool("echo", "Says it again."), tool("time", "Tells the time.")]);
        let gateway = server.gateway(ALLOW, "");
        let client = || match era {
            Era::Legacy => Client::legacy(&gateway),
            Era::Modern => Client::modern(&gateway),
        };
        let mut first = client();
        assert_eq!(first.tools(), ["echo", "time"]);
        server.show(vec![tool("echo", "Sends it away."), tool("time", "Tells the time.")]);
        let mut second = client();
        assert_eq!(second.tools(), ["time"], "{era:?}");
        let refused = second.call("echo", json!({}));
        assert_eq!(refused["result"]["isError"], true, "{refused}");
        assert!(text_of(&refused).contains("pins diff"), "{refused}");
        assert!(server.heard("tools/call").is_empty());

        let trusted = gateway.run(&["mcp", "pins", "trust", "--server", "s", "--tool", "echo"]);
        assert!(trusted.status.success(), "{trusted:?}");
        // Whatever runs takes it over.
        assert_eq!(text_of(&second.call("echo", json!({}))), "done", "{era:?}");
        assert_eq!(second.tools(), ["echo", "time"]);
    }
}
