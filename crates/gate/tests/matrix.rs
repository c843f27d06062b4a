//! The leak matrix: every response of the corpus and some written by hand for every dialect, in
//! several forms, under every verdict, split in several ways. The output is read as clients read
//! it; a call that they must not see is a leak.
//!
//! `corpus.rs` splits the recorded responses at every byte. Here the splits are samples, and there
//! are more bodies. The documentation contains the numbers.

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
use callgate_policy::{Direction, Policies};
use callgate_testkit::clients::{self, Call};
use callgate_testkit::corpus;
use callgate_testkit::drive::{self, Run};
use callgate_testkit::made::{self, Called, Said};
use callgate_testkit::shapes::{self, Shape};
use callgate_testkit::table;
use callgate_wire::Framing;
use serde_json::Value;

/// How many splits of a body in two, in addition to whole and byte by byte.
const CUTS: usize = 6;

/// The verdict on every call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Allow,
    DenyName,
    DenyArguments,
    Silent,
    Sanitize,
    Block,
}

impl Verdict {
    const ALL: [Self; 6] = [
        Self::Allow,
        Self::DenyName,
        Self::DenyArguments,
        Self::Silent,
        Self::Sanitize,
        Self::Block,
    ];

    fn title(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::DenyName => "deny by name",
            Self::DenyArguments => "deny by arguments",
            Self::Silent => "deny silently",
            Self::Sanitize => "sanitize",
            Self::Block => "block",
        }
    }

    /// The policies for this verdict. `None` if the body contains nothing that they could apply to.
    fn policies(self, body: &Body) -> Option<Policies> {
        let names: Vec<&str> = body.names.iter().map(String::as_str).collect();
        match self {
            Self::Allow => Some(drive::allow_all_held()),
            Self::DenyArguments => Some(drive::deny_all_by_arguments()),
            Self::DenyName | Self::Silent => (!names.is_empty()).then(|| drive::deny_names(&names)),
            Self::Sanitize => body.is_made.then(|| drive::policies(SANITIZE)),
            Self::Block => body.is_made.then(|| drive::policies(BLOCK)),
        }
    }

    fn on_deny(self) -> OnDeny {
        if self == Self::Silent { OnDeny::Silent } else { OnDeny::Explain }
    }

    /// What a client sees and must not.
    fn leaks(self, body: &Body, run: &Run) -> Vec<String> {
        let dialect = body.dialect;
        let seen = clients::readings(dialect, &run.out);
        let calls =
            seen.iter().flat_map(|(client, calls)| calls.iter().map(move |call| (client, call)));
        let told = |(client, call): (&&str, &Call)| format!("{client} sees {call:?}");
        match self {
            Self::Allow => calls.filter(|(_, call)| !was_asked(run, call)).map(told).collect(),
            Self::DenyName | Self::DenyArguments | Self::Silent => calls.map(told).collect(),
            Self::Sanitize => {
                let mut leaks = lost(body, &seen);
                leaks.extend(said_in(dialect, run, ADDRESS));
                leaks
            }
            Self::Block => {
                let mut leaks: Vec<String> = calls.map(told).collect();
                leaks.extend(said_in(dialect, run, WORD));
                leaks
            }
        }
    }
}

/// Whether the verdict on a call was asked for, perhaps with a server prefix. Pieces that some
/// readers take for calls have no name.
fn was_asked(run: &Run, (name, _): &Call) -> bool {
    name.is_empty()
        || run.judged.iter().any(|(judged, _, allowed)| *allowed && judged.ends_with(name))
}

/// The clients that lost a call that should only have lost a part of its arguments.
fn lost(body: &Body, seen: &BTreeMap<&'static str, Vec<Call>>) -> Vec<String> {
    let names = |calls: &[Call]| calls.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let before = clients::readings(body.dialect, &body.bytes);
    let changed = seen.iter().filter(|(client, calls)| {
        before.get(*client).is_some_and(|before| names(before) != names(calls))
    });
    changed.map(|(client, calls)| format!("{client} lost a call: {calls:?}")).collect()
}

/// Whether a text left: in one frame, or in pieces of several.
fn said_in(dialect: Dialect, run: &Run, text: &str) -> Option<String> {
    let mut strings = BTreeMap::new();
    for data in shapes::frames(dialect, &run.out) {
        collect("", &serde_json::from_slice(&data).unwrap_or_default(), &mut strings);
    }
    strings.values().any(|said: &String| said.contains(text)).then(|| format!("`{text}` left"))
}

/// Every string under a key, joined.
fn collect(key: &str, value: &Value, strings: &mut BTreeMap<String, String>) {
    match value {
        Value::String(text) => strings.entry(key.to_owned()).or_default().push_str(text),
        Value::Array(list) => list.iter().for_each(|value| collect(key, value, strings)),
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| collect(key, value, strings));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What must not leave: in the arguments of a call, and in the text.
const ADDRESS: &str = "jane@example.com";
const WORD: &str = "xyzzy";

const SANITIZE: &str = "policy: sanitize\nrules:\n  - { id: no-address, verdict: sanitize, sanitize: { detectors: [email] } }\n";
const BLOCK: &str = "policy: block\nrules: []\ntext:\n  - { id: no-word, in: [response], keywords: [xyzzy], verdict: block, reason: not said here }\n";

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
    let bodies = bodies();
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let mut rows = Rows::new();
    thread::scope(|scope| {
        let share = |worker| bodies.iter().skip(worker).step_by(workers);
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

/// A response to test.
struct Body {
    name: String,
    dialect: Dialect,
    bytes: Vec<u8>,
    /// Every name under which some client may see a call in it.
    names: Vec<String>,
    /// Whether it contains [`SAID`].
    is_made: bool,
}

impl Body {
    fn new(name: &str, dialect: Dialect, told: &[u8], shape: Shape) -> Option<Self> {
        let bytes = shape.of(dialect, told)?;
        // After its end a stream may have other names: readers join them.
        let names = names(dialect, &[told, &bytes]);
        let is_made = name.contains("made") && shape != Shape::Twice;
        Some(Self { name: format!("{name} {shape:?}"), dialect, bytes, names, is_made })
    }
}

/// The corpus, and the responses written by hand for every dialect: each in every form.
fn bodies() -> Vec<Body> {
    let mut bodies = Vec::new();
    for case in corpus::all() {
        let shaped = |shape| Body::new(&case.name, case.dialect, &case.body, shape);
        bodies.extend(Shape::ALL.into_iter().filter_map(shaped));
    }
    for dialect in Dialect::ALL {
        for (form, told) in made::bodies(dialect, &SAID) {
            let name = format!("{} made, {form}", dialect.as_str());
            let shaped = |shape| Body::new(&name, dialect, &told, shape);
            bodies.extend(Shape::ALL.into_iter().filter_map(shaped));
        }
    }
    bodies
}

/// Two calls after a text.
const SAID: Said<'_> = Said {
    text: "I send two letters about xyzzy, and say so.",
    calls: &[
        Called { id: "call_1", name: "send", arguments: r#"{"to":"jane@example.com","n":1}"# },
        Called {
            id: "call_2",
            name: "send_all",
            arguments: r#"{"text":"a longer letter","list":[1,2]}"#,
        },
    ],
};

fn fill<'a>(bodies: impl Iterator<Item = &'a Body>) -> Rows {
    let mut rows = Rows::new();
    for body in bodies {
        let form = form(body.dialect, &body.bytes);
        let row = rows.entry((body.dialect.as_str(), form)).or_default();
        row.bodies += 1;
        for verdict in Verdict::ALL {
            try_body(body, verdict, row);
        }
    }
    rows
}

/// Runs a body under a verdict at every split, and counts.
fn try_body(body: &Body, verdict: Verdict, row: &mut Row) {
    let Some(policies) = verdict.policies(body) else { return };
    for chunks in drive::cuttings(&body.bytes, cuts(&body.bytes)) {
        let first = chunks[0].len();
        let mut settings = drive::settings(verdict.on_deny());
        settings.text = policies.text_guard(Direction::Response, &settings.origin);
        let run = drive::run(body.dialect, settings, &policies, chunks);
        *row.runs.entry(verdict).or_default() += 1;
        for leak in verdict.leaks(body, &run) {
            let (name, verdict) = (&body.name, verdict.title());
            row.leaks.push(format!("{name}, {verdict}, cut at {first}: {leak}"));
        }
    }
}

/// Some places to split at, spread over the body.
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
