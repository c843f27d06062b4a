//! Frames that only add to a call's arguments are taken together. Nobody may notice: a stream in which
//! every other such frame is written a little differently, so that each is read by itself, must give
//! the same.

use callgate_dialect::Dialect;
use callgate_gate::{OnDeny, Settings};
use callgate_policy::Policies;
use callgate_testkit::drive;
use serde_json::{Value, json};

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

fn start() -> String {
    event(&json!({ "type": "message_start", "message": { "content": [] } }))
}

fn open(index: u32, name: &str) -> String {
    let block =
        json!({ "type": "tool_use", "id": format!("toolu_{index}"), "name": name, "input": {} });
    event(&json!({ "type": "content_block_start", "index": index, "content_block": block }))
}

fn piece(index: u32, json: &str) -> String {
    let delta = json!({ "type": "input_json_delta", "partial_json": json });
    event(&json!({ "type": "content_block_delta", "index": index, "delta": delta }))
}

fn stop(index: u32) -> String {
    event(&json!({ "type": "content_block_stop", "index": index }))
}

fn end() -> String {
    event(&json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } }))
        + &event(&json!({ "type": "message_stop" }))
}

/// A call whose arguments come in many pieces.
fn call(index: u32, name: &str) -> String {
    let words = |number: u32| piece(index, &format!(r#"wörd {number} \" \\ \n \u00e9 "#));
    let pieces: String = (0..30).map(words).collect();
    open(index, name) + &piece(index, "{\"a\":\"") + &pieces + &piece(index, "\"}") + &stop(index)
}

/// The same stream with a space in every other piece.
fn uneven(stream: &str) -> String {
    let mut number = 0;
    let uneven = |frame: &str| {
        number += usize::from(frame.contains("partial_json"));
        match frame.contains("partial_json") && number % 2 == 0 {
            true => frame.replacen("{\"type\"", "{ \"type\"", 1),
            false => frame.to_owned(),
        }
    };
    stream.split_inclusive("\n\n").map(uneven).collect()
}

fn seen(settings: &Settings, policies: &Policies, chunks: &[&[u8]]) -> (String, String) {
    let run = drive::run(Dialect::Anthropic, settings.clone(), policies, chunks.iter().copied());
    let out = run.text().replace("{ \"type\"", "{\"type\"");
    (out, format!("{:?} {:?} {:?}", run.judged, run.notes, run.ending))
}

/// What the client gets, for every way in which the stream may arrive.
fn same(settings: &Settings, policies: &Policies, stream: &str) -> String {
    let uneven = uneven(stream);
    let mut left = None;
    for (even, uneven) in drive::at_every_byte(stream.as_bytes())
        .into_iter()
        .zip([[uneven.as_bytes()]].iter().cycle())
    {
        let one = seen(settings, policies, &even);
        assert_eq!(one, seen(settings, policies, uneven));
        left = Some(one.0);
    }
    left.unwrap()
}

fn settings() -> Settings {
    drive::settings(OnDeny::Explain)
}

#[test]
fn an_allowed_call_leaves_byte_for_byte() {
    let stream = start() + &call(0, "Bash") + &call(1, "Read") + &end();
    for policies in [drive::allow_all_held(), drive::allow_all()] {
        assert_eq!(same(&settings(), &policies, &stream), stream);
    }
}

#[test]
fn a_denied_call_leaves_nothing_of_its_run() {
    let stream = start() + &call(0, "Bash") + &end();
    for policies in [drive::deny_all_by_arguments(), drive::deny_names(&["Bash"])] {
        let left = same(&settings(), &policies, &stream);
        assert!(!left.contains("input_json_delta"), "{left}");
    }
}

#[test]
fn a_call_behind_a_denied_one_is_renumbered() {
    let stream = start() + &call(0, "Bash") + &call(1, "Read") + &call(2, "Bash") + &end();
    let denied = "policy: p\nrules:\n  - { id: no, tool: Bash, verdict: deny, reason: no }\n  \
                  - { id: look, when: { arg: a, equals: never }, verdict: deny, reason: no }\n";
    let silent = drive::settings(OnDeny::Silent);
    let left = same(&silent, &drive::policies(denied), &stream);
    assert_eq!(left, start() + &call(1, "Read").replace("\"index\":1", "\"index\":0") + &end());
    same(&settings(), &drive::policies(denied), &stream);
}

#[test]
fn a_call_that_is_cut_off_leaves_nothing() {
    let stream = start() + &open(0, "Bash") + &piece(0, "{\"a\":\"") + &piece(0, "b").repeat(9);
    let left = same(&settings(), &drive::allow_all_held(), &stream);
    assert!(!left.contains("Bash"), "{left}");
    same(&settings(), &drive::allow_all(), &stream);
}

#[test]
fn nothing_is_added_to_complete_arguments() {
    let stream = start()
        + &open(0, "Bash")
        + &piece(0, "{\"a\":\"")
        + &piece(0, "b").repeat(9)
        + &piece(0, "\"}").repeat(3)
        + &stop(0)
        + &end();
    let left = same(&settings(), &drive::allow_all_held(), &stream);
    assert_eq!(left.matches("partial_json").count(), 11, "{left}");
}

#[test]
fn limits_are_the_same() {
    let stream = start() + &call(0, "Bash") + &end();
    for policies in [drive::allow_all_held(), drive::allow_all()] {
        for limit in [100, 2000] {
            let mut settings = settings();
            settings.limits.held = limit;
            same(&settings, &policies, &stream);
        }
        for limit in [10, 100] {
            let mut settings = self::settings();
            settings.limits.arguments = limit;
            same(&settings, &policies, &stream);
        }
    }
}

#[test]
fn blocks_may_be_mixed() {
    let mix = |one: &str, other: &str| -> String {
        let frames = |text: &str| -> Vec<String> {
            text.split_inclusive("\n\n").map(str::to_owned).collect()
        };
        frames(one).into_iter().zip(frames(other)).flat_map(|(one, other)| [one, other]).collect()
    };
    let stream = start() + &mix(&call(0, "Bash"), &call(1, "Read")) + &end();
    for policies in [drive::allow_all_held(), drive::allow_all(), drive::deny_names(&["Bash"])] {
        same(&settings(), &policies, &stream);
    }
}
