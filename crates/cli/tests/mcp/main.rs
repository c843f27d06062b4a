//! MCP servers behind `callgate mcp wrap` and behind the gateway, and callgate as one, from outside.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic is a failed test"
)]

mod alias;
mod along;
mod api;
mod asked;
mod calls;
mod clients;
mod conformance;
mod differentials;
mod http;
mod joined;
mod lifecycle;
mod limits;
mod lists;
mod network;
mod parity;
mod peers;
mod pins;
mod protect;
mod reload;
mod serve;
mod strict;
mod support;
mod values;
