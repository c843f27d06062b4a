//! `callgate doctor`.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use callgate_testkit::port::free_address;
use serde_json::json;

use crate::support::Test;

/// An address, and the listener that can answer there.
fn address() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

#[test]
fn on_a_machine_with_nothing() {
    let address = free_address().to_string();
    let ran = Test::new(&["doctor"]).env("CALLGATE_LISTEN", &address).run();
    let providers = "anthropic, openai, gemini, vertex, code-assist, mistral, cohere, xai, deepseek, \
                     groq, openrouter, ollama, vllm";
    let expected = format!(
        "\
config    none found, using the defaults
policies  builtin:starter (29 rules)
store     [DIR]/.local/state/callgate/callgate.db
          does not exist yet: `callgate serve` creates it
gateway   not running at {address}; start it with `callgate serve`
api       [DIR]/callgate/api.sock: no gateway listens here; start it with `callgate serve`
enforced  definitions and calls of MCP servers that `callgate mcp wrap` starts
inactive  calls in responses that go through the gateway ({providers}): start it with `callgate serve`
not       tools that requests offer: no rule names the surface `inbound`
not       agents that do not go through the gateway
not       MCP servers that an agent starts or reaches by itself
not       agents' hooks: not in this version
not       connections: not in this version
"
    );
    assert_eq!((ran.code, ran.stdout), (0, expected), "{}", ran.stderr);
}

/// A gateway that says this of itself, once. Ends with what it was asked.
fn gateway(listener: TcpListener, body: &'static str) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 512];
        let n = stream.read(&mut request).unwrap();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        String::from_utf8_lossy(&request[..n]).into_owned()
    })
}

#[test]
fn a_gateway_that_is_not_well() {
    let (listener, address) = address();
    let gateway = gateway(listener, r#"{"status":"degraded","records":"ok"}"#);
    let ran = Test::new(&["doctor"]).env("CALLGATE_LISTEN", &address).run();
    gateway.join().unwrap();
    assert_eq!(ran.code, 1);
    let line =
        format!("gateway   running at {address}, but not healthy (status: degraded, records: ok)");
    assert!(ran.stdout.contains(&line), "{}", ran.stdout);
}

#[test]
fn a_gateway_that_answers() {
    let (listener, address) = address();
    let gateway = gateway(listener, r#"{"status":"ok"}"#);
    let ran = Test::new(&["doctor", "--json"]).env("CALLGATE_LISTEN", &address).run();
    let request = gateway.join().unwrap();
    assert!(request.starts_with("GET /healthz HTTP/1.1\r\n"), "{request}");
    let found = &ran.json()[0];
    assert_eq!((ran.code, &found["ok"]), (0, &json!(true)), "{found}");
    assert_eq!(found["gateway"]["state"], "running");
    assert_eq!(found["store"]["state"], "does not exist yet");
    assert_eq!(found["enforced"].as_array().unwrap().len(), 2, "{found}");
    assert_eq!(found["inactive"], json!([]), "{found}");
}

#[test]
fn another_program_answers() {
    let (listener, address) = address();
    let other = thread::spawn(move || drop(listener.accept().unwrap()));
    let ran = Test::new(&["doctor"]).env("CALLGATE_LISTEN", &address).run();
    other.join().unwrap();
    assert_eq!(ran.code, 1);
    assert!(
        ran.stdout.contains(&format!("another program answers at {address}")),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_store_that_is_not_a_store() {
    let address = free_address().to_string();
    let ran = Test::new(&["doctor", "--config", "c.yaml", "--json"])
        .file("c.yaml", "store: sqlite:notes.txt\npolicies: []\n")
        .file("notes.txt", "these are notes, and nothing like a database at all; leave them be\n")
        .env("CALLGATE_LISTEN", &address)
        .run();
    let found = &ran.json()[0];
    assert_eq!((ran.code, &found["ok"]), (1, &json!(false)), "{found}");
    assert_eq!(found["store"]["state"], "unusable");
    let servers = "definitions and calls of MCP servers that `callgate mcp wrap` starts";
    assert_eq!(found["enforced"], json!([servers]), "without policies, only what needs none");
    let text = std::fs::read_to_string(ran.dir.path().join("notes.txt")).unwrap();
    assert!(text.starts_with("these are notes"));
}

#[test]
fn a_broken_config() {
    let ran = Test::new(&["doctor", "--config", "c.yaml"]).file("c.yaml", "listen: here\n").run();
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.ends_with("error: the config is rejected: 1 problem\n"), "{}", ran.stderr);
}

/// Reports what is wrong with the policy, and everything else that can be known.
#[test]
fn a_broken_policy() {
    let address = free_address().to_string();
    let doctor = |args: &[&str]| {
        Test::new(args)
            .file("c.yaml", "policies: [rules.yaml]\n")
            .file("rules.yaml", "policy: mine\nrules:\n  - { id: a, tool: x, verdict: denied }\n")
            .env("CALLGATE_LISTEN", &address)
            .run()
    };
    let ran = doctor(&["doctor", "--config", "c.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("rules.yaml:3:"), "{}", ran.stderr);
    for line in [
        "policies  the policy is rejected: 1 problem",
        "          does not exist yet",
        "gateway (anthropic, openai, gemini, vertex, code-assist, mistral, cohere, xai, deepseek, groq, openrouter, ollama, vllm): a gateway does not start with a rejected policy",
    ] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("enforced  calls in"), "{}", ran.stdout);
    let ran = doctor(&["doctor", "--config", "c.yaml", "--json"]);
    let found = &ran.json()[0];
    assert_eq!((ran.code, &found["ok"]), (1, &json!(false)), "{found}");
    assert_eq!(found["policy_error"], "the policy is rejected: 1 problem");
}

#[test]
fn offers_are_enforced_by_a_rule_that_names_them() {
    let address = free_address().to_string();
    let rules =
        "policy: mine\nrules: [{ id: a, tool: x, surface: inbound, verdict: deny, reason: No. }]\n";
    let ran = Test::new(&["doctor", "--config", "c.yaml"])
        .file("c.yaml", rules)
        .env("CALLGATE_LISTEN", &address)
        .run();
    let line = "\ninactive  tools that requests offer: start it with `callgate serve`\n";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
}
