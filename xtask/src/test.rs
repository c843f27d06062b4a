//! Everything, cheapest first. What a change must pass.

use std::path::Path;

use anyhow::Result;

use crate::setup::Clients;
use crate::steps::{Steps, run};
use crate::workspace::Workspace;
use crate::{check, fuzz, instructions, setup, tidy};

/// Runs per fuzz target: some seconds each, enough to notice what a change broke at once.
pub(crate) const FUZZ: fuzz::Effort = fuzz::Effort::Repeatable(15_000);

pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    let mut steps = Steps::new();
    steps.step("tidy", || tidy::tidy(workspace))?;
    steps.step("formatting", || check::formatting(workspace))?;
    steps.step("lock file", || lock_file(workspace))?;
    steps.step("lints", || check::lints(workspace))?;
    let clients = steps.step("set up the official clients", || setup::clients(workspace))?;
    let peers = steps.step("set up MCP servers and clients", || setup::peers(workspace))?;
    let agents = steps.step("set up coding agents", || setup::agents(workspace))?;
    steps.step("tests", || tests(workspace, &clients, &peers, &agents))?;
    steps.step("documentation", || documentation(workspace))?;
    let cargo_deny = steps.step("set up cargo-deny", || setup::cargo_deny(workspace))?;
    steps.step("licences, bans, sources", || cargo_deny.check(workspace))?;
    steps.step("release build", || {
        run(&mut workspace.cargo(&["build", "--release", "--package", "callgate"]))
    })?;
    steps.step("instruction counts", || instructions::guard(workspace))?;
    steps.step("fuzzing", || fuzz::fuzz(workspace, FUZZ, None))?;
    steps.finish();
    Ok(())
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
/// clients where these are; without them those tests say that they were skipped.
fn tests(workspace: &Workspace, clients: &Clients, peers: &Clients, agents: &Path) -> Result<()> {
    run(workspace
        .cargo(&["test", "--workspace", "--quiet", "--no-fail-fast"])
        // Random tests always try the same here, so that a change fails for what it broke. Run by
        // hand, they try something new each time.
        .env("PROPTEST_RNG_SEED", "1")
        .env("CALLGATE_SDK_PYTHON", &clients.python)
        .env("CALLGATE_SDK_NODE", &clients.node)
        .env("CALLGATE_PEERS_PYTHON", &peers.python)
        .env("CALLGATE_PEERS_NODE", &peers.node)
        .env("CALLGATE_AGENTS_NODE", agents))
}

fn documentation(workspace: &Workspace) -> Result<()> {
    run(workspace
        .cargo(&["doc", "--workspace", "--no-deps", "--quiet"])
        .env("RUSTDOCFLAGS", "-D warnings"))
}
