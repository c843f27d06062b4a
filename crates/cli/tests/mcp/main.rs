//! MCP servers behind `callgate mcp wrap` and behind the gateway, from outside.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic is a failed test"
)]

mod calls;
mod http;
mod lifecycle;
mod limits;
mod lists;
mod peers;
mod pins;
mod strict;
mod support;
