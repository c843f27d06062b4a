use serde_json::{Value, json};

use crate::request::{RemovedCall, RemovedTurn, Restored, restore, signs};
use crate::{Dialect, request::TextDigest};

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
fn a_call_goes_where_its_notice_stands() {
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

/// Some clients keep every chunk as a content of its own.
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

/// Without ids calls and results are matched by their order.
#[test]
fn a_call_goes_back_among_its_siblings_and_so_does_its_result() {
    let kept =
        |n: u32| json!({ "functionCall": { "name": "ls", "id": format!("k{n}"), "args": {} } });
    let answer = |n: u32| json!({ "functionResponse": { "name": "ls", "id": format!("k{n}"), "response": { "n": n } } });
    let call = removed("rm", "", 1, None);
    let part: Value = serde_json::from_str(&call.original).unwrap();
    let mut turn = turn(vec![call]);
    turn.siblings = vec!["k0".into(), "k2".into()];
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
    let mut turn = turn(vec![call]);
    turn.signatures = vec!["sig".into()];
    let notice = json!({ "text": "blocked: rm", "thoughtSignature": "sig" });
    let contents = [model(json!([notice, carried])), user(json!([text("go on")]))];
    let (got, _) = put_back(&contents, &[turn]);
    assert_eq!(got[0], model(json!([part, kept])));
}

/// Gemini CLI keeps the signature of an empty text, and not the text.
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
    let mut turn = turn(gone.to_vec());
    turn.siblings = vec!["a".into(), "b".into()];
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
        let (got, _) = put_back(&contents, &[turn.clone()]);
        assert_eq!(got[0], model(restored.clone()), "{said:?}");
        assert_eq!(got[1], user(results.clone()), "{said:?}");
    }
    // What else it says stays.
    let more = json!({ "text": "", "thoughtSignature": "sig-x", "videoMetadata": {} });
    let contents =
        [model(json!([kept("a"), kept("b"), more])), user(json!([answer("a"), answer("b")]))];
    let (got, _) = put_back(&contents, &[turn]);
    assert_eq!(got[0]["parts"][4], json!({ "text": "", "videoMetadata": {} }));
}

#[test]
fn a_silent_turn_is_known_by_its_signature_or_its_digest() {
    let call = removed("rm", "", 0, Some("Nothing."));
    let part: Value = serde_json::from_str(&call.original).unwrap();
    let mut digest = TextDigest::new();
    digest.add("Nothing.");
    let mut silent = turn(vec![call]);
    silent.left = Some(digest.finish());
    let said = [model(json!([text("Nothing.")])), user(json!([text("Why?")]))];
    let (got, _) = put_back(&said, std::slice::from_ref(&silent));
    assert_eq!(got[0], model(json!([part.clone()])));

    silent.signatures = vec!["sig".into()];
    let other = json!({ "text": "Else.", "thoughtSignature": "sig" });
    let said = [model(json!([other])), user(json!([text("Why?")]))];
    let (got, _) = put_back(&said, &[silent]);
    assert_eq!(got[0], model(json!([other, part])));
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
    let request = request_of(json!([model(json!([kept]))]));
    let signs = signs(Dialect::Gemini, &request).unwrap();
    assert_eq!((signs.ids, signs.signatures), (vec!["k".to_owned()], vec!["s".to_owned()]));
}

fn request_of(contents: Value) -> String {
    json!({ "contents": contents }).to_string()
}

#[test]
fn what_cannot_be_put_back_stays_out() {
    let call = removed("rm", "x", 0, Some("blocked: rm"));
    let said = model(json!([text("blocked: rm")]));
    let known = json!({ "functionResponse": { "name": "rm", "id": "x", "response": {} } });
    for (contents, why) in [
        (vec![said.clone()], Restored::UNANSWERED),
        (vec![user(json!([text("blocked: rm")]))], Restored::NOT_FOUND),
        (vec![said, user(json!([known]))], Restored::PRESENT),
    ] {
        let (got, restored) = put_back(&contents, &[turn(vec![call.clone()])]);
        assert_eq!(got, contents);
        assert_eq!(restored.skipped, [("x".to_owned(), why)]);
    }
    // Thinking is not what the user was shown.
    let thought = json!({ "text": "blocked: rm", "thought": true });
    let (_, restored) =
        put_back(&[model(json!([thought])), user(json!([text("x")]))], &[turn(vec![call])]);
    assert_eq!(restored.skipped, [("x".to_owned(), Restored::NOT_FOUND)]);
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
