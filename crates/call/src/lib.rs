//! The words every callgate crate shares.
//!
//! A [`ToolCall`] is what an agent is about to do because a model said so: a [`ToolName`], a
//! [`CallId`] and [`Arguments`], with the [`Origin`] that says where it was seen. Every door builds
//! one, every policy judges one, every record describes one.
//!
//! [`json`] is the one strict JSON reader of the project. It lives here because arguments are JSON
//! and because what the gate reads and what a policy reads must never be two different documents.
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
mod embedded;
pub mod json;
mod name;
mod origin;
pub mod spell;

pub use arguments::{Arguments, ArgumentsForm, Unreadable};
pub use call::{CallId, Caller, ToolCall};
pub use embedded::EmbeddedJson;
pub use name::{Certainty, NameError, NameReading, ToolName, fold, split};
pub use origin::{Identity, Origin, OriginFields, Surface, Who};
