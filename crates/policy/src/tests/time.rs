//! `time`: hours and days in a time zone.

use super::support::*;
use crate::{Moment, SpentLimits, Verdict};

fn verdict(verdict: &str, condition: &str, at: &str) -> Verdict {
    let text = format!("id: r, verdict: {verdict}, when: {{ time: {condition} }}");
    let head = if verdict == "allow" { "default: deny" } else { "" };
    let moment = Moment::parse(at).unwrap();
    let policies = policies(&policy_text("test", head, &[&text]));
    policies.judge(&call("t", "{}"), &moment, &SpentLimits::none()).verdict
}

/// What a rule that denies and a rule that allows make of each moment: in the window, outside, or
/// unknown.
#[track_caller]
fn check(condition: &str, cases: &[(&str, &str)]) {
    for (at, expected) in cases {
        let found = match (verdict("deny", condition, at), verdict("allow", condition, at)) {
            (Verdict::Deny, Verdict::Allow) => "in",
            (Verdict::Allow, Verdict::Deny) => "out",
            (Verdict::Deny, Verdict::Deny) => "unknown",
            other => panic!("{other:?}"),
        };
        assert_eq!(found, *expected, "{condition} at {at}");
    }
}

#[test]
fn a_window_begins_with_its_first_minute_and_ends_before_its_last() {
    check(
        "{ between: ['09:30', '17:00'] }",
        &[
            ("2026-06-10T09:29:59Z", "out"),
            ("2026-06-10T09:30:00Z", "in"),
            ("2026-06-10T16:59:59Z", "in"),
            ("2026-06-10T17:00:00Z", "out"),
        ],
    );
    check(
        "{ between: ['18:00', '24:00'] }",
        &[("2026-06-10T23:59:59Z", "in"), ("2026-06-11T00:00:00Z", "out")],
    );
}

/// Over midnight it belongs to the day on which it begins.
#[test]
fn a_window_over_midnight() {
    check(
        "{ between: ['22:00', '06:30'], days: [mon-fri], zone: Europe/Berlin }",
        &[
            // Friday is the 12th. Berlin is two hours ahead of UTC.
            ("2026-06-12T21:59:00+02:00", "out"),
            ("2026-06-12T22:00:00+02:00", "in"),
            ("2026-06-13T06:29:00+02:00", "in"),
            ("2026-06-13T06:30:00+02:00", "out"),
            ("2026-06-13T22:00:00+02:00", "out"),
            ("2026-06-15T03:00:00+02:00", "out"),
            ("2026-06-15T22:00:00+02:00", "in"),
            ("2026-06-12T20:00:00Z", "in"),
            ("2026-06-12T19:59:00Z", "out"),
        ],
    );
}

#[test]
fn days_without_hours_are_whole_days() {
    check(
        "{ days: [sat-sun, Wednesday] }",
        &[
            ("2026-06-10T12:00:00Z", "in"),
            ("2026-06-11T00:00:00Z", "out"),
            ("2026-06-13T00:00:00Z", "in"),
            ("2026-06-14T23:59:59Z", "in"),
            ("2026-06-15T00:00:00Z", "out"),
        ],
    );
    check(
        "{ days: fri-mon, zone: Pacific/Auckland }",
        &[("2026-06-11T11:59:59Z", "out"), ("2026-06-11T12:00:00Z", "in")],
    );
}

/// On 29 March 2026, the clocks in Berlin go from 2:00 to 3:00.
#[test]
fn local_times_that_do_not_exist() {
    check(
        "{ between: ['02:30', '05:00'], zone: Europe/Berlin }",
        &[
            ("2026-03-29T00:59:59Z", "out"),
            ("2026-03-29T01:00:00Z", "in"),
            ("2026-03-29T02:59:59Z", "in"),
            ("2026-03-29T03:00:00Z", "out"),
            ("2026-03-30T00:30:00Z", "in"),
        ],
    );
    check(
        "{ between: ['22:00', '02:30'], zone: Europe/Berlin }",
        &[("2026-03-29T00:59:59Z", "in"), ("2026-03-29T01:00:00Z", "out")],
    );
    check(
        "{ between: ['02:10', '02:50'], zone: Europe/Berlin }",
        &[("2026-03-29T00:59:59Z", "out"), ("2026-03-29T01:00:00Z", "out")],
    );
}

/// On 25 October 2026, the clocks in Berlin go from 3:00 back to 2:00.
#[test]
fn local_times_that_come_twice() {
    check(
        "{ between: ['02:30', '05:00'], zone: Europe/Berlin }",
        &[
            ("2026-10-25T00:29:59Z", "out"),
            ("2026-10-25T00:30:00Z", "unknown"),
            ("2026-10-25T01:29:59Z", "unknown"),
            ("2026-10-25T01:30:00Z", "in"),
            ("2026-10-25T03:59:59Z", "in"),
            ("2026-10-25T04:00:00Z", "out"),
        ],
    );
    check(
        "{ between: ['22:00', '02:30'], zone: Europe/Berlin }",
        &[
            ("2026-10-25T00:29:59Z", "in"),
            ("2026-10-25T00:30:00Z", "unknown"),
            ("2026-10-25T01:30:00Z", "out"),
        ],
    );
    let deny = rules(&[
        "id: r, verdict: deny, when: { time: { between: ['02:30', '05:00'], zone: Europe/Berlin } }",
    ]);
    let twice = Moment::parse("2026-10-25T00:45:00Z").unwrap();
    let judgement = deny.judge(&call("t", "{}"), &twice, &SpentLimits::none());
    assert!(
        judgement.errors[0]
            .why
            .contains("sunday 02:45 in Europe/Berlin, a local time that comes twice")
    );
}

/// The offset of Lord Howe changes by half an hour, and in 2011 Samoa had no 30 December.
#[test]
fn unusual_zones() {
    check(
        "{ between: ['01:45', '03:00'], zone: Australia/Lord_Howe }",
        &[
            ("2026-04-04T14:40:00Z", "out"),
            ("2026-04-04T14:50:00Z", "unknown"),
            ("2026-04-04T15:20:00Z", "in"),
        ],
    );
    check(
        "{ days: [fri], zone: Pacific/Apia }",
        &[("2011-12-30T09:59:59Z", "out"), ("2011-12-30T10:00:00Z", "out")],
    );
    check("{ days: [fri], zone: europe/berlin }", &[("2026-06-12T12:00:00Z", "in")]);
}

#[test]
fn the_name_decides_at_once() {
    let policies = rules(&["id: r, verdict: deny, when: { time: { days: [mon] } }"]);
    assert_eq!(policies.by_name("t"), "deny");
    let policies = rules(&["id: r, verdict: deny, when: { time: { days: [tue] } }"]);
    assert_eq!(policies.by_name("t"), "allow");
}

#[test]
fn a_denial_names_the_local_time() {
    let deny =
        rules(&["id: r, verdict: deny, when: { time: { days: [mon], zone: America/New_York } }"]);
    let matched = deny.ask(&call("t", "{}")).details.matched.unwrap();
    assert_eq!(
        (matched.path.as_str(), matched.value.as_str()),
        ("time", "monday 07:00 in America/New_York")
    );
}

/// An example says when it is.
#[test]
fn examples_with_a_time() {
    let rule = |at: &str| {
        format!(
            "policy: p\nrules:\n  - id: r\n    when: {{ time: {{ between: ['22:00', '06:00'] }} }}\n    \
             verdict: deny\n    examples:\n      match: [{{ tool: t, time: '{at}' }}]\n"
        )
    };
    policies(&rule("2026-06-10T23:00:00Z"));
    assert_eq!(
        problems(&rule("2026-06-10T21:00:00Z"))[0].message,
        "rule `r` does not match this example"
    );
    let found = problems(&rule("23:00"));
    assert!(found.iter().any(|it| it.message == "`23:00` is not a time with an offset"));
}
