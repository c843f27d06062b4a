//! What to run before every commit.

use anyhow::Result;

use crate::binaries::Job;
use crate::steps::{Steps, run};
use crate::workspace::Workspace;
use crate::{binaries, tidy};

/// Unit tests, and those of the gate and the dialects, which need no process of their own.
const QUICK: [&str; 6] = ["--lib", "--bins", "--test", "gate", "--test", "dialects"];

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let mut steps = Steps::new();
    steps.step("tidy", || tidy::tidy(workspace))?;
    steps.step("formatting", || formatting(workspace))?;
    steps.step("lints", || lints(workspace))?;
    let jobs = steps.step("build of the tests", || build(workspace))?;
    let parts = steps.step("tests", || binaries::run(jobs, |_| {}))?;
    steps.parts(parts);
    steps.finish()
}

fn build(workspace: &Workspace) -> Result<Vec<Job>> {
    let mut cargo = workspace.cargo(&binaries::BUILD);
    cargo.args(QUICK);
    binaries::build(cargo)
}

pub(crate) fn formatting(workspace: &Workspace) -> Result<()> {
    run(&mut workspace.cargo(&["fmt", "--all", "--check"]))?;
    run(&mut workspace.cargo(&["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]))
}

/// Without building: a change is linted in all targets within seconds. `cargo xtask test` builds all
/// of them, and lints them as it does.
fn lints(workspace: &Workspace) -> Result<()> {
    run(&mut workspace.cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ]))
}
