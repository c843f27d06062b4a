use super::*;
use crate::upstream::Request;

fn ask(method: &str, body: &str) -> (u16, String) {
    let turn = vec![
        TurnPart::thinking("Hm.", "sig1"),
        TurnPart::text("Two things."),
        TurnPart::call("a", "read", r#"{"path":"x"}"#),
        TurnPart::call("b", "delete", r#"{"path": "y", "n": 1.0}"#),
    ];
    let provider = Provider::default().script("two", vec![turn]);
    let path = format!("/v1beta/models/any:{method}?alt=sse");
    let answer =
        provider.answer(&Request { path, body: body.as_bytes().into(), ..Request::default() });
    (answer.status, String::from_utf8(answer.body()).unwrap())
}

const FIRST: &str = r#"{"role":"user","parts":[{"text":"[script two #1] Please."}]}"#;
const A: &str = r#"{"functionCall":{"id":"a","name":"read","args":{ "path" : "x" }},"thoughtSignature":"sig1"}"#;
const B: &str = r#"{"functionCall":{"id":"b","name":"delete","args":{"path": "y", "n": 1.0}}}"#;
const SAID: &str = r#"{"text":"Two"},{"text":" things."}"#;

fn result(id: &str, name: &str) -> String {
    json!({ "functionResponse": { "id": id, "name": name, "response": {} } }).to_string()
}

/// What the provider says to a history of one turn and what followed.
fn history(model: &str, user: &str) -> (u16, String) {
    ask(
        "generateContent",
        &format!(
            r#"{{"contents":[{FIRST},{{"role":"model","parts":[{model}]}},{{"role":"user","parts":[{user}]}}]}}"#
        ),
    )
}

fn both() -> String {
    format!("{},{}", result("b", "delete"), result("a", "read"))
}

#[test]
fn a_turn_is_written_streamed_and_whole() {
    let (_, whole) = ask("generateContent", &format!(r#"{{"contents":[{FIRST}]}}"#));
    let (_, stream) = ask("streamGenerateContent", &format!(r#"{{"contents":[{FIRST}]}}"#));
    for body in [&whole, &stream] {
        let place = |what: &str| body.find(what).unwrap_or_else(|| panic!("{what}: {body}"));
        let call = r#""args":{"path": "y", "n": 1.0}"#;
        assert!(place(r#""thoughtSignature":"sig1""#) < place(call), "{body}");
    }
    assert_eq!(stream.matches("\r\n\r\n").count(), 6, "{stream}");
}

#[test]
fn the_turn_it_gave_is_taken() {
    for behind in ["", r#",{"text":"Go on."}"#] {
        let (status, body) = history(&format!("{SAID},{A},{B}"), &format!("{}{behind}", both()));
        assert_eq!((status, body.contains("That was all.")), (200, true), "{body}");
    }
}

#[test]
fn any_other_turn_is_refused() {
    let unsigned = A.replace(r#","thoughtSignature":"sig1""#, "");
    let moved = B.replace("}}}", r#"}},"thoughtSignature":"sig1"}"#);
    for (model, words) in [
        (format!("{SAID},{unsigned},{B}"), "missing a thought_signature"),
        (format!("{SAID},{A},{moved}"), "missing a thought_signature"),
        (format!("{SAID},{A}"), "expected `delete` (b)"),
        (format!("{SAID},{B},{A}"), "expected `read` (a)"),
        (format!("{SAID},{A},{}", B.replace("1.0", "1")), "expected `delete` (b)"),
        (format!("{SAID},{A},{B},{B}"), "unexpected function call"),
        (format!(r#"{{"text":"Blocked."}},{A},{B}"#), "expected text"),
    ] {
        let (status, body) = history(&model, &both());
        assert_eq!((status, body.contains(words)), (400, true), "{body}");
    }
}

#[test]
fn a_call_without_its_response_is_refused() {
    let model = format!("{SAID},{A},{B}");
    for (user, words) in [
        (result("a", "read"), "expected b"),
        (r#"{"text":"Go on."}"#.to_owned(), "expected a, b"),
        (format!("{},{}", both(), result("c", "read")), "unexpected"),
        (String::new(), "must not be empty"),
    ] {
        let (status, body) = history(&model, &user);
        assert_eq!((status, body.contains(words)), (400, true), "{body}");
    }
}
