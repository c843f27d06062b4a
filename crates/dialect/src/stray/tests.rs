use super::*;

fn names(data: &str) -> Vec<String> {
    find(data, &[], &[]).unwrap().into_iter().map(|stray| stray.name).collect()
}

#[test]
fn what_looks_like_a_call() {
    for data in [
        r#"{"x":{"name":"evil","input":{}}}"#,
        r#"{"x":[{"tool_name":"evil","parameters":null}]}"#,
        r#"{"name":"evil","args":{}}"#,
        r#"{"x":{"functionCall":{"name":"evil"}}}"#,
        r#"{"x":{"toolUse":{"name":"evil","toolUseId":"1"}}}"#,
        r#"{"tool_calls":[{"function":{"name":"evil"}}]}"#,
        r#"{"tool_calls":[{"name":"evil"}]}"#,
        r#"{"x":{"type":"tool_use","name":"evil"}}"#,
        r#"{"x":{"type":"evil_call"}}"#,
        r#"{"x":{"type":"evil","call_id":"c"}}"#,
        r#"{"x":{"n\u0061me":"evil","inp\u0075t":{}}}"#,
        r#"{"x":{"Name":"evil","Arguments":"{}"}}"#,
        r#"{"x":{"type":"foo_call_output","name":"evil","arguments":{},"output":""}}"#,
        r#"{"type":"model_output","content":[{"name":"evil","input":{}}]}"#,
    ] {
        assert_eq!(names(data), ["evil"], "{data}");
    }
}

#[test]
fn what_does_not() {
    for data in [
        r#"{"name":"evil"}"#,
        r#"{"type":"evil_call","call_id":"c"}"#,
        r#"{"x":{"name":"evil","description":"","input_schema":{}}}"#,
        r#"{"x":{"type":"foo_call_output","call_id":"c","output":[{"name":"evil","input":{}}]}}"#,
        r#"{"x":{"type":"web_search_result","call_id":"c","result":{"name":"evil","args":{}}}}"#,
        r#"{"x":{"type":"mcp_list_tools","tools":[{"name":"evil","parameters":{}}]}}"#,
        r#"{"text":"{\"name\":\"evil\",\"input\":{}}"}"#,
        r#"[{"name":"evil","input":{}}]"#,
    ] {
        assert!(names(data).is_empty(), "{data}");
    }
}

#[test]
fn arguments_are_data() {
    let data = r#"{"x":{"name":"one","input":{"name":"two","input":{}}}}"#;
    assert_eq!(names(data), ["one"]);
    // An object without a name is not a call, and its input is not data.
    assert_eq!(names(r#"{"x":{"input":{"name":"two","input":{}}}}"#), ["two"]);
}

#[test]
fn taken_calls_are_not_stray() {
    let data = r#"{"x":{"name":"one","input":{}},"y":{"name":"two","input":{}}}"#;
    let at = data.find("\"one\"").unwrap();
    let found = find(data, &[Span { start: at, end: at + 5 }], &[]).unwrap();
    let names: Vec<&str> = found.iter().map(|stray| stray.name.as_str()).collect();
    assert_eq!(names, ["two"]);
}

/// Two names, or two inputs: clients choose differently, so the frame is refused.
#[test]
fn a_call_with_duplicate_members_is_refused() {
    for data in [
        r#"{"x":{"name":"one","tool_name":"two","input":{}}}"#,
        r#"{"x":{"name":"one","input":{},"arguments":"{}"}}"#,
    ] {
        let at = data.find("\"one\"").unwrap();
        let found = find(data, &[Span { start: at, end: at + 5 }], &[]).unwrap();
        assert!(found.iter().all(|stray| stray.refuse.is_some()) && found.len() == 1, "{data}");
    }
}

#[test]
fn quiet_members_are_skipped() {
    let skipped_members: SkippedMembers = &[("response", &["tools"])];
    let data = r#"{"response":{"tools":[{"name":"one","parameters":{}}]},"tools":[{"name":"two","parameters":{}}]}"#;
    let found = find(data, &[], skipped_members).unwrap();
    let names: Vec<&str> = found.iter().map(|stray| stray.name.as_str()).collect();
    assert_eq!(names, ["two"]);
}

#[test]
fn more_than_the_most_is_an_error() {
    let call = r#"{"name":"x","input":{}}"#;
    let data = format!("{{\"x\":[{}]}}", vec![call; MOST + 1].join(","));
    assert!(matches!(find(&data, &[], &[]), Err(Unreadable::TooManyCalls)));
}
