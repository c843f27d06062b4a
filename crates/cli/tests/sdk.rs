//! What the official clients make of what `callgate filter` emits.
//!
//! Every response of the corpus goes through the real binary, allowed and denied, and is then read
//! by the official clients of its dialect and by the Vercel AI SDK (`sdk/README.md`). No client may
//! see a denied call; where the clients agree on a response as the provider sent it,
//! they must see the same when all is allowed. Without `--all`, they read every third response.
//!
//! The clients are set up by `cargo xtask test`, which says where they are in
//! `CALLGATE_SDK_PYTHON` and `CALLGATE_SDK_NODE`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must stop"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write;
use std::process::{Command, Stdio};

use callgate_dialect::Dialect;
use callgate_testkit::corpus::{self, Case};
use callgate_testkit::drive;
use callgate_testkit::sdk::{self, ClientResults, ResponseTreatment, every_name};
use callgate_testkit::table;
use serde_json::{Value, json};

#[test]
fn official_clients_see_no_denied_call_and_all_else() {
    let Some(interpreters) = sdk::interpreters() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut cases = corpus::all();
    if !drive::runs_everything() {
        let mut number = 0;
        cases.retain(|_| {
            number += 1;
            number % 3 == 0
        });
    }
    let (mut jobs, mut allowed, mut same) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    for case in &cases {
        // What leaves as it came is read once.
        let mut read: BTreeMap<Vec<u8>, String> = BTreeMap::new();
        for treatment in ResponseTreatment::of(case) {
            let id = treatment.id(case);
            let (body, calls) = apply(&treatment, case);
            allowed.insert(id.clone(), calls);
            if let Some(first) = read.get(&body) {
                same.insert(id, first.clone());
                continue;
            }
            let file = folder.path().join(id.replace(['/', ' ', '"', '(', ')'], "_"));
            std::fs::write(&file, &body).unwrap();
            jobs.push(sdk::job_of_file(case, &id, &file));
            read.insert(body, id);
        }
    }
    let mut seen = sdk::read(&mut interpreters.readers(), &jobs);
    for (id, first) in same {
        seen.insert(id, seen[&first].clone());
    }
    let failures: Vec<String> =
        cases.iter().flat_map(|case| sdk::check(case, &seen, &allowed)).collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    let text = render(&cases, &seen);
    // Not by `println!`, which is only shown when a test fails.
    std::io::stderr().write_all(text.as_bytes()).unwrap();
    if drive::runs_everything() && std::env::var_os("CALLGATE_CASES").is_none() {
        table::keep("docs/bypasses.md", "official clients", &text);
    }
}

/// Who read what: a row for each dialect. A failure would have ended the test before.
fn render(cases: &[Case], seen: &BTreeMap<String, ClientResults>) -> String {
    let mut out = String::from(
        "| dialect | responses | told in | readings | denied calls seen | clients |\n|---|---|---|---|---|---|\n",
    );
    for dialect in Dialect::ALL {
        let cases: Vec<&Case> = cases.iter().filter(|case| case.dialect == dialect).collect();
        let ids = cases.iter().flat_map(|case| {
            ResponseTreatment::of(case).into_iter().map(move |treatment| treatment.id(case))
        });
        let bodies: Vec<&ClientResults> = ids.filter_map(|id| seen.get(&id)).collect();
        let readings: usize = bodies.iter().map(|body| body.len()).sum();
        let clients: BTreeSet<&str> =
            bodies.iter().flat_map(|body| body.keys().map(String::as_str)).collect();
        let clients: Vec<&str> = clients.into_iter().collect();
        let (word, clients) = (dialect.as_str(), clients.join(", "));
        let (cases, bodies) = (cases.len(), bodies.len());
        writeln!(out, "| `{word}` | {cases} | {bodies} bodies | {readings} | 0 | {clients} |")
            .unwrap();
    }
    out
}

fn apply(treatment: &ResponseTreatment, case: &Case) -> (Vec<u8>, Vec<Value>) {
    match treatment.policy(&every_name(case)) {
        None => (case.body.clone(), Vec::new()),
        Some(policy) => filter(case, &policy, treatment.on_deny()),
    }
}

/// What leaves, and the calls that were allowed: name and arguments.
fn filter(case: &Case, policy: &str, on_deny: &str) -> (Vec<u8>, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.yaml");
    std::fs::write(&file, policy).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_callgate"))
        .args(["filter", "--json", "--dialect", case.dialect.as_str(), "--on-deny", on_deny])
        .arg("--policy")
        .arg(&file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let body = case.body.clone();
    let writer = std::thread::spawn(move || stdin.write_all(&body));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 4)), "{}: exit {code:?} with {policy}", case.name);
    let told = String::from_utf8(output.stderr).unwrap();
    let allowed = told
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|told| told["event"] == "tool_call" && told["verdict"] == "allow")
        .map(|told| json!([told["tool_name"], told["tool_input"]]))
        .collect();
    (output.stdout, allowed)
}
