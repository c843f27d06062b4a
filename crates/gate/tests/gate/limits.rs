//! What a gate stores of calls is bounded, and freed when it is no longer needed.

use callgate_dialect::Dialect;
use callgate_gate::{Ending, OnDeny};
use callgate_policy::Policies;
use callgate_testkit::drive::{self, Run};
use serde_json::{Value, json};

const MESSAGES: Dialect = Dialect::Anthropic;

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

fn piece(index: u32, json: &str) -> String {
    let delta = json!({ "type": "input_json_delta", "partial_json": json });
    event(&json!({ "type": "content_block_delta", "index": index, "delta": delta }))
}

/// A stream with this many calls, each with a padding in its first event and arguments in pieces.
fn stream(calls: u32, padding: usize, pieces: &[&str]) -> String {
    let call = |index: u32| {
        let block = json!({ "type": "tool_use", "id": format!("toolu_{index}"), "name": "Bash",
            "input": {}, "padding": "x".repeat(padding) });
        let start =
            json!({ "type": "content_block_start", "index": index, "content_block": block });
        let pieces: String = pieces.iter().map(|json| piece(index, json)).collect();
        event(&start) + &pieces + &event(&json!({ "type": "content_block_stop", "index": index }))
    };
    event(&json!({ "type": "message_start", "message": { "content": [] } }))
        + &(0..calls).map(call).collect::<String>()
        + &event(&json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } }))
        + &event(&json!({ "type": "message_stop" }))
}

fn run(policies: &Policies, stream: &str, limit: fn(&mut callgate_gate::GateLimits)) -> Run {
    let mut settings = drive::settings(OnDeny::Silent);
    limit(&mut settings.limits);
    drive::run(MESSAGES, settings, policies, [stream.as_bytes()])
}

#[test]
fn arguments_that_were_not_kept_do_not_count() {
    let part = "x".repeat(60_000);
    let stream = stream(30, 0, &["{\"a\":\"", &part, &part, "\"}"]);
    let run = run(&drive::allow_all(), &stream, |limits| limits.arguments = 100_000);
    assert_eq!((run.ending, run.out == stream.as_bytes()), (Ending::Clean, true));
}

#[test]
fn the_first_events_of_calls_are_bounded_and_freed_once_a_call_is_allowed() {
    let stream = stream(20, 1000, &["{}"]);
    let limit: fn(&mut callgate_gate::GateLimits) = |limits| limits.held = 10_000;
    for policies in [drive::allow_all(), drive::allow_all_held()] {
        let run = run(&policies, &stream, limit);
        assert_eq!((&run.ending, run.text()), (&Ending::Clean, stream.clone()));
    }
    for policies in [drive::deny_names(&["Bash"]), drive::deny_all_by_arguments()] {
        let denied = run(&policies, &stream, limit);
        assert!(matches!(denied.ending, Ending::Error(_)), "{}", denied.text());
        assert!(!denied.text().contains("Bash"), "{}", denied.text());
    }
}
