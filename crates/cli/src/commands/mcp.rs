//! `callgate mcp`: runs MCP servers behind the gate and lists what is known about them.

mod calls;
mod detections;
mod events;
mod found;
mod launch;
mod pins;
mod serve;
mod servers;
mod store;
mod tools;
mod wrap;

use std::path::Path;

use anyhow::Result;

use crate::args::{self, Mcp};
use crate::exit::Exit;

pub(crate) fn run(args: &args::Mcp, config: Option<&Path>) -> Result<Exit> {
    match args {
        Mcp::Wrap(args) => wrap::run(args, config),
        Mcp::Serve(args) => serve::run(args, config),
        Mcp::Launch(args) => launch::run(args),
        Mcp::Servers(args) => servers::run(args, config),
        Mcp::Tools(args) => tools::run(args, config),
        Mcp::Calls(args) => calls::run(args, config),
        Mcp::Events(args) => events::run(args, config),
        Mcp::Detections(args) => detections::run(args, config),
        Mcp::Pins(args) => pins::run(args, config),
    }
}
