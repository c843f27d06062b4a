//! Responses and conversations that the provider stores: calls that were removed get an error
//! result when a request continues them, and cannot be read back.

use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::{Ask, Reply};
use callgate_testkit::provider::{POLICY, Provider};
use callgate_testkit::upstream::{Request, Upstream};
use serde_json::{Value, json};

use crate::support::{ALLOW, gateway};

const RESPONSES: &str = "/v1/responses";

fn server() -> Upstream {
    let provider = Provider::scripted();
    Upstream::start(move |request| provider.answer(request))
}

fn post_as(gateway: &Gateway, key: &str, path: &str, body: &Value) -> Reply {
    let ask = Ask::post(path, body.to_string()).header("content-type", "application/json");
    ask.header("authorization", &format!("Bearer {key}")).send(gateway.address())
}

fn post(gateway: &Gateway, path: &str, body: &Value) -> Reply {
    post_as(gateway, "none", path, body)
}

fn get(gateway: &Gateway, path: &str) -> Reply {
    Ask::get(path).header("authorization", "Bearer none").send(gateway.address())
}

/// The body of a first request.
fn first(script: &str, more: Value) -> Value {
    let mut body = json!({ "model": "any", "input": format!("[script {script} #1] Please.") });
    if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
        body.extend(more);
    }
    body
}

/// The response in a body or at the end of a stream.
#[track_caller]
fn response(reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{}", reply.text());
    if reply.text().starts_with('{') {
        return reply.json();
    }
    let text = reply.text();
    let last = text.lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
    serde_json::from_str::<Value>(last.unwrap_or_default()).unwrap()["response"].clone()
}

/// Whether a denied call stands anywhere in a text, by its name or its arguments. A notice names
/// the one without quotes, and the other without its key.
fn shows_denied(reply: &Reply) -> bool {
    let arguments = r#"{\"command\": \"rm -rf"#;
    reply.text().contains("\"delete_all\"") || reply.text().contains(arguments)
}

/// The outputs that a request carries, by the ids of their calls.
fn outputs(request: &Request) -> Vec<(String, String)> {
    let body = request.json();
    let items = body["input"].as_array().cloned().unwrap_or_default();
    let outputs = items.iter().filter(|item| item["type"] == "function_call_output");
    outputs
        .map(|item| (item["call_id"].as_str().unwrap().to_owned(), item["output"].to_string()))
        .collect()
}

/// The provider does what it is here for: without a gateway nobody gets on like this.
#[test]
fn the_provider_wants_an_output_for_every_call() {
    let upstream = server();
    let gateway = gateway(&upstream, ALLOW, "");
    let one = response(&post(&gateway, RESPONSES, &first("all by name", json!({}))));
    let next = json!({ "input": "Go on.", "previous_response_id": one["id"] });
    let reply = post(&gateway, RESPONSES, &next);
    assert_eq!(reply.status, 400);
    assert!(reply.text().contains("No tool output found for function call 1_1a"));
}

#[test]
fn a_kept_response_is_gone_on_from_after_a_denial() {
    for settings in ["on_deny: explain", "on_deny: silent"] {
        for stream in [true, false] {
            let upstream = server();
            let mut gateway = gateway(&upstream, POLICY, settings);
            let asked = first("all by name", json!({ "stream": stream }));
            let reply = post(&gateway, RESPONSES, &asked);
            assert!(!shows_denied(&reply), "{}", reply.text());
            let mut last = response(&reply);
            gateway = gateway.restart();
            for ids in [vec!["1_1a"], vec!["1_2a", "1_2b"]] {
                let next = json!({ "input": "Go on.", "previous_response_id": last["id"],
                    "stream": stream });
                let reply = post(&gateway, RESPONSES, &next);
                assert!(!shows_denied(&reply), "{}", reply.text());
                last = response(&reply);
                let sent = outputs(&upstream.requests().pop().unwrap());
                let answered: Vec<&str> = sent.iter().map(|(id, _)| id.as_str()).collect();
                assert_eq!(answered, ids, "{settings} {stream}");
                assert!(sent.iter().all(|(_, output)| output.contains("Nothing is")), "{sent:?}");
            }
        }
    }
}

#[test]
fn results_of_allowed_calls_go_with_those_of_denied_ones() {
    let upstream = server();
    let gateway = gateway(&upstream, POLICY, "");
    let one = response(&post(&gateway, RESPONSES, &first("one by name", json!({}))));
    let result = json!({ "type": "function_call_output", "call_id": "1_1a", "output": "fine" });
    let next = json!({ "input": [result], "previous_response_id": one["id"] });
    response(&post(&gateway, RESPONSES, &next));
    let mut sent = outputs(&upstream.requests().pop().unwrap());
    sent.sort();
    assert_eq!(sent[0], ("1_1a".to_owned(), "\"fine\"".to_owned()));
    assert_eq!(sent[1].0, "1_1b");
    // From one response many may continue.
    response(&post(&gateway, RESPONSES, &next));
}

#[test]
fn in_a_conversation_a_denied_call_is_answered_once() {
    for stream in [true, false] {
        let upstream = server();
        let mut gateway = gateway(&upstream, POLICY, "");
        let made = post(&gateway, "/v1/conversations", &json!({}));
        let conversation = response(&made)["id"].clone();
        let more = json!({ "conversation": conversation, "stream": stream });
        response(&post(&gateway, RESPONSES, &first("all by name", more)));
        gateway = gateway.restart();
        let wanted = [vec!["1_1a"], vec!["1_2a", "1_2b"], vec![]];
        for (turn, ids) in wanted.into_iter().enumerate() {
            let next = json!({ "input": "Go on.", "conversation": { "id": conversation },
                "stream": stream });
            response(&post(&gateway, RESPONSES, &next));
            let sent = outputs(&upstream.requests().pop().unwrap());
            let answered: Vec<&str> = sent.iter().map(|(id, _)| id.as_str()).collect();
            assert_eq!(answered, ids, "turn {turn}, stream {stream}");
        }
    }
}

/// The ids of the calls for which the last request has an output.
fn answered(upstream: &Upstream) -> Vec<String> {
    let sent = outputs(&upstream.requests().pop().unwrap());
    sent.into_iter().map(|(id, _)| id).collect()
}

/// Responses that are copied complete a request like those that are judged.
#[test]
fn in_a_conversation_a_denied_call_is_answered_once_although_nothing_is_judged_any_more() {
    for stream in [true, false] {
        let upstream = server();
        let mut gateway = gateway(&upstream, POLICY, "");
        let made = post(&gateway, "/v1/conversations", &json!({}));
        let conversation = response(&made)["id"].clone();
        let more = json!({ "conversation": conversation, "stream": stream });
        response(&post(&gateway, RESPONSES, &first("all by name", more)));
        let config = std::fs::read_to_string(gateway.folder().join("callgate.yaml")).unwrap();
        gateway.replace("callgate.yaml", &format!("{config}\ngateway: {{ mode: off }}\n"));
        gateway = gateway.restart();
        let next = |input: Value| json!({ "input": input, "conversation": { "id": conversation }, "stream": stream });
        response(&post(&gateway, RESPONSES, &next(json!("Go on."))));
        assert_eq!(answered(&upstream), ["1_1a"], "stream {stream}");
        let result =
            |id: &str| json!({ "type": "function_call_output", "call_id": id, "output": "fine" });
        response(&post(&gateway, RESPONSES, &next(json!([result("1_2a"), result("1_2b")]))));
        let mut sent = answered(&upstream);
        sent.sort();
        assert_eq!(sent, ["1_2a", "1_2b"], "stream {stream}");
    }
}

/// The provider does not know that a text rule has stopped the response.
#[test]
fn in_a_conversation_a_denied_call_is_answered_once_although_its_answer_was_stopped() {
    let upstream = server();
    let policy = format!(
        "{POLICY}text: [{{ id: no-word, keywords: [clean], verdict: block, reason: Not that word. }}]\n"
    );
    let mut gateway = gateway(&upstream, POLICY, "");
    let made = post(&gateway, "/v1/conversations", &json!({}));
    let conversation = response(&made)["id"].clone();
    let more = json!({ "conversation": conversation });
    response(&post(&gateway, RESPONSES, &first("one by arguments", more)));
    gateway.replace("rules.yaml", &policy);
    gateway = gateway.restart();
    let result = json!({ "type": "function_call_output", "call_id": "1_1b", "output": "fine" });
    let next = json!({ "input": [result], "conversation": { "id": conversation } });
    post(&gateway, RESPONSES, &next);
    let first = answered(&upstream);
    post(&gateway, RESPONSES, &next);
    let second = answered(&upstream);
    assert!(first.contains(&"1_1a".to_owned()), "{first:?}");
    assert!(!second.contains(&"1_1a".to_owned()), "{second:?}");
}

#[test]
fn a_kept_response_is_answered_only_for_whom_it_was_made() {
    let upstream = server();
    let gateway = gateway(&upstream, POLICY, "");
    let one = response(&post(&gateway, RESPONSES, &first("all by name", json!({}))));
    let next = json!({ "input": "Go on.", "previous_response_id": one["id"] });
    assert_eq!(post_as(&gateway, "another", RESPONSES, &next).status, 400);
    assert!(outputs(&upstream.requests().pop().unwrap()).is_empty());
    response(&post(&gateway, RESPONSES, &next));
}

#[test]
fn reading_again_shows_no_denied_call() {
    for settings in ["on_deny: explain", "on_deny: silent"] {
        let upstream = server();
        let denying = gateway(&upstream, POLICY, settings);
        let made = post(&denying, "/v1/conversations", &json!({}));
        let conversation = response(&made)["id"].as_str().unwrap().to_owned();
        let more = json!({ "conversation": conversation });
        response(&post(&denying, RESPONSES, &first("one by name", more)));
        let one = response(&post(&denying, RESPONSES, &first("one by arguments", json!({}))));
        let id = one["id"].as_str().unwrap();
        for path in [
            format!("{RESPONSES}/{id}"),
            format!("{RESPONSES}/{id}?stream=true"),
            format!("{RESPONSES}/{id}?stream=true&starting_after=1"),
            format!("/v1/conversations/{conversation}/items"),
        ] {
            let reply = get(&denying, &path);
            assert_eq!(reply.status, 200, "{path}: {}", reply.text());
            assert!(!shows_denied(&reply), "{settings} {path}: {}", reply.text());
            // What is allowed is there: the path is read, and not emptied.
            let allowed =
                ["\"read_file\"", "\"bash\""].iter().any(|name| reply.text().contains(name));
            assert!(allowed, "{settings} {path}: {}", reply.text());
        }
        let cancel = post(&denying, &format!("{RESPONSES}/{id}/cancel"), &json!({}));
        assert_eq!(cancel.status, 200, "{}", cancel.text());
        assert!(!shows_denied(&cancel), "{}", cancel.text());
    }
}

#[test]
fn what_a_response_was_made_from_shows_no_denied_call() {
    let upstream = server();
    let gateway = gateway(&upstream, POLICY, "");
    let one = response(&post(&gateway, RESPONSES, &first("all by name", json!({}))));
    let next = json!({ "input": "Go on.", "previous_response_id": one["id"] });
    let two = response(&post(&gateway, RESPONSES, &next));
    let id = two["id"].as_str().unwrap();
    let items = get(&gateway, &format!("{RESPONSES}/{id}/input_items"));
    assert_eq!(items.status, 200, "{}", items.text());
    assert!(!shows_denied(&items), "{}", items.text());
    let compact = json!({ "model": "any", "previous_response_id": id, "input": "Go on." });
    let compacted = post(&gateway, &format!("{RESPONSES}/compact"), &compact);
    assert_eq!(compacted.status, 200, "{}", compacted.text());
    assert!(!shows_denied(&compacted), "{}", compacted.text());
    let counted = post(&gateway, &format!("{RESPONSES}/input_tokens"), &compact);
    assert_eq!(counted.status, 200, "{}", counted.text());
}

#[test]
fn reading_again_keeps_nothing_twice() {
    let upstream = server();
    let gateway = gateway(&upstream, POLICY, "");
    let one = response(&post(&gateway, RESPONSES, &first("all by name", json!({}))));
    let id = one["id"].as_str().unwrap();
    for _ in 0..2 {
        assert_eq!(get(&gateway, &format!("{RESPONSES}/{id}")).status, 200);
    }
    let next = json!({ "input": "Go on.", "previous_response_id": id });
    response(&post(&gateway, RESPONSES, &next));
    assert_eq!(outputs(&upstream.requests().pop().unwrap()).len(), 1);
}

/// Byte for byte, wherever nothing is denied.
#[test]
fn what_is_allowed_is_read_as_it_is_kept() {
    let upstream = server();
    let gateway = gateway(&upstream, ALLOW, "");
    let one = response(&post(&gateway, RESPONSES, &first("one by name", json!({}))));
    let id = one["id"].as_str().unwrap();
    for path in [
        format!("{RESPONSES}/{id}"),
        format!("{RESPONSES}/{id}?stream=true&starting_after=3"),
        format!("{RESPONSES}/{id}/input_items"),
    ] {
        let direct = Ask::get(&path).send(upstream.address());
        assert_eq!(get(&gateway, &path).text(), direct.text(), "{path}");
    }
    let direct = Ask::post(&format!("{RESPONSES}/{id}/cancel"), "{}").send(upstream.address());
    let cancelled = post(&gateway, &format!("{RESPONSES}/{id}/cancel"), &json!({}));
    assert_eq!(cancelled.text(), direct.text());
}

const INTERACTIONS: &str = "/v1beta/interactions";

/// The interaction in a body, or its id in a stream.
#[track_caller]
fn interaction(reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{}", reply.text());
    if reply.text().starts_with('{') {
        return reply.json();
    }
    let text = reply.text();
    let first = text.lines().find_map(|line| line.strip_prefix("data: "));
    serde_json::from_str::<Value>(first.unwrap_or_default()).unwrap()["interaction"].clone()
}

#[test]
fn an_interaction_is_gone_on_from_after_a_denial() {
    for stream in [true, false] {
        let upstream = server();
        let mut gateway = gateway(&upstream, POLICY, "");
        let reply =
            post(&gateway, INTERACTIONS, &first("all by name", json!({ "stream": stream })));
        assert!(!shows_denied(&reply), "{}", reply.text());
        let mut last = interaction(&reply);
        gateway = gateway.restart();
        for ids in [vec!["1_1a"], vec!["1_2a", "1_2b"], vec![]] {
            let next = json!({ "model": "any", "input": "Go on.", "stream": stream,
                "previous_interaction_id": last["id"] });
            last = interaction(&post(&gateway, INTERACTIONS, &next));
            let sent = upstream.requests().pop().unwrap().json();
            let steps = sent["input"].as_array().cloned().unwrap_or_default();
            let results = steps.iter().filter(|step| step["type"] == "function_result");
            let answered: Vec<&str> =
                results.map(|step| step["call_id"].as_str().unwrap()).collect();
            assert_eq!(answered, ids, "stream {stream}");
        }
    }
}

#[test]
fn reading_an_interaction_again_shows_no_denied_call() {
    let upstream = server();
    let denying = gateway(&upstream, POLICY, "");
    let one = interaction(&post(&denying, INTERACTIONS, &first("one by name", json!({}))));
    let path = format!("{INTERACTIONS}/{}", one["id"].as_str().unwrap());
    let replies = [
        get(&denying, &path),
        get(&denying, &format!("{path}?stream=true")),
        post(&denying, &format!("{path}/cancel"), &json!({})),
    ];
    for reply in replies {
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert!(!shows_denied(&reply), "{}", reply.text());
        assert!(reply.text().contains("\"read_file\""), "{}", reply.text());
    }
    let allowing = gateway(&upstream, ALLOW, "");
    let direct = Ask::get(&path).send(upstream.address());
    assert_eq!(get(&allowing, &path).text(), direct.text());
}

/// A stored turn that cannot be decrypted is not put back, and a record says so.
#[test]
fn a_stored_turn_that_cannot_be_decrypted_is_recorded() {
    let upstream = server();
    let gateway = gateway(&upstream, POLICY, "on_deny: explain");
    let one = response(&post(&gateway, RESPONSES, &first("all by name", json!({}))));
    let is_key = |path: &std::path::PathBuf| path.to_string_lossy().ends_with(".db.key");
    let files = std::fs::read_dir(gateway.folder()).unwrap().map(|entry| entry.unwrap().path());
    std::fs::write({ files }.find(is_key).expect("the store has a key"), [7; 32]).unwrap();
    let gateway = gateway.restart();
    post(&gateway, RESPONSES, &json!({ "input": "Go on.", "previous_response_id": one["id"] }));
    let is_recorded = |gateway: &Gateway| {
        let records = [gateway.calls(), gateway.events()].concat();
        let why = "a stored turn that belongs to the request cannot be read";
        records.iter().any(|record| record.to_string().contains(why))
    };
    assert!(gateway.wait_until(is_recorded), "{:?}", gateway.events());
}
