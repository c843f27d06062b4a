//! `callgate completions`: a script for the shell.

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Args;
use crate::exit::Exit;
use crate::render;

pub(crate) fn run(shell: Shell) -> Result<Exit> {
    // Into memory first: clap panics when it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "callgate", &mut script);
    render::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Success)
}
