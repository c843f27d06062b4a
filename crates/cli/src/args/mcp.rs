//! The command line of `callgate mcp`.

mod pins;
mod records;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::time::Duration;

use clap::{Args, Subcommand};

pub(crate) use pins::{DefinitionArgs, PinsCommand, PinsListArgs};
pub(crate) use records::{
    CALLS as MCP_CALLS, Detected, DetectionsArgs, EVENTS as MCP_EVENTS, McpCallsArgs,
    McpEventsArgs, McpFilterArgs, Passed, ServersArgs, ToolsArgs,
};

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Run an MCP server behind the gate: an agent starts this instead of the server.
    ///
    /// Every message in both directions is checked strictly. A call waits until the policies have
    /// judged it and its record is written; a denied tool is not listed. Allowed messages pass
    /// unchanged. The server gets an environment without keys and tokens and stops with its client.
    /// This command exits with the server's exit code.
    Wrap(WrapArgs),

    /// Run an MCP server that answers agents' questions about callgate.
    ///
    /// Offers the resources config://rules, audit://recent and config://health, and the tools
    /// evaluate (judge a call and explain the verdict), explain and recent_decisions. They change
    /// and record nothing. Policy files are watched, and subscribers are notified of changes. Uses
    /// standard input and output, or HTTP with `--listen`.
    Serve(McpServeArgs),

    /// Turn into a server's program. `wrap` starts this; on Linux the program then stops with it.
    #[command(hide = true)]
    Launch(LaunchArgs),

    /// List the servers that the config declares and those that were seen.
    Servers(ServersArgs),

    /// List the tools that servers offer, with their hashes and findings.
    Tools(ToolsArgs),

    /// List the calls of MCP tools, newest first.
    Calls(McpCallsArgs),

    /// List the other records about servers, such as new and changed tools.
    Events(McpEventsArgs),

    /// List findings in the text of servers, and flows from one server to another.
    Detections(DetectionsArgs),

    /// List, compare, trust and reset pinned definitions.
    #[command(subcommand)]
    Pins(PinsCommand),
}

#[derive(Debug, Args)]
pub(crate) struct WrapArgs {
    /// The server's name in rules, pins and records
    #[arg(long, value_name = "ID")]
    pub(crate) server: String,

    /// An environment variable that is passed to the server; can be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) env: Vec<String>,

    /// The SHA-256 of the program's file; any other file is not started
    #[arg(long, value_name = "HEX")]
    pub(crate) sha256: Option<String>,

    /// How long the server may take to stop after its client is gone
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = duration)]
    pub(crate) grace: Duration,

    /// The command of the server; leave it out if the config declares the server
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct McpServeArgs {
    /// Serve over HTTP at this address (path /mcp) instead of standard input and output. On any
    /// address but loopback, clients need gateway keys
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
}

#[derive(Debug, Args)]
pub(crate) struct LaunchArgs {
    /// The process that starts it
    #[arg(long, value_name = "PROCESS")]
    pub(crate) parent: i32,

    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

fn duration(text: &str) -> Result<Duration, String> {
    callgate_config::duration(text)
        .ok_or_else(|| "use a duration such as `500ms`, `5s` or `1m`".to_owned())
}
