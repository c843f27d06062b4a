//! Gemini and its Interactions: what the next request carries after a call was denied.

use callgate_testkit::clients;
use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::Ask;
use callgate_testkit::upstream::{Answer, Upstream};
use serde_json::{Value, json};

use crate::support::{DENY, gateway};

/// A call that is denied, with the signature of the thinking before it, and one that is not.
fn parts() -> Value {
    let denied = json!({ "name": "delete_all", "args": { "path": "/" }, "id": "g1" });
    let allowed = json!({ "name": "read_file", "args": { "path": "a" }, "id": "g2" });
    json!([
        { "text": "Two calls." },
        { "functionCall": denied, "thoughtSignature": "c2lnbmVk" },
        { "functionCall": allowed },
    ])
}

fn chunk() -> Value {
    let content = json!({ "role": "model", "parts": parts() });
    let candidate = json!({ "content": content, "finishReason": "STOP", "index": 0 });
    json!({ "candidates": [candidate], "modelVersion": "gemini-x" })
}

fn post(gateway: &Gateway, path: &str, body: &Value) -> String {
    let ask = Ask::post(path, body.to_string()).header("x-goog-api-key", "none");
    let reply = ask.header("content-type", "application/json").send(gateway.address());
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.text()
}

/// The client sends back what it got; the provider gets what it had sent, and an error result for
/// the call it gets again. As a body, as events and as a list, plain and in an envelope.
#[test]
fn a_gemini_turn_goes_up_as_the_provider_made_it() {
    let wrap = |document: Value, wrapped: bool| match wrapped {
        true => json!({ "response": document }),
        false => document,
    };
    for (path, wrapped) in [
        ("/v1beta/models/gemini-x:generateContent", false),
        ("/v1beta/models/gemini-x:streamGenerateContent?alt=sse", false),
        ("/v1beta/models/gemini-x:streamGenerateContent", false),
        ("/v1internal:streamGenerateContent?alt=sse", true),
    ] {
        let chunk = wrap(chunk(), wrapped).to_string();
        let answer = match path {
            path if path.ends_with("alt=sse") => Answer::stream(format!("data: {chunk}\r\n\r\n")),
            path if path.contains(":stream") => Answer::json(200, format!("[{chunk}\n]")),
            _ => Answer::json(200, chunk),
        };
        let upstream = Upstream::always(answer);
        let gateway = gateway(&upstream, DENY, "");
        let ask = |contents: Value| {
            let request = json!({ "contents": contents });
            if wrapped { json!({ "model": "gemini-x", "request": request }) } else { request }
        };
        let user = json!({ "role": "user", "parts": [{ "text": "Please." }] });
        let left = post(&gateway, path, &ask(json!([user])));
        let document = match serde_json::from_str(&left) {
            Ok(Value::Array(mut list)) => list.remove(0),
            Ok(document) => document,
            Err(_) => clients::events(&left).remove(0).1,
        };
        let document = if wrapped { document["response"].clone() } else { document };
        let said = document["candidates"][0]["content"].clone();
        assert!(said["parts"][1]["text"].as_str().unwrap().contains("delete_all"), "{said}");
        assert_eq!(
            said["parts"][2]["thoughtSignature"], "c2lnbmVk",
            "the call that is left has it"
        );

        let result =
            json!({ "functionResponse": { "name": "read_file", "id": "g2", "response": {} } });
        let answer = json!({ "role": "user", "parts": [result] });
        post(&gateway, path, &ask(json!([user, said, answer])));
        let sent = upstream.requests().pop().unwrap().json();
        let contents = if wrapped { &sent["request"]["contents"] } else { &sent["contents"] };
        assert_eq!(contents[1]["parts"], parts(), "{path}");
        let answer = &contents[2]["parts"];
        assert_eq!(answer[0]["functionResponse"]["id"], "g1", "{path}: {answer}");
        let why = answer[0]["functionResponse"]["response"]["error"].as_str().unwrap();
        assert!(why.contains("Nothing is deleted."), "{why}");
        assert_eq!(answer[1], result, "{path}");
    }
}

/// The provider keeps the interaction, so only the missing result goes up.
#[test]
fn a_kept_interaction_is_gone_on_from() {
    let step =
        json!({ "type": "function_call", "id": "i1", "name": "delete_all", "arguments": {} });
    let inside = |status: &str| json!({ "id": "v1_kept", "status": status, "object": "interaction", "model": "gemini-x" });
    let events = [
        json!({ "interaction": inside("in_progress"), "event_type": "interaction.created" }),
        json!({ "index": 0, "step": step, "event_type": "step.start" }),
        json!({ "index": 0, "delta": { "arguments": "{\"path\":\"/\"}", "type": "arguments_delta" }, "event_type": "step.delta" }),
        json!({ "index": 0, "event_type": "step.stop" }),
        json!({ "interaction": inside("requires_action"), "event_type": "interaction.completed" }),
    ];
    let stream: String = events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["event_type"].as_str().unwrap()))
        .collect();
    let mut whole = inside("requires_action");
    whole["steps"] = json!([step]);
    for answer in [Answer::stream(stream), Answer::json(200, whole.to_string())] {
        let upstream = Upstream::always(answer);
        let gateway = gateway(&upstream, DENY, "");
        let path = "/v1beta/interactions";
        let left = post(&gateway, path, &json!({ "model": "gemini-x", "input": "Please." }));
        assert!(
            !left.contains("requires_action") && left.contains("Nothing is deleted."),
            "{left}"
        );
        let next =
            json!({ "model": "gemini-x", "input": "Why?", "previous_interaction_id": "v1_kept" });
        post(&gateway, path, &next);
        let sent = upstream.requests().pop().unwrap().json();
        assert_eq!(sent["input"][0]["type"], "function_result", "{sent}");
        assert_eq!(sent["input"][0]["call_id"], "i1");
        assert_eq!(sent["input"][1]["content"][0]["text"], "Why?");
        // Another interaction is not concerned.
        let other =
            json!({ "model": "gemini-x", "input": "Hi.", "previous_interaction_id": "v1_other" });
        post(&gateway, path, &other);
        assert_eq!(upstream.requests().pop().unwrap().json(), other);
    }
}
