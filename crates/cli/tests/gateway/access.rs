//! Who may come in, and as whom.

use callgate_testkit::gateway::{Gateway, Setup};
use callgate_testkit::http::Ask;
use callgate_testkit::upstream::{Answer, Upstream};
use serde_json::Value;

use crate::support::{ALLOW, CHAT, MESSAGES, ask, binary, gateway, setup, whole_turns};

fn server() -> Upstream {
    Upstream::start(|request| {
        let [message, completion] = whole_turns("read_file", "{}");
        if request.path.contains("chat") { completion.1 } else { message.1 }
    })
}

#[test]
fn a_wrong_host_is_refused() {
    let upstream = server();
    let gateway = gateway(&upstream, ALLOW, "");
    for host in ["evil.example", "evil.example:8484", "127.0.0.1.nip.io", "10.0.0.1", ""] {
        for path in [MESSAGES, "/metrics", "/v1/models"] {
            let reply = ask(path).header("host", host).send(gateway.address());
            assert!([400, 403, 421].contains(&reply.status), "{host}: {}", reply.status);
        }
    }
    assert!(upstream.requests().is_empty());
    for host in ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:8484"] {
        assert_eq!(
            ask(MESSAGES).header("host", host).send(gateway.address()).status,
            200,
            "{host}"
        );
    }
}

#[test]
fn a_request_without_a_host_is_refused() {
    use std::io::{Read, Write};
    let upstream = server();
    let gateway = gateway(&upstream, ALLOW, "");
    let mut stream = std::net::TcpStream::connect(gateway.address()).unwrap();
    stream
        .write_all(
            b"POST /v1/messages HTTP/1.1\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}",
        )
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok();
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    assert!(upstream.requests().is_empty());
}

#[test]
fn a_foreign_page_is_refused() {
    let upstream = server();
    let gateway = gateway(&upstream, ALLOW, "");
    for (name, value) in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("origin", "http://localhost.evil.example"),
        ("sec-fetch-site", "cross-site"),
    ] {
        let reply = ask(MESSAGES).header(name, value).send(gateway.address());
        assert_eq!(reply.status, 403, "{name}: {value}");
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }
    assert!(upstream.requests().is_empty());
    let reply = ask(MESSAGES).header("origin", "http://localhost:3000").send(gateway.address());
    assert_eq!(reply.status, 200);
}

/// Makes a key; gives it as it was shown.
#[track_caller]
pub(crate) fn add_key(setup: &Setup, args: &[&str]) -> String {
    let ran = setup.run(&[&["keys", "add"], args].concat());
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let key = text.split_whitespace().find(|word| word.starts_with("cg_"));
    key.unwrap_or_else(|| panic!("no key in {text}")).trim_matches(['"', ',']).to_owned()
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// Wherever a client puts it, a gateway key is not the provider's to see.
#[test]
fn a_gateway_key_never_goes_up() {
    let upstream = server();
    let setup = setup(&upstream, ALLOW, "").listen("0.0.0.0:0");
    let key = add_key(&setup, &["ci"]);
    let gateway = setup.start();
    for (name, value) in [
        ("authorization", format!("Bearer {key}")),
        ("authorization", key.clone()),
        ("x-api-key", key.clone()),
        ("api-key", key.clone()),
        ("x-goog-api-key", key.clone()),
        ("x-other", format!("a {key} b")),
        ("authorization", format!("Basic {}", base64(&format!("user:{key}")))),
        ("authorization", format!("bAsIc  {}", base64(&format!("{key}:")).trim_end_matches('='))),
        ("x-other", format!("Basic {}", base64(&key))),
        ("authorization", format!("Basic\t{}", base64(&format!("user:{key}")))),
        ("authorization", format!("Bearer {}", base64(&key))),
        ("authorization", format!("Bearer {}", base64(&key).replace('+', "-").replace('/', "_"))),
        ("authorization", format!("Bearer {}", base64(&base64(&key)))),
        ("authorization", format!("Bearer {}", key.replace('_', "%5F"))),
        ("x-api-key", key.replace('c', "%2563")),
        ("cookie", format!("a=b; k={}", base64(&key))),
    ] {
        let request = ask(MESSAGES).header("x-callgate-key", &key).header(name, &value);
        let reply = request.send(gateway.address());
        assert_eq!(reply.status, 401, "{name}: {}", reply.text());
    }
    let hidden = key.replace('_', "%5f").replace('g', "%67");
    for query in [format!("key={key}"), format!("a=b&c={hidden}"), hidden.clone()] {
        let path = format!("{MESSAGES}?{query}");
        let reply = ask(&path).header("x-callgate-key", &key).send(gateway.address());
        assert_eq!(reply.status, 401, "{}", reply.text());
    }
    for segment in [&key, &base64(&key).replace('=', "").replace('/', "_")] {
        let path = format!("/v1beta/models/{segment}:generateContent");
        let reply = ask(&path).header("x-callgate-key", &key).send(gateway.address());
        assert_eq!(reply.status, 401, "{}", reply.text());
    }
    assert!(upstream.requests().is_empty());
    // Keys of providers look like base64 too.
    let theirs = format!("Bearer sk-ant-api03-{}", "Aa0_".repeat(24));
    let other = base64(&"cg_is short".repeat(9));
    for (name, value) in [("authorization", &theirs), ("x-other", &other)] {
        let ask = Ask::post(MESSAGES, "{}").header("x-callgate-key", &key).header(name, value);
        assert_eq!(ask.send(gateway.address()).status, 200, "{value}");
    }
}

#[test]
fn another_address_needs_a_key() {
    let upstream = server();
    let setup = setup(&upstream, ALLOW, "").listen("0.0.0.0:0");
    let key = add_key(&setup, &["ci", "--team", "platform", "--user", "build"]);
    let gateway = setup.start();
    for path in [MESSAGES, CHAT] {
        let reply = ask(path).send(gateway.address());
        assert_eq!(reply.status, 401, "{}", reply.text());
        assert!(reply.text().contains("x-callgate-key"), "{}", reply.text());
        let other = if key.ends_with('x') { "y" } else { "x" };
        let wrong = format!("{}{other}", &key[..key.len() - 1]);
        for bad in ["", "cg_", "none", &wrong] {
            let reply = ask(path).header("x-callgate-key", bad).send(gateway.address());
            assert_eq!(reply.status, 401, "{bad}");
        }
    }
    assert_eq!(Ask::get("/metrics").send(gateway.address()).status, 401);
    assert_eq!(Ask::get("/healthz").send(gateway.address()).status, 200);
    assert!(upstream.requests().is_empty());
    // A page of the gateway's own may ask, a page of another site may not.
    let page = |origin: &str| {
        let ask = Ask::get("/metrics").header("host", "gate.example").header("origin", origin);
        ask.header("x-callgate-key", &key).send(gateway.address()).status
    };
    assert_eq!((page("https://gate.example"), page("https://evil.example")), (200, 403));
    let reply = ask(MESSAGES).header("x-callgate-key", &key).send(gateway.address());
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(upstream.request().header("x-callgate-key"), None, "the key went on");
    let who = principal(&gateway);
    assert_eq!(
        (&who["key"], &who["team"], &who["user"]),
        (&"ci".into(), &"platform".into(), &"build".into())
    );
    revoked(&gateway, &key);
}

fn revoked(gateway: &Gateway, key: &str) {
    assert!(gateway.run(&["keys", "revoke", "ci"]).status.success());
    let refused = |gateway: &Gateway| {
        ask(MESSAGES).header("x-callgate-key", key).send(gateway.address()).status == 401
    };
    assert!(gateway.wait_until(refused), "a revoked key still works");
}

/// An expiry holds in a gateway that runs, whose keys are in memory, and so does a renewal.
#[test]
fn an_expired_key_is_refused_until_it_is_renewed() {
    let upstream = server();
    let url = upstream.url();
    let config = format!(
        "providers:\n  anthropic: {{ base_url: \"{url}\", dialect: anthropic, api_key_env: REAL_KEY }}\npolicies: [rules.yaml]\n"
    );
    for listen in ["0.0.0.0:0", "127.0.0.1:0"] {
        let setup = Setup::bare(binary()).file("rules.yaml", ALLOW).config(&config);
        let setup = setup.listen(listen).env("REAL_KEY", "sk-real");
        let expired = add_key(&setup, &["gone", "--expires", "0s"]);
        let key = add_key(&setup, &["ci", "--expires", "3s"]);
        let gateway = setup.start();
        for header in ["x-callgate-key", "x-api-key"] {
            let send =
                |key: &str| Ask::post(MESSAGES, "{}").header(header, key).send(gateway.address());
            let before = upstream.requests().len();
            let reply = send(&expired);
            assert_eq!(reply.status, 401, "{}", reply.text());
            let told = "the gateway key `gone` has expired. The operator renews it with `callgate keys renew gone`.";
            assert!(reply.text().contains(told), "{}", reply.text());
            assert_eq!(upstream.requests().len(), before, "{listen} {header}");
            // It was good when the gateway started, and nothing but time has passed since.
            assert!(gateway.wait_until(|_| send(&key).text().contains("`ci` has expired")));
        }
        assert!(gateway.run(&["keys", "renew", "ci", "--expires", "1d"]).status.success());
        let passes = |gateway: &Gateway| {
            let ask = Ask::post(MESSAGES, "{}").header("x-callgate-key", &key);
            ask.send(gateway.address()).status == 200
        };
        assert!(gateway.wait_until(passes), "a renewed key does not work");
        let ran = gateway.run(&["keys", "renew", "ci", "--new-secret"]);
        let new = String::from_utf8(ran.stdout).unwrap().trim().to_owned();
        assert!(gateway.wait_until(|gateway| {
            let ask = Ask::post(MESSAGES, "{}").header("x-callgate-key", &new);
            ask.send(gateway.address()).status == 200
        }));
        assert!(!passes(&gateway), "the old secret still works");
    }
}

/// Who made the only call so far.
pub(crate) fn principal(gateway: &Gateway) -> Value {
    let calls = gateway.calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    calls[0]["principal"].clone()
}

#[test]
fn a_key_can_be_sent_instead_of_the_providers() {
    let upstream = server();
    let url = upstream.url();
    let config = format!(
        "providers:\n  anthropic: {{ base_url: \"{url}\", dialect: anthropic, api_key_env: REAL_KEY }}\n  \
         openai: {{ base_url: \"{url}/v1\", dialect: openai-chat, api_key_env: REAL_KEY }}\npolicies: [rules.yaml]\n"
    );
    let setup = Setup::bare(binary()).file("rules.yaml", ALLOW).config(&config);
    let setup = setup.listen("0.0.0.0:0").env("REAL_KEY", "sk-real");
    let key = add_key(&setup, &["ci"]);
    let gateway = setup.start();
    let body = r#"{"messages":[]}"#;
    let bearer = format!("Bearer {key}");
    for (path, name, value) in [
        (MESSAGES, "x-api-key", &key),
        (MESSAGES, "authorization", &bearer),
        (CHAT, "authorization", &bearer),
    ] {
        let reply = Ask::post(path, body).header(name, value).send(gateway.address());
        assert_eq!(reply.status, 200, "{path} {name}: {}", reply.text());
        let request = upstream.requests().pop().unwrap();
        let sent: Vec<&str> =
            ["x-api-key", "authorization"].iter().filter_map(|name| request.header(name)).collect();
        assert!(sent == ["sk-real"] || sent == ["Bearer sk-real"], "{path} {name}: {sent:?}");
        assert!(!format!("{request:?}").contains(&key), "the gateway key went on");
    }
    let reply =
        Ask::post(CHAT, body).header("authorization", "Bearer sk-real").send(gateway.address());
    assert_eq!(reply.status, 401, "the provider's own key is no gateway key");
}

/// Google's clients have two more places for their key, Azure's another one.
#[test]
fn a_key_is_swapped_wherever_clients_put_it() {
    let upstream = Upstream::always(Answer::json(200, "{}"));
    let url = upstream.url();
    let config = format!(
        "providers:\n  gemini: {{ base_url: \"{url}\", api_key_env: REAL_KEY }}\n  \
         mine: {{ base_url: \"{url}\", dialect: openai-chat, api_key_env: REAL_KEY }}\npolicies: [rules.yaml]\n"
    );
    let setup = Setup::bare(binary()).file("rules.yaml", ALLOW).config(&config);
    let setup = setup.listen("0.0.0.0:0").env("REAL_KEY", "sk-real");
    let key = add_key(&setup, &["ci"]);
    let gateway = setup.start();
    let (models, bearer) = ("/v1beta/models", format!("Bearer {key}"));
    let in_query = format!("{models}?a=b&key={key}&c=%20d");
    for (path, name, value, sent) in [
        (models, "x-goog-api-key", key.as_str(), ("x-goog-api-key", "sk-real")),
        (models, "authorization", bearer.as_str(), ("x-goog-api-key", "sk-real")),
        (in_query.as_str(), "accept", "*/*", ("x-goog-api-key", "sk-real")),
        ("/mine/openai/models", "api-key", key.as_str(), ("authorization", "Bearer sk-real")),
    ] {
        let reply = Ask::get(path).header(name, value).send(gateway.address());
        assert_eq!(reply.status, 200, "{path} {name}: {}", reply.text());
        let request = upstream.requests().pop().unwrap();
        assert_eq!(request.header(sent.0), Some(sent.1), "{path} {name}");
        assert!(!format!("{request:?}").contains(&key), "the gateway key went on");
        if path == in_query {
            assert_eq!(request.path, "/v1beta/models?a=b&c=%20d");
        }
    }
    let reply = Ask::get("/v1beta/models?key=sk-other").send(gateway.address());
    assert_eq!(reply.status, 401, "{}", reply.text());
}

#[test]
fn a_client_cannot_say_who_it_is() {
    let upstream = server();
    let gateway = gateway(&upstream, ALLOW, "");
    let claims = ["user", "team", "org", "key", "principal"];
    let ask = claims.iter().fold(ask(MESSAGES), |ask, name| {
        ask.header(&format!("x-callgate-{name}"), "mallory").header(&format!("x-{name}"), "mallory")
    });
    assert_eq!(ask.send(gateway.address()).status, 401, "a key that nobody has is refused");
    let claims = ["user", "team", "org", "principal"];
    let ask = claims.iter().fold(crate::support::ask(MESSAGES), |ask, name| {
        ask.header(&format!("x-callgate-{name}"), "mallory").header(&format!("x-{name}"), "mallory")
    });
    assert_eq!(ask.send(gateway.address()).status, 200);
    let who = principal(&gateway);
    assert!(!who.to_string().contains("mallory"), "{who}");
    assert_eq!(who["user"], callgate_decide::login::own().unwrap());
}

#[test]
fn what_a_client_claims_of_its_agent_and_session_is_a_claim() {
    let upstream = server();
    let gateway = gateway(&upstream, ALLOW, "");
    let ask = ask(MESSAGES).header("x-callgate-agent", "claude-code");
    assert_eq!(ask.header("x-callgate-session", "s-1").send(gateway.address()).status, 200);
    let who = principal(&gateway);
    assert_eq!((&who["agent"], &who["session"]), (&"claude-code".into(), &"s-1".into()));
    assert_ne!(who["agent_proven"], Value::Bool(true));
    assert_eq!(upstream.request().header("x-callgate-agent"), None);
}

#[test]
fn a_claim_does_not_open_a_rule_that_allows() {
    let policy = "policy: agents\ndefault: deny\nrules:\n  - { id: trusted, agent: claude-code, tool: read_file, verdict: allow }\n";
    let upstream = server();
    let gateway = gateway(&upstream, policy, "");
    let ask = ask(MESSAGES).header("x-callgate-agent", "claude-code");
    let reply = ask.header("user-agent", "claude-cli/2.0").send(gateway.address());
    assert!(!reply.text().contains("tool_use\""), "{}", reply.text());
}
