//! Messages that peers read differently are never forwarded unchanged.

use serde_json::{Value, json};

use crate::http::support::{Client, Era, Server, result};
use crate::support::{Place, simple};

/// Denies everything but reading the handshake.
const DENY: &str = "policy: deny\nrules:\n  - { id: no-delete, tool: delete_all, surface: mcp, verdict: deny, reason: Nothing is deleted. }\n";

#[test]
fn a_call_hidden_from_us_is_hidden_from_the_server() {
    let call = r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"delete_all","arguments":{}}}"#;
    let lines: Vec<Vec<u8>> = vec![
        // The method, or the tool, twice.
        br#"{"jsonrpc":"2.0","id":9,"method":"ping","method":"tools/call","params":{"name":"delete_all"}}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","name":"delete_all"}}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","Name":"delete_all"}}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","n\u0061me":"delete_all"}}"#.to_vec(),
        // Two messages on one line, for those who take a carriage return for the end of it.
        format!("{{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}}\r{call}").into_bytes(),
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{{\"a\":\r{call}\r}}}}").into_bytes(),
        format!("\u{feff}{call}").into_bytes(),
        format!("[{call}]").into_bytes(),
        br#"{"jsonrpc":"2.0","id":9.0,"method":"tools/call","params":{"name":"delete_all"}}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"delete_all"}}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":9,"result":{},"method":"tools/call","params":{"name":"delete_all"}}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"delete_all","arguments":{"x":NaN}}}"#.to_vec(),
        b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":\"delete_all\",\"arguments\":{\"x\":\"\xff\"}}}".to_vec(),
        br#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"Delete_All "}}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":9,"method":"tools\/call","params":{"name":"delete\u005fall"}}"#.to_vec(),
    ];
    let place = Place::new(DENY, "");
    let mut wrapped = place.scripted("s", simple());
    wrapped.hello();
    for line in &lines {
        wrapped.say(line);
        let answer = wrapped.hear();
        let refused = answer["error"].is_object() || answer["result"]["isError"] == true;
        assert!(refused, "{}: {answer}", String::from_utf8_lossy(line));
    }
    let received = wrapped.end().received.to_lowercase();
    assert!(!received.contains("delete"), "{received}");
}

#[test]
fn the_side_that_asked_gets_an_error() {
    let place = Place::new(DENY, "");
    let mut wrapped = place.scripted("s", simple());
    wrapped.hello();
    wrapped.say(r#"{"jsonrpc":"2.0","id":"who","method":"ping","method":"ping"}"#);
    let answer = wrapped.hear();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&"who".into(), &(-32600).into()));
    wrapped.say("{");
    assert_eq!(wrapped.hear()["error"]["code"], -32700);
    wrapped.end();
}

#[test]
fn answers_that_cannot_be_read_are_withheld() {
    let mut answers = simple();
    answers["tools/call"] = serde_json::json!([
        { "raw": [r#"{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"content":[{"type":"text","text":"hidden"}]}}"#] },
        { "raw": ["{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"content\":\r[]}}"] },
        { "raw": ["not json at all", r#"{"jsonrpc":"2.0","id":"nobody","result":{}}"#, r#"{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"fine"}]}}"#] },
    ]);
    let place = Place::new("policy: p\nrules: []\n", "");
    let mut wrapped = place.scripted("s", answers);
    wrapped.hello();
    for _ in 0..2 {
        let answer = wrapped.call("echo", serde_json::json!({}));
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(!answer.to_string().contains("hidden"));
    }
    wrapped.say(r#"{"jsonrpc":"2.0","id":50,"method":"tools/call","params":{"name":"echo"}}"#);
    let answer = wrapped.hear();
    assert_eq!(answer["id"], 50, "an answer without a request is not forwarded: {answer}");
    wrapped.end();
}

#[test]
fn a_message_beyond_the_limit_is_refused_and_the_next_is_not() {
    let place = Place::new("policy: p\nrules: []\n", "mcp: { message_limit: 100KiB }");
    let mut wrapped = place.scripted("s", simple());
    wrapped.hello();
    let long = "x".repeat(200_000);
    wrapped.say(format!(r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{{"name":"echo","arguments":{{"t":"{long}"}}}}}}"#));
    let answer = wrapped.hear();
    assert_eq!(answer["id"], 3);
    assert!(
        answer["error"]["message"].as_str().unwrap().contains("larger than the limit"),
        "{answer}"
    );
    assert_eq!(wrapped.call("echo", serde_json::json!({}))["result"]["content"][0]["text"], "done");
    assert!(!wrapped.end().received.contains("xxxxx"));
}

#[test]
fn a_server_that_greets_people_is_heard_all_the_same() {
    let place = Place::new(DENY, "");
    let mut answers = simple();
    answers["ping"] =
        serde_json::json!({ "first": ["Welcome to my server", "INFO ready"], "result": {} });
    let mut wrapped = place.scripted("s", answers);
    assert!(wrapped.ask("ping", serde_json::json!({}))["result"].is_object());
    wrapped.end();
}

/// Methods that some servers would take for others.
pub(crate) const SPELLINGS: [&str; 7] = [
    "tools/Call",
    "TOOLS/CALL",
    " tools/call",
    "tools/call\n",
    "tools/call\u{2003}",
    "Tools/List",
    "tasks/Result",
];

#[test]
fn a_method_in_another_spelling_is_not_forwarded() {
    let place = Place::new(DENY, "");
    let mut wrapped = place.scripted("s", simple());
    wrapped.hello();
    for method in SPELLINGS {
        let answer = wrapped.ask(method, serde_json::json!({ "name": "delete_all" }));
        assert_eq!(answer["error"]["code"], -32601, "{method:?}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("callgate"), "{answer}");
    }
    let received = wrapped.end().received;
    assert!(!received.contains("delete_all"), "{received}");
}

/// Methods that nobody knows, with a call in them that a lenient server would run.
fn lookalikes(tool: &str) -> Vec<(&'static str, Value)> {
    let call = json!({ "name": tool, "arguments": { "all": true } });
    vec![
        ("tools.call", call.clone()),
        ("x/tools/call", call.clone()),
        ("tasks/create", call.clone()),
        ("vendor/run", json!({ "toolName": tool, "args": { "all": true } })),
        ("vendor/run", json!({ "call": call })),
        ("vendor/batch", json!({ "calls": [{ "name": "echo", "arguments": {} }, call] })),
        ("vendor/run", json!({ "tool": tool, "input": "{\"all\":true}" })),
        ("callTool", json!({ "name": tool })),
        ("vendor/twice", json!({ "name": tool, "input": {}, "arguments": { "all": true } })),
        ("vendor/deep", json!({ "a": [{ "b": [{ "c": { "d": [call] } }] }] })),
    ]
}

/// The tool's name in the method itself.
#[test]
fn a_method_that_names_a_tool_is_judged_as_a_call() {
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let mut answers = simple();
    answers["tools/list"] = json!({ "result": { "tools": [tool("delete_all"), tool("echo")] } });
    let methods = |name: &str| {
        ["tools/call/NAME", "callTool.NAME", "vendor/run/NAME", "NAME", "vendor:NAME"]
            .map(|method| method.replace("NAME", name))
    };
    // As the vendor's own, these are no tools.
    let honest = ["vendor/delete", "echo_all", "vendor/delete_all_drafts"].map(str::to_owned);
    for method in methods("delete_all").into_iter().chain(methods("echo")).chain(honest.clone()) {
        answers[method] = json!({ "result": { "done": true } });
    }
    let by_argument = "policy: p\nrules:\n  - { id: no-all, tool: delete_all, when: { arg: all, equals: true }, verdict: deny }\n";
    for policy in [DENY, by_argument] {
        let place = Place::new(policy, "");
        let mut wrapped = place.scripted("s", answers.clone());
        wrapped.hello();
        wrapped.ask("tools/list", json!({}));
        for method in methods("delete_all") {
            let answer = wrapped.ask(&method, json!({ "all": true }));
            assert!(answer.get("error").is_some(), "{policy}{method}: {answer}");
        }
        for method in methods("echo").into_iter().chain(honest.clone()) {
            let answer = wrapped.ask(&method, json!({ "all": true }));
            assert_eq!(answer["result"]["done"], true, "{policy}{method}: {answer}");
        }
        assert!(!wrapped.end().received.contains("delete_all\""), "{policy}");
    }
}

#[test]
fn a_call_under_a_method_that_nobody_knows_is_judged_as_a_call() {
    let by_argument = "policy: p\nrules:\n  - { id: no-all, tool: delete_all, when: { arg: all, equals: true }, verdict: deny }\n";
    let by_list = "deny_tools: [{ server: s, tool: delete_all }]";
    // A default is meant for calls: a vendor's own method need not be one.
    let closed = "policy: p\ndefault: deny\nrules:\n  - { id: no-delete, tool: delete_all, verdict: deny }\n";
    let open = "policy: p\nrules: []\n";
    for (policy, settings, denies) in [
        (DENY, "", true),
        (by_argument, "", true),
        (open, by_list, true),
        (closed, "", true),
        (open, "", false),
    ] {
        let place = Place::new(policy, &format!("mcp: {{ {settings} }}"));
        let mut wrapped = place.scripted("s", vendors_own());
        wrapped.hello();
        let server = Server::with(Era::Legacy, |_, said| {
            let is_known = said["method"].as_str().is_none_or(|it| vendors_own().get(it).is_none());
            (!is_known && said["method"] != "initialize" && said["method"] != "tools/list")
                .then(|| result(said, json!({ "done": true })))
        });
        let gateway = server.gateway(policy, settings);
        let mut client = Client::legacy(&gateway);
        for (method, params) in lookalikes("delete_all") {
            let is_denied = denies && !(policy == by_argument && method == "callTool");
            for answer in [wrapped.ask(method, params.clone()), client.ask(method, params.clone())]
            {
                assert_eq!(
                    answer.get("error").is_some(),
                    is_denied,
                    "{policy}{method} {params}: {answer}"
                );
            }
        }
        // Honest ones are forwarded unchanged.
        for (method, params) in lookalikes("echo_notes") {
            for answer in [wrapped.ask(method, params.clone()), client.ask(method, params.clone())]
            {
                assert_eq!(answer["result"]["done"], true, "{policy}{method} {params}: {answer}");
            }
        }
        let received = wrapped.end().received;
        if denies && policy != by_argument {
            assert!(!received.contains("delete_all"), "{received}");
            let heard = server.seen().iter().any(|it| it.json().to_string().contains("delete_all"));
            assert!(!heard, "{policy}");
        }
    }
}

/// A server that runs methods of its own.
fn vendors_own() -> Value {
    let mut answers = simple();
    for (method, _) in lookalikes("") {
        answers[method] = json!({ "result": { "done": true } });
    }
    answers
}

#[test]
fn what_is_odd_is_logged_up_to_a_bound() {
    let place = Place::new(DENY, "");
    let mut wrapped = place.scripted("s", simple());
    wrapped.hello();
    for _ in 0..100 {
        wrapped.say("{");
        assert_eq!(wrapped.hear()["error"]["code"], -32700);
    }
    let said = wrapped.end().said;
    assert_eq!(said.matches("a message was not forwarded").count(), 64, "{said}");
}
