//! What a client sends in addition to the arguments of its calls: rules that look at all of a
//! call's input see it.

use serde_json::{Value, json};

use crate::support::{Place, Wrapped, simple, text_of};

const SECRET: &str = "AKIAIOSFODNN7EXAMPLX";

const DENY: &str = "policy: p\nrules:\n  - { id: no-keys, surface: mcp, when: { secret: any }, verdict: deny, reason: Keys stay here. }\n";
const MASK: &str = "policy: p\nrules:\n  - { id: mask-keys, surface: mcp, verdict: sanitize, sanitize: { detectors: [secret] } }\n";

fn modern() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A call with one more member of its parameters, or of their metadata.
fn call_with(place: &str, value: Value) -> Value {
    let mut params = json!({ "name": "echo", "arguments": { "text": "a" }, "_meta": modern() });
    match place.strip_prefix("_meta/") {
        Some(key) => params["_meta"][key] = value,
        None => params[place] = value,
    }
    params
}

fn calls_in(received: &str) -> Vec<&str> {
    received.lines().filter(|line| line.contains("tools/call")).collect()
}

#[test]
fn a_secret_outside_the_arguments_is_found_and_the_reason_says_where() {
    let answer =
        json!({ "q": { "action": "accept", "content": { "note": format!("it is {SECRET}") } } });
    let place = Place::new(DENY, "");
    let mut wrapped = place.scripted("s", simple());
    for (member, value, told) in [
        ("inputResponses", answer, "inputResponses"),
        ("requestState", json!(SECRET), "requestState"),
        ("_meta/vendor/note", json!({ "deep": [SECRET] }), "_meta"),
        ("InputResponses", json!(SECRET), "params"),
        ("another", json!([SECRET]), "params"),
    ] {
        let denied = wrapped.ask("tools/call", call_with(member, value));
        assert_eq!(denied["result"]["isError"], true, "{member}: {denied}");
        let text = text_of(&denied);
        for part in [format!("in `{told}`"), "no-keys".to_owned(), "Keys stay here".to_owned()] {
            assert!(text.contains(&part), "{member}: {part}: {text}");
        }
        assert!(!text.contains(SECRET), "{text}");
    }
    let received = wrapped.end().received;
    assert!(calls_in(&received).is_empty() && !received.contains(SECRET), "{received}");
    let calls = place.json(&["calls", "--json"]);
    assert!(calls.iter().all(|call| call["verdict"]["rule"] == "no-keys"), "{calls:?}");
    assert_eq!(calls.len(), 5);
}

#[test]
fn honest_calls_pass_byte_for_byte_with_their_extra_input() {
    // A policy that allows little, and one that is easily alarmed.
    let policy = "policy: p\ndefault: deny\nrules:\n  - { id: echoes, tool: echo, server: s, when: { arg: text, exists: true }, verdict: allow }\n  - { id: no-dates, surface: mcp, priority: 1, when: { arg: $, matches: '\\d{4}-\\d\\d-\\d\\d' }, verdict: deny }\n  - { id: no-keys, surface: mcp, priority: 1, when: { secret: any }, verdict: deny }\n";
    let place = Place::new(policy, "");
    let mut wrapped = place.scripted("s", simple());
    let line = r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{ "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28", "io.modelcontextprotocol/clientCapabilities":{},"progressToken":7,"claudecode/toolUseId":"toolu_01", "callId":"call_1","threadId":"0199-x"},"inputResponses":{"q":{"action":"accept","content":{"name":"Ann \ud83d"}}},"name":"echo","arguments":{"text":"a"} ,"task":{"ttl":1}}}"#;
    wrapped.say(line);
    let answer = wrapped.hear();
    assert_eq!((text_of(&answer), &answer["id"]), ("done", &json!("x")));
    let received = wrapped.end().received;
    assert_eq!(calls_in(&received), [line]);
}

#[test]
fn matches_outside_the_arguments_are_replaced_in_place() {
    let place = Place::new(MASK, "");
    let mut wrapped = place.scripted("s", simple());
    let line = |id: u32, params: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"n":1.50}},{params}}}}}"#
        )
    };
    let params = |key: &str| {
        format!(
            r#""inputResponses":{{ "q":{{"action":"accept","content":{{"a":"{key}", "b": 1.50}}}} }}, "_meta":{{"progressToken":1,"v/x": "{key}","y":2.50}}"#
        )
    };
    wrapped.say(line(1, &params(SECRET)));
    assert_eq!(text_of(&wrapped.hear()), "done");
    // Nobody but the server may change its state: what does not fit there is refused.
    let denied = wrapped.ask("tools/call", call_with("requestState", json!(SECRET)));
    assert_eq!(denied["result"]["isError"], true, "{denied}");
    assert!(text_of(&denied).contains("`requestState` cannot be sanitized"), "{denied}");
    let received = wrapped.end().received;
    let kept = line(1, &params("[REDACTED:aws_access_key_id]"));
    assert_eq!(calls_in(&received), [kept.as_str()], "all else as it came");
    let call = place.json(&["calls", "--json"]).pop().unwrap();
    assert_eq!(call["verdict"]["sanitized"][0]["rule"], "mask-keys", "{call}");
}

#[test]
fn a_state_that_the_server_has_made_goes_back_to_it() {
    let mut answers = simple();
    let asks = json!({
        "resultType": "input_required",
        "requestState": format!("state {SECRET}"),
        "inputRequests": { "q": { "method": "elicitation/create", "params": { "message": "Who?" } } },
    });
    let done = json!({ "result": { "content": [{ "type": "text", "text": "done" }] } });
    answers["tools/call"] = json!([{ "result": asks }, done, done]);
    let place = Place::new(DENY, "");
    let mut wrapped = place.scripted("s", answers);
    let asked = wrapped.ask("tools/call", call_with("x", json!(1)));
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let state = asked["result"]["requestState"].clone();
    let goes_on = call_with("requestState", state);
    assert_eq!(text_of(&wrapped.ask("tools/call", goes_on)), "done");
    let made_up = call_with("requestState", json!(format!("state {SECRET} more")));
    assert_eq!(wrapped.ask("tools/call", made_up)["result"]["isError"], true);
    assert_eq!(calls_in(&wrapped.end().received).len(), 2);
}

#[test]
fn a_condition_on_one_argument_looks_at_the_arguments_alone() {
    let policy = "policy: p\nrules:\n  - { id: one, surface: mcp, when: { arg: text, contains: rm -rf }, verdict: deny }\n  - { id: all, surface: mcp, when: { all: [{ arg: text, equals: careful }, { arg: $, contains: sudo }] }, verdict: deny }\n";
    let place = Place::new(policy, "");
    let mut wrapped = place.scripted("s", simple());
    for (text, along, passes) in [
        ("a", "rm -rf /", true),
        ("a", "sudo", true),
        ("careful", "sudo", false),
        ("careful", "please", true),
    ] {
        let mut params = call_with("inputResponses", json!({ "text": along }));
        params["arguments"]["text"] = json!(text);
        let answer = wrapped.ask("tools/call", params);
        assert_eq!(answer["result"]["isError"] != true, passes, "{text}, {along}: {answer}");
    }
    wrapped.end();
}

#[test]
fn what_is_too_large_to_be_read_counts_against_the_call() {
    let large = json!({ "q": "x".repeat(3000) });
    for (setting, passes, told) in [
        ("limits: { arguments: 1KiB }", false, "`inputResponses` cannot be read"),
        ("limits: { arguments: 1KiB }\noversize: allow", true, ""),
        ("limits: { arguments: 1KiB }\noversize: deny", false, "larger than the limit"),
    ] {
        let place = Place::new(DENY, setting);
        let mut wrapped = place.scripted("s", simple());
        let answer = wrapped.ask("tools/call", call_with("inputResponses", large.clone()));
        assert_eq!(answer["result"]["isError"] != true, passes, "{setting}: {answer}");
        assert!(text_of(&answer).contains(told), "{setting}: {answer}");
        wrapped.end();
    }
}

/// A server that asks for something in the midst of a call, and a call in whose midst it has.
fn asked(place: &Place, method: &str, params: &Value) -> Wrapped {
    let wants = json!({ "jsonrpc": "2.0", "id": "w1", "method": method, "params": params });
    let mut answers = simple();
    answers["tools/call"]["first"] = json!([wants.to_string()]);
    let mut wrapped = place.scripted("s", answers);
    wrapped.hello();
    wrapped.say(r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo"}}"#);
    assert_eq!(wrapped.hear()["method"], method);
    assert_eq!(wrapped.hear()["id"], 5);
    wrapped
}

/// What the server got for an answer, as written on the line.
fn answered(mut wrapped: Wrapped) -> String {
    // What was said before the answer to this has arrived.
    wrapped.ask("tools/list", json!({}));
    let received = wrapped.end().received;
    let line = received.lines().find(|line| line.contains("\"w1\""));
    line.unwrap_or_else(|| panic!("{received}")).to_owned()
}

fn questions() -> [(&'static str, Value, String); 3] {
    [
        (
            "elicitation/create",
            json!({ "message": "Which?", "requestedSchema": { "type": "object" } }),
            format!(r#"{{"action":"accept", "content":{{"note":"{SECRET}"}}}}"#),
        ),
        (
            "sampling/createMessage",
            json!({ "messages": [], "maxTokens": 1 }),
            format!(
                r#"{{"role":"assistant","model":"m", "content":{{"type":"text","text":"{SECRET}"}}}}"#
            ),
        ),
        ("roots/list", json!({}), format!(r#"{{"roots":[ {{"uri":"file:///{SECRET}"}}]}}"#)),
    ]
}

#[test]
fn a_denied_answer_does_not_reach_the_server_which_gets_an_error() {
    for (method, params, result) in questions() {
        let place = Place::new(DENY, "mcp: { sampling: allow }");
        let mut wrapped = asked(&place, method, &params);
        wrapped.say(format!(r#"{{"jsonrpc":"2.0","id":"w1","result":{result}}}"#));
        let answer = answered(wrapped);
        assert!(!answer.contains(SECRET), "{answer}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["error"]["code"], -1, "{answer}");
        assert!(!answer.to_string().contains("Keys stay here"), "rules are not its business");
        let events = place.json(&["events", "--json"]);
        let told = events.iter().find(|event| event["verdict"]["rule"] == "no-keys");
        let told = told.unwrap_or_else(|| panic!("{events:?}"));
        assert_eq!(
            (&told["tool"]["name"], &told["verdict"]["action"]),
            (&json!(method), &json!("deny"))
        );
        assert!(told["verdict"]["reason"].as_str().unwrap().contains("in `result`"), "{told}");
        assert!(!told.to_string().contains(SECRET), "{told}");
    }
}

#[test]
fn what_is_found_in_an_answer_is_replaced_there_and_all_else_passes() {
    for (method, params, result) in questions() {
        let place = Place::new(MASK, "mcp: { sampling: allow }");
        let mut wrapped = asked(&place, method, &params);
        let line = format!(r#"{{ "id":"w1", "result":{result},"jsonrpc":"2.0"}}"#);
        wrapped.say(&line);
        assert_eq!(answered(wrapped), line.replace(SECRET, "[REDACTED:aws_access_key_id]"));
    }
    // Whatever a policy denies by default: it means calls.
    let policy = "policy: p\ndefault: deny\nrules:\n  - { id: echo, tool: echo, server: s, surface: mcp, verdict: allow }\n  - { id: no-keys, surface: mcp, priority: 1, when: { secret: any }, verdict: deny }\n";
    for (method, params, result) in questions() {
        let place = Place::new(policy, "mcp: { sampling: allow }");
        let mut wrapped = asked(&place, method, &params);
        let line =
            format!(r#"{{ "id":"w1", "result":{},"jsonrpc":"2.0"}}"#, result.replace(SECRET, "x"));
        wrapped.say(&line);
        assert_eq!(answered(wrapped), line);
    }
}

#[test]
fn an_answer_in_the_midst_of_a_call_is_judged_as_a_part_of_it() {
    for (tool, passes) in [("echo", false), ("delete_all", true), ("elicitation/create", false)] {
        let policy = format!(
            "policy: p\nrules:\n  - {{ id: no-keys, tool: {tool}, surface: mcp, when: {{ secret: any }}, verdict: deny }}\n"
        );
        let place = Place::new(&policy, "");
        let (method, params, result) = questions().into_iter().next().unwrap();
        let mut wrapped = asked(&place, method, &params);
        wrapped.say(format!(r#"{{"jsonrpc":"2.0","id":"w1","result":{result}}}"#));
        let answer = answered(wrapped);
        assert_eq!(answer.contains(SECRET), passes, "{tool}: {answer}");
    }
}

#[test]
fn prompts_resources_and_other_messages_are_seen_too() {
    let mut answers = simple();
    for method in ["prompts/get", "resources/read", "completion/complete", "vendor/more"] {
        answers[method] = json!({ "result": {} });
    }
    let responses = json!({ "q": { "action": "accept", "content": { "a": SECRET } } });
    let value = json!({ "name": "x", "value": SECRET });
    for (policy, denies) in [(DENY, true), (MASK, false)] {
        let place = Place::new(policy, "");
        let mut wrapped = place.scripted("s", answers.clone());
        wrapped.hello();
        for (method, params) in [
            ("prompts/get", json!({ "name": "greet", "inputResponses": responses })),
            ("resources/read", json!({ "uri": "file:///a", "inputResponses": responses })),
            (
                "completion/complete",
                json!({ "ref": { "type": "ref/prompt", "name": "greet" }, "argument": value }),
            ),
            ("vendor/more", json!({ "text": SECRET })),
            ("tools/list", json!({ "_meta": { "vendor/x": SECRET } })),
        ] {
            let answer = wrapped.ask(method, params);
            assert_eq!(answer["error"]["code"] == 1403, denies, "{method}: {answer}");
        }
        // What a rule would replace in the name of something is refused: it would be something
        // else.
        let answer = wrapped.ask("resources/read", json!({ "uri": format!("file:///{SECRET}") }));
        assert_eq!(answer["error"]["code"], 1403, "{answer}");
        let progress = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": 1, "progress": 1, "message": SECRET } });
        wrapped.say(progress.to_string());
        wrapped.ask("tools/list", json!({}));
        let received = wrapped.end().received;
        assert!(!received.contains(SECRET), "{received}");
        assert_eq!(received.contains("[REDACTED:aws"), !denies, "{received}");
    }
}
