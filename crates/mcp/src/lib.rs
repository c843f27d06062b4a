//! The door of MCP servers: every definition and every call passes the gate.
//!
//! ```text
//! agent ─► lines ─► message (strict) ─► session ─► decide ─► session ─► server
//! agent ◄──────────────── session (pairs, looks, edits) ◄── message ◄── server
//! ```
//!
//! [`wrap`] runs a server behind our own standard input and output; a [`Door`] answers for servers on
//! the network. A message that every peer reads
//! alike is handed on as it came; a call waits for its verdict and its record; a definition that may
//! not be used is not shown. What two peers would read differently is never handed on.
//!
//! [`Service`] is the other side: callgate as a server itself, on [`serve_pipe`] or over HTTP.

mod answers;
mod beside;
mod http;
mod lines;
mod message;
mod params;
#[cfg(any(test, feature = "probe"))]
pub mod probe;
mod serve;
mod session;
mod stdio;

pub use http::{Body, Door, HttpServer, HttpSettings, PATH, ServerType, Visitor, refusal};
pub use serve::{
    About, Called, Changes, Changing, Host, Http, Resource, Service, Tool, serve_pipe,
};
pub use stdio::{
    Ended, Program, ProgramError, ServerCommand, Settings, WrapError, environment, wrap,
};
