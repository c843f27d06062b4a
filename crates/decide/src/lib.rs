//! The only source of permits for doors: judge, record, answer.
//!
//! A door asks a [`Decider`] for a [`Hearing`] per response. The hearing keeps the policies it
//! began with, judges each call by name and then whole, counts limits, and writes the record. The
//! answer to a whole call is a [`Pending`]: it becomes a permit only once the record is durable, or
//! a denial if that failed and the operator did not say otherwise.
//!
//! ```
//! use callgate_store::{Durability, Location, Store};
//! use callgate_call::{Arguments, CallId, Origin, Surface, ToolCall, ToolName};
//! use callgate_decide::{Context, Decider, Decision, Settings};
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
//! let mut hearing = decider.hearing(Context::new(origin.clone())).unwrap();
//! let call = ToolCall {
//!     id: CallId::from("call_1"),
//!     name: ToolName::parse("rm").unwrap(),
//!     arguments: Arguments::json("{}"),
//!     origin,
//!     caller: None,
//! };
//! let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
//! match runtime.block_on(hearing.whole(call)) {
//!     Decision::Deny(denial) => assert!(denial.record.is_some()),
//!     Decision::Allow(_) => unreachable!(),
//! }
//! ```
//!
//! What concerns MCP servers is in [`mcp`].
//!
//! It knows no stream, no provider's format and no HTTP: those are the doors'.

mod advertised;
mod clerk;
mod clock;
mod counter;
mod decider;
mod hearing;
mod in_force;
mod limits;
mod loading;
pub mod login;
pub mod mcp;
mod pending;
mod pipeline;
mod record;
mod settings;
#[cfg(test)]
mod tests;
mod weakened;

pub use advertised::Offer;
pub use callgate_audit::{PolicyFile, RecordId, Tokens};
pub use callgate_policy::{
    Denial, NamePermit, Permit, Recorded, TextAction, TextFlow, TextGuard, TextHit, TextOutcome,
};
pub use callgate_store::{
    Health as AuditHealth, KeyInfo, KeyRefusal, Receipt, RemovedEntry, RemovedMatches, RemovedQuery,
};
pub use clock::now;
pub use decider::{Context, Decider};
pub use hearing::{ByName, CallNumber, Hearing, Oddity, TurnEnd};
pub use in_force::InForce;
pub use limits::Buckets;
pub use loading::{PolicySource, PolicyState};
pub use pending::{Decision, Pending};
pub use pipeline::NO_APPROVER;
pub use settings::{OddArguments, OnFailure, Oversize, Settings};
