//! `callgate mcp launch`: becomes a server's program, once the system has been asked to end that
//! with the shim.
//!
//! A shim that is killed closes the server's input, and a server may take no notice of that. What
//! the system is asked for stays in force when a process becomes another program, but only the
//! process itself can ask: hence this step between.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};
use callgate_mcp::ServerCommand;

use crate::args;
use crate::exit::Exit;
use crate::render::hinted;

pub(super) fn run(args: &args::LaunchArgs) -> Result<Exit> {
    end_with(args.parent)?;
    let (program, rest) = args.command.split_first().context("there is no command")?;
    // `exec` returns only if it failed.
    let error = Command::new(program).args(rest).exec();
    let program = program.to_string_lossy();
    Err(hinted(
        format!("cannot start `{program}`: {error}"),
        "check that the file is executable and that its interpreter is installed",
    ))
}

/// The path of this program, even if its file was moved or replaced.
#[cfg(target_os = "linux")]
const OURSELVES: &str = "/proc/self/exe";

/// The command that starts a server so that it ends when we do, if the system supports that.
#[cfg(target_os = "linux")]
pub(super) fn bound(server: ServerCommand) -> ServerCommand {
    if !std::path::Path::new(OURSELVES).exists() {
        return server;
    }
    let parent = std::process::id().to_string();
    let mut args: Vec<OsString> =
        ["mcp", "launch", "--parent", &parent, "--"].iter().map(OsString::from).collect();
    args.push(server.program.into());
    args.extend(server.args);
    ServerCommand { program: PathBuf::from(OURSELVES), args, env: server.env }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn bound(server: ServerCommand) -> ServerCommand {
    server
}

/// Asks the system for a signal when our parent process ends.
#[cfg(target_os = "linux")]
fn end_with(parent: i32) -> Result<()> {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    set_parent_process_death_signal(Some(Signal::TERM))
        .context("cannot set the signal for the end of the parent process")?;
    // The parent may have ended before the request.
    let is_there = getppid().is_some_and(|id| id.as_raw_nonzero().get() == parent);
    anyhow::ensure!(is_there, "the process that started this has ended");
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn end_with(_parent: i32) -> Result<()> {
    Ok(())
}
