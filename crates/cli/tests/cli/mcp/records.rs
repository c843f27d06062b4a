//! `callgate mcp calls`, `events` and `detections`.

use serde_json::{Value, json};

use super::{World, again, column, filled, tool};
use crate::support::{Ran, Test};

/// The tools of the records, the newest first.
fn tools(ran: &Ran) -> Vec<Value> {
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.json().iter().map(|record| record["tool"]["name"].clone()).collect()
}

#[test]
fn calls_with_every_filter() {
    let ran = filled(&["calls", "--json"]).run();
    let all = ["send_mail", "send_mail", "delete_note", "get_note"];
    assert_eq!(tools(&ran), all, "{}", ran.stdout);
    assert_eq!(ran.json()[1]["mcp"]["address"], "https://mcp.example.com/mcp");
    let table: [(&[&str], &[&str]); 10] = [
        (&["--session", "tuesday"], &["send_mail"]),
        (&["--server", "n*"], &["delete_note", "get_note"]),
        (&["--tool", "GET_*"], &["get_note"]),
        (&["--action", "block"], &["delete_note"]),
        (&["--verdict", "deny"], &["delete_note"]),
        (&["--action", "allow", "--limit", "2"], &["send_mail", "send_mail"]),
        (&["--since", "1h", "--server", "notes", "--action", "allow"], &["get_note"]),
        (&["--until", "1h"], &[]),
        (&["--type", "mcp_tool_called"], &all),
        (&["--type", "mcp_tool_call_intercepted"], &[]),
    ];
    let mut ran = ran;
    for (filters, expected) in table {
        ran = again(ran, &[&["calls", "--json"], filters].concat());
        assert_eq!(tools(&ran), expected, "{filters:?}");
    }
    // No model's call was seen for any of them; the one that was denied did not run.
    let ran = again(ran, &["calls", "--json", "--type", "uncorrelated_execution"]);
    assert_eq!(tools(&ran), ["send_mail", "send_mail", "get_note"]);
}

#[test]
fn calls_as_a_table() {
    let ran = filled(&["calls", "--server", "notes"]).run();
    assert_eq!(column(&ran, "VERDICT"), ["deny", "allow"], "{}", ran.stdout);
    assert_eq!(column(&ran, "SEEN"), ["server", "server"]);
    assert_eq!(column(&ran, "CALL"), ["notes/delete_note: 1", "notes/get_note: 1"]);
    assert_eq!(column(&ran, "RULE")[0], "mcp.tools");
    let ran = again(ran, &["calls", "--server", "notes", "--wide"]);
    assert_eq!(column(&ran, "INPUT"), [r#"{"id":1}"#, r#"{"id":1}"#]);
    let id = column(&ran, "RECORD").remove(0);
    let ran = Test::again(ran, &["calls", "show", &id, "--config", "c.yaml"]).run();
    let expected = ["server   notes", "pin      trusted", "address  notes-server", "defined  v1:"];
    assert!(expected.iter().all(|line| ran.stdout.contains(line)), "{}{}", ran.stdout, ran.stderr);
    let ran = again(ran, &["calls", "--session", "nobody"]);
    ran.sees(0, "", "no calls match\n");
}

#[test]
fn events_of_servers() {
    let ran = filled(&["events", "--json"]).run();
    let kinds: Vec<Value> = ran.json().iter().map(|it| it["type"].clone()).collect();
    assert_eq!(kinds, vec![json!("mcp_tool_seen"); 4], "{}", ran.stdout);
    let ran = again(ran, &["events", "--verdict", "deny"]);
    // Both are hidden: the one by the list, the other for what was found in it.
    assert_eq!(column(&ran, "TOOL"), ["add", "delete_note"], "{}", ran.stdout);
    let ran = again(ran, &["events", "--type", "mcp_tool_changed"]);
    let none = "no events of MCP servers match; run `callgate events` for all other events\n";
    let ran = ran.sees(0, "", none);
    let ran = again(ran, &["events", "--type", "mcp_tool_called", "--json"]);
    assert_eq!(tools(&ran).len(), 4, "calls of servers are records too: {}", ran.stdout);
}

#[test]
fn detections_of_texts_and_of_flows() {
    let ran = filled(&["detections", "--json"]).run();
    let found = ran.json();
    let flow = &found[0];
    assert_eq!((&flow["type"], &flow["verdict"]), (&json!("flow"), &json!("allow")), "{flow}");
    assert_eq!((&flow["tool"], &flow["session"]), (&json!("send_mail"), &json!("monday")));
    let earlier = flow["earlier"][0].as_str().unwrap().to_owned();
    let poison: Vec<&Value> = found.iter().filter(|it| it["server"] == "extra").collect();
    assert!(poison.iter().any(|it| it["type"] == "sensitive-path"), "{found:?}");
    assert!(poison.iter().all(|it| it["verdict"] == "deny" && it["path"] == "description"));
    let ran = Test::again(ran, &["calls", "show", &earlier, "--config", "c.yaml"]).run();
    assert!(
        ran.stdout.contains("tool     get_note"),
        "it names the call that read: {}",
        ran.stdout
    );

    let ran = again(ran, &["detections", "--type", "flow"]);
    assert_eq!(column(&ran, "TYPE"), ["flow"], "{}", ran.stdout);
    let ran = again(ran, &["detections", "--type", "directive", "--server", "mail"]);
    ran.sees(0, "", "no detections match\n");
}

#[test]
fn a_limit_counts_what_is_shown() {
    let test = Test::new(&["mcp", "calls", "--verdict", "deny", "--config", "c.yaml"]);
    let world =
        World::new(&test.path(), "store: sqlite:records.db\nmcp: { deny_tools: [{ tool: no }] }\n");
    world.lists("notes", &[tool("yes", "Says yes."), tool("no", "Says no.")]);
    assert!(!world.calls("notes", "monday", "no", json!({})));
    for _ in 0..60 {
        assert!(world.calls("notes", "monday", "yes", json!({})));
    }
    world.settle();
    let ran = test.run();
    assert_eq!(column(&ran, "CALL"), ["notes/no"], "it is behind the newest 50: {}", ran.stdout);
    let ran = again(ran, &["calls"]);
    assert_eq!(column(&ran, "CALL").len(), 50);
    assert_eq!(ran.stderr, "the newest 50; use `--limit` for more\n");
}
