//! The local API of a running callgate, on a socket that only its user can access.
//!
//! [`evaluate`] and [`explain`] answer questions about hypothetical calls, for `callgate mcp serve`
//! and the API of the gateway. They are read-only: they record nothing, use no limit, and no answer
//! of theirs permits a call.
//!
//! An [`ApiServer`] answers for an [`ApiHost`] on a socket that it has taken ([`OwnedSocket`]):
//! health, `evaluate`, `explain`, the records, and a feed of them. An [`ApiClient`] connects to it,
//! and first verifies whom it talks to.
//!
//! The API refuses other users, has no keys and no roles, and changes nothing.

mod call_description;
mod clean;
mod client;
mod digest;
mod evaluate;
mod explain;
mod explanation_output;
mod feed;
mod health;
mod hook_input;
mod journal;
mod judgement_output;
pub mod judging;
mod listen;
mod owned_socket;
mod problem;
mod process;
mod query;
mod refusal;
mod route;
mod server;

pub use call_description::{CallDefaults, CallDescription, current_dir, home_dir};
pub use clean::clean;
pub use client::{ApiClient, ExpectedGateway, FeedEnd, FeedEvents, FeedRecord, Untrusted};
pub use digest::digest;
pub use evaluate::{Evaluated, Rules, evaluate};
pub use explain::{CallExplanation, Explanation, ToolExplanation, explain};
pub use explanation_output::ExplanationOutput;
pub use health::{GatewayHealth, PolicyHealth, Status, StoreHealth, store_file};
pub use journal::{PageError, PageLimits, RecordPage, RecordPages};
pub use judgement_output::{CheckOutput, JudgementOutput, id, one_line};
pub use listen::Listen;
pub use owned_socket::{OwnedSocket, SocketError};
pub use problem::HintedError;
pub use server::{ApiHost, ApiServer};
