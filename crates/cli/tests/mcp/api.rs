//! The API of the gateway together with shims and `callgate mcp serve`: one answer, one feed.

use std::path::Path;

use callgate_testkit::gateway::{Gateway, Setup};
use callgate_testkit::socket::{self, CommandOutput, FeedClient};
use callgate_testkit::upstream::Upstream;
use serde_json::{Value, json};

use crate::joined::{ask, model};
use crate::serve::POLICY;
use crate::support::{Place, simple};

/// A gateway whose model calls `Bash`, and its place.
fn gateway() -> (Gateway, Place, Upstream) {
    let upstream = model("Bash", &json!({ "command": "git push --force" }));
    let binary = Path::new(env!("CARGO_BIN_EXE_callgate"));
    let gateway = Setup::new(binary, &upstream.url(), POLICY, "on_deny: explain").start();
    let place = Place::at(gateway.folder());
    (gateway, place, upstream)
}

/// Makes a call through a shim.
fn shim_calls(place: &Place, tool: &str) {
    let mut wrapped = place.scripted("notes", simple());
    wrapped.hello();
    wrapped.call(tool, json!({}));
    wrapped.end();
}

fn is_call_of(record: &Value, tool: &str) -> bool {
    let kind = record["type"].as_str().unwrap_or_default();
    record["tool"]["name"] == tool && ["tool_call", "mcp_tool_called"].contains(&kind)
}

/// How many feeds are open.
fn feeds(gateway: &Gateway) -> Value {
    socket::get(&socket::of(gateway), "/api/v1/health").1["feeds"].clone()
}

#[test]
fn the_socket_says_what_the_tools_say() {
    let (gateway, place, _upstream) = gateway();
    ask().send(gateway.address());
    // A record names its turn, too, which is written after it.
    assert!(gateway.wait_until(|gateway| !gateway.turns().is_empty()));
    let mut server = place.serve();
    let record = gateway.calls()[0]["id"].clone();
    let calls = [
        json!({ "tool": "Bash", "arguments": { "command": "git push --force origin" } }),
        json!({ "tool": "Bash", "arguments": { "command": "ls" }, "id": "c1" }),
        json!({ "tool": "send_email" }),
        json!({ "tool": "delete_all", "server": "notes", "surface": "mcp", "arguments": { "text": "x" }, "cwd": "/" }),
        json!({ "tool": "exec", "arguments": "free text", "agent": "a", "session": "s", "cwd": "/" }),
    ];
    let socket = socket::of(&gateway);
    for call in &calls {
        let (status, mut told) = socket::post(&socket, "/api/v1/evaluate", call);
        assert_eq!((status, &told), (200, &server.evaluate(call.clone())), "{call}");
        let mut checked = call.clone();
        if let Some(arguments) = checked.as_object_mut().unwrap().remove("arguments") {
            checked["input"] = arguments;
        }
        let checked = gateway.run(&["check", "--json", &checked.to_string()]);
        let mut checked = serde_json::from_slice::<Value>(&checked.stdout).unwrap();
        // No server takes free text: `evaluate` reads it as a server does, `check` as it is given.
        if call["surface"] == "mcp" && call["arguments"].is_string() {
            assert_eq!(told["effects"][0]["kind"], "opaque");
            told["effects"] = Value::Null;
            checked["effects"] = Value::Null;
        }
        assert_eq!(told, checked, "{call}");
    }
    for asked in calls.iter().chain(&[json!({ "record": record }), json!({ "tool": "Bash" })]) {
        let (status, told) = socket::post(&socket, "/api/v1/explain", asked);
        let tool = server.call("explain", asked.clone());
        assert_eq!((status, &told), (200, &tool["result"]["structuredContent"]), "{asked}");
    }
    for (path, tool, asked) in [
        ("evaluate", "evaluate", json!({})),
        ("evaluate", "evaluate", json!({ "tool": "Bash", "surface": "web" })),
        ("explain", "explain", json!({ "record": "0", "tool": "Bash" })),
        ("explain", "explain", json!({ "record": "0123" })),
    ] {
        let (status, told) = socket::post(&socket, &format!("/api/v1/{path}"), &asked);
        assert_eq!((status, &told["error"]["code"]), (400, &json!("bad_request")), "{asked}");
        let text = server.call(tool, asked)["result"]["content"][0]["text"].clone();
        let message = told["error"]["message"].as_str().unwrap();
        assert!(text.as_str().unwrap().contains(message), "{text}: {message}");
    }
    assert_eq!(gateway.calls().len(), 1, "asking is not calling");
}

#[test]
fn the_feed_reports_gateways_and_shims() {
    let (gateway, place, _upstream) = gateway();
    let socket = socket::of(&gateway);
    let mut feed = FeedClient::open(&socket, "?after=0");
    assert_eq!(feeds(&gateway), 1);
    ask().send(gateway.address());
    let denied = feed.record_that(|record| is_call_of(record, "Bash"));
    assert_eq!(denied["verdict"]["rule"], "no-force-push");
    shim_calls(&place, "echo");
    let called = feed.record_that(|record| is_call_of(record, "echo"));
    let after = denied["seq"].as_u64().unwrap();
    // It continues after any number, without a gap; and pages tell the same.
    let mut resumed = FeedClient::open(&socket, &format!("?after={after}"));
    let (first, _) = resumed.record();
    assert_eq!(first, after + 1);
    assert_eq!(resumed.record_that(|record| is_call_of(record, "echo")), called);
    let mut filtered = FeedClient::open(&socket, "?after=0&kind=mcp_tool_called");
    assert_eq!(filtered.record().1, called);
    let (mut at, mut paged) = (0, Vec::new());
    loop {
        let (_, page) = socket::get(&socket, &format!("/api/v1/records?after={at}&limit=2"));
        paged.extend(page["records"].as_array().unwrap().clone());
        at = page["next"].as_u64().unwrap();
        if page["more"] == false {
            break;
        }
    }
    assert_eq!(paged.iter().filter(|it| is_call_of(it, "echo")).collect::<Vec<_>>(), [&called]);
    let shown = gateway.run(&["calls", "show", called["id"].as_str().unwrap(), "--json"]);
    assert_eq!(serde_json::from_slice::<Value>(&shown.stdout).unwrap(), called);
    drop((feed, resumed, filtered));
    assert!(gateway.wait_until(|gateway| feeds(gateway) == 0), "a feed nobody reads stays open");
}

/// What `tail` shows of the calls, as it comes.
fn call_of(tail: &CommandOutput, tool: &str) -> Value {
    loop {
        let record = tail.json();
        if is_call_of(&record, tool) {
            return record;
        }
    }
}

#[test]
fn tail_reads_the_feed_and_survives_its_gateway() {
    let (mut gateway, place, _upstream) = gateway();
    let all = CommandOutput::start(&mut gateway.command(&["tail", "--json"]));
    let shown = CommandOutput::start(&mut gateway.command(&["tail", "--verdict", "deny"]));
    assert!(gateway.wait_until(|gateway| feeds(gateway) == 2), "tail does not use the feed");
    ask().send(gateway.address());
    call_of(&all, "Bash");
    let line = shown.line();
    assert!(line.contains("deny   Bash: git push"), "{line}");
    assert!(line.contains("  mine/no-force-push  History is shared."), "{line}");
    shim_calls(&place, "echo");
    call_of(&all, "echo");
    assert_eq!(feeds(&gateway), 2, "it was the feed that told");
    gateway.signal("KILL");
    assert!(gateway.ended().is_some());
    assert!(socket::of(&gateway).exists(), "nobody has cleaned up");
    shim_calls(&place, "delete_all");
    call_of(&all, "delete_all");
    assert!(shown.line().contains("notes/delete_all  mine/no-wipe  Nothing is deleted."));
}

#[test]
fn tail_shows_each_record_once_whatever_its_source() {
    let (mut gateway, place, _upstream) = gateway();
    let tail = CommandOutput::start(&mut gateway.command(&["tail", "--json", "--limit", "1000"]));
    assert!(gateway.wait_until(|gateway| feeds(gateway) == 1), "tail does not use the feed");
    shim_calls(&place, "echo");
    ask().send(gateway.address());
    let mut seen = vec![];
    let mut until = |tool: &str| {
        loop {
            let record = tail.json();
            seen.push((record["seq"].clone(), record["id"].clone()));
            if is_call_of(&record, tool) {
                return seen.clone();
            }
        }
    };
    until("Bash");
    gateway.signal("KILL");
    assert!(gateway.ended().is_some());
    shim_calls(&place, "delete_all");
    let seen = until("delete_all");
    let stored = gateway.run(&["tail", "--json", "--no-follow", "--limit", "1000"]);
    let stored = String::from_utf8(stored.stdout).unwrap();
    let stored: Vec<_> = stored
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|record| (record["seq"].clone(), record["id"].clone()))
        .collect();
    assert_eq!(stored[..seen.len()], seen, "something is missing, or there twice");
}
