//! The official conformance suite, as a judge of differences: what it says of a server is what it
//! says of the same server behind callgate.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use serde_json::Value;

use crate::network::{Served, address, gateway};
use crate::peers::Peers;

const ALLOW: &str = "policy: p\nrules: []\n";

/// What the suite said of each scenario.
struct Report(BTreeMap<String, Vec<Check>>);

/// One thing that was looked at: what of it, whether it was right, and what the suite noted about it,
/// answers of the server among that.
#[derive(Debug, Clone, PartialEq)]
struct Check {
    id: String,
    status: String,
    noted: Value,
}

/// The one scenario in which callgate may pass and the server fail: it looks at `Host` and `Origin` for
/// servers that do not.
const STRICTER: &str = "server-dns-rebinding-protection";

/// What is another one each time (some are asked how far they are until they are done), what belongs to a connection, and what says which web pages may read
/// the answer: callgate does not let a server say that.
const VOLATILE: [&str; 22] = [
    "requestState",
    "io.modelcontextprotocol/subscriptionId",
    "subscriptionId",
    "taskId",
    "sessionId",
    "eventId",
    "id",
    "lastEventId",
    "lastEventIdUsed",
    "mcp-session-id",
    "last-event-id",
    "date",
    "connection",
    "keep-alive",
    "content-length",
    "transfer-encoding",
    "x-powered-by",
    "server",
    "x-callgate-request",
    "access-control-allow-origin",
    "access-control-expose-headers",
    "messagesValidated",
];

/// How many checks passed and failed.
#[derive(Debug, PartialEq)]
struct Total {
    passed: usize,
    failed: usize,
}

/// Everything that a revision asks of a server at this address.
fn suite(peers: &Peers, revision: &str, url: &str) -> Report {
    let report = run(peers, &["server", "--url", url, "--requirements", revision], url);
    assert!(report.0.len() > 20, "the suite ran {} scenarios", report.0.len());
    report
}

/// What the suite writes down. Its exit code says whether all passed, which is not what we ask.
fn run(peers: &Peers, words: &[&str], url: &str) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let ran = Command::new(&peers.node)
        .arg(Peers::package("conformance/dist/index.js"))
        .args(words)
        .arg("--output-dir")
        .arg(folder.path())
        .output()
        .unwrap();
    let report = Report::read(folder.path(), url);
    assert!(!report.0.is_empty(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
    report
}

impl Report {
    /// One folder for each scenario, named by it and the time.
    fn read(folder: &Path, url: &str) -> Self {
        let scenario = |folder: fs::DirEntry| {
            let name = folder.file_name().into_string().unwrap();
            let time = name.len().checked_sub("-2026-11-15T16-35-16-307Z".len()).expect("a time");
            // There is none where the suite itself gave up.
            let checks =
                fs::read_to_string(folder.path().join("checks.json")).unwrap_or("[]".into());
            let checks: Vec<Value> = serde_json::from_str(&checks).unwrap();
            (name[..time].to_owned(), checks.iter().map(|check| Check::of(check, url)).collect())
        };
        Self(fs::read_dir(folder).unwrap().map(|entry| scenario(entry.unwrap())).collect())
    }

    fn total(&self) -> Total {
        let count = |status: &str| self.0.values().flatten().filter(|c| c.status == status).count();
        Total { passed: count("SUCCESS"), failed: count("FAILURE") }
    }

    /// Where the other one, through callgate, differs; a line for each.
    fn against(&self, through: &Self) -> Vec<String> {
        let scenarios: BTreeSet<&String> = self.0.keys().chain(through.0.keys()).collect();
        let mut lines = Vec::new();
        for scenario in scenarios {
            let checks = |report: &Self| report.0.get(scenario).cloned().unwrap_or_default();
            let (mut direct, mut through) = (checks(self), checks(through));
            if scenario == STRICTER && through.iter().all(|check| check.status == "SUCCESS") {
                continue;
            }
            for (direct, through) in direct.iter_mut().zip(&mut through) {
                overlook(&mut direct.noted, &mut through.noted);
            }
            let lost = direct.iter().filter(|check| !through.contains(check));
            lines.extend(lost.map(|check| format!("{scenario}: direct only: {check:?}")));
            let found = through.iter().filter(|check| !direct.contains(check));
            lines
                .extend(found.map(|check| format!("{scenario}: through callgate only: {check:?}")));
            if direct.len() != through.len() {
                lines.push(format!("{scenario}: {} and {} checks", direct.len(), through.len()));
            }
        }
        lines
    }
}

impl Check {
    fn of(check: &Value, url: &str) -> Self {
        let text = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
        Self { id: text("id"), status: text("status"), noted: lasting(&check["details"], url) }
    }
}

/// What was noted, without what is another one each time.
fn lasting(noted: &Value, url: &str) -> Value {
    match noted {
        Value::Object(entries) => {
            let entries = entries.iter().filter(|(key, _)| !VOLATILE.contains(&key.as_str()));
            Value::Object(entries.map(|(key, value)| (key.clone(), lasting(value, url))).collect())
        }
        Value::Array(values) => values.iter().map(|value| lasting(value, url)).collect(),
        Value::String(text) if !url.is_empty() => text.replace(url, "the server").into(),
        other => other.clone(),
    }
}

/// Takes out the words of an error where callgate refuses in the server's place. Its code stays.
fn overlook(direct: &mut Value, through: &mut Value) {
    match (direct, through) {
        (Value::Object(direct), Value::Object(through)) => {
            let said = through.get("message").and_then(Value::as_str).unwrap_or_default();
            if said.starts_with("callgate did not hand this request on") {
                for entries in [&mut *direct, &mut *through] {
                    entries.remove("message");
                    entries.remove("data");
                }
            }
            for (key, through) in through {
                direct.get_mut(key).into_iter().for_each(|direct| overlook(direct, through));
            }
        }
        (Value::Array(direct), Value::Array(through)) => {
            direct.iter_mut().zip(through).for_each(|(direct, through)| overlook(direct, through));
        }
        _ => {}
    }
}

impl fmt::Display for Total {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>4} passed {:>3} failed", self.passed, self.failed)
    }
}

/// The same suite on a server, and on another one of its kind behind callgate. Both at once: they
/// do not share anything.
fn compare(peers: &Peers, name: &str, revision: &str, start: impl Fn() -> Served) -> Total {
    let (alone, behind) = (start(), start());
    let gateway = gateway(ALLOW, &[("fixture", "http", &behind.url)]);
    let url = address(&gateway, "fixture");
    let (direct, through) = thread::scope(|scope| {
        let direct = scope.spawn(|| suite(peers, revision, &alone.url));
        let through = suite(peers, revision, &url);
        (direct.join().unwrap(), through)
    });
    println!(
        "{revision} {name:<18} direct {} | through callgate {}",
        direct.total(),
        through.total()
    );
    let differences = direct.against(&through);
    assert!(differences.is_empty(), "{revision} {name}:\n{}", differences.join("\n"));
    through.total()
}

#[test]
fn an_older_server_is_the_same_behind_callgate() {
    let Some(peers) = Peers::find() else { return };
    let start = || Served::script(&peers.node, "node/conformance/older.mjs");
    let total = compare(&peers, "fixture", "2025-11-25", start);
    assert_eq!(total, Total { passed: 84, failed: 0 });
}

#[test]
fn a_newer_server_is_the_same_behind_callgate() {
    let Some(peers) = Peers::find() else { return };
    let start = || Served::script(&peers.node, "node/conformance/newer.mjs");
    let total = compare(&peers, "fixture", "2026-07-28", start);
    assert_eq!(total, Total { passed: 196, failed: 0 });
}

/// Servers that know nothing of the suite, and fail where it asks for its own tools.
#[test]
fn a_server_that_fails_some_fails_the_same_behind_callgate() {
    let Some(peers) = Peers::find() else { return };
    let everything = || Served::everything(&peers, "streamableHttp");
    let fast = || Served::script(&peers.python, "python/fast_server.py");
    let totals = [
        compare(&peers, "server-everything", "2025-11-25", everything),
        compare(&peers, "fastmcp", "2025-11-25", fast),
        compare(&peers, "fastmcp", "2026-07-28", fast),
    ];
    for total in totals {
        assert!(total.passed > 0 && total.failed > 0, "{total}");
    }
}

/// Where the suite is the server and looks at what it is sent: callgate stands before it, and an
/// official client before callgate.
#[test]
fn what_a_server_gets_from_callgate_is_what_the_revisions_ask_for() {
    let Some(peers) = Peers::find() else { return };
    let script = Peers::folder().join("node/conformance/client.mjs");
    let (node, callgate) = (peers.node.display(), env!("CARGO_BIN_EXE_callgate"));
    let command = format!("{node} {} {callgate}", script.display());
    let scenarios = [
        ("http-standard-headers", "2026-07-28"),
        ("http-custom-headers", "2026-07-28"),
        ("json-schema-2020-12-preservation", "2026-07-28"),
        ("json-schema-ref-no-deref", "2026-07-28"),
        ("sep-2322-client-request-state", "2026-07-28"),
        ("tools_call", "2026-07-28"),
        ("elicitation-sep1034-client-defaults", "2025-11-25"),
        ("sse-retry", "2025-11-25"),
        ("tools_call", "2025-11-25"),
    ];
    for (scenario, revision) in scenarios {
        let words = ["client", "--scenario", scenario, "--spec-version", revision];
        let report = run(&peers, &[&words[..], &["--command", &command]].concat(), "");
        println!("{revision} {scenario:<36} {}", report.total());
        let Total { passed, failed } = report.total();
        assert!(passed > 0 && failed == 0, "{scenario}: {:?}", report.0);
    }
}
