//! One file per verb.

mod audit;
mod calls;
mod check;
mod completions;
mod config;
mod demo;
mod doctor;
mod events;
mod filter;
mod init;
mod keys;
mod man;
mod mcp;
mod policy;
pub(crate) mod serve;
mod stats;
mod tail;
mod why;

use anyhow::Result;

use crate::args::{Args, Command};
use crate::exit::Exit;
use crate::render;

/// Runs what the user asked for.
pub(crate) fn run(args: Args) -> Result<Exit> {
    render::use_color(args.color);
    let config = args.config.as_deref();
    match args.command {
        Command::Demo(args) => demo::run(&args),
        Command::Serve(args) => serve::run(&args, config),
        Command::Filter(args) => filter::run(&args, config),
        Command::Check(args) => check::run(&args, config),
        Command::Policy(args) => policy::run(&args, config),
        Command::Calls(args) => calls::run(&args, config),
        Command::Events(args) => events::run(&args, config),
        Command::Stats(args) => stats::run(&args, config),
        Command::Tail(args) => tail::run(&args, config),
        Command::Why(args) => why::run(&args, config),
        Command::Audit(args) => audit::run(&args, config),
        Command::Config(args) => config::run(&args, config),
        Command::Keys(args) => keys::run(&args, config),
        Command::Doctor(args) => doctor::run(&args, config),
        Command::Init(args) => init::run(&args, config),
        Command::Completions { shell } => completions::run(shell),
        Command::Mcp(args) => mcp::run(&args, config),
        Command::Man { out } => man::run(out.as_deref()),
    }
}
