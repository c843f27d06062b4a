//! The MCP door's side of deciding: which servers and tools may be spoken to, what they offer, what
//! is called, what comes back.
//!
//! A door asks the [`Decider`](crate::Decider) for an [`McpSession`] per conversation and shows it
//! everything that passes: lists, calls, results, other texts, requests of the server. The session
//! answers for each what becomes of it. Lists and calls are decided by the same checks, in the order
//! server, tool, pin, rate, rules, flows: all are made, the strictest result wins, and the first of
//! the strictest is told. A call that is stopped uses no rate.
//!
//! Pins, limits and what a session has called are in the store, so that many shims and one gateway
//! act as one.

mod admission;
mod alias;
mod budget;
mod call;
mod check;
mod desk;
mod flows;
mod history;
mod join;
mod list;
mod lookalike;
mod names;
mod observe;
mod odd;
mod pins;
mod readable;
mod record;
mod resolve;
mod sent;
mod session;
mod settings;
mod shown;
mod store;
#[cfg(test)]
mod tests;
mod text;

pub use call::{CallTicket, McpCall, McpDecision, McpPending};
pub use callgate_policy::{ExtraInput, Globs, Rate};
pub use callgate_registry::Launch;
pub use callgate_scan::inspect::{Place, Severity};
pub use list::{Item, ListPage};
pub use names::NamedTool;
pub use readable::{Readings, readable};
pub use sent::Sent;
pub use session::McpSession;
pub use settings::{
    Burst, FlowSettings, InspectSettings, McpSettings, PinSettings, ServerEntry, ServerKind,
    ToolRule, Watch,
};
pub use store::{load as load_registry, pin as pin_of, stored as stored_pin};
pub use text::{Asked, Inspected, Read};

pub(crate) use alias::{Alias, told as told_aliases};
pub(crate) use call::{Ticket, explained};
pub(crate) use check::{Check, Objection, Objections};
pub(crate) use desk::{Desk, KnownTool, now_micros};
pub(crate) use history::Noted;
pub(crate) use join::{ArgumentHash, KeyedStep};
pub(crate) use names::Meant;
pub(crate) use readable::unread;
pub(crate) use record::facts as finding_facts;
pub(crate) use resolve::{AtTool, too_many};
