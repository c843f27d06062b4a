//! The gateway lists tools by itself: at start-up, before a call, and when they change.

use std::sync::atomic::{AtomicUsize, Ordering};

use callgate_testkit::upstream::{Answer, AnswerStep};
use serde_json::json;

use super::support::{ALLOW, Client, Era, Server, message, result, tools_known};
use crate::support::{text_of, tool};

#[test]
fn tools_are_known_before_any_client_speaks() {
    for era in [Era::Legacy, Era::Modern] {
        let server = Server::new(era);
        let gateway = server.setup(ALLOW, "", "").start();
        let known = |gateway: &_| tools_known(gateway) == ["delete_all", "echo"];
        assert!(gateway.wait_until(known), "{era:?}: {:?}", tools_known(&gateway));
    }
}

#[test]
fn a_server_that_does_not_answer_holds_no_other_up() {
    let silent = Server::with(Era::Modern, |_, _| Some(Answer::stream("").step(AnswerStep::Stall)));
    let server = Server::new(Era::Modern);
    let other = format!("  a: {{ url: \"{}/mcp\" }}", silent.upstream().url());
    let setup = server.setup(ALLOW, "", &other);
    let gateway = server.start(setup);
    assert_eq!(tools_known(&gateway), ["delete_all", "echo"]);
}

#[test]
fn before_the_first_call_of_a_conversation_the_tools_are_listed_in_it() {
    let server = Server::new(Era::Legacy);
    let gateway = server.gateway(ALLOW, "");
    let mut client = Client::new(&gateway, Era::Legacy).with("authorization", "Bearer mine");
    client.hello();
    assert_eq!(text_of(&client.call("echo", json!({}))), "done");
    assert_eq!(text_of(&client.call("echo", json!({}))), "done");
    let lists = server.heard("tools/list");
    assert_eq!(lists.len(), 1, "once for each conversation: {lists:?}");
    assert_eq!(lists[0].header("mcp-session-id"), client.session());
    assert_eq!(lists[0].header("authorization"), Some("Bearer mine"));
    assert_eq!(lists[0].header("mcp-protocol-version"), Some("2025-11-25"));
    // A client that has listed them itself does not pay for it.
    let mut client = Client::legacy(&gateway);
    client.tools();
    client.call("echo", json!({}));
    assert_eq!(server.heard("tools/list").len(), 2);
}

#[test]
fn the_own_list_of_the_newer_revision_says_what_it_must() {
    let server = Server::new(Era::Modern);
    let gateway = server.gateway(ALLOW, "");
    let mut client = Client::modern(&gateway);
    assert_eq!(text_of(&client.call("echo", json!({}))), "done");
    let list = server.heard("tools/list").pop().unwrap();
    assert_eq!(list.header("mcp-method"), Some("tools/list"));
    assert_eq!((list.header("mcp-name"), list.header("mcp-session-id")), (None, None));
    let meta = &list.json()["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
}

#[test]
fn a_list_of_several_pages_is_read_to_its_end() {
    let changed = AtomicUsize::new(0);
    let server = Server::with(Era::Legacy, move |request, said| {
        if said["method"] != "tools/list" || request.header("mcp-session-id").is_none() {
            return None;
        }
        // The second page is another one in the second conversation.
        Some(match said["params"]["cursor"].as_str() {
            None => {
                changed.fetch_add(1, Ordering::SeqCst);
                result(said, json!({ "tools": [tool("time", "Tells.")], "nextCursor": "2" }))
            }
            Some(_) => {
                let times = changed.load(Ordering::SeqCst);
                result(said, json!({ "tools": [tool("echo", &format!("Version {times}."))] }))
            }
        })
    });
    let gateway = server.gateway(ALLOW, "");
    let mut client = Client::legacy(&gateway);
    let answer = client.call("echo", json!({}));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(text_of(&answer).contains("pins diff"), "{answer}");
    assert_eq!(server.heard("tools/list").len(), 2);
    assert!(server.heard("tools/call").is_empty());
}

#[test]
fn a_list_without_end_is_not_asked_for_with_every_call() {
    let server = Server::with(Era::Legacy, |_, said| {
        let list = json!({ "tools": [], "nextCursor": "again" });
        (said["method"] == "tools/list").then(|| result(said, list))
    });
    let gateway = server.setup(ALLOW, "", "").start();
    assert!(
        server.upstream().wait_until(|it| it.requests().iter().any(|it| it.method == "DELETE"))
    );
    server.begin();
    let mut client = Client::legacy(&gateway);
    assert_eq!(text_of(&client.call("echo", json!({}))), "done");
    let asked = server.heard("tools/list").len();
    assert_eq!(asked, 100);
    assert_eq!(text_of(&client.call("echo", json!({}))), "done");
    assert_eq!(server.heard("tools/list").len(), asked);
}

#[test]
fn a_server_that_cannot_list_is_called_all_the_same() {
    let server = Server::with(Era::Legacy, |_, said| {
        let error = json!({ "jsonrpc": "2.0", "id": said["id"], "error": { "code": -32603, "message": "no" } });
        (said["method"] == "tools/list").then(|| Answer::json(200, error.to_string()))
    });
    let gateway = server.setup(ALLOW, "", "").start();
    let mut client = Client::legacy(&gateway);
    assert_eq!(text_of(&client.call("echo", json!({}))), "done");
    let asked = server.heard("tools/list").len();
    assert_eq!(text_of(&client.call("echo", json!({}))), "done");
    assert_eq!(server.heard("tools/list").len(), asked, "it is not asked again so soon");
}

#[test]
fn a_call_does_not_wait_for_ever_for_a_list() {
    let server = Server::with(Era::Legacy, |request, said| {
        let is_listing =
            said["method"] == "tools/list" && request.header("mcp-session-id").is_some();
        is_listing.then(|| Answer::stream("").step(AnswerStep::Stall))
    });
    let more = "fail_closed: true\nlist_timeout: 1s";
    let gateway = server.setup(ALLOW, "", more).start();
    let mut client = Client::legacy(&gateway);
    let answer = client.call("echo", json!({}));
    assert!(!server.heard("tools/list").is_empty(), "it was not asked");
    // What no server has listed stays closed, where that is asked for.
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(server.heard("tools/call").is_empty());
}

#[test]
fn when_tools_change_they_are_listed_again_before_a_client_asks() {
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let server = Server::with(Era::Legacy, move |_, said| {
        (said["method"] == "tools/call").then(|| {
            let done = message(said, json!({ "content": [{ "type": "text", "text": "done" }] }));
            Answer::stream(format!("data: {changed}\n\ndata: {done}\n\n"))
        })
    });
    let gateway = server.gateway(ALLOW, "");
    let mut client = Client::legacy(&gateway);
    client.tools();
    server.show(vec![tool("echo", "Sends it away.")]);
    assert_eq!(text_of(&client.call("echo", json!({}))), "done");
    assert!(server.upstream().wait_until(|_| server.heard("tools/list").len() == 2));
    let own = server.heard("tools/list").pop().unwrap();
    assert!(own.json()["id"].as_str().unwrap().starts_with("callgate-"));
    assert_eq!(own.header("mcp-session-id"), client.session());
    assert!(own.json()["params"].get("_meta").is_none(), "it speaks the client's revision");
    let pins = |gateway: &callgate_testkit::gateway::Gateway| {
        let ran = gateway.run(&["mcp", "pins", "list", "--state", "changed"]);
        String::from_utf8_lossy(&ran.stdout).contains("echo")
    };
    assert!(gateway.wait_until(pins), "the change is on record");
    assert_eq!(client.call("echo", json!({}))["result"]["isError"], true);
    assert_eq!(server.heard("tools/call").len(), 1);
}

#[test]
fn a_server_that_offers_another_revision_is_asked_in_that_one() {
    for (era, offered) in
        [(Era::Modern, "2026-07-28"), (Era::Legacy, "2025-06-18"), (Era::Legacy, "2099-01-01")]
    {
        let refused = AtomicUsize::new(0);
        let server = Server::with(era, move |_, said| {
            // The first request is refused, whatever it asks in; later ones are answered.
            let is_first = refused.fetch_add(1, Ordering::SeqCst) == 0;
            let data = json!({ "supported": [offered, 7], "requested": "2026-07-28" });
            let error = json!({ "code": -32022, "message": "Unsupported", "data": data });
            let answer = json!({ "jsonrpc": "2.0", "id": said["id"], "error": error });
            is_first.then(|| Answer::json(400, answer.to_string()))
        });
        let gateway = server.setup(ALLOW, "", "").start();
        let known = |gateway: &_| tools_known(gateway) == ["delete_all", "echo"];
        assert!(gateway.wait_until(known), "{offered}: {:?}", server.seen());
        let hellos = server.heard("initialize");
        match era {
            Era::Modern => assert!(hellos.is_empty(), "{hellos:?}"),
            Era::Legacy => {
                // What nobody here speaks is not asked for.
                let asked = if offered == "2099-01-01" { "2025-11-25" } else { offered };
                assert_eq!(hellos[0].json()["params"]["protocolVersion"], asked);
                assert_eq!(hellos[0].header("mcp-protocol-version"), Some(asked));
            }
        }
    }
}
