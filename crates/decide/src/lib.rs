//! The only source of permits for doors: judge, record, answer.
//!
//! A door asks a [`Decider`] for a [`ResponseDecider`] per response. It keeps the policies that
//! were in force at its start, judges each call by name and then with its arguments, counts limits,
//! and writes the record. The answer to a complete call is a [`PendingDecision`]: it becomes a
//! permit only once the record is durable, or a denial if that failed and the operator did not
//! choose otherwise.
//!
//! ```
//! use callgate_store::{Durability, Location, Store};
//! use callgate_call::{Arguments, CallId, Origin, Surface, ToolCall, ToolName};
//! use callgate_decide::{Decider, Decision, RequestContext, Settings};
//! use callgate_effects::Catalogue;
//! use callgate_policy::{Policies, Source};
//!
//! let text = "policy: p\nrules:\n  - { id: no-rm, tool: rm, verdict: deny, reason: Not here. }\n";
//! let source = Source { name: "p.yaml".into(), text: text.into() };
//! let (policies, _) = Policies::compile(&[source], &Catalogue::builtin()).unwrap();
//! let audit = Store::open(&callgate_store::Settings {
//!     durability: Durability::Process,
//!     ..callgate_store::Settings::at(Location::Memory)
//! })
//! .unwrap();
//! let decider = Decider::new(Some(policies), audit, Settings::default());
//!
//! let origin = Origin::at(Surface::Response);
//! let mut response = decider.response_decider(RequestContext::new(origin.clone())).unwrap();
//! let call = ToolCall {
//!     id: CallId::from("call_1"),
//!     name: ToolName::parse("rm").unwrap(),
//!     arguments: Arguments::json("{}"),
//!     origin,
//!     caller: None,
//! };
//! let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
//! match runtime.block_on(response.decide(call)) {
//!     Decision::Deny(denial) => assert!(denial.record.is_some()),
//!     Decision::Allow(_) => unreachable!(),
//! }
//! ```
//!
//! Everything about MCP servers is in [`mcp`].
//!
//! This crate knows nothing about streams, provider formats or HTTP: the doors handle those.

mod checks;
mod clock;
mod counter;
mod decider;
mod in_force;
mod limits;
mod loading;
pub mod login;
pub mod mcp;
mod new_record;
mod observer;
mod offer;
mod origins;
mod past;
mod pending;
mod pipeline;
mod response_decider;
mod session_steps;
mod settings;
mod store_query;
mod storing;
#[cfg(test)]
mod tests;
mod weakened;

pub use callgate_audit::{PolicyFile, RecordId, Tokens};
pub use callgate_policy::{
    Decision, Denial, NameDecision, NamePermit, Permit, Recorded, TextAction, TextFlow, TextGuard,
    TextHit, TextOutcome,
};
pub use callgate_store::{
    KeyInfo, KeyRefusal, RemovedEntry, RemovedMatches, RemovedQuery, WriteHealth,
};
pub use clock::{moment_of, now};
pub use decider::{Decider, RequestContext};
pub use in_force::InForce;
pub use limits::Buckets;
pub use loading::{PolicyProvenance, PolicyState};
pub use observer::ObservedDecisions;
pub use offer::Offer;
pub use pending::PendingDecision;
pub use pipeline::NO_APPROVER;
pub use response_decider::{CallNumber, Oddity, ResponseDecider, TurnEnd};
pub use settings::{OddArguments, OnFailure, Oversize, Settings};
pub use store_query::StoreUnavailable;
pub use storing::Storing;
