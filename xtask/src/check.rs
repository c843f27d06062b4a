//! What to run before every commit.

use anyhow::Result;

use crate::steps::{Steps, run};
use crate::tidy;
use crate::workspace::Workspace;

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let mut steps = Steps::new();
    steps.step("tidy", || tidy::tidy(workspace))?;
    steps.step("formatting", || formatting(workspace))?;
    steps.step("lints", || lints(workspace))?;
    steps.step("unit tests", || {
        run(&mut workspace.cargo(&["test", "--workspace", "--lib", "--bins", "--quiet"]))
    })?;
    steps.finish()
}

pub(crate) fn formatting(workspace: &Workspace) -> Result<()> {
    run(&mut workspace.cargo(&["fmt", "--all", "--check"]))?;
    run(&mut workspace.cargo(&["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]))
}

pub(crate) fn lints(workspace: &Workspace) -> Result<()> {
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
