//! What Gemini clients receive of responses from which a call was removed, and how their next
//! request is restored.

use callgate_dialect::Dialect;
use callgate_dialect::request::{RemovedTurn, restore, signature_hash};
use callgate_gate::{Ending, Note, OnDeny};
use callgate_policy::Policies;
use callgate_testkit::clients;
use callgate_testkit::drive::{self, Run};
use serde_json::{Value, json};

const GEMINI: Dialect = Dialect::Gemini;

fn chunk(parts: Value, finish: Option<&str>) -> Value {
    let mut candidate = json!({ "content": { "parts": parts, "role": "model" }, "index": 0 });
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    json!({ "candidates": [candidate], "modelVersion": "m", "responseId": "r" })
}

fn call(name: &str) -> Value {
    json!({ "functionCall": { "name": name, "args": { "cmd": "ls" } } })
}

fn signed(mut part: Value) -> Value {
    part["thoughtSignature"] = json!("c2ln");
    part
}

fn stream(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\r\n\r\n")).collect()
}

fn run(policies: &Policies, on_deny: OnDeny, body: &str) -> Run {
    drive::run(GEMINI, drive::settings(on_deny), policies, [body.as_bytes()])
}

fn deny(on_deny: OnDeny, chunks: &[Value]) -> (Vec<Value>, Run) {
    let run = run(&drive::deny_names(&["evil"]), on_deny, &stream(chunks));
    let left = run.text();
    let documents = clients::events(&left).into_iter().map(|(_, document)| document).collect();
    assert_eq!(run.ending, Ending::Clean, "{left}");
    (documents, run)
}

fn parts(document: &Value) -> &Vec<Value> {
    document["candidates"][0]["content"]["parts"].as_array().unwrap()
}

fn removed(run: &Run) -> Vec<RemovedTurn> {
    let turn = |note: &Note| match note {
        Note::Removed(turn) => Some(turn.clone()),
        _ => None,
    };
    run.notes.iter().filter_map(turn).collect()
}

#[test]
fn a_notice_takes_the_place_of_the_call_and_keeps_its_signature() {
    let chunks = [
        chunk(json!([{ "text": "Look:" }]), None),
        chunk(json!([signed(call("evil"))]), Some("STOP")),
    ];
    let (left, run) = deny(OnDeny::Explain, &chunks);
    assert_eq!(left[0], chunks[0]);
    let notice = parts(&left[1])[0]["text"].as_str().unwrap();
    assert!(notice.starts_with("\n\n") && notice.contains("evil"), "{notice}");
    assert_eq!(parts(&left[1])[0]["thoughtSignature"], "c2ln");
    assert_eq!(left[1]["candidates"][0]["finishReason"], "STOP");
    let client = removed(&run)[0].client.clone().unwrap();
    assert_eq!(client.signatures, [signature_hash("c2ln")]);
}

#[test]
fn the_call_that_survives_carries_the_signature() {
    let chunks = [
        chunk(json!([signed(call("evil"))]), None),
        chunk(json!([call("safe")]), None),
        chunk(json!([{ "text": "" }]), Some("STOP")),
    ];
    for on_deny in [OnDeny::Explain, OnDeny::Silent] {
        let (left, _) = deny(on_deny, &chunks);
        let place = left.len() - 2;
        assert_eq!(parts(&left[place])[0], signed(call("safe")), "{left:?}");
        // An empty chunk does not leave.
        assert_eq!(left.len(), if on_deny == OnDeny::Explain { 3 } else { 2 });
    }
    let (left, _) = deny(
        OnDeny::Explain,
        &[chunk(json!([signed(call("evil")), signed(call("safe"))]), Some("STOP"))],
    );
    assert_eq!(parts(&left[0])[1], signed(call("safe")), "one that has its own keeps it");
}

#[test]
fn a_turn_is_never_empty() {
    let (left, _) = deny(OnDeny::Silent, &[chunk(json!([signed(call("evil"))]), Some("STOP"))]);
    let part = &parts(&left[0])[0];
    assert!(
        !part["text"].as_str().unwrap().is_empty() && part["thoughtSignature"] == "c2ln",
        "{part}"
    );
    // Text has left before: an empty part is what the provider itself ends with.
    let chunks =
        [chunk(json!([{ "text": "Hi" }]), None), chunk(json!([call("evil")]), Some("STOP"))];
    let (left, _) = deny(OnDeny::Silent, &chunks);
    assert_eq!(parts(&left[1]), &[json!({ "text": "" })]);
    // The end has no content.
    for end in [
        json!({ "finishReason": "STOP" }),
        json!({ "finishReason": "STOP", "content": null }),
        json!({ "content": { "role": "model" }, "finishReason": "STOP" }),
        json!({ "content": { "parts": null }, "finishReason": "STOP" }),
    ] {
        let (left, _) = deny(
            OnDeny::Silent,
            &[chunk(json!([call("evil")]), None), json!({ "candidates": [end] })],
        );
        assert!(!parts(left.last().unwrap())[0]["text"].as_str().unwrap().is_empty(), "{left:?}");
    }
}

#[test]
fn only_the_call_is_removed_from_a_part_with_more() {
    let mut both = call("evil");
    both["text"] = json!("Said.");
    let (left, _) = deny(OnDeny::Explain, &[chunk(json!([both]), Some("STOP"))]);
    assert_eq!(parts(&left[0])[0], json!({ "text": "Said." }));
    assert!(parts(&left[0])[1]["text"].as_str().unwrap().contains("evil"));
}

#[test]
fn a_call_in_pieces_goes_with_all_of_them() {
    let piece = |call: Value| json!([{ "functionCall": call }]);
    let value = json!([{ "jsonPath": "$.cmd", "stringValue": "rm" }]);
    let pieces = [
        chunk(piece(json!({ "name": "evil", "id": "x", "willContinue": true })), None),
        chunk(piece(json!({ "partialArgs": value, "willContinue": true })), None),
        chunk(piece(json!({})), None),
        chunk(json!([{ "text": "" }]), Some("STOP")),
    ];
    let (left, run) = deny(OnDeny::Explain, &pieces);
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(parts(&left[0])[0]["text"].as_str().unwrap().contains("evil"));
    let original: Value = serde_json::from_str(&removed(&run)[0].calls[0].original).unwrap();
    let whole = json!({ "name": "evil", "id": "x", "args": { "cmd": "rm" } });
    assert_eq!(original, json!({ "functionCall": whole }));

    // Nothing of it leaves before it is complete, even if its name alone is allowed.
    let body = stream(&pieces[..2]);
    let mut gate = callgate_gate::Gate::new(GEMINI, drive::settings(OnDeny::Explain));
    let mut run = run_of_nothing();
    gate.push(body.as_bytes());
    drive::steps(&mut gate, &drive::allow_all(), &mut run);
    assert_eq!(run.text(), "");
    gate.push(stream(&pieces[2..]).as_bytes());
    drive::steps(&mut gate, &drive::allow_all(), &mut run);
    assert_eq!(run.text(), stream(&pieces));
    assert_eq!(run.judged, [("evil".into(), "{\"cmd\":\"rm\"}".into(), true)]);
}

fn run_of_nothing() -> Run {
    let ending = Ending::Error("never ended".into());
    Run { out: Vec::new(), judged: Vec::new(), notes: Vec::new(), ending }
}

#[test]
fn a_list_stays_a_list() {
    let list = |chunks: &[Value]| {
        let chunks: Vec<String> = chunks.iter().map(|c| format!("{c:#}")).collect();
        format!("[{}\n]\n", chunks.join("\n,\r\n"))
    };
    let chunks = [
        chunk(json!([signed(call("evil"))]), None),
        chunk(json!([call("safe")]), None),
        chunk(json!([{ "text": "" }]), Some("STOP")),
    ];
    for on_deny in [OnDeny::Explain, OnDeny::Silent] {
        let run = run(&drive::deny_names(&["evil"]), on_deny, &list(&chunks));
        let left: Value = serde_json::from_str(&run.text()).unwrap();
        assert_eq!(left.as_array().unwrap().len(), 3, "{left}");
        assert_eq!(parts(&left[1])[0], signed(call("safe")));
        assert_eq!((&left[2], run.ending), (&chunks[2], Ending::Clean));
    }
    // It is closed if it ends with an error.
    let cut = list(&chunks);
    let run = run(&drive::allow_all(), OnDeny::Explain, &cut[..cut.len() - 4]);
    let left: Value = serde_json::from_str(&run.text()).unwrap();
    let error = left.as_array().unwrap().last().unwrap();
    assert_eq!(
        (&error["error"]["code"], &error["error"]["status"]),
        (&json!(502), &json!("UNAVAILABLE"))
    );
}

#[test]
fn only_forms_that_every_client_reads_leave() {
    let text = chunk(json!([{ "text": "a" }]), None);
    let end = chunk(json!([call("safe")]), Some("STOP"));
    let odd =
        format!(": hi\r\ndata: {text}\r\n\r\n: ka\r\n\r\nid: 1\r\nevent: x\r\ndata:{end}\r\n\r\n");
    let run = run(&drive::allow_all(), OnDeny::Explain, &odd);
    assert_eq!(run.text(), stream(&[text, end]));
}

#[test]
fn an_error_outside_of_an_event_is_reported_in_one() {
    let body = format!(
        "{}{{\n \"error\": {{ \"code\": 500 }}\n}}\n\n",
        stream(&[chunk(json!([{ "text": "a" }]), None)])
    );
    let run = run(&drive::allow_all(), OnDeny::Explain, &body);
    let events = clients::events(&run.text());
    assert_eq!(events.last().unwrap().1["error"]["status"], "UNAVAILABLE");
    assert!(matches!(run.ending, Ending::Error(_)));
}

#[test]
fn candidates_are_judged_apart() {
    let mut both = chunk(json!([call("safe")]), Some("STOP"));
    let mut other = chunk(json!([call("evil")]), Some("STOP"))["candidates"][0].clone();
    other["index"] = json!(1);
    both["candidates"].as_array_mut().unwrap().push(other);
    let (left, _) = deny(OnDeny::Explain, &[both]);
    let text = |n: usize| left[0]["candidates"][n]["content"]["parts"][0].clone();
    assert_eq!(text(0), call("safe"));
    assert!(text(1)["text"].as_str().unwrap().contains("evil"));
}

/// The client's version of a turn, with its removed calls restored, equals what the provider sent.
#[test]
fn a_turn_comes_back_as_the_provider_sent_it() {
    let chunks = [
        chunk(json!([{ "text": "Look:" }]), None),
        chunk(json!([signed(call("evil")), call("safe")]), None),
        chunk(json!([{ "text": "" }]), Some("STOP")),
    ];
    for on_deny in [OnDeny::Explain, OnDeny::Silent] {
        let (left, run) = deny(on_deny, &chunks);
        let said: Vec<Value> = left.iter().flat_map(|chunk| parts(chunk).clone()).collect();
        let answer = json!({ "functionResponse": { "name": "safe", "response": { "ok": 1 } } });
        let contents =
            json!([{ "role": "model", "parts": said }, { "role": "user", "parts": [answer] }]);
        let request = json!({ "contents": contents }).to_string();
        let restored = restore(GEMINI, &request, &removed(&run)).unwrap();
        let body: Value = serde_json::from_str(&restored.body.unwrap()).unwrap();
        let sent: Vec<Value> = chunks.iter().flat_map(|chunk| parts(chunk).clone()).collect();
        assert_eq!(body["contents"][0]["parts"], json!(sent), "{on_deny:?}");
        let results = body["contents"][1]["parts"].as_array().unwrap();
        assert_eq!(results[0]["functionResponse"]["name"], "evil");
        assert_eq!(results[1], answer);
    }
}

#[test]
fn calls_of_the_provider_are_reported() {
    let code = json!({ "executableCode": { "language": "PYTHON", "code": "1" } });
    let tool = json!({ "toolCall": { "toolType": "FILE_SEARCH", "args": { "q": 1 }, "id": "t" } });
    let body = stream(&[chunk(json!([code, tool]), Some("STOP"))]);
    let run = run(&drive::deny_names(&["*"]), OnDeny::Explain, &body);
    assert_eq!(run.text(), body);
    let observed: Vec<String> = run
        .notes
        .iter()
        .map(|note| match note {
            Note::Observed(call) => format!("{} {}", call.name.raw(), call.arguments.raw()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(observed[1], "file_search {\"q\":1}");
    assert!(observed[0].starts_with("code_execution {"), "{observed:?}");
}
