//! Every dialect through the gateway, once each: a recording allowed and denied, and its record.

use callgate_dialect::Dialect;
use callgate_testkit::clients;
use callgate_testkit::corpus::{self, Allow, Case};
use serde_json::Value;

use crate::support::{ALLOW, ask_for, corpus_server, gateway};

const DENY_ALL: &str =
    "policy: all\nrules:\n  - { id: r, tool: \"*\", verdict: deny, reason: not here }\n";

/// A recording of each dialect that has calls, with its number in the corpus: one stream, or one
/// body.
fn recordings(is_stream: bool) -> Vec<(usize, Case)> {
    let mut found: Vec<(usize, Case)> = Vec::new();
    for (number, case) in corpus::all().into_iter().enumerate() {
        let has_calls = case.about.calls.as_ref().is_some_and(|calls| !calls.is_empty());
        let is_new = found.iter().all(|(_, known)| known.dialect != case.dialect);
        let is_recorded = !case.name.contains("/evasion-") && case.about.allow == Allow::Identical;
        let is_plain = is_recorded && case.is_stream == is_stream;
        if has_calls && is_new && is_plain {
            found.push((number, case));
        }
    }
    found
}

/// The provider of the settings that a dialect's own paths lead to.
fn provider_of(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Anthropic => "anthropic",
        Dialect::OpenAiChat | Dialect::Responses => "openai",
        Dialect::Gemini | Dialect::Interactions => "gemini",
        Dialect::Ollama => "ollama",
        Dialect::Cohere => "cohere",
        Dialect::Converse | Dialect::Invoke => "bedrock",
    }
}

#[test]
fn each_dialect_has_a_stream_with_calls() {
    let found = recordings(true);
    let missing: Vec<&str> = Dialect::ALL
        .into_iter()
        .filter(|dialect| found.iter().all(|(_, case)| case.dialect != *dialect))
        .map(Dialect::as_str)
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn what_is_allowed_arrives_as_it_was_sent() {
    let upstream = corpus_server();
    let gateway = gateway(&upstream, ALLOW, "");
    for (number, case) in recordings(true).into_iter().chain(recordings(false)) {
        let reply = ask_for(&case, &format!("case-{number}")).send(gateway.address());
        assert_eq!(reply.status, 200, "{}: {}", case.name, reply.text());
        assert_eq!(reply.body.len(), case.body.len(), "{}: {}", case.name, reply.text());
        let kind = case.about.content_type.as_deref();
        assert_eq!(reply.header("content-type"), kind, "{}", case.name);
    }
}

#[test]
fn what_is_denied_does_not_arrive_and_is_on_record() {
    for is_stream in [true, false] {
        for (number, case) in recordings(is_stream) {
            let upstream = corpus_server();
            let gateway = gateway(&upstream, DENY_ALL, "");
            let reply = ask_for(&case, &format!("case-{number}")).send(gateway.address());
            assert_eq!(reply.status, 200, "{}: {}", case.name, reply.text());
            for (reading, calls) in clients::readings(case.dialect, &reply.body) {
                assert!(calls.is_empty(), "{}: {reading} sees {calls:?}", case.name);
            }
            let expected = case.about.calls.as_ref().unwrap();
            gateway.wait_until(|gateway| gateway.calls().len() >= expected.len());
            let names: Vec<Value> =
                gateway.calls().iter().map(|call| call["tool"]["name"].clone()).collect();
            let wanted: Vec<&str> = expected.iter().map(|call| call.name.as_str()).collect();
            assert_eq!(names, wanted, "{}", case.name);
            for call in gateway.calls() {
                assert_eq!(call["verdict"]["action"], "deny", "{}", case.name);
                assert_eq!(call["dialect"], case.dialect.as_str(), "{}", case.name);
                assert_eq!(call["provider"], provider_of(case.dialect), "{}", case.name);
                // Cohere's answers and paths name none.
                let has_model = case.dialect != Dialect::Cohere;
                assert_eq!(call["model"].is_string(), has_model, "{}: {call}", case.name);
            }
        }
    }
}

/// Calls where an API has none: flat in another object, without arguments, in a wrong event.
const STRAYS: [&str; 8] = [
    "openai-responses/evasion-item_in_text_delta",
    "openai-responses/evasion-shell_in_container",
    "gemini/evasion-flat_in_part",
    "gemini-interactions/evasion-named_call_in_interaction",
    "ollama/evasion-flat_in_call",
    "cohere/evasion-tool_use_without_input",
    "bedrock-converse/evasion-tool_use_at_the_stop",
    "bedrock-invoke/evasion-plain_tool_use",
];

#[test]
fn a_call_in_no_place_for_calls_is_denied_and_on_record() {
    for (number, case) in corpus::all().into_iter().enumerate() {
        if !STRAYS.contains(&case.name.as_str()) {
            continue;
        }
        let upstream = corpus_server();
        let gateway = gateway(&upstream, DENY_ALL, "");
        let reply = ask_for(&case, &format!("case-{number}")).send(gateway.address());
        for (reading, calls) in clients::readings(case.dialect, &reply.body) {
            assert!(calls.is_empty(), "{}: {reading} sees {calls:?}", case.name);
        }
        let is_denied = |call: &Value| {
            let name = call["tool"]["name"].as_str().unwrap_or_default();
            ["evil", "shell"].contains(&name) && call["verdict"]["action"] == "deny"
        };
        let recorded = gateway.wait_until(|gateway| gateway.calls().iter().any(is_denied));
        assert!(recorded, "{}: {:?}", case.name, gateway.calls());
    }
}
