//! The official clients talk to the scripted model without a gateway: what they send back is what
//! a provider takes, and what they send back of a turn that lost a call is not.

#![cfg(feature = "servers")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must stop"
)]

use callgate_dialect::Dialect;
use callgate_gate::OnDeny;
use callgate_testkit::provider::{Provider, TOOLS, TurnPart};
use callgate_testkit::upstream::{Answer, Request, Upstream};
use callgate_testkit::{drive, sdk};
use serde_json::{Value, json};

/// A script whose calls all reach the client, and so are as every client writes them again.
fn honest() -> Provider {
    let one = vec![
        TurnPart::thinking("Two files.", "sig/{n}/1=="),
        TurnPart::text("I read two."),
        TurnPart::call("{n}_1a", "read_file", r#"{"path":"Größe","depth":2}"#),
        TurnPart::call("{n}_1b", "delete_all", "{}"),
    ];
    let two = vec![
        TurnPart::thinking("And one.", "sig/{n}/2=="),
        TurnPart::call("{n}_2a", "bash", r#"{"command":"ls"}"#),
    ];
    Provider::default().script("honest", vec![one, two])
}

fn job(client: &str, id: usize, root: &str) -> Value {
    let say = format!("[script honest #{id}] Please.");
    json!({ "id": id.to_string(), "client": client, "base_url": root, "say": say, "tools": TOOLS })
}

#[test]
fn clients_carry_turns_back_as_they_were() {
    let Some(interpreters) = sdk::interpreters() else { return };
    let provider = honest();
    let upstream = Upstream::start(move |request| provider.answer(request));
    for (mut driver, clients) in interpreters.talkers() {
        let jobs: Vec<Value> = clients
            .iter()
            .enumerate()
            .map(|(id, client)| job(client, id, &upstream.url()))
            .collect();
        for calls in [2, 1, 0] {
            for (id, result) in driver.ask(&jobs) {
                let client = clients[id.parse::<usize>().unwrap()];
                assert_eq!(result["error"], Value::Null, "{client}: {result}");
                assert_eq!(result["calls"].as_array().unwrap().len(), calls, "{client}: {result}");
            }
        }
    }
}

#[test]
fn a_turn_that_lost_a_call_is_refused() {
    let Some(interpreters) = sdk::interpreters() else { return };
    let provider = honest();
    let upstream = Upstream::start(move |request| filtered(request, provider.answer(request)));
    for (mut driver, clients) in interpreters.talkers() {
        let jobs: Vec<Value> = clients
            .iter()
            .enumerate()
            .map(|(id, client)| job(client, id, &upstream.url()))
            .collect();
        for (_, result) in driver.ask(&jobs) {
            assert_eq!(result["error"], Value::Null, "{result}");
            assert_eq!(result["calls"][0][0], "read_file", "{result}");
            assert_eq!(result["calls"].as_array().unwrap().len(), 1, "{result}");
        }
        for (id, result) in driver.ask(&jobs) {
            let client = clients[id.parse::<usize>().unwrap()];
            let error = result["error"].as_str().unwrap_or_default();
            let refusals = ["xpected", "These are not the items", "No tool output found"];
            let is_refused = refusals.iter().any(|words| error.contains(words));
            assert!(is_refused, "{client}: {result}");
        }
    }
}

/// What a gate makes of an answer, where nobody puts removed calls back.
fn filtered(request: &Request, answer: Answer) -> Answer {
    let dialect = match request.path.as_str() {
        path if path.ends_with("/messages") => Dialect::Anthropic,
        path if path.ends_with("/responses") => Dialect::Responses,
        path if path.contains("enerateContent") => Dialect::Gemini,
        path if path.ends_with("/v2/chat") => Dialect::Cohere,
        path if path.ends_with("/api/chat") => Dialect::Ollama,
        _ => Dialect::OpenAiChat,
    };
    let policies = drive::deny_names(&["delete_all"]);
    answer.map_body(|body| {
        drive::run(dialect, drive::settings(OnDeny::Explain), &policies, [body]).out
    })
}
