//! What the official clients make of what `callgate filter` emits.
//!
//! Every response of the corpus goes through the real binary, allowed and denied, and is then read
//! by the SDKs of Anthropic and OpenAI for Python and TypeScript and by the Vercel AI SDK. No
//! client may see a denied call; where the clients agree on a response as the provider sent it,
//! they must see the same when all is allowed.
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
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use callgate_testkit::clients;
use callgate_testkit::corpus::{self, Case};
use serde_json::{Value, json};

/// What each client made of a body.
type Seen = BTreeMap<String, Value>;

#[test]
fn official_clients_see_no_denied_call_and_all_else() {
    let (Ok(python), Ok(node)) =
        (std::env::var("CALLGATE_SDK_PYTHON"), std::env::var("CALLGATE_SDK_NODE"))
    else {
        return eprintln!("skipped: `cargo xtask test` sets up the official clients");
    };
    let folder = tempfile::tempdir().unwrap();
    let cases = corpus::all();
    let (mut jobs, mut allowed) = (Vec::new(), BTreeMap::new());
    for case in &cases {
        for treatment in Treatment::of(case) {
            let (body, calls) = treatment.apply(case);
            let id = format!("{} {}", case.name, treatment.name());
            jobs.push(job(case, &id, &body, folder.path()));
            allowed.insert(id, calls);
        }
    }
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk");
    let mut seen = read(&python, &sdk.join("python/read.py"), &jobs);
    for (id, more) in read(&node, &sdk.join("node/read.mjs"), &jobs) {
        seen.entry(id).or_default().extend(more);
    }
    let failures: Vec<String> =
        cases.iter().flat_map(|case| check(case, &seen, &allowed)).collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    println!("{} bodies read by {} clients each", jobs.len(), seen.values().next().unwrap().len());
}

/// What is done to a response before the clients read it.
#[derive(Debug, Clone, PartialEq)]
enum Treatment {
    /// Nothing: as the provider sent it.
    Direct,
    /// Filtered, all allowed by name.
    Allow,
    /// Filtered, all allowed once the arguments are there.
    AllowHeld,
    /// Filtered, every call denied by its name.
    DenyNames,
    /// Filtered, every call denied by its name, without a word.
    DenySilently,
    /// Filtered, every call denied by its arguments.
    DenyArguments,
    /// Filtered, one tool of several denied by its name.
    DenyOne(String),
}

impl Treatment {
    fn of(case: &Case) -> Vec<Self> {
        let mut list = vec![Self::Direct, Self::Allow, Self::AllowHeld, Self::DenyArguments];
        let names = every_name(case);
        if !names.is_empty() {
            list.extend([Self::DenyNames, Self::DenySilently]);
        }
        if let (Some(first), Some(calls)) = (names.first(), &case.about.calls)
            && names.len() > 1
            && calls.len() > 1
        {
            list.push(Self::DenyOne(first.clone()));
        }
        list
    }

    fn name(&self) -> String {
        format!("{self:?}")
    }

    fn denies_all(&self) -> bool {
        matches!(self, Self::DenyNames | Self::DenySilently | Self::DenyArguments)
    }

    fn apply(&self, case: &Case) -> (Vec<u8>, Vec<Value>) {
        let quoted = |names: &[String]| serde_json::to_string(names).unwrap();
        let rule = match self {
            Self::Direct => return (case.body.clone(), Vec::new()),
            Self::Allow => String::new(),
            Self::AllowHeld => {
                "  - { id: r, when: { arg: absent, equals: never }, verdict: deny, reason: no }"
                    .into()
            }
            Self::DenyArguments => {
                "  - { id: r, when: { arg: absent, exists: false }, verdict: deny, reason: no }"
                    .into()
            }
            Self::DenyNames | Self::DenySilently => {
                let names = quoted(&every_name(case));
                format!("  - {{ id: r, tool: {names}, verdict: deny, reason: no }}")
            }
            Self::DenyOne(name) => {
                let names = quoted(std::slice::from_ref(name));
                format!("  - {{ id: r, tool: {names}, verdict: deny, reason: no }}")
            }
        };
        let rules =
            if rule.is_empty() { "rules: []".to_owned() } else { format!("rules:\n{rule}") };
        let on_deny = if *self == Self::DenySilently { "silent" } else { "explain" };
        filter(case, &format!("policy: test\n{rules}\n"), on_deny)
    }
}

/// Every name under which some client may see a call.
fn every_name(case: &Case) -> Vec<String> {
    let readings = clients::readings(case.dialect, &case.body);
    let names: BTreeSet<String> = readings.into_values().flatten().map(|(name, _)| name).collect();
    names.into_iter().filter(|name| !name.trim().is_empty()).collect()
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

fn job(case: &Case, id: &str, body: &[u8], folder: &Path) -> Value {
    let file: PathBuf = folder.join(id.replace(['/', ' ', '"', '(', ')'], "_"));
    std::fs::write(&file, body).unwrap();
    json!({
        "id": id,
        "dialect": case.dialect.as_str(),
        "mode": if case.is_stream { "stream" } else { "whole" },
        "content_type": case.about.content_type,
        "body_file": file,
        "tools": every_name(case),
    })
}

/// Runs one driver over all jobs.
fn read(program: &str, script: &Path, jobs: &[Value]) -> BTreeMap<String, Seen> {
    let mut child = Command::new(program)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    let mut stdin = child.stdin.take().unwrap();
    let lines: String = jobs.iter().map(|job| format!("{job}\n")).collect();
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "{} failed", script.display());
    let results = String::from_utf8(output.stdout).unwrap();
    let seen: BTreeMap<String, Seen> = results
        .lines()
        .map(|line| {
            let result: Value = serde_json::from_str(line).unwrap();
            assert_eq!(result.get("error").unwrap_or(&Value::Null), &Value::Null, "{line}");
            let clients: Seen = serde_json::from_value(result["clients"].clone()).unwrap();
            (result["id"].as_str().unwrap().to_owned(), clients)
        })
        .collect();
    assert_eq!(seen.len(), jobs.len(), "{} lost results", script.display());
    seen
}

/// The names and arguments of the calls a client saw.
fn calls(result: &Value) -> Vec<Value> {
    let all = |key: &str| result[key].as_array().cloned().unwrap_or_default();
    let mut calls = all("calls");
    calls.extend(all("early"));
    calls
}

/// Whether every call the client ended up with was judged and allowed, with these arguments.
fn was_judged(result: &Value, allowed: &[Value]) -> bool {
    let read = |value: &Value| match value {
        Value::String(text) if text.trim().is_empty() => json!({}),
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| value.clone()),
        Value::Null => json!({}),
        other => other.clone(),
    };
    result["calls"].as_array().into_iter().flatten().all(|call| {
        allowed.iter().any(|judged| judged[0] == call[0] && read(&judged[1]) == read(&call[1]))
    })
}

fn check(
    case: &Case,
    seen: &BTreeMap<String, Seen>,
    allowed: &BTreeMap<String, Vec<Value>>,
) -> Vec<String> {
    let mut failures = Vec::new();
    let of = |treatment: &Treatment| &seen[&format!("{} {}", case.name, treatment.name())];
    let direct = of(&Treatment::Direct);
    for treatment in Treatment::of(case) {
        for (client, result) in of(&treatment) {
            let mut fail = |what: &str| {
                failures.push(format!("{} {treatment:?} {client}: {what}: {result}", case.name));
            };
            let before = &direct[client];
            let judged = &allowed[&format!("{} {}", case.name, treatment.name())];
            // A call allowed by its name may be cut off by an error; one that was held may not.
            if treatment == Treatment::AllowHeld
                && !client.contains("create(stream)")
                && !was_judged(result, judged)
            {
                fail(&format!("sees a call that was not judged; these were: {judged:?}"));
            }
            match &treatment {
                Treatment::Direct => {}
                _ if treatment.denies_all() => {
                    if !calls(result).is_empty() {
                        fail("sees a denied call");
                    }
                }
                Treatment::DenyOne(name) => {
                    let gone = |call: &Value| call[0].as_str() == Some(name);
                    if calls(result).iter().any(gone) {
                        fail("sees a denied call");
                    }
                    let left: Vec<Value> =
                        calls(before).into_iter().filter(|call| !gone(call)).collect();
                    if before["error"].is_null() && calls(result) != left {
                        fail("does not see the other calls as they were");
                    }
                }
                _ => {
                    // Normalised, the pieces are others.
                    let pieces = client.contains("create(stream)")
                        && case.about.allow == corpus::Allow::Normalised;
                    if all_agree(case, direct)
                        && !pieces
                        && case.about.allow != corpus::Allow::Refused
                        && held_alike(case, &treatment)
                        && (calls(result), &result["text"], &result["stop"])
                            != (calls(before), &before["text"], &before["stop"])
                    {
                        fail(&format!("does not see what it sees directly: {before}"));
                    }
                }
            }
        }
    }
    failures
}

/// Whether the clients agree on the calls of the response as it was sent.
fn all_agree(case: &Case, direct: &Seen) -> bool {
    let mut readings = direct
        .iter()
        // This one reports pieces, even of an honest stream.
        .filter(|(client, _)| !client.contains("create(stream)"))
        .map(|(_, result)| {
            let call = |call: &Value| {
                let arguments = match &call[1] {
                    Value::String(text) => serde_json::from_str(text).unwrap_or(call[1].clone()),
                    other => other.clone(),
                };
                (call[0].clone().to_string(), arguments.to_string())
            };
            let calls: Vec<_> =
                result["calls"].as_array().into_iter().flatten().map(call).collect();
            (calls, result["error"].is_null())
        });
    let first = readings.next();
    readings.all(|reading| Some(&reading) == first.as_ref()) && !case.name.contains("error")
}

/// A rule that asks for arguments counts unreadable ones against the call.
fn held_alike(case: &Case, treatment: &Treatment) -> bool {
    *treatment == Treatment::Allow || !case.name.contains("args_")
}
