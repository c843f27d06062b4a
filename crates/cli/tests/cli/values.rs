//! Arguments that programs read in different ways, through `callgate filter`.

use callgate_testkit::values::{self, Unclear};
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

#[track_caller]
fn counts_against_the_call(cases: &[Unclear]) {
    for (place, case) in cases.iter().enumerate() {
        let tool = values::tool(place);
        for policy in [values::denying(cases), values::allowing(cases)] {
            let left = filtered(&policy, &tool, case.arguments);
            assert!(!left.contains("call_1"), "{case:?}\n{policy}\n{left}");
        }
    }
    // The call itself is nothing that would be denied.
    let other = answer("other", cases[0].arguments);
    assert_eq!(filtered(&values::denying(cases), "other", cases[0].arguments), other);
}

#[test]
fn numbers_that_programs_round() {
    counts_against_the_call(values::NUMBERS);
}

#[test]
fn keys_that_only_some_programs_read() {
    counts_against_the_call(values::KEYS);
}
