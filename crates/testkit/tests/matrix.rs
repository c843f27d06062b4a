//! The leak matrix: every response of the corpus, told in several ways, under every verdict, cut in
//! several ways. What leaves is read as clients read it; a call they may not see is a leak.
//!
//! `corpus.rs` cuts the responses as they came at every byte. Here the cuts are samples, and the
//! bodies are more. The numbers are kept in the documentation.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must stop"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::thread;

use callgate_dialect::Dialect;
use callgate_gate::OnDeny;
use callgate_policy::Policies;
use callgate_testkit::clients::{self, Call};
use callgate_testkit::corpus::{self, Case};
use callgate_testkit::drive::{self, Run};
use callgate_testkit::shapes::{self, Shape};
use callgate_testkit::table;
use callgate_wire::Framing;

/// Cuts of a body in two, beside whole and byte by byte.
const CUTS: usize = 14;

/// What is decided about every call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Allow,
    DenyName,
    DenyArguments,
    Silent,
}

impl Verdict {
    const ALL: [Self; 4] = [Self::Allow, Self::DenyName, Self::DenyArguments, Self::Silent];

    fn title(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::DenyName => "deny by name",
            Self::DenyArguments => "deny by arguments",
            Self::Silent => "deny silently",
        }
    }

    /// What decides so about calls of these names. `None`: nothing can, for there are none.
    fn policies(self, names: &[&str]) -> Option<Policies> {
        match self {
            Self::Allow => Some(drive::allow_all_held()),
            Self::DenyArguments => Some(drive::deny_all_by_arguments()),
            Self::DenyName | Self::Silent => (!names.is_empty()).then(|| drive::deny_names(names)),
        }
    }

    fn on_deny(self) -> OnDeny {
        if self == Self::Silent { OnDeny::Silent } else { OnDeny::Explain }
    }

    /// The calls that a client sees and should not.
    fn leaks(self, dialect: Dialect, run: &Run) -> Vec<(&'static str, Call)> {
        let seen = clients::readings(dialect, &run.out).into_iter();
        let seen =
            seen.flat_map(|(client, calls)| calls.into_iter().map(move |call| (client, call)));
        let is_leak = |(_, (name, _)): &(&str, Call)| match self {
            // A call must have been asked about.
            Self::Allow => {
                !run.judged.iter().any(|(judged, _, allowed)| *allowed && judged == name)
            }
            _ => true,
        };
        seen.filter(is_leak).collect()
    }
}

/// What a row of the table counts.
#[derive(Debug, Default, Clone)]
struct Row {
    bodies: usize,
    runs: BTreeMap<Verdict, usize>,
    leaks: Vec<String>,
}

type Rows = BTreeMap<(&'static str, &'static str), Row>;

#[test]
fn nothing_leaks() {
    let cases = corpus::all();
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let mut rows = Rows::new();
    thread::scope(|scope| {
        let share = |worker| cases.iter().skip(worker).step_by(workers);
        let started: Vec<_> =
            (0..workers).map(|worker| scope.spawn(move || fill(share(worker)))).collect();
        for part in started {
            merge(&mut rows, part.join().unwrap());
        }
    });
    let text = render(&rows);
    // Not by `println!`, which is only shown when a test fails.
    std::io::stderr().write_all(text.as_bytes()).unwrap();
    let leaks: Vec<&String> = rows.values().flat_map(|row| &row.leaks).collect();
    assert!(leaks.is_empty(), "{} leaks:\n{leaks:#?}", leaks.len());
    if std::env::var_os("CALLGATE_CASES").is_none() {
        table::keep("docs/bypasses.md", "leak matrix", &text);
    }
}

fn fill<'a>(cases: impl Iterator<Item = &'a Case>) -> Rows {
    let mut rows = Rows::new();
    for case in cases {
        for shape in Shape::ALL {
            let Some(body) = shape.of(case.dialect, &case.body) else { continue };
            let form = form(case.dialect, &body);
            let row = rows.entry((case.dialect.as_str(), form)).or_default();
            row.bodies += 1;
            for verdict in Verdict::ALL {
                try_body(case, shape, &body, verdict, row);
            }
        }
    }
    rows
}

/// Runs a body under a verdict in every cutting, and counts.
fn try_body(case: &Case, shape: Shape, body: &[u8], verdict: Verdict, row: &mut Row) {
    // Behind its end a stream may have other names: readers join them.
    let names = names(case.dialect, &[&case.body, body]);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let Some(policies) = verdict.policies(&names) else { return };
    for chunks in drive::cuttings(body, cuts(body)) {
        let first = chunks[0].len();
        let settings = drive::settings(verdict.on_deny());
        let run = drive::run(case.dialect, settings, &policies, chunks);
        *row.runs.entry(verdict).or_default() += 1;
        for (client, call) in verdict.leaks(case.dialect, &run) {
            row.leaks.push(format!(
                "{} {shape:?}, {verdict:?}, first cut at {first}: {client} sees {call:?}",
                case.name
            ));
        }
    }
}

/// Some places to cut at, spread over the body.
fn cuts(body: &[u8]) -> impl Iterator<Item = usize> {
    let step = body.len().div_ceil(CUTS + 1).max(1);
    (0..body.len()).step_by(step).skip(1)
}

/// Every name under which some client may see a call.
fn names(dialect: Dialect, bodies: &[&[u8]]) -> Vec<String> {
    let readings = bodies.iter().flat_map(|body| clients::readings(dialect, body));
    let readings = readings.flat_map(|(_, calls)| calls);
    let mut names: Vec<String> =
        readings.map(|(name, _)| name).filter(|name| !name.trim().is_empty()).collect();
    names.sort();
    names.dedup();
    names
}

fn form(dialect: Dialect, body: &[u8]) -> &'static str {
    match shapes::framing(dialect, body) {
        Some(Framing::Sse) => "events",
        Some(Framing::Lines) => "lines",
        Some(Framing::Array) => "array",
        Some(Framing::EventStream) => "messages",
        Some(Framing::Body) => "body",
        Some(Framing::Unreadable) | None => "unreadable",
    }
}

fn merge(rows: &mut Rows, more: Rows) {
    for (key, other) in more {
        let row = rows.entry(key).or_default();
        row.bodies += other.bodies;
        row.leaks.extend(other.leaks);
        for (verdict, count) in other.runs {
            *row.runs.entry(verdict).or_default() += count;
        }
    }
}

fn render(rows: &Rows) -> String {
    let mut out = String::from("| dialect | form | bodies |");
    for verdict in Verdict::ALL {
        write!(out, " {} |", verdict.title()).unwrap();
    }
    out.push_str(" leaks |\n|---|---|---|");
    out.push_str(&"---|".repeat(Verdict::ALL.len() + 1));
    out.push('\n');
    for ((dialect, form), row) in rows {
        write!(out, "| `{dialect}` | {form} | {} |", row.bodies).unwrap();
        for verdict in Verdict::ALL {
            write!(out, " {} |", row.runs.get(&verdict).unwrap_or(&0)).unwrap();
        }
        writeln!(out, " {} |", row.leaks.len()).unwrap();
    }
    out
}
