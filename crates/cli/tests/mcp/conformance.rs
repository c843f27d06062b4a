//! The official conformance suite, as a judge of differences: what it says of a server is what it
//! says of the same server behind callgate. Servers that know nothing of the suite are compared
//! with
//! `cargo xtask test --all`.

mod report;

use std::process::Command;
use std::thread;

use callgate_testkit::drive;

use self::report::{Report, Total};
use crate::network::{Served, address, gateway};
use crate::peers::Peers;
use crate::support::Place;

const ALLOW: &str = "policy: p\nrules: []\n";

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
    if !drive::runs_everything() {
        return;
    }
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

/// Where the suite is the server and looks at what it is sent: callgate is in front of it, and an
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
        ("request-metadata", "2026-07-28"),
        ("sep-2322-client-request-state", "2026-07-28"),
        ("tools_call", "2026-07-28"),
        ("elicitation-sep1034-client-defaults", "2025-11-25"),
        ("sse-retry", "2025-11-25"),
        ("tools_call", "2025-11-25"),
    ];
    // All at once: most of the time they wait for each other's answers.
    thread::scope(|scope| {
        for (scenario, revision) in scenarios {
            let words = ["client", "--scenario", scenario, "--spec-version", revision];
            let (peers, command) = (&peers, &command);
            scope.spawn(move || {
                let report = run(peers, &[&words[..], &["--command", command]].concat(), "");
                println!("{revision} {scenario:<36} {}", report.total());
                let Total { passed, failed } = report.total();
                assert!(passed > 0 && failed == 0, "{scenario}: {:?}", report.0);
            });
        }
    });
}

/// What needs no tools of the suite's own.
const GENERIC: [(&str, &[&str]); 2] = [
    (
        "2025-11-25",
        &[
            "server-server-initialize",
            "server-ping",
            "server-tools-list",
            "server-resources-list",
            "server-prompts-list",
            "server-dns-rebinding-protection",
        ],
    ),
    (
        "2026-07-28",
        &[
            "server-server-stateless",
            "server-tools-list",
            "server-resources-list",
            "server-prompts-list",
            "server-sep-2164-resource-not-found",
            "server-caching",
            "server-http-header-validation",
            "server-server-sse-multiple-streams",
            "server-dns-rebinding-protection",
            "server-input-required-result-unsupported-methods",
            "server-input-required-result-validate-input",
        ],
    ),
];

#[test]
fn callgate_as_a_server_does_what_the_revisions_ask_for() {
    let Some(peers) = Peers::find() else { return };
    let place = Place::new(ALLOW, "");
    let server = place.listen("127.0.0.1:0");
    for (revision, generic) in GENERIC {
        let report = suite(&peers, revision, &format!("http://{}/mcp", server.address));
        println!("{revision} callgate mcp serve {}", report.total());
        for &scenario in generic {
            let checks = &report.0[scenario];
            let failed = |check: &&report::Check| check.status == "FAILURE" && !check.untestable;
            let failed: Vec<_> = checks.iter().filter(failed).collect();
            assert!(failed.is_empty(), "{revision} {scenario}: {failed:?}");
            assert!(checks.iter().any(|check| check.status == "SUCCESS"), "{scenario}: {checks:?}");
        }
        // Whatever it was asked, what it said was a message of that revision.
        for (scenario, checks) in &report.0 {
            let valid = checks.iter().filter(|check| check.id == "wire-schema-valid");
            assert!(valid.clone().all(|check| check.status == "SUCCESS"), "{scenario}: {checks:?}");
        }
    }
}
