//! Finds secrets and personal data in text, and inspects the texts of MCP servers.
//!
//! [`secrets`] finds secrets, [`redact`] replaces them in a text, and [`redact_json`] replaces them
//! in a JSON document and changes nothing else. A [`Set`] searches for what a caller selected, in
//! whole texts and in pieces ([`Flow`]). [`inspect`] checks the texts of MCP servers.
//!
//! ```
//! let key = ["AKI", "AIOSFODNN7ABCDEFG"].concat();
//! let command = format!("aws configure set aws_access_key_id {key}");
//! let shown = callgate_scan::redact(&command);
//! assert_eq!(shown, "aws configure set aws_access_key_id [REDACTED:aws_access_key_id]");
//! ```
//!
//! How it works: one automaton searches for the keywords of all detectors (`find.rs`). Where one is
//! found, the pattern of its detector is tried at that place, and a check rejects text that only
//! looks like a secret. The detectors are data: one entry each, with its samples (`detectors.rs`).
//! Time is linear in the text, whatever the text is.
//!
//! What it does not do: it does not ask any service whether a key is valid, it understands no
//! language, and it does not find a secret that was split or encoded on purpose. A key without a
//! published form and without a telling name before it is not found. It makes leaks rare, not
//! impossible.

mod base64;
mod checksum;
mod detector;
mod detectors;
mod find;
mod flow;
pub mod inspect;
mod json;
mod name;
mod partial;
mod redact;
mod replace;
mod sanitize;
mod set;
mod sieve;
mod value;
mod word;

pub use detector::DetectorGroup;
pub use detectors::{DetectorInfo, detectors};
pub use find::{DetectedSecret, secrets};
pub use flow::{Flow, FlowDecision, FlowOutput, TextChange};
pub use json::redact_json;
pub use redact::redact;
pub use replace::Replace;
pub use sanitize::Cleaned;
pub use set::{Hit, Set, SetBuilder, Unusable};
