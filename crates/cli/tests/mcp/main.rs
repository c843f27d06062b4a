//! MCP servers behind `callgate mcp wrap`, from outside.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic is a failed test"
)]

mod asked;
mod calls;
mod joined;
mod lifecycle;
mod limits;
mod lists;
mod parity;
mod peers;
mod pins;
mod strict;
mod support;
