use serde_json::{Value, json};

use crate::Dialect;
use crate::request::testing::{client_turn, restore};
use crate::request::{ClientCall, NotRestored, RemovedCall, RemovedTurn, Restored, signature_hash};

fn removed(name: &str, id: &str, place: usize, notice: Option<&str>) -> RemovedCall {
    let mut call = json!({ "name": name, "args": { "n": place } });
    if !id.is_empty() {
        call["id"] = json!(id);
    }
    RemovedCall {
        id: id.into(),
        original: json!({ "functionCall": call }).to_string(),
        place,
        notice: notice.map(str::to_owned),
        why: format!("no {name}"),
    }
}

fn signed(mut call: RemovedCall, signature: &str) -> RemovedCall {
    let mut part: Value = serde_json::from_str(&call.original).unwrap();
    part["thoughtSignature"] = json!(signature);
    call.original = part.to_string();
    call
}

fn turn(calls: Vec<RemovedCall>) -> RemovedTurn {
    RemovedTurn { calls, ..RemovedTurn::default() }
}

fn model(parts: Value) -> Value {
    json!({ "role": "model", "parts": parts })
}

fn user(parts: Value) -> Value {
    json!({ "role": "user", "parts": parts })
}

fn text(text: &str) -> Value {
    json!({ "text": text })
}

fn result(name: &str, id: &str) -> Value {
    let mut result = json!({ "name": name, "response": { "error": format!("no {name}") } });
    if !id.is_empty() {
        result["id"] = json!(id);
    }
    json!({ "functionResponse": result })
}

fn request(contents: &[Value]) -> String {
    json!({ "contents": contents, "tools": [] }).to_string()
}

fn put_back(contents: &[Value], turns: &[RemovedTurn]) -> (Vec<Value>, Restored) {
    let restored = restore(Dialect::Gemini, &request(contents), turns).unwrap();
    let body = restored.body.clone().unwrap_or_else(|| request(contents));
    let body: Value = serde_json::from_str(&body).unwrap();
    (body["contents"].as_array().unwrap().clone(), restored)
}

#[test]
fn a_call_replaces_its_notice() {
    let call = removed("rm", "", 0, Some("blocked: rm"));
    let part: Value = serde_json::from_str(&call.original).unwrap();
    let contents = [
        user(json!([text("hi")])),
        model(json!([text("First."), text("blocked: rm")])),
        user(json!([text("Why?")])),
    ];
    let (got, restored) = put_back(&contents, &[turn(vec![call])]);
    assert_eq!(got[1], model(json!([text("First."), part])));
    assert_eq!(got[2], user(json!([result("rm", ""), text("Why?")])));
    assert_eq!(restored.skipped, []);
}

#[test]
fn a_notice_in_a_joined_text_is_cut_out() {
    let call = removed("rm", "", 0, Some("blocked: rm"));
    let part: Value = serde_json::from_str(&call.original).unwrap();
    let contents = [model(json!([text("First.\n\nblocked: rm")])), user(json!([text("Why?")]))];
    let (got, _) = put_back(&contents, &[turn(vec![call])]);
    assert_eq!(got[0], model(json!([text("First."), part])));
}

/// Some clients store every chunk as a separate content.
#[test]
fn a_turn_may_stand_in_several_contents() {
    let call = removed("rm", "x", 0, Some("blocked: rm"));
    let part: Value = serde_json::from_str(&call.original).unwrap();
    let contents = [
        model(json!([text("First.")])),
        model(json!([text("blocked: rm")])),
        model(json!([text("")])),
        user(json!([text("Why?")])),
    ];
    let (got, _) = put_back(&contents, &[turn(vec![call])]);
    assert_eq!(got[1], model(json!([part])));
    assert_eq!(got[2], contents[2]);
    assert_eq!(got[3], user(json!([result("rm", "x"), text("Why?")])));
}

/// Without ids, calls and results are matched by their order.
#[test]
fn a_call_goes_back_among_its_siblings_and_so_does_its_result() {
    let kept =
        |n: u32| json!({ "functionCall": { "name": "ls", "id": format!("k{n}"), "args": {} } });
    let answer = |n: u32| json!({ "functionResponse": { "name": "ls", "id": format!("k{n}"), "response": { "n": n } } });
    let call = removed("rm", "", 1, None);
    let part: Value = serde_json::from_str(&call.original).unwrap();
    let turn = turn(vec![call]);
    let contents =
        [model(json!([kept(0), kept(2)])), user(json!([answer(0), answer(2), text("and")]))];
    let (got, _) = put_back(&contents, &[turn]);
    assert_eq!(got[0], model(json!([kept(0), part, kept(2)])));
    assert_eq!(got[1], user(json!([answer(0), result("rm", ""), answer(2), text("and")])));
}

#[test]
fn a_carried_signature_goes_back_with_its_call() {
    let call = signed(removed("rm", "", 0, Some("blocked: rm")), "sig");
    let part: Value = serde_json::from_str(&call.original).unwrap();
    let kept = json!({ "functionCall": { "name": "ls", "args": {} } });
    let mut carried = kept.clone();
    carried["thoughtSignature"] = json!("sig");
    let turn = turn(vec![call]);
    let notice = json!({ "text": "blocked: rm", "thoughtSignature": "sig" });
    let contents = [model(json!([notice, carried])), user(json!([text("go on")]))];
    let (got, _) = put_back(&contents, &[turn]);
    assert_eq!(got[0], model(json!([part, kept])));
}

/// Gemini CLI stores the signature of an empty text, but not the text.
#[test]
fn nothing_is_left_of_a_part_that_only_carries_a_signature() {
    let kept = |id: &str| json!({ "functionCall": { "name": "ls", "id": id, "args": {} } });
    let answer = |id: &str| json!({ "functionResponse": { "name": "ls", "id": id, "response": { "n": 1 } } });
    let gone = [
        signed(removed("rm", "x", 1, None), "sig-x"),
        signed(removed("rm", "y", 3, None), "sig-y"),
    ];
    let parts: Vec<Value> =
        gone.iter().map(|call| serde_json::from_str(&call.original).unwrap()).collect();
    let turn = turn(gone.to_vec());
    let restored = json!([kept("a"), parts[0], kept("b"), parts[1]]);
    let results = json!([answer("a"), result("rm", "x"), answer("b"), result("rm", "y")]);
    // The carrier may have the signature of either call, and come more than once.
    for carriers in [
        vec![json!({ "thoughtSignature": "sig-x" })],
        vec![json!({ "text": "", "thoughtSignature": "sig-y" })],
        vec![json!({ "thoughtSignature": "sig-y" }), json!({ "thoughtSignature": "sig-x" })],
    ] {
        let said: Vec<Value> = [vec![kept("a"), kept("b")], carriers].concat();
        let contents = [model(json!(said)), user(json!([answer("a"), answer("b")]))];
        let (got, _) = put_back(&contents, std::slice::from_ref(&turn));
        assert_eq!(got[0], model(restored.clone()), "{said:?}");
        assert_eq!(got[1], user(results.clone()), "{said:?}");
    }
    // Its other content stays.
    let more = json!({ "text": "", "thoughtSignature": "sig-x", "videoMetadata": {} });
    let contents =
        [model(json!([kept("a"), kept("b"), more])), user(json!([answer("a"), answer("b")]))];
    let (got, _) = put_back(&contents, &[turn]);
    assert_eq!(got[0]["parts"][4], json!({ "text": "", "videoMetadata": {} }));
}

#[test]
fn a_silent_turn_is_recognised_by_what_was_left() {
    let call = removed("rm", "", 0, Some("Nothing."));
    let part: Value = serde_json::from_str(&call.original).unwrap();
    let signed = json!({ "text": "Nothing.", "thoughtSignature": "sig" });
    let client = client_turn(Dialect::Gemini, &request_of(&[model(json!([signed]))]));
    let silent = RemovedTurn { client, ..turn(vec![call]) };
    for (said, is_it) in [
        (json!({ "text": "Nothing." }), true),
        (signed, true),
        (json!({ "text": "Else.", "thoughtSignature": "sig" }), false),
        (json!({ "text": "Nothing.", "thoughtSignature": "another" }), false),
    ] {
        let contents = [model(json!([said])), user(json!([text("Why?")]))];
        let (got, _) = put_back(&contents, std::slice::from_ref(&silent));
        let want = if is_it { model(json!([part.clone()])) } else { contents[0].clone() };
        assert_eq!(got[0], want);
    }
}

/// Calls without ids are recognised by their names and arguments, and so is a turn for which the
/// client sends no ids back.
#[test]
fn a_turn_without_ids_is_known_by_its_calls() {
    let ls = |id: &str, path: &str| {
        let mut call = json!({ "name": "ls", "args": { "path": path, "n": 1.0 } });
        if !id.is_empty() {
            call["id"] = json!(id);
        }
        json!({ "functionCall": call })
    };
    let answer = json!({ "functionResponse": { "name": "ls", "response": { "n": 1 } } });
    for (got, sent, is_it) in [
        (ls("", "a"), ls("", "a"), true),
        (ls("", "a"), ls("made-up", "a"), true),
        (ls("k1", "a"), ls("", "a"), true),
        (ls("k1", "a"), ls("k1", "a"), true),
        (ls("k1", "a"), ls("k2", "a"), false),
        (ls("", "a"), ls("", "b"), false),
        (ls("k1", "a"), ls("k1", "b"), false),
    ] {
        let client = client_turn(Dialect::Gemini, &request_of(&[model(json!([got]))]));
        let turn = RemovedTurn { client, ..turn(vec![removed("rm", "", 1, None)]) };
        let contents = [model(json!([sent])), user(json!([answer]))];
        let (_, restored) = put_back(&contents, &[turn]);
        assert_eq!(restored.restored.len(), usize::from(is_it), "{got} {sent}");
    }
}

#[test]
fn the_envelope_and_snake_case_are_read() {
    let call = removed("rm", "", 0, Some("blocked: rm"));
    let request = json!({ "model": "m", "request": { "contents": [
        model(json!([text("blocked: rm")])), user(json!([text("Why?")])) ] } });
    let restored =
        restore(Dialect::Gemini, &request.to_string(), &[turn(vec![call.clone()])]).unwrap();
    let body: Value = serde_json::from_str(&restored.body.unwrap()).unwrap();
    assert_eq!(body["request"]["contents"][1]["parts"][0], result("rm", ""));

    let kept = json!({ "function_call": { "name": "ls", "id": "k" }, "thought_signature": "s" });
    let client = client_turn(Dialect::Gemini, &request_of(&[model(json!([kept]))])).unwrap();
    assert_eq!(client.calls, [ClientCall::new("k".into(), "ls", "{}")]);
    assert_eq!(client.signatures, [signature_hash("s")]);
}

fn request_of(contents: &[Value]) -> String {
    json!({ "contents": contents }).to_string()
}

#[test]
fn calls_that_cannot_be_put_back_stay_out() {
    let call = removed("rm", "x", 0, Some("blocked: rm"));
    let said = model(json!([text("blocked: rm")]));
    let known = json!({ "functionResponse": { "name": "rm", "id": "x", "response": {} } });
    for (contents, why) in [
        (vec![said.clone()], NotRestored::Unanswered),
        (vec![user(json!([text("blocked: rm")]))], NotRestored::NotFound),
        (vec![said, user(json!([known]))], NotRestored::Present),
    ] {
        let (got, restored) = put_back(&contents, &[turn(vec![call.clone()])]);
        assert_eq!(got, contents);
        assert_eq!(restored.skipped, [crate::request::SkippedCall { id: "x".to_owned(), why }]);
    }
    // The user does not see thinking.
    let thought = json!({ "text": "blocked: rm", "thought": true });
    let (_, restored) =
        put_back(&[model(json!([thought])), user(json!([text("x")]))], &[turn(vec![call])]);
    assert_eq!(
        restored.skipped,
        [crate::request::SkippedCall { id: "x".to_owned(), why: NotRestored::NotFound }]
    );
}

#[test]
fn all_else_stays_byte_for_byte() {
    let call = removed("rm", "", 0, Some("b: rm"));
    let request = "{ \"contents\" : [\n{\"role\":\"model\", \"parts\" :[ {\"text\":\"b: rm\"} ]} ,\
                   {\"parts\":[ {\"text\": \"\\u0041\"}]}], \"x\":1.50 }";
    let restored = restore(Dialect::Gemini, request, &[turn(vec![call.clone()])]).unwrap();
    let result = r#"{"functionResponse":{"name":"rm","response":{"error":"no rm"}}},"#;
    let want = request
        .replace("{\"text\":\"b: rm\"}", &call.original)
        .replace("[ {\"text\": ", &format!("[{result} {{\"text\": "));
    assert_eq!(restored.body.unwrap(), want);
}
