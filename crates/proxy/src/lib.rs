//! The door of model APIs: requests up, judged responses down.
//!
//! ```text
//! client ─► server ─► gateway ─► route ─► upward (restore calls) ─► upstream ─► provider
//!                        │ access                                                  │
//! client ◄──────── outgoing ◄── judged (the gate) or copied ◄── answer ◄───────────┘
//! ```
//!
//! [`Server::start`] takes the address, [`Server::serve`] serves. The path of a request decides its
//! provider and its dialect; the bytes of the answer decide its framing; no header decides anything
//! that matters. Whatever a response holds that could be a call leaves only through the gate, with
//! a permit from [`callgate_decide`]; this crate cannot make one.

mod access;
mod answer;
mod control;
mod copied;
mod gateway;
mod headers;
mod inbound;
mod judged;
mod metrics;
mod mount;
mod outgoing;
mod respond;
mod restore;
mod route;
mod server;
mod settings;
mod sign;
mod texts;
mod upstream;
mod upward;

pub use control::{Control, Prepared};
pub use mount::{Mount, MountBody, Mounts, Visitor};
pub use server::{Server, StartError};
pub use settings::{ApiKey, AwsAccess, Inbound, Mode, Provider, Settings, Timeouts};
pub use upstream::system_roots;
