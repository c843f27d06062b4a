//! Fuzzing with the official clients: `crates/testkit/src/differential.rs`.

use anyhow::{Context, Result};

use crate::setup;
use crate::steps::run as run_command;
use crate::workspace::Workspace;

/// The word for it on the command line.
pub(super) const NAME: &str = "differential";

pub(super) fn run(workspace: &Workspace, seconds: u64) -> Result<()> {
    let clients = setup::clients(workspace)?;
    let mut command = workspace.cargo(&["run", "--quiet", "--package", "callgate-testkit"]);
    command.args(["--example", NAME, "--", "--folder"]).arg(workspace.target.join(NAME));
    command.args(["--seconds", &seconds.to_string()]);
    command.env("CALLGATE_SDK_PYTHON", &clients.python).env("CALLGATE_SDK_NODE", &clients.node);
    run_command(&mut command).context("the official clients see calls that were not judged")
}
