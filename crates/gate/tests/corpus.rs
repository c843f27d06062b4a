//! Every response of the corpus through the gate: allowed, denied by name, denied by arguments,
//! explained and silent, at every split.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must stop"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use callgate_dialect::Dialect;
use callgate_gate::{Ending, Note, OnDeny};
use callgate_policy::Policies;
use callgate_testkit::clients::{self, Call};
use callgate_testkit::corpus::{self, Allow, Case};
use callgate_testkit::drive::{self, Run};

/// Runs a check on every case and reports all failures, not only the first.
fn for_each_case(check: impl Fn(&Case)) {
    let failed: Vec<String> = corpus::all()
        .iter()
        .filter(|case| catch_unwind(AssertUnwindSafe(|| check(case))).is_err())
        .map(|case| case.name.clone())
        .collect();
    assert!(failed.is_empty(), "{} cases failed: {failed:#?}", failed.len());
}

fn run_whole(case: &Case, policies: &Policies, on_deny: OnDeny) -> Run {
    drive::run(case.dialect, drive::settings(on_deny), policies, [case.body.as_slice()])
}

/// Runs a case at every split, and returns the common result. A silent denial differs from an
/// explained one only in what leaves, not in what is read when: two splits (whole, and byte by
/// byte) are enough for it.
fn run_every_cut(case: &Case, policies: &Policies, on_deny: OnDeny) -> Run {
    let whole = run_whole(case, policies, on_deny);
    let cuttings = match on_deny {
        OnDeny::Continue | OnDeny::Explain => drive::at_every_byte(&case.body),
        OnDeny::Silent => drive::cuttings(&case.body, []),
    };
    for chunks in cuttings {
        let at = chunks[0].len();
        let run = drive::run(case.dialect, drive::settings(on_deny), policies, chunks);
        // Nearly always the bytes are equal, and comparing them first saves a third of the test's
        // time.
        if run.out != whole.out {
            assert_eq!(settled(&run), settled(&whole), "{}: first cut at {at}", case.name);
        }
        assert_eq!(run.ending, whole.ending, "{}: first cut at {at}", case.name);
    }
    whole
}

/// The frames without those that may overtake a held call: when they leave depends on when the
/// input runs out.
fn settled(run: &Run) -> String {
    run.text().split_inclusive("\n\n").filter(|frame| !frame.contains("event: ping")).collect()
}

#[test]
fn allowed_by_name_leaves_as_it_came() {
    for_each_case(|case| allowed(case, &drive::allow_all()));
}

#[test]
fn allowed_by_arguments_leaves_as_it_came() {
    for_each_case(|case| allowed(case, &drive::allow_all_held()));
}

fn allowed(case: &Case, policies: &Policies) {
    let run = run_every_cut(case, policies, OnDeny::Explain);
    // A rule that needs arguments counts unreadable ones against the call, and a held call is
    // dropped when the stream breaks: then there is nothing to compare.
    let held_back = run.judged.iter().any(|(_, _, allowed)| !allowed)
        || run.notes.iter().any(|note| matches!(note, Note::Dropped { .. }));
    if held_back {
        return assert!(case.name.contains("evasion"), "{}: {:?}", case.name, run.judged);
    }
    match case.about.allow {
        Allow::Identical => {
            assert_eq!(run.text(), String::from_utf8_lossy(&case.body), "{}", case.name);
        }
        Allow::Normalised => {
            assert_ne!(run.out, case.body, "{}: is identical", case.name);
            one_reading(case, &run);
        }
        Allow::Refused => {
            assert_ne!(run.out, case.body, "{}: is identical", case.name);
            assert!(case.about.why.is_some(), "{}: say why", case.name);
        }
    }
    if let Some(expected) = &case.about.calls {
        let judged: Vec<&str> = run.judged.iter().map(|(name, _, _)| name.as_str()).collect();
        let expected: Vec<&str> = expected.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(judged, expected, "{}: calls seen", case.name);
    }
}

/// Every kind of client reads a normalised response the same way, except those that find no call in
/// such a response at all.
fn one_reading(case: &Case, run: &Run) {
    let mut readings = clients::readings(case.dialect, &run.out);
    let before = clients::readings(case.dialect, &case.body);
    readings.retain(|client, calls| !calls.is_empty() || !before[client].is_empty());
    // This one takes single pieces for calls even in an honest stream.
    readings.remove("each piece");
    readings.remove(clients::ANYWHERE);
    let mut readings = readings.into_iter();
    // If no client finds a call, there is nothing to compare.
    let Some((first, calls)) = readings.next() else { return };
    for (client, other) in readings {
        assert_eq!(sorted(&other), sorted(&calls), "{}: {client} against {first}", case.name);
    }
}

fn sorted(calls: &[Call]) -> Vec<Call> {
    let mut calls = calls.to_vec();
    calls.sort();
    calls
}

/// Every name under which some client may see a call in the upstream's bytes.
fn every_name(case: &Case) -> Vec<String> {
    let readings = clients::readings(case.dialect, &case.body);
    let mut names: Vec<String> = readings
        .into_values()
        .flatten()
        .map(|(name, _)| name)
        .filter(|n| !n.trim().is_empty())
        .collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn denied_by_name_reaches_no_client() {
    for_each_case(|case| {
        let names = every_name(case);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        if names.is_empty() {
            return;
        }
        for on_deny in [OnDeny::Explain, OnDeny::Silent] {
            denied(case, &run_every_cut(case, &drive::deny_names(&names), on_deny));
        }
    });
}

#[test]
fn denied_by_arguments_reaches_no_client() {
    for_each_case(|case| {
        for on_deny in [OnDeny::Explain, OnDeny::Silent] {
            denied(case, &run_every_cut(case, &drive::deny_all_by_arguments(), on_deny));
        }
    });
}

fn denied(case: &Case, run: &Run) {
    for (client, calls) in clients::readings(case.dialect, &run.out) {
        assert!(calls.is_empty(), "{}: {client} sees {calls:?}\n{}", case.name, run.text());
    }
    let had_calls = !every_name(case).is_empty();
    if had_calls && run.ending == Ending::Clean && !case.name.contains("error") {
        let announces_calls = match case.dialect {
            Dialect::Anthropic => r#""stop_reason":"tool_use""#,
            Dialect::OpenAiChat => r#""finish_reason":"tool_calls""#,
            Dialect::Ollama => r#""done_reason":"tool_calls""#,
            Dialect::Cohere => r#""finish_reason":"TOOL_CALL""#,
            Dialect::Converse => r#""stopReason":"tool_use""#,
            Dialect::Interactions => r#""requires_action""#,
            _ => return,
        };
        assert!(!run.text().contains(announces_calls), "{}: {}", case.name, run.text());
    }
}

/// Every call that a client ends up with was judged with that name and those arguments: no client
/// gives one call the arguments of another.
#[test]
fn every_call_a_client_ends_up_with_was_judged() {
    for_each_case(|case| {
        let text = String::from_utf8_lossy(&case.body);
        if ELSEWHERE.iter().any(|word| text.contains(word)) {
            return;
        }
        let run = run_whole(case, &drive::allow_all_held(), OnDeny::Explain);
        let mut readings = clients::readings(case.dialect, &run.out);
        // These two take single pieces, and calls that the provider runs, for calls.
        readings.remove("each piece");
        readings.remove(clients::ANYWHERE);
        for (client, calls) in readings {
            for call in calls {
                let known = run.judged.iter().any(|judged| is_judged(&call, judged));
                assert!(known, "{}: {client} has {call:?} of {:?}", case.name, run.judged);
            }
        }
    });
}

/// An error inside a streaming call ends it for good: some clients read on, and nothing that leaves
/// after the error may look like the end of the call.
#[test]
fn nothing_ends_a_call_after_an_error() {
    for_each_case(|case| {
        if !case.name.ends_with("/evasion-call_ends_behind_error") {
            return;
        }
        let left = run_every_cut(case, &drive::allow_all(), OnDeny::Explain).text();
        let mut events = left.split_terminator("\n\n");
        assert!(events.any(|event| event.contains(r#""error""#)), "{}: no error", case.name);
        let behind: Vec<&str> = events.filter(|event| *event != "data: [DONE]").collect();
        assert!(behind.is_empty(), "{}: {behind:#?}", case.name);
    });
}

/// Marks of calls that clients return in pieces, or whose arguments are not in the usual members:
/// the client's text of them is not the text that was judged.
const ELSEWHERE: [&str; 7] = [
    "partialArgs",
    "apply_patch_call",
    "computer_call",
    "shell_call",
    "tool_search_call",
    "browser_call",
    "\"handoff\"",
];

/// Names may be judged with a server prefix, and missing arguments equal `{}`.
fn is_judged((name, arguments): &Call, (judged, with, allowed): &(String, String, bool)) -> bool {
    let value = |text: &str| match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) => value,
        Err(_) if text.trim().is_empty() => serde_json::json!({}),
        Err(_) => text.into(),
    };
    *allowed && judged.trim().ends_with(name.trim()) && value(arguments) == value(with)
}

/// One tool of two is denied: the other reaches the client, with its arguments, and indices without
/// a gap.
#[test]
fn the_other_call_survives() {
    for_each_case(|case| {
        let Some(expected) = &case.about.calls else { return };
        for denied in expected.iter().map(|call| call.name.as_str()) {
            if expected.iter().all(|call| call.name == denied) {
                continue;
            }
            let run = run_whole(case, &drive::deny_names(&[denied]), OnDeny::Explain);
            let before = clients::readings(case.dialect, &case.body);
            for (client, calls) in clients::readings(case.dialect, &run.out) {
                let want: Vec<&Call> =
                    before[client].iter().filter(|(name, _)| name != denied).collect();
                let got: Vec<&Call> = calls.iter().collect();
                assert_eq!(got, want, "{}: {client} without {denied}", case.name);
            }
        }
    });
}
