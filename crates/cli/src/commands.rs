//! One file per verb.

mod check;
mod completions;
mod filter;
mod init;
mod man;
mod policy;

use anyhow::Result;

use crate::args::{Args, Command};
use crate::exit::Exit;

/// Runs what the user asked for.
pub(crate) fn run(args: Args) -> Result<Exit> {
    match args.command {
        Command::Filter(args) => filter::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Policy(args) => policy::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Completions { shell } => completions::run(shell),
        Command::Man { out } => man::run(out.as_deref()),
    }
}
