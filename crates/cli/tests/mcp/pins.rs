//! A tool stays what it was, or waits for a person.

use serde_json::json;

use crate::support::{Place, simple, text_of, tool};

const ALLOW: &str = "policy: p\nrules: []\n";

fn with_tools(tools: serde_json::Value) -> serde_json::Value {
    let mut answers = simple();
    answers["tools/list"] = json!({ "result": { "tools": tools } });
    answers
}

#[test]
fn a_changed_definition_is_hidden_and_refused_until_it_is_trusted() {
    let place = Place::new(ALLOW, "");
    let before =
        with_tools(json!([tool("echo", "Says it again."), tool("time", "Tells the time.")]));
    let after = with_tools(json!([
        tool("echo", "Says it again, and to others."),
        tool("time", "Tells the time.")
    ]));

    let mut wrapped = place.scripted("s", before);
    wrapped.hello();
    assert_eq!(wrapped.tools(), ["echo", "time"]);
    wrapped.end();

    let mut wrapped = place.scripted("s", after.clone());
    wrapped.hello();
    assert_eq!(wrapped.tools(), ["time"]);
    let answer = wrapped.call("echo", json!({}));
    assert_eq!(answer["result"]["isError"], true);
    assert!(text_of(&answer).contains("pins diff"), "{answer}");
    let end = wrapped.end();
    assert!(!end.received.contains("\"tools/call\""), "{}", end.received);

    let diff = place.run(&["mcp", "pins", "diff", "--server", "s", "--tool", "echo"]);
    let diff = String::from_utf8(diff.stdout).unwrap();
    assert!(diff.contains("description") && diff.contains("others"), "{diff}");
    let trusted = place.run(&["mcp", "pins", "trust", "--server", "s", "--tool", "echo"]);
    assert!(trusted.status.success(), "{trusted:?}");

    let mut wrapped = place.scripted("s", after);
    wrapped.hello();
    assert_eq!(wrapped.tools(), ["echo", "time"]);
    assert_eq!(text_of(&wrapped.call("echo", json!({}))), "done");
    wrapped.end();
}

#[test]
fn a_call_needs_no_list_of_the_client() {
    let place = Place::new(ALLOW, "");
    let mut wrapped = place.scripted("s", with_tools(json!([tool("echo", "Says it again.")])));
    wrapped.hello();
    assert_eq!(text_of(&wrapped.call("echo", json!({}))), "done");
    wrapped.end();
    // Another process, another definition, again no list of the client.
    let mut wrapped = place.scripted("s", with_tools(json!([tool("echo", "Something else.")])));
    wrapped.hello();
    assert_eq!(wrapped.call("echo", json!({}))["result"]["isError"], true);
    assert!(!wrapped.end().received.contains("\"tools/call\""));
}

#[test]
fn a_definition_that_changes_under_way_is_noticed_before_the_next_call() {
    let mut answers = simple();
    let first = json!({ "result": { "tools": [tool("echo", "Says it again.")] } });
    let second = json!({ "result": { "tools": [tool("echo", "Sends it away.")] } });
    answers["tools/list"] = json!([first, second]);
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    answers["tools/call"]["first"] = json!([changed]);
    let place = Place::new(ALLOW, "");
    let mut wrapped = place.scripted("s", answers);
    wrapped.hello();
    assert_eq!(text_of(&wrapped.call("echo", json!({}))), "done");
    assert_eq!(wrapped.call("echo", json!({}))["result"]["isError"], true);
    let received = wrapped.end().received;
    assert_eq!(received.matches("\"tools/call\"").count(), 1, "{received}");
}

#[test]
fn a_new_tool_waits_for_a_person_where_that_is_asked_for() {
    let place = Place::new(ALLOW, "mcp: { pins: { auto_trust_first: false } }");
    let mut wrapped = place.scripted("s", with_tools(json!([tool("echo", "Says it again.")])));
    wrapped.hello();
    assert!(wrapped.tools().is_empty());
    assert_eq!(wrapped.call("echo", json!({}))["result"]["isError"], true);
    wrapped.end();
    let trusted = place.run(&["mcp", "pins", "trust", "--server", "s", "--all"]);
    assert!(trusted.status.success(), "{trusted:?}");
    let mut wrapped = place.scripted("s", with_tools(json!([tool("echo", "Says it again.")])));
    wrapped.hello();
    assert_eq!(wrapped.tools(), ["echo"]);
    wrapped.end();
}

#[test]
fn each_process_is_held_to_what_its_own_server_shows() {
    let place = Place::new(ALLOW, "");
    let honest = with_tools(json!([tool("echo", "Says it again.")]));
    let mut first = place.scripted("s", honest);
    first.hello();
    assert_eq!(first.tools(), ["echo"]);
    // The same command, and the server behind it shows something else: the script is read once.
    let other = with_tools(json!([tool("echo", "Sends it away.")]));
    let mut second = place.scripted("s", other);
    second.hello();
    assert!(second.tools().is_empty());
    assert_eq!(first.tools(), ["echo"], "what it shows is what was trusted");
    assert_eq!(second.call("echo", json!({}))["result"]["isError"], true, "and this is not");
    assert_eq!(text_of(&first.call("echo", json!({}))), "done");
    first.end();
    second.end();
}

#[test]
fn a_prompt_too_is_held_to_what_its_own_server_shows() {
    let place = Place::new(ALLOW, "");
    let with_prompt = |description: &str| {
        let mut answers = simple();
        let prompt = json!({ "name": "review", "description": description });
        answers["prompts/list"] = json!({ "result": { "prompts": [prompt] } });
        answers["prompts/get"] = json!({ "result": { "messages": [] } });
        answers
    };
    let prompts = |wrapped: &mut crate::support::Wrapped| {
        let list = wrapped.ask("prompts/list", json!({}));
        list["result"]["prompts"].as_array().unwrap().len()
    };
    let mut first = place.scripted("s", with_prompt("Looks at a change."));
    first.hello();
    assert_eq!(prompts(&mut first), 1);
    let mut second = place.scripted("s", with_prompt("Looks at everything."));
    second.hello();
    assert_eq!(prompts(&mut second), 0);
    assert_eq!(prompts(&mut first), 1, "what it shows is what was trusted");
    let read = |wrapped: &mut crate::support::Wrapped| {
        wrapped.ask("prompts/get", json!({ "name": "review" }))
    };
    assert!(read(&mut second)["error"]["message"].as_str().unwrap().contains("pins diff"));
    assert!(read(&mut first)["result"].is_object());
    first.end();
    second.end();
}

#[test]
fn a_client_that_asks_for_the_last_page_alone_has_not_seen_the_list() {
    let place = Place::new(ALLOW, "");
    let mut wrapped =
        place.scripted("s", with_tools(json!([tool("echo", "Says."), tool("time", "Tells.")])));
    wrapped.hello();
    wrapped.tools();
    wrapped.end();
    // Another definition, on the first page. The client asks for the second one only.
    let last = json!({ "result": { "tools": [tool("time", "Tells.")] } });
    let first = json!({ "tools": [tool("echo", "Sends it away.")], "nextCursor": "2" });
    let mut answers = simple();
    answers["tools/list"] = json!([last, { "result": first }, last]);
    let mut wrapped = place.scripted("s", answers);
    wrapped.hello();
    let list = wrapped.ask("tools/list", json!({ "cursor": "2" }));
    assert_eq!(list["result"]["tools"][0]["name"], "time", "{list}");
    let answer = wrapped.call("echo", json!({}));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(text_of(&answer).contains("pins diff"), "{answer}");
    let received = wrapped.end().received;
    assert!(!received.contains("\"tools/call\""), "{received}");
}
