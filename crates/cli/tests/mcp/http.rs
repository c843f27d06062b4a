//! MCP servers on the network, behind the gateway at `/mcp/<server>`.

mod access;
mod along;
mod asking;
mod bounds;
mod busy;
mod calls;
mod failing;
mod heads;
mod listing;
mod old;
mod pins;
mod records;
mod reload;
mod rounds;
mod streams;
mod strict;
pub(crate) mod support;
mod tasks;
mod texts;
mod tls;
