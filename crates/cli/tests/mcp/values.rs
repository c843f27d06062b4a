//! Arguments that programs read in different ways, at an MCP server behind `callgate mcp wrap`.

use callgate_testkit::values::{self, ConditionCase};
use serde_json::json;

use crate::support::{Place, simple, tool};

/// A rule that denies on a condition denies the call, and one that allows on it does not allow it.
#[track_caller]
fn counts_against_the_call(cases: &[ConditionCase]) {
    is_stopped(cases, &values::denying(cases));
    is_stopped(cases, &values::allowing(cases));
}

#[track_caller]
fn is_stopped(cases: &[ConditionCase], policy: &str) {
    let tools = (0..cases.len()).map(|place| tool(&values::tool(place), "Does something."));
    let mut answers = simple();
    answers["tools/list"] = json!({ "result": { "tools": tools.collect::<Vec<_>>() } });
    let place = Place::new(policy, "");
    let mut wrapped = place.scripted("s", answers);
    wrapped.hello();
    for (at, case) in cases.iter().enumerate() {
        let (name, arguments) = (values::tool(at), case.arguments);
        wrapped.say(format!(
            r#"{{"jsonrpc":"2.0","id":"case {at}","method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#
        ));
        let answer = loop {
            let heard = wrapped.hear();
            if heard["id"] == format!("case {at}") {
                break heard;
            }
        };
        assert_eq!(answer["result"]["isError"], true, "{case:?}\n{policy}\n{answer}");
    }
    let received = wrapped.end().received;
    assert!(received.contains("tools/list"), "{received}");
    assert!(!received.contains("tools/call"), "{received}");
}

#[test]
fn numbers_that_programs_round() {
    counts_against_the_call(values::NUMBERS);
}

#[test]
fn keys_that_only_some_programs_read() {
    counts_against_the_call(values::KEYS);
}

#[test]
fn values_that_lax_readers_take_for_another() {
    counts_against_the_call(values::LAX);
}

#[test]
fn json_inside_of_texts() {
    counts_against_the_call(values::JSON_IN_TEXTS);
}

#[test]
fn texts_in_keys() {
    is_stopped(values::TEXTS_IN_KEYS, &values::denying(values::TEXTS_IN_KEYS));
}
