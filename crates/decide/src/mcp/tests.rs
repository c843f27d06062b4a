//! MCP sessions against real stores.

mod calls;
mod doors;
mod flow;
mod lists;
mod parity;
mod pinning;
mod support;
mod texts;
