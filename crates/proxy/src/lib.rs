//! The door for model APIs: forwards requests, and judges responses.
//!
//! ```text
//! client ─► server ─► gateway ─► route ─► provider_request (restores calls) ─► upstream ─► provider
//!                        │ access                                                             │
//! client ◄── outgoing ◄── judged_response (the gate) or copied_response ◄── client_response ◄─┘
//! ```
//!
//! [`BoundGateway::start`] binds the address, [`BoundGateway::serve`] serves. The path of a request
//! decides its provider and its dialect, and the bytes of the response decide its framing. Headers
//! decide nothing that matters. Everything in a response that could be a call leaves only through
//! the gate, with a permit from [`callgate_decide`]. This crate cannot create permits.

mod access;
mod client_response;
mod continuation;
mod copied_response;
mod gateway;
mod headers;
mod inbound;
mod judged_response;
mod kept_body;
mod metrics;
mod mount;
mod outgoing;
mod provider_request;
mod refusal;
mod reload;
mod restore;
mod route;
mod server;
mod settings;
mod sign;
mod stored_response;
mod texts;
mod upstream;

pub use mount::{Mount, MountBody, Mounts};
pub use reload::{GatewayReloader, PreparedSettings};
pub use server::{BoundGateway, StartError};
pub use settings::{
    ApiKey, AwsAccess, ContinueSettings, Inbound, InspectionMode, ProviderSettings, Settings,
    Timeouts,
};
pub use upstream::system_roots;
