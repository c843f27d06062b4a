//! Rules of other systems to policies, and policies to the rules of agents.
//!
//! [`import`] reads a file of another system and writes a policy (or the section `mcp:` of a config).
//! [`export`] writes the rules of a policy in the format of an agent, as a second line of defence. Both
//! return a list of every [`RuleDifference`]: what was left out, what became stricter, and what is
//! covered only in part.
//!
//! ```
//! use callgate_exchange::{import, DifferenceKind};
//! use callgate_document::Source;
//!
//! let text = r#"{ "permissions": { "deny": ["Bash(git push:*)"], "allow": ["Read(/x)"] } }"#;
//! let source = Source { name: "settings.json".into(), text: text.into() };
//! let imported = import(&source, None).unwrap();
//! assert!(imported.text.contains("runs: git push"));
//! assert!(imported.changes.iter().any(|it| it.kind == DifferenceKind::LeftOut));
//! ```
//!
//! What cannot be expressed never makes the result weaker: a rule that denies or asks then covers more, and
//! a rule that allows is left out. An export has only rules that the policy has as well, so it never denies
//! what the policy allows, and it allows nothing.
//!
//! This crate reads no file and runs nothing.

mod change;
mod command;
mod draft;
mod export;
mod format;
mod import;
mod paths;
mod read;
#[cfg(test)]
mod tests;

pub use change::{DifferenceKind, RuleDifference};
pub use export::{Agent, Exported, WrittenPolicies, export};
pub use format::Format;
pub use import::{ImportTarget, Imported, import};
