//! MCP servers behind `callgate mcp wrap`, from outside.

mod calls;
mod lifecycle;
mod lists;
mod peers;
mod pins;
mod strict;
mod support;
