use serde_json::{Value, json};

use crate::request::testing::restore;
use crate::request::{RemovedCall, RemovedTurn};
use crate::{
    After, ArgumentsPiece, CallKind, Canonical, Carrier, Dialect, Limits, PieceRole, Reading,
    Unreadable, What,
};

fn read(line: &Value) -> Result<Reading, Unreadable> {
    Dialect::Ollama.reader(&Limits::default()).read(None, &line.to_string())
}

fn line(message: Value) -> Value {
    json!({"model": "m", "message": message, "done": false})
}

/// Name, arguments, whether it has an id, and carrier of every call.
fn calls(reading: &Reading) -> Vec<(&str, &ArgumentsPiece, bool, Carrier)> {
    let call = |part: &'_ crate::Part| matches!(part.what, What::Piece(_));
    let parts = reading.parts.iter().filter(|part| call(part));
    parts
        .filter_map(|part| match &part.what {
            What::Piece(piece) => {
                assert!(piece.opens() && piece.ends());
                let name = piece.name.as_deref().unwrap_or("");
                Some((
                    name,
                    &piece.arguments,
                    piece.role == PieceRole::Open(CallKind::Identified),
                    piece.carrier,
                ))
            }
            _ => None,
        })
        .collect()
}

#[test]
fn calls_come_whole() {
    let two = json!([{"function": {"name": "a", "arguments": {"x": 1.0}}},
        {"id": "call_2", "function": {"index": 1, "name": "b", "arguments": "{}"}}]);
    let reading =
        read(&line(json!({"role": "assistant", "content": "", "tool_calls": two}))).unwrap();
    let whole = ArgumentsPiece::Whole(r#"{"x":1.0}"#.into());
    let text = ArgumentsPiece::Fragment("{}".into());
    let want = [("a", &whole, false, Carrier::Listed), ("b", &text, true, Carrier::Listed)];
    assert_eq!(calls(&reading), want);
    let prompt = json!({"model": "m", "response": "", "tool_calls": two, "done": false});
    assert_eq!(calls(&read(&prompt).unwrap()), want);
    let stray = read(&line(json!({"content": "", "x": {"name": "a", "input": {}}}))).unwrap();
    assert_eq!(calls(&stray)[0].3, Carrier::Stray);
}

#[test]
fn thinking_is_not_text() {
    let said = line(json!({"content": "hi", "thinking": "hm"})).to_string();
    let reading = Dialect::Ollama.reader(&Limits::default()).read(None, &said).unwrap();
    assert_eq!(reading.text.unwrap().of(&said), "hi");
    let thought = read(&line(json!({"content": "", "thinking": "hm"}))).unwrap();
    assert!(thought.text.is_none());
    let prompt = json!({"response": "hi", "done": false}).to_string();
    let reader = Dialect::Ollama.reader(&Limits::default());
    assert_eq!(reader.texts(&prompt).len(), 1);
}

#[test]
fn the_last_line_has_tokens_and_reason() {
    let last = json!({"model": "m", "message": {"content": ""}, "done": true,
        "done_reason": "stop", "prompt_eval_count": 169, "eval_count": 15});
    let reading = read(&last).unwrap();
    // Turns with calls have the same reason.
    assert!(matches!(reading.parts[0].what, What::Finish(finish) if finish.announces_calls));
    let full = json!({"message": {"content": ""}, "done": true, "done_reason": "length"});
    let full = read(&full).unwrap();
    assert!(matches!(full.parts[0].what, What::Finish(finish) if !finish.announces_calls));
    let tally = reading.tally.unwrap();
    assert_eq!((tally.input, tally.output), (Some(169), Some(15)));
    assert_eq!(tally.stop_reason.as_deref(), Some("stop"));
}

#[test]
fn errors_differ_from_other_apis() {
    assert!(read(&json!({"error": "broke"})).unwrap().after == After::Failure);
    for foreign in [
        json!({"choices": []}),
        json!({"message": {"role": "assistant", "content": []}, "finish_reason": "COMPLETE"}),
        json!({"status": "pulling"}),
    ] {
        assert_eq!(read(&foreign).unwrap_err(), Unreadable::Foreign, "{foreign}");
    }
    let mut reader = Dialect::Ollama.reader(&Limits::default());
    assert!(matches!(reader.read(None, "{}{}"), Err(Unreadable::Json(_))));
}

fn removed(id: &str, place: usize) -> RemovedTurn {
    let call = Canonical {
        id: id.into(),
        name: "rm".into(),
        arguments: r#"{"n": 1.0}"#.into(),
        free_text: false,
        anonymous: id.is_empty(),
    };
    let call = RemovedCall {
        id: id.into(),
        original: Dialect::Ollama.original(None, &call),
        place,
        notice: Some("blocked".into()),
        why: "no".into(),
    };
    RemovedTurn { calls: vec![call], ..RemovedTurn::default() }
}

/// The assistant's message of a request, and the next one, after the call was restored.
fn restored(turn: &str, removed: RemovedTurn) -> (Value, Value) {
    let request = format!(
        r#"{{"model":"m","messages":[{{"role":"user","content":"Hi"}},{turn},{{"role":"user","content":"?"}}]}}"#
    );
    let restored = restore(Dialect::Ollama, &request, &[removed]).unwrap();
    assert_eq!((restored.restored.len(), restored.skipped.len()), (1, 0));
    let body: Value = serde_json::from_str(&restored.body.unwrap()).unwrap();
    (body["messages"][1].clone(), body["messages"][2].clone())
}

#[test]
fn a_removed_call_goes_back_without_an_id() {
    let call = json!({"function": {"name": "rm", "arguments": {"n": 1.0}}});
    let (message, result) = restored(r#"{"role":"assistant","content":"blocked"}"#, removed("", 0));
    assert_eq!(message, json!({"role": "assistant", "content": "", "tool_calls": [call]}));
    assert_eq!(result, json!({"role": "tool", "tool_name": "rm", "content": "no"}));

    let kept = json!({"function": {"name": "ls", "arguments": {}}});
    let turn = json!({"role": "assistant", "content": "A\n\nblocked", "tool_calls": [kept]});
    let (message, _) = restored(&turn.to_string(), removed("", 0));
    assert_eq!(message["content"], "A");
    assert_eq!(message["tool_calls"], json!([call, kept]));
    let (message, _) = restored(&turn.to_string(), removed("", 1));
    assert_eq!(message["tool_calls"], json!([kept, call]));
}

#[test]
fn a_removed_call_keeps_the_id_it_had() {
    let (message, result) =
        restored(r#"{"role":"assistant","content":"blocked"}"#, removed("call_1", 0));
    assert_eq!(message["tool_calls"][0]["id"], "call_1");
    assert_eq!(result["tool_call_id"], "call_1");
}

#[test]
fn arguments_that_are_no_object_are_not_put_back() {
    for arguments in ["", "[1]", r#"{},"x":{}"#, r#"{"a":1,"a":2}"#] {
        let call = Canonical {
            id: String::new(),
            name: "rm".into(),
            arguments: arguments.into(),
            free_text: false,
            anonymous: true,
        };
        let want = r#"{"function":{"name":"rm","arguments":{}}}"#;
        assert_eq!(Dialect::Ollama.original(None, &call), want, "{arguments}");
    }
}
