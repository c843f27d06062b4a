//! Every fuzz target on changed seeds, the same ones on every machine. To look for something new, with
//! an engine that follows coverage: `cargo xtask fuzz`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must stop")]

use std::collections::BTreeSet;
use std::panic::catch_unwind;
use std::path::Path;
use std::thread;

use callgate_testkit::fuzz::{FuzzTarget, TARGETS, changed, seeds};

/// Runs of each target: seconds, and enough to notice at once what a change broke.
const RUNS: u64 = 4_000;

#[test]
fn every_target_holds_on_changed_seeds() {
    let failed: Vec<String> = thread::scope(|scope| {
        let halves = TARGETS.chunks(TARGETS.len().div_ceil(2));
        let halves: Vec<_> = halves
            .map(|half| scope.spawn(|| half.iter().filter_map(failure).collect::<Vec<_>>()))
            .collect();
        halves.into_iter().flat_map(|half| half.join().unwrap()).collect()
    });
    assert!(failed.is_empty(), "{failed:#?}");
}

/// The first input that a target fails on, written to a file to look at.
fn failure((target, check): &FuzzTarget) -> Option<String> {
    let seeds = seeds::of(target);
    assert!(!seeds.is_empty(), "{target} has no seeds");
    let fails = |number: &u64| catch_unwind(|| check(&changed(&seeds, *number))).is_err();
    let number = (0..RUNS).find(fails)?;
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{target}-{number}"));
    std::fs::write(&file, changed(&seeds, number)).unwrap();
    Some(format!("{target} fails on {}", file.display()))
}

/// A target that is built for the engine runs here too, but for two that open a store in every run.
/// The tests of `crates/mcp/src/probe.rs` stand in for them.
#[test]
fn no_target_is_left_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/targets");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut built: BTreeSet<String> =
        files.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    for with_store in ["mcp_events", "mcp_lines"] {
        assert!(built.remove(with_store), "{with_store}");
    }
    let run: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(built, run);
}
