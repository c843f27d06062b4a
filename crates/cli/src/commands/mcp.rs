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

use crate::args::{self, McpCommand};
use crate::exit::Exit;

pub(crate) fn run(args: &args::McpCommand, config: Option<&Path>) -> Result<Exit> {
    match args {
        McpCommand::Wrap(args) => wrap::run(args, config),
        McpCommand::Serve(args) => serve::run(args, config),
        McpCommand::Launch(args) => launch::run(args),
        McpCommand::Servers(args) => servers::run(args, config),
        McpCommand::Tools(args) => tools::run(args, config),
        McpCommand::Calls(args) => calls::run(args, config),
        McpCommand::Events(args) => events::run(args, config),
        McpCommand::Detections(args) => detections::run(args, config),
        McpCommand::Pins(args) => pins::run(args, config),
    }
}
