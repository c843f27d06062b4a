//! The types that every callgate crate shares.
//!
//! A [`ToolCall`] is what an agent is about to do for a model: a [`ToolName`], a [`CallId`] and
//! [`Arguments`], with the [`Origin`] where it was seen. Doors build it, policies judge it, records
//! describe it.
//!
//! Arguments are read by `callgate_json`, like everything else, so that the gate and a policy never
//! read the same text differently.
//!
//! ```
//! use callgate_call::{Arguments, ToolName};
//!
//! let name = ToolName::parse(" Bash ").unwrap();
//! assert_eq!(name.folded(), "bash");
//!
//! let arguments = Arguments::json(r#"{"command":"ls","command":"rm"}"#);
//! assert!(arguments.value().is_err(), "two readings, so no reading");
//! ```
//!
//! This crate judges nothing, reads no provider's format and does no I/O.

mod arguments;
mod call;
mod canonical;
mod conversation;
mod embedded;
mod name;
mod origin;
mod past;
mod record_line;
mod session_files;
pub mod spell;

pub use arguments::{Arguments, ArgumentsForm, UnreadableArguments};
pub use call::{CallId, Caller, ToolCall};
pub use canonical::canonical_arguments;
pub use conversation::{
    Conversation, FoundOrigin, HiddenConversation, PassageSource, Passages, ValueOrigins,
    ValuePlace,
};
pub use embedded::EmbeddedJson;
pub use name::{Certainty, NameError, NameReading, ToolName, fold, split};
pub use origin::{ClientInfo, EffectHints, Identity, Origin, OriginFields, Principal, Surface};
pub use past::PastEvent;
pub use record_line::RecordLine;
pub use session_files::{FileWrite, SessionFile, SessionFiles, WrittenContent};
