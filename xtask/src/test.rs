//! What a change must pass, and what a release must pass beyond that.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::binaries::Job;
use crate::parallel::Aside;
use crate::setup::Clients;
use crate::steps::{Steps, Took, run};
use crate::workspace::Workspace;
use crate::{binaries, check, fuzz, setup, tidy};

/// How much is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What every change must pass.
    Usual,
    /// All there is: every agent in every scenario, every revision of every peer, every single cut,
    /// the links inside the documentation, and some minutes of fuzzing.
    All,
}

/// Seconds that each fuzz target gets when all is tested.
const FUZZ_SECONDS: u64 = 20;

/// What has a build of its own, or only downloads, runs in parallel to lints and tests: neither
/// uses all cores all the time. One after the other, because more at once would only share the same
/// cores.
const IN_PARALLEL: [Aside; 2] = [
    Aside { name: SET_UP, words: &["setup"] },
    Aside { name: "instruction counts", words: &["guard"] },
];

const SET_UP: &str = "set up";

pub(crate) fn test(workspace: &Workspace, extent: Extent) -> Result<()> {
    let mut steps = Steps::new();
    steps.step("tidy", || tidy::tidy(workspace))?;
    steps.step("formatting", || check::formatting(workspace))?;
    steps.step("lock file", || lock_file(workspace))?;
    steps.run_in_parallel(&IN_PARALLEL);
    let mut jobs = steps
        .step("build and lints", || binaries::build(workspace.linting_cargo(&binaries::BUILD)))?;
    jobs.push(binaries::of_documentation(workspace));
    steps.wait_for(SET_UP)?;
    // Found where they were set up.
    let clients = setup::clients(workspace)?;
    let peers = setup::peers(workspace)?;
    let agents = setup::agents(workspace)?;
    let go = setup::go()?;
    steps.step("licences, bans, sources", || setup::cargo_deny(workspace)?.check(workspace))?;
    let parts = steps.step("tests", || tests(jobs, extent, &clients, &peers, &agents, go))?;
    steps.parts(parts);
    if extent == Extent::All {
        steps.step("documentation", || documentation(workspace))?;
        steps.step("fuzzing", || fuzz::fuzz(workspace, FUZZ_SECONDS, None))?;
    }
    steps.finish()
}

/// The lock files fit the manifests, so that every later step builds what was committed.
fn lock_file(workspace: &Workspace) -> Result<()> {
    for manifest in ["Cargo.toml", "fuzz/Cargo.toml"] {
        run(workspace
            .cargo(&["metadata", "--locked", "--format-version", "1", "--manifest-path", manifest])
            .stdout(std::process::Stdio::null()))?;
    }
    Ok(())
}

/// Unit, integration and documentation tests. The variables tell the tests that drive official
/// clients where these are.
fn tests(
    jobs: Vec<Job>,
    extent: Extent,
    clients: &Clients,
    peers: &Clients,
    agents: &Path,
    go: &str,
) -> Result<Vec<Took>> {
    binaries::run(jobs, |test: &mut Command| {
        // Random tests always try the same here, so that a change fails for what it broke. Run by
        // hand, they try something new each time.
        test.env("PROPTEST_RNG_SEED", "1")
            // Nothing is skipped because something is missing: see `callgate_testkit::skipped`.
            .env("CALLGATE_REQUIRE_PEERS", "1")
            .env("CALLGATE_SDK_PYTHON", &clients.python)
            .env("CALLGATE_SDK_NODE", &clients.node)
            .env("CALLGATE_PEERS_PYTHON", &peers.python)
            .env("CALLGATE_PEERS_NODE", &peers.node)
            .env("CALLGATE_AGENTS_NODE", agents)
            .env("CALLGATE_GO", go);
        if extent == Extent::All {
            test.env("CALLGATE_TEST_ALL", "1");
        }
    })
}

fn documentation(workspace: &Workspace) -> Result<()> {
    run(workspace
        .cargo(&["doc", "--workspace", "--no-deps", "--quiet"])
        .env("RUSTDOCFLAGS", "-D warnings"))
}
