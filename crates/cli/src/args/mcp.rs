//! What the user typed behind `callgate mcp`.

mod pins;
mod records;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::time::Duration;

use clap::{Args, Subcommand};

pub(crate) use pins::{Pick, Pins, PinsList};
pub(crate) use records::{
    CALLS as MCP_CALLS, Detected, Detections, EVENTS as MCP_EVENTS, McpCalls, McpEvents,
    McpFilters, Passed, Servers, Tools,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Mcp {
    /// Run an MCP server behind the gate: an agent starts this in the server's place.
    ///
    /// Every message of both sides is read strictly. A call waits until the policies have judged it
    /// and its record is written; a denied tool is not listed. What is allowed passes byte for byte.
    /// The server gets an environment without keys and tokens, lives as long as its client, and
    /// its exit code is this command's.
    Wrap(Wrap),

    /// Be an MCP server: what callgate knows, for agents to ask.
    ///
    /// Offers the resources config://rules, audit://recent and config://health, and the tools
    /// evaluate (judge a call, and say why), explain and recent_decisions. They change nothing and
    /// record nothing. Policy files are watched; who subscribed is told of changes. Speaks on
    /// standard input and output, or over HTTP with `--listen`.
    Serve(McpServe),

    /// Become a server's program. `wrap` starts this; on Linux the program then ends with it.
    #[command(hide = true)]
    Launch(Launch),

    /// List the servers: those that the config declares, and those that were seen.
    Servers(Servers),

    /// List the tools that servers offer, their hashes, and what was found in them.
    Tools(Tools),

    /// List the calls of servers' tools, the newest first.
    Calls(McpCalls),

    /// List what else was recorded of servers: tools seen and changed, findings.
    Events(McpEvents),

    /// List what was found in what servers say, and flows from one to another.
    Detections(Detections),

    /// Look at the definitions that servers are held to, and trust or forget them.
    #[command(subcommand)]
    Pins(Pins),
}

#[derive(Debug, Args)]
pub(crate) struct Wrap {
    /// The server's name in rules, pins and records
    #[arg(long, value_name = "ID")]
    pub(crate) server: String,

    /// A variable of the environment that is handed to the server; may be given again
    #[arg(long, value_name = "NAME")]
    pub(crate) env: Vec<String>,

    /// The SHA-256 of the program's file: another one is not started
    #[arg(long, value_name = "HEX")]
    pub(crate) sha256: Option<String>,

    /// How long the server may take to end once its client is gone
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = duration)]
    pub(crate) grace: Duration,

    /// The command; left out for a server that the config declares
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct McpServe {
    /// Serve over HTTP at this address, at /mcp, instead of on standard input and output. On any
    /// address but loopback, clients need gateway keys
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
}

#[derive(Debug, Args)]
pub(crate) struct Launch {
    /// Who starts it
    #[arg(long, value_name = "PROCESS")]
    pub(crate) parent: i32,

    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

fn duration(text: &str) -> Result<Duration, String> {
    callgate_config::duration(text).ok_or_else(|| "write it like `500ms`, `5s` or `1m`".to_owned())
}
