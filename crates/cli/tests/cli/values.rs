//! Arguments that programs read in different ways, through `callgate filter`.

use callgate_testkit::values::{self, ConditionCase};
use serde_json::json;

use crate::support::Test;

/// A whole Chat answer with one call.
fn answer(tool: &str, arguments: &str) -> String {
    let function = json!({ "name": tool, "arguments": arguments });
    let call = json!({ "id": "call_1", "type": "function", "function": function });
    let message = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
    let choice = json!({ "index": 0, "message": message, "finish_reason": "tool_calls" });
    json!({ "id": "c", "object": "chat.completion", "choices": [choice] }).to_string()
}

/// What leaves of a call with these arguments.
fn filtered(policy: &str, tool: &str, arguments: &str) -> String {
    let args = ["filter", "--policy", "policy.yaml", "--dialect", "openai-chat"];
    let ran = Test::new(&args).file("policy.yaml", policy).stdin(answer(tool, arguments)).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.stdout
}

/// A rule that denies on a condition denies the call, and one that allows on it does not allow it.
#[track_caller]
fn counts_against_the_call(cases: &[ConditionCase]) {
    is_stopped(cases, &values::denying(cases));
    is_stopped(cases, &values::allowing(cases));
}

#[track_caller]
fn is_stopped(cases: &[ConditionCase], policy: &str) {
    for (place, case) in cases.iter().enumerate() {
        let left = filtered(policy, &values::tool(place), case.arguments);
        assert!(!left.contains("call_1"), "{case:?}\n{policy}\n{left}");
    }
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

#[test]
fn other_calls_with_the_same_arguments_pass() {
    for cases in
        [values::NUMBERS, values::KEYS, values::LAX, values::JSON_IN_TEXTS, values::TEXTS_IN_KEYS]
    {
        for case in cases {
            let answer = answer("other", case.arguments);
            assert_eq!(filtered(&values::denying(cases), "other", case.arguments), answer);
        }
    }
}

#[test]
fn the_starter_sees_commands_that_are_lists_of_words() {
    for (arguments, passes) in [
        (r#"{"command":["rm","-rf","~"]}"#, false),
        (r#"{"command":"rm","args":["-rf","/"]}"#, false),
        (r#"{"command":["dd","if=/dev/zero","of=/dev/sda"]}"#, false),
        (r#"{"command":["git","push","--force","origin","main"]}"#, false),
        (r#"{"argv":["rm","-rf","/etc"]}"#, false),
        (r#"{"program":"rm","args":["-rf","/etc"]}"#, false),
        (r#"{"argv":"[\"rm\",\"-rf\",\"/etc\"]"}"#, false),
        (r#"{"command":["rm","-rf","build"],"workdir":"/home/me/app"}"#, true),
        (r#"{"command":["grep","-r","rm","/etc"]}"#, true),
        (r#"{"command":"grep","args":["-r","rm","/etc"]}"#, true),
    ] {
        let args = ["filter", "--dialect", "openai-chat"];
        let ran = Test::new(&args).stdin(answer("shell", arguments)).run();
        assert_eq!(ran.stdout.contains("call_1"), passes, "{arguments}\n{}", ran.stderr);
    }
}
