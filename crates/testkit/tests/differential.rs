//! Mutated responses, read by the official clients: every call they hand over must have been judged
//! and allowed, with the same name and equal arguments. See `callgate_testkit::differential`.
//!
//! Always the same bodies, so that a change fails for what it broke; `cargo xtask fuzz 600
//! differential` tries new ones. The clients are set up by `cargo xtask test`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

use std::io::Write;
use std::path::Path;

use callgate_dialect::Dialect;
use callgate_testkit::differential::{self, Effort, Plan, Pool, Sabotage, ViolationKind};
use callgate_testkit::sdk;

/// Streams of each dialect: what two cores can do in less than a minute.
const STREAMS: usize = 20;

fn plan(name: &str, dialects: &[Dialect], streams: usize, sabotage: Sabotage) -> Plan {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("differential").join(name);
    Plan {
        seed: 1,
        effort: Effort::Bodies(streams),
        dialects: dialects.to_vec(),
        skip: Vec::new(),
        // A broken gate has too many to look at.
        minimised: usize::from(sabotage == Sabotage::None),
        folder,
        sabotage,
    }
}

/// The clients take seconds to start, so that one test has everything that needs them.
#[test]
fn clients_hand_over_only_calls_that_were_judged() {
    let Some(interpreters) = sdk::interpreters() else { return };
    let sound = plan("found", &Dialect::ALL, STREAMS, Sabotage::None);
    let mut pool = Pool::start(&interpreters, sound.folder.join("bodies"));

    // First: would it be noticed?
    let some = [Dialect::Anthropic, Dialect::OpenAiChat];
    let broken = plan("pass-all", &some, 6, Sabotage::PassAll);
    let report = differential::run(&mut pool, &broken);
    let denied = |report: &differential::Report| {
        report.findings.iter().any(|finding| finding.violation.kind == ViolationKind::Denied)
    };
    assert!(denied(&report), "a gate that passes everything is not noticed:\n{report}");
    let forgetful = plan("forget-one", &some, 6, Sabotage::ForgetOne);
    let report = differential::run(&mut pool, &forgetful);
    assert!(!report.findings.is_empty(), "a call that was not judged is not noticed:\n{report}");

    let report = differential::run(&mut pool, &sound);
    // Not by `println!`, which is only shown when a test fails.
    write!(std::io::stderr(), "{report}").unwrap();
    let folder = sound.folder.display();
    assert!(report.findings.is_empty(), "see {folder}; the seed is {}\n{report}", sound.seed);
    let totals = report.sum();
    assert!(totals.dangerous * 5 > totals.direct, "too few bodies are dangerous:\n{report}");
    assert!(totals.calls > totals.bodies / 2, "the clients see too few calls:\n{report}");
}
