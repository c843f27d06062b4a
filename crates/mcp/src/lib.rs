//! The door for MCP servers: every definition and every call passes the gate.
//!
//! ```text
//! agent ─► lines ─► message (strict) ─► session ─► decide ─► session ─► server
//! agent ◄──────────────── session (pairs, looks, edits) ◄── message ◄── server
//! ```
//!
//! [`wrap`] runs a server behind our own standard input and output; an [`HttpDoor`] serves servers
//! on the network. A message that every peer reads the same way is forwarded unchanged. A call
//! waits for its verdict and its record. A definition that may not be used is hidden. A message
//! that two peers would read differently is never forwarded.
//!
//! [`Service`] is the other side: callgate as a server itself, on [`serve_pipe`] or over HTTP.

mod answers;
mod extra_inputs;
mod http;
mod lines;
mod message;
mod params;
#[cfg(any(test, feature = "probe"))]
pub mod probe;
mod serve;
mod session;
mod stdio;

pub use http::{HttpDoor, HttpServer, HttpSettings, PATH, ReplyBody, ServerType, refusal};
pub use serve::{
    CallResult, ChangeListener, Changes, Http, Resource, ServedTool, ServerContent, ServerInfo,
    Service, serve_pipe,
};
pub use stdio::{
    Ended, Program, ProgramError, ServerCommand, StdioSettings, WrapError, environment, wrap,
};
