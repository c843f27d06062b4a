use serde_json::{Value, json};

use super::*;
use crate::Dialect;
use crate::continued::Continuing;
use crate::request::{ClientCall, EarlierAnswer, MergedTurn, RemovedTurn, restore, testing};

fn ollama() -> Continuing {
    Dialect::Ollama.continuing().unwrap()
}

fn removed(name: &str, place: usize) -> RemovedCall {
    let call = json!({ "function": { "name": name, "arguments": {} } });
    let (original, why) = (call.to_string(), format!("no {name}"));
    RemovedCall { id: String::new(), original, place, notice: None, why }
}

const LINES: [&str; 4] = [
    r#"{"model":"m","message":{"role":"assistant","content":"","thinking":"Hm"},"done":false}"#,
    r#"{"model":"m","message":{"role":"assistant","content":"So \ud83d","thinking":"."},"done":false}"#,
    r#"{"model":"m","message":{"role":"assistant","content":"\ude00","tool_calls":[{"id":"c1","function":{"index":0,"name":"rm","arguments":{ "p":"\u002f" }}}]},"done":false}"#,
    r#"{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"ls","arguments":{}}}]},"done":true,"done_reason":"stop","prompt_eval_count":5,"eval_count":9}"#,
];

#[test]
fn a_streamed_turn_is_what_the_model_produced() {
    let turn = ollama().turn(&(LINES.join("\n") + "\n")).unwrap();
    let want = concat!(
        r#"{"role":"assistant","content":"So \ud83d\ude00","thinking":"Hm.","tool_calls":["#,
        r#"{"id":"c1","function":{"index":0,"name":"rm","arguments":{ "p":"\u002f" }}},"#,
        r#"{"function":{"name":"ls","arguments":{}}}]}"#
    );
    assert_eq!(turn.content, want);
    assert_eq!(turn.usage, r#"{"prompt_eval_count":5,"eval_count":9}"#);
    assert!(ollama().turn(LINES[3]).is_ok(), "a body is a line");
    for answer in ["{", "<html>", r#"{"error":"x"}"#, ""] {
        assert!(ollama().turn(answer).is_err(), "{answer}");
    }
}

#[test]
fn the_rest_of_an_answer_is_what_the_client_has() {
    let answer = LINES.join("\n");
    let ls = ClientCall::new(String::new(), "ls", "{}");
    let want = r#"{"role":"assistant","content":"So \ud83d\ude00","tool_calls":[{"function":{"name":"ls","arguments":{}}}]}"#;
    assert_eq!(ollama().rest(&answer, &[ls]).unwrap(), want);
    assert_eq!(ollama().rest(LINES[0], &[]), None);
}

#[test]
fn the_next_request_has_the_turn_and_its_results() {
    let calls = [removed("rm", 0)];
    let content = r#"{"role":"assistant","content":"x"}"#;
    let turn = DeniedTurn { content, calls: &calls, names: &["rm"] };
    let (before, behind) = (r#"{"messages": [{"role":"user","content":"Go."}"#, "], \"x\":1}");
    let next = ollama().request(&format!("{before}{behind}"), &turn).unwrap();
    let more = format!(r#",{content},{{"role":"tool","tool_name":"rm","content":"no rm"}}"#);
    assert_eq!(next, format!("{before}{more}{behind}"));
    let begun = r#"{"messages":[{"role":"assistant","content":"I"}]}"#;
    for request in [begun, r#"{"messages":[]}"#, r#"{"prompt":"x"}"#, "[]", "{"] {
        assert!(ollama().request(request, &turn).is_err(), "{request}");
    }
    assert!(ollama().wants_json(r#"{"format":"json"}"#) && ollama().wants_json(r#"{"format":{}}"#));
    assert!(!ollama().wants_json(r#"{"format":""}"#) && !ollama().wants_json("{}"));
}

#[test]
fn a_merged_turn_is_restored_to_its_answers() {
    let earlier = EarlierAnswer {
        content: r#"{"role":"assistant","content":"One.","tool_calls":[{"function":{"name":"rm","arguments":{}}}]}"#.into(),
        results: ollama().results(&[removed("rm", 0)]),
        ids: vec![String::new()],
    };
    let last = r#"{"role":"assistant","content":"","tool_calls":[{"function":{"name":"rm","arguments":{}}},{"function":{"name":"ls","arguments":{}}}]}"#;
    let merged = MergedTurn { earlier: vec![earlier], last: last.into(), stored: None };
    let request = json!({ "messages": [
        { "role": "user", "content": "Go." },
        { "role": "assistant", "content": "One.\n\nblocked",
            "tool_calls": [{ "function": { "name": "ls", "arguments": {} } }] },
        { "role": "tool", "tool_name": "ls", "content": "ok" },
    ] })
    .to_string();
    let client = testing::client_turn(Dialect::Ollama, &request);
    let turn = RemovedTurn { client, calls: vec![removed("rm", 0)], ..RemovedTurn::default() };
    let restored = restore(Dialect::Ollama, &request, &[turn.merged(merged)]).unwrap();
    let body: Value = serde_json::from_str(&restored.body.unwrap()).unwrap();
    let messages = body["messages"].as_array().unwrap();
    let roles: Vec<&Value> = messages.iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "tool", "tool"]);
    let names: Vec<&Value> = [2, 4, 5].iter().map(|at| &messages[*at]["tool_name"]).collect();
    assert_eq!(names, ["rm", "rm", "ls"]);
}
