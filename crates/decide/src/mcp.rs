//! Decides for the MCP door: which servers and tools may be used, what servers offer, what clients
//! call, and what comes back.
//!
//! A door asks the [`Decider`](crate::Decider) for an [`McpSession`] per session and shows it
//! everything that passes: lists, calls, results, other texts, requests from the server. The
//! session returns a decision for each. Lists and calls go through the same checks, in the order
//! server, tool, pin, rate, rules, flows. All of them run, the strictest result wins, and among
//! equally strict ones the first is the reason given. A call that is stopped uses up no rate.
//!
//! Pins, limits and the history of a session are in the store, so that many shims and one gateway
//! act as one.

mod admission;
mod alias;
mod budget;
mod call;
mod claim;
mod door_events;
mod flows;
mod history;
mod join;
mod list;
mod lookalike;
mod named_tool;
mod observe;
mod pins;
mod readable;
mod resolve;
mod sent;
mod server_records;
mod session;
mod settings;
mod shown_lists;
mod state;
mod store;
#[cfg(test)]
mod tests;
mod text;

pub use admission::{ListRefusal, refused_by_lists};
pub use call::{AllowedCall, McpCall, McpDecision, McpPending};
pub use callgate_policy::{ExtraInput, Globs, Rate};
pub use callgate_registry::Launch;
pub use callgate_scan::inspect::{Severity, TextSource};
pub use list::{ListAction, ListPage};
pub use named_tool::NamedTool;
pub use readable::{ArgumentReadings, readable};
pub use sent::SentMessage;
pub use session::McpSession;
pub use settings::{
    Burst, CheckAction, FlowSettings, InspectSettings, McpSettings, PinSettings, ServerEntry,
    ServerKind, ToolRule,
};
pub use store::{load as load_registry, pin as pin_of, stored as stored_pin};
pub use text::{ClientRead, Inspected, ServerRequest};

pub(crate) use alias::{Alias, alias_note};
pub(crate) use call::{ForwardedCall, explained};
pub(crate) use history::{add_to_history, remembered_steps, remove_from_history};
pub(crate) use join::ArgumentHash;
pub(crate) use named_tool::ResolvedTool;
pub(crate) use readable::unreadable_note;
pub(crate) use resolve::{TargetTool, too_many};
pub(crate) use server_records::facts as finding_facts;
pub(crate) use state::{McpState, ToolSnapshot};
