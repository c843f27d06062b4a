use proptest::prelude::*;

use super::*;
use crate::vocabulary::{MANY_CALLS, ONE_CALL, WORDS_OF_CALLS};

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
fn an_approval_request_needs_no_name() {
    let data = r#"{"x":{"type":"mcp_approval_request","id":"a"}}"#;
    assert_eq!(find(data, &[], &[]).unwrap().len(), 1);
}

/// One letter or separator, in some spelling that is folded to it.
fn spelling(letter: char) -> BoxedStrategy<String> {
    let plain = letter.to_string();
    let upper = letter.to_ascii_uppercase().to_string();
    let escaped = format!("\\u{:04x}", u32::from(letter));
    let odd = match letter {
        's' => "\u{17f}",
        'i' => "\u{131}",
        'n' => "\u{149}",
        _ => "",
    };
    let odd_escaped = odd.chars().next().map(|c| format!("\\u{:04X}", u32::from(c)));
    let odd = if odd.is_empty() { plain.clone() } else { odd.to_owned() };
    let odd_escaped = odd_escaped.unwrap_or_else(|| plain.clone());
    let separated = prop_oneof![
        Just("_".to_owned()),
        Just("-".to_owned()),
        Just("\\u002d".to_owned()),
        Just(String::new()),
    ];
    let letter = prop_oneof![
        12 => Just(plain), 2 => Just(upper), 1 => Just(escaped), 1 => Just(odd), 1 => Just(odd_escaped),
    ];
    (letter, prop_oneof![6 => Just(String::new()), 1 => separated])
        .prop_map(|(letter, separator)| letter + &separator)
        .boxed()
}

/// A word of the vocabulary or of something else, in some spelling.
fn word() -> impl Strategy<Value = String> {
    let words: Vec<&str> = WORDS_OF_CALLS
        .into_iter()
        .chain(ONE_CALL)
        .chain(MANY_CALLS)
        .chain(["type", "input", "arguments", "output", "text", "delta", "content", "id"])
        .collect();
    prop::sample::select(words)
        .prop_flat_map(|word| word.chars().map(spelling).collect::<Vec<_>>())
        .prop_map(|letters| letters.concat())
}

fn value() -> impl Strategy<Value = String> {
    let text = prop_oneof![word(), Just("x".to_owned()), Just("\u{fb06}".to_owned())];
    let leaf = prop_oneof![
        4 => text.prop_map(|text| format!("\"{text}\"")),
        1 => Just("null".to_owned()),
        1 => Just("7".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let key = prop_oneof![3 => word(), 1 => Just("x".to_owned()), 1 => Just("type".to_owned())];
        let member = (key, inner.clone()).prop_map(|(key, value)| format!("\"{key}\":{value}"));
        prop_oneof![
            prop::collection::vec(member, 0..4)
                .prop_map(|members| format!("{{{}}}", members.join(","))),
            prop::collection::vec(inner, 0..3).prop_map(|items| format!("[{}]", items.join(","))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The search for words finds every frame in which the walk finds a call.
    #[test]
    fn no_call_is_missed_without_parsing(inner in value()) {
        let data = format!("{{\"x\":{inner}}}");
        let calls = |found: Result<Vec<Stray>, Unreadable>| found.map(|it| it.len());
        if let Ok(walked) = calls(find_all(&data, &[], &[])) {
            prop_assert_eq!(calls(find(&data, &[], &[])), Ok(walked), "{}", data);
        }
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
