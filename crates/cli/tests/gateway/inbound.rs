//! Tools that a request offers: refused, taken out, or left alone.

use callgate_testkit::http::Ask;
use callgate_testkit::upstream::{BodyCoding, Request, Upstream};
use serde_json::{Value, json};

use crate::support::{CHAT, MESSAGES, gateway, is_refusal, whole_turns};

const RULES: &str = "policy: offers
rules:
  - { id: no-shell, surface: inbound, tool: '@shell', verdict: deny, reason: No shell here., hint: Use the build tool. }
  - { id: no-search, surface: inbound, tool: 'web_search*', verdict: deny, reason: The web is closed. }
  - { id: no-hosted, surface: inbound, server: github, verdict: deny, reason: Not from the provider. }
  - { id: seen, surface: inbound, tool: watched, verdict: audit, reason: Someone wants to know. }
";

/// Three denied ways to offer something in each API, next to something harmless.
fn offers(path: &str) -> Vec<(Value, &'static str)> {
    match path {
        MESSAGES => vec![
            (json!({ "type": "bash_20250124", "name": "bash" }), "no-shell"),
            (json!({ "type": "web_search_20250305", "name": "web_search" }), "no-search"),
            (
                json!({ "type": "mcp_toolset", "mcp_server_name": "github",
                    "default_config": { "enabled": false }, "configs": { "list": { "enabled": true } } }),
                "no-hosted",
            ),
        ],
        _ => vec![
            (json!({ "type": "function", "function": { "name": "Bash" } }), "no-shell"),
            (json!({ "type": "web_search" }), "no-search"),
            (
                json!({ "type": "mcp", "server_label": "github", "allowed_tools": ["list"] }),
                "no-hosted",
            ),
        ],
    }
}

fn harmless(path: &str, name: &str) -> Value {
    match path {
        MESSAGES => json!({ "name": name, "input_schema": {} }),
        _ => json!({ "type": "function", "function": { "name": name } }),
    }
}

fn ask(path: &str, tools: &[Value]) -> (Ask, String) {
    let messages = json!([{ "role": "user", "content": "hi" }]);
    let body = json!({ "model": "m", "max_tokens": 9, "messages": messages, "tools": tools });
    let body = body.to_string();
    (Ask::post(path, body.clone()).header("authorization", "Bearer none"), body)
}

fn text(request: &Request) -> String {
    String::from_utf8(request.body.to_vec()).unwrap()
}

fn server(path: &str) -> Upstream {
    let [messages, chat] = whole_turns("look", "{}");
    Upstream::always(if path == MESSAGES { messages.1 } else { chat.1 })
}

#[test]
fn a_denied_tool_stops_the_request_before_the_provider_is_asked() {
    for path in [MESSAGES, CHAT] {
        let upstream = server(path);
        let gateway = gateway(&upstream, RULES, "");
        for (tool, rule) in offers(path) {
            let (ask, _) = ask(path, &[harmless(path, "look"), tool]);
            let reply = ask.send(gateway.address());
            is_refusal(&reply, path, 400);
            let text = reply.text();
            assert!(
                text.contains(rule) && text.contains("callgate blocked this request"),
                "{text}"
            );
            assert_eq!(reply.header("x-should-retry"), Some("false"));
            if path == CHAT {
                assert_eq!(reply.json()["error"]["code"], "firewall_blocked");
            }
        }
        assert!(upstream.requests().is_empty(), "the provider was asked");
        let recorded = |rule: &str| {
            gateway
                .events()
                .into_iter()
                .any(|event| event["type"] == "tool_advertised" && event["verdict"]["rule"] == rule)
        };
        assert!(gateway.wait_until(|_| recorded("no-shell") && recorded("no-hosted")));
    }
}

#[test]
fn a_denied_tool_is_taken_out_and_the_rest_stays_as_it_was() {
    for path in [MESSAGES, CHAT] {
        let upstream = server(path);
        let gateway = gateway(&upstream, RULES, "inbound: strip");
        let mut tools = vec![harmless(path, "look")];
        tools.extend(offers(path).into_iter().map(|(tool, _)| tool));
        let (ask, _) = ask(path, &tools);
        assert_eq!(ask.send(gateway.address()).status, 200);
        let (_, left) = self::ask(path, &[harmless(path, "look")]);
        assert_eq!(text(&upstream.requests()[0]), left);
    }
}

#[test]
fn a_coded_request_is_read_too() {
    let upstream = server(CHAT);
    let gateway = gateway(&upstream, RULES, "");
    let (_, body) = ask(CHAT, &[offers(CHAT)[0].0.clone()]);
    let coded = BodyCoding::Gzip.encode(body.as_bytes());
    let ask = Ask::post(CHAT, coded).header("content-encoding", "gzip");
    is_refusal(&ask.send(gateway.address()), CHAT, 400);
    assert!(upstream.requests().is_empty());
}

#[test]
fn what_cannot_be_read_is_refused() {
    let upstream = server(CHAT);
    let gateway = gateway(&upstream, RULES, "");
    for body in [r#"{"tools":[],"tools":[{"type":"web_search"}]}"#, "{\"tools\":[", "\u{1}"] {
        is_refusal(&Ask::post(CHAT, body.to_owned()).send(gateway.address()), CHAT, 400);
    }
    assert!(upstream.requests().is_empty());
}

/// An allowed request goes up byte for byte, and what only watches is recorded once.
#[test]
fn harmless_tools_pass_untouched() {
    let upstream = server(CHAT);
    let gateway = gateway(&upstream, RULES, "");
    let body = r#"{ "tools" : [ {"type":"function","function":{"name":"watched"}} ],  "model":"m" , "messages":[] }"#;
    for _ in 0..3 {
        let reply = Ask::post(CHAT, body.to_owned()).send(gateway.address());
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
    assert!(upstream.requests().iter().all(|request| text(request) == body));
    let seen = || {
        let events = gateway.events().into_iter();
        events.filter(|event| event["type"] == "tool_advertised").count()
    };
    assert!(gateway.wait_until(|_| seen() > 0));
    assert_eq!(seen(), 1);
}

/// A request that no rule concerns is not even read.
#[test]
fn rules_of_other_surfaces_leave_requests_alone() {
    let upstream = server(CHAT);
    let gateway = gateway(&upstream, crate::support::DENY, "");
    let body = "{ not json";
    assert_eq!(Ask::post(CHAT, body.to_owned()).send(gateway.address()).status, 200);
    assert_eq!(text(&upstream.requests()[0]), body);
}

/// What a program of the provider's might read although it stands elsewhere, or is spelled
/// otherwise.
#[test]
fn offers_in_other_places_and_spellings_are_stopped_too() {
    let upstream = server(CHAT);
    let gateway = gateway(&upstream, RULES, "");
    for (path, body) in [
        (
            "/api/chat",
            r#"{"messages":[],"Tools":[{"type":"function","function":{"name":"Bash"}}]}"#,
        ),
        (
            "/v1beta/models/m:generateContent",
            r#"{"tools":{"functionDeclarations":{"name":"Bash"}}}"#,
        ),
        ("/v1beta/cachedContents", r#"{"tools":[{"functionDeclarations":[{"name":"Bash"}]}]}"#),
        ("/model/amazon.nova/invoke", r#"{"toolConfig":{"tools":[{"toolSpec":{"name":"Bash"}}]}}"#),
        (
            "/v1/conversations/c/items",
            r#"{"items":[{"type":"additional_tools","tools":[{"type":"function","name":"Bash"}]}]}"#,
        ),
    ] {
        let ask = Ask::post(path, body).header("authorization", "Bearer none");
        assert_eq!(ask.send(gateway.address()).status, 400, "{path}");
    }
    assert!(upstream.requests().is_empty(), "the provider was asked");
}

/// What would be refused without the tool, or mean something else, does not go up at all.
#[test]
fn what_cannot_be_taken_out_cleanly_is_refused() {
    let upstream = server(CHAT);
    let gateway = gateway(&upstream, RULES, "inbound: strip");
    for (path, body, why) in [
        (
            CHAT,
            r#"{"tools":[{"type":"function","function":{"name":"Bash"}},{"type":"function","function":{"name":"look"}}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"Bash"}}]}}}"#,
            "its choice of tools allows nothing else",
        ),
        (
            "/v1/responses",
            r#"{"input":[{"type":"additional_tools","tools":[{"type":"function","name":"Bash"}]}]}"#,
            "a message would be left empty",
        ),
        (
            MESSAGES,
            r#"{"tools":[{"name":"Bash"}],"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}]}"#,
            "no tool would be left",
        ),
        (
            "/v1beta/models/m:generateContent",
            r#"{"tools":[{"functionDeclarations":[{"name":"Bash"},{"name":"look"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["Bash"]}}}"#,
            "its choice of tools allows nothing else",
        ),
    ] {
        let ask = Ask::post(path, body).header("authorization", "Bearer none");
        let reply = ask.send(gateway.address());
        assert_eq!(reply.status, 400, "{path}");
        let text = reply.text();
        assert!(text.contains(why) && text.contains("no-shell"), "{text}");
    }
    assert!(upstream.requests().is_empty(), "the provider was asked");
}

/// A rule on one tool of a server, and requests that offer all of it, or all but that tool.
#[test]
fn an_offer_of_a_whole_server_may_hold_a_denied_tool() {
    const ONE: &str = "policy: offers
rules:
  - { id: no-delete, surface: inbound, server: github, tool: delete_repo, verdict: deny, reason: Repositories stay. }
";
    let upstream = server(MESSAGES);
    let gateway = gateway(&upstream, ONE, "");
    let toolset = |rest: &str| {
        format!(
            r#"{{"messages":[],"tools":[{{"type":"mcp_toolset","mcp_server_name":"github"{rest}}}],"mcp_servers":[{{"type":"url","url":"https://x","name":"github"}}]}}"#
        )
    };
    let hosted = |rest: &str| {
        format!(r#"{{"input":"hi","tools":[{{"type":"mcp","server_label":"github"{rest}}}]}}"#)
    };
    for (path, body, status) in [
        (MESSAGES, toolset(""), 400),
        (MESSAGES, toolset(r#","configs":{"delete_repo":{"enabled":true}}"#), 400),
        (MESSAGES, toolset(r#","configs":{"delete_repo":{"enabled":false}}"#), 200),
        (
            MESSAGES,
            toolset(r#","default_config":{"enabled":false},"configs":{"list":{"enabled":true}}"#),
            200,
        ),
        ("/v1/responses", hosted(""), 400),
        ("/v1/responses", hosted(r#","allowed_tools":["list","delete_repo"]"#), 400),
    ] {
        let ask = Ask::post(path, body.clone()).header("authorization", "Bearer none");
        let reply = ask.send(gateway.address());
        assert_eq!(reply.status, status, "{body}: {}", reply.text());
        if status == 400 {
            assert!(reply.text().contains("no-delete"), "{}", reply.text());
        }
    }
    let said = Ask::post(MESSAGES, toolset("")).send(gateway.address()).text();
    assert!(said.contains("all tools of the server `github`"), "{said}");
    assert!(said.contains("List the tools that the model needs"), "{said}");
}
