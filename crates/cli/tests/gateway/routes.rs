//! Which request goes where, and which nowhere.

use callgate_testkit::gateway::{Gateway, Setup};
use callgate_testkit::http::Ask;
use callgate_testkit::upstream::{Answer, Upstream};
use serde_json::Value;

use crate::support::{
    ALLOW, CHAT, DENY, MESSAGES, ask, binary, emptied, gateway, is_refusal, turns, whole_turns,
};

fn echo() -> Upstream {
    Upstream::start(|request| match request.path.contains("chat") {
        true => turns("read_file", "{}")[1].1.clone(),
        false => turns("read_file", "{}")[0].1.clone(),
    })
}

#[test]
fn paths_and_prefixes_lead_to_providers() {
    let upstream = echo();
    let url = upstream.url();
    let config = format!(
        "providers:\n  anthropic: {{ base_url: \"{url}/a\", dialect: anthropic }}\n  \
         openai: {{ base_url: \"{url}/o/v1\", dialect: openai-chat }}\n  \
         local: {{ base_url: \"{url}/l/api/v1\", dialect: openai-chat }}\npolicies: [rules.yaml]\n"
    );
    let gateway = Setup::bare(binary()).file("rules.yaml", ALLOW).config(&config).start();
    for (asked, sent) in [
        ("/v1/messages", "/a/v1/messages"),
        ("/v1/messages?beta=true", "/a/v1/messages?beta=true"),
        ("/anthropic/v1/messages", "/a/v1/messages"),
        ("/v1/chat/completions", "/o/v1/chat/completions"),
        ("/openai/v1/chat/completions", "/o/v1/chat/completions"),
        ("/openai/chat/completions", "/o/v1/chat/completions"),
        ("/local/v1/chat/completions?a=b%20c", "/l/api/v1/chat/completions?a=b%20c"),
    ] {
        assert_eq!(ask(asked).send(gateway.address()).status, 200, "{asked}");
        assert_eq!(upstream.requests().pop().unwrap().path, sent, "{asked}");
    }
}

/// Whose API it is, is all that callgate must know of a provider.
#[test]
fn a_provider_of_ones_own_is_three_lines() {
    let upstream = Upstream::always(whole_turns("delete_all", "{}")[1].1.clone());
    let url = upstream.url();
    let config = format!(
        "providers:
  mine:
    base_url: \"{url}/llm/v1\"
    dialect: openai-chat
policies: [rules.yaml]
on_deny: explain
"
    );
    let gateway = Setup::bare(binary()).file("rules.yaml", DENY).config(&config).start();
    let reply = ask("/mine/v1/chat/completions").send(gateway.address());
    let message = &reply.json()["choices"][0]["message"];
    assert_eq!((reply.status, message.get("tool_calls")), (200, None), "{}", reply.text());
    assert_eq!(upstream.request().path, "/llm/v1/chat/completions");
    let calls = gateway.calls();
    assert_eq!(
        (&calls[0]["provider"], &calls[0]["dialect"]),
        (&"mine".into(), &"openai-chat".into())
    );
}

/// One provider, several dialects: the path tells which.
#[test]
fn the_path_tells_the_dialect_of_a_provider() {
    let upstream = echo();
    let config = format!(
        "providers:\n  box: {{ base_url: \"{}/v1\", dialect: openai-chat }}\npolicies: [rules.yaml]\n",
        upstream.url()
    );
    let gateway = Setup::bare(binary()).file("rules.yaml", ALLOW).config(&config).start();
    for path in ["/box/v1/chat/completions", "/box/v1/messages"] {
        assert_eq!(ask(path).send(gateway.address()).status, 200, "{path}");
    }
    let dialects: Vec<Value> = gateway.calls().iter().map(|call| call["dialect"].clone()).collect();
    assert_eq!(dialects, ["openai-chat", "anthropic"]);
}

/// Whatever callgate itself refuses, every SDK gets in its own API's shape.
#[test]
fn refusals_have_the_shape_of_the_api() {
    let upstream = echo();
    let gateway = gateway(&upstream, ALLOW, "");
    for path in [
        MESSAGES,
        CHAT,
        "/v1/responses",
        "/v1beta/models/m:generateContent",
        "/v1beta/interactions",
        "/api/chat",
        "/v2/chat",
        "/model/m/converse",
        "/model/m/invoke-with-response-stream",
    ] {
        let reply = Ask::post(path, "{}").header("host", "evil.example").send(gateway.address());
        is_refusal(&reply, path, 421);
    }
    assert!(upstream.requests().is_empty());
}

#[test]
fn unknown_paths_get_404_with_a_hint_and_go_nowhere() {
    let upstream = echo();
    let gateway = gateway(&upstream, ALLOW, "");
    for path in ["/", "/v2/messages", "/v1/unknown", "/nobody/v1/messages", "/v1/messagesx"] {
        let reply = Ask::post(path, "{}").send(gateway.address());
        assert_eq!(reply.status, 404, "{path}: {}", reply.text());
        assert!(reply.text().contains("/v1/messages"), "{path}: {}", reply.text());
    }
    assert!(upstream.requests().is_empty());
}

#[test]
fn paths_that_carry_calls_unread_are_refused() {
    let upstream = echo();
    let gateway = gateway(&upstream, ALLOW, "");
    for path in [
        "/v1/messages/batches/b/results",
        "/v1/responses/r_1/anything",
        "/v1beta/batches/b",
        "/v1/threads/t/runs",
        "/v1/realtime",
        "/v1/files/f/content",
        "/v1/chat/completions/c/messages",
        "/v1/sessions/s/events",
    ] {
        let reply = Ask::get(path).send(gateway.address());
        assert_eq!(reply.status, 404, "{path}: {}", reply.text());
    }
    assert!(upstream.requests().is_empty());
}

#[test]
fn crooked_paths_do_not_lead_around_the_gate() {
    let upstream = Upstream::always(whole_turns("delete_all", "{}")[1].1.clone());
    let gateway = gateway(&upstream, DENY, "");
    for path in [
        "/v1/models/../chat/completions",
        "/v1//chat/completions",
        "/v1/models/%2e%2e/chat/completions",
        "/v1/chat%2Fcompletions",
        "/v1/%63hat/completions",
        "/v1/models/..%2fchat/completions",
        "/v1/models/..\\chat\\completions",
        "/v1/chat/completions/",
        "/v1/chat/completions;x",
        "/openai/../openai/v1/chat/completions",
    ] {
        let reply = Ask::post(path, "{}").send(gateway.address());
        assert!(!reply.text().contains("delete_all\""), "{path}: {}", reply.text());
    }
}

#[test]
fn other_paths_of_a_provider_pass() {
    let body = r#"{ "data" : [ {"id": "m"} ] }"#;
    let upstream = Upstream::always(Answer::json(200, body).header("etag", "\"x\""));
    let gateway = gateway(&upstream, ALLOW, "");
    for (method, path) in [
        ("GET", "/v1/models"),
        ("GET", "/v1/models/m"),
        ("POST", "/v1/embeddings"),
        ("POST", "/v1/messages/count_tokens"),
        ("GET", "/v1/files"),
    ] {
        let reply = Ask::new(method, path).send(gateway.address());
        assert_eq!((reply.status, reply.text()), (200, body.to_owned()), "{path}");
        assert_eq!(upstream.requests().pop().unwrap().path, path);
    }
}

#[test]
fn the_operator_can_open_a_path() {
    let upstream = Upstream::always(Answer::json(200, r#"{"fine":true}"#));
    let gateway = gateway(&upstream, ALLOW, "gateway: { passthrough: [/v1/special] }");
    assert_eq!(Ask::get("/v1/special").send(gateway.address()).status, 200);
    assert_eq!(Ask::get("/v1/specialist").send(gateway.address()).status, 404);
}

#[test]
fn a_stored_completion_is_inspected() {
    let upstream = Upstream::always(whole_turns("delete_all", "{}")[1].1.clone());
    let denying = gateway(&upstream, DENY, "");
    let reply = Ask::get("/v1/chat/completions/c_1").send(denying.address());
    let message = &reply.json()["choices"][0]["message"];
    assert_eq!((reply.status, message.get("tool_calls")), (200, None), "{}", reply.text());
    let calls = denying.calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!(
        (&calls[0]["tool"]["name"], &calls[0]["verdict"]["action"]),
        (&"delete_all".into(), &"deny".into())
    );
    let allowing = gateway(&upstream, ALLOW, "");
    let reply = Ask::get("/v1/chat/completions/c_1").send(allowing.address());
    assert_eq!(
        reply.json()["choices"][0]["message"]["tool_calls"][0]["function"]["name"],
        "delete_all"
    );
}

#[test]
fn a_list_of_stored_completions_shows_no_denied_call() {
    let (_, body) = emptied(whole_turns("delete_all", "{}")[1].1.clone());
    let list = [b"{\"object\":\"list\",\"data\":[", &*body, b"]}"].concat();
    let upstream = Upstream::always(Answer::json(200, list));
    let gateway = gateway(&upstream, DENY, "");
    let reply = Ask::get("/v1/chat/completions").send(gateway.address());
    assert!(!reply.text().contains("delete_all\""), "{}", reply.text());
}

#[test]
fn a_websocket_is_refused() {
    let upstream = echo();
    let gateway = gateway(&upstream, ALLOW, "");
    for path in ["/v1/realtime", "/v1/responses", "/v1/responses/r_1", "/ws/live", CHAT] {
        let ask = Ask::get(path).header("connection", "upgrade").header("upgrade", "websocket");
        let reply = ask.send(gateway.address());
        assert_eq!(reply.status, 426, "{path}: {}", reply.text());
    }
    assert!(upstream.requests().is_empty());
}

#[test]
fn a_client_header_does_not_choose_the_dialect() {
    // A Chat body on the Anthropic path, with headers that claim otherwise, is still refused.
    let upstream = Upstream::always(turns("delete_all", "{}")[1].1.clone());
    let gateway = gateway(&upstream, DENY, "");
    let ask = ask(MESSAGES).header("x-dialect", "openai-chat").header("x-provider", "openai");
    let reply = ask.send(gateway.address());
    assert!(!reply.text().contains("delete_all\""), "{}", reply.text());
}

#[test]
fn redirects_are_refused() {
    for status in [301, 302, 303, 307, 308] {
        for path in [MESSAGES, CHAT] {
            let answer = Answer::json(status, "{}").header("location", "http://127.0.0.1:9/v1/x");
            let upstream = Upstream::always(answer);
            let gateway = gateway(&upstream, ALLOW, "");
            let reply = ask(path).send(gateway.address());
            is_refusal(&reply, path, 502);
            assert_eq!(reply.header("location"), None);
            assert_eq!(upstream.requests().len(), 1);
        }
    }
}

#[test]
fn redirects_of_other_paths_are_refused() {
    let answer = Answer::json(307, "{}").header("location", "http://127.0.0.1:9/v1/x");
    let upstream = Upstream::always(answer);
    let gateway = gateway(&upstream, ALLOW, "");
    let reply = Ask::get("/v1/models").send(gateway.address());
    assert_eq!((reply.status, reply.header("location")), (502, None));
}

#[test]
fn without_a_config_file_the_starter_policy_judges() {
    let upstream = Upstream::always(
        whole_turns("bash", r#"{"command":"rm -rf / --no-preserve-root"}"#)[0].1.clone(),
    );
    // The config contains only the providers.
    let url = upstream.url();
    let config =
        format!("providers:\n  anthropic: {{ base_url: \"{url}\", dialect: anthropic }}\n");
    let gateway = Setup::bare(binary()).config(&config).start();
    let reply = ask(MESSAGES).send(gateway.address());
    let content: Value = reply.json()["content"].clone();
    let kinds: Vec<&Value> =
        content.as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert!(kinds.iter().all(|kind| *kind == "text"), "{}", reply.text());
}

/// Some servers route by the end of a path. Their answer is not forwarded unjudged.
#[test]
fn a_path_that_ends_like_an_inspected_one_is_refused() {
    let upstream =
        Upstream::start(|_| whole_turns("delete_all", "{}").into_iter().next().unwrap().1);
    let gateway = gateway(&upstream, DENY, "");
    for path in [
        "/v1/vector_stores/x/chat/completions",
        "/v1/audio/chat/completions",
        "/v1/audio/Chat/Completions",
        "/v1/uploads/v1/messages",
        "/v1/uploads/responses",
        "/v1/images/x/conversations",
        "/openai/v1/audio/api/chat",
        "/v1/skills/x/messages",
    ] {
        let reply = ask(path).send(gateway.address());
        assert_eq!(reply.status, 404, "{path}: {}", reply.text());
    }
    assert!(upstream.requests().is_empty());
    for (method, path) in [
        ("POST", "/v1/audio/transcriptions"),
        ("POST", "/v1/uploads/u/parts"),
        ("GET", "/v1/vector_stores/x/files/f/content"),
        ("GET", "/v1/organizations/usage_report/messages"),
    ] {
        let reply = Ask::new(method, path).send(gateway.address());
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    }
}

#[test]
fn a_file_of_googles_is_not_downloaded_by_its_query() {
    let upstream = Upstream::always(Answer::json(200, "{}"));
    let closed = gateway(&upstream, DENY, "");
    for query in ["alt=media", "a=b&alt=media", "%24alt=MEDIA", "key=k&%61lt=m%65dia"] {
        let reply = Ask::get(&format!("/v1beta/files/x?{query}")).send(closed.address());
        assert_eq!(reply.status, 404, "{query}: {}", reply.text());
        assert_eq!(reply.json()["error"]["status"], "NOT_FOUND", "{}", reply.text());
    }
    assert!(upstream.requests().is_empty());
    assert_eq!(Ask::get("/v1beta/files/x?alt=json").send(closed.address()).status, 200);
    let opened = gateway(&upstream, DENY, "gateway: { passthrough: [/v1beta/files/] }");
    assert_eq!(Ask::get("/v1beta/files/x?alt=media").send(opened.address()).status, 200);
}

/// A client that was set up wrongly may have its key in the path.
#[test]
fn what_may_be_a_secret_in_a_path_is_not_logged() {
    let upstream = Upstream::always(Answer::json(200, "{}"));
    let gateway = gateway(&upstream, DENY, "");
    let secret = "sk-ant-api03-0123456789abcdef";
    assert_eq!(Ask::get(&format!("/v1/{secret}/things")).send(gateway.address()).status, 404);
    let logged = |gateway: &Gateway| gateway.said().contains("/v1/*/things");
    assert!(gateway.wait_until(logged), "{}", gateway.said());
    assert!(!gateway.said().contains(secret), "{}", gateway.said());
}
