//! Text in, findings out: secrets, so that none is written or shown.
//!
//! [`secrets`] tells where they stand, [`redact`] replaces them in a text, and [`redact_json`]
//! replaces them in a document that stays the same document otherwise.
//!
//! ```
//! let key = ["AKI", "AIOSFODNN7ABCDEFG"].concat();
//! let command = format!("aws configure set aws_access_key_id {key}");
//! let shown = callgate_scan::redact(&command);
//! assert_eq!(shown, "aws configure set aws_access_key_id [REDACTED:aws_access_key_id]");
//! ```
//!
//! How it works: one automaton looks for the keywords of all detectors (`find.rs`). Where one
//! stands, the pattern of its detector is tried at that place, and a check refuses what only looks
//! like a secret. The detectors are data: one entry each, with its samples
//! (`detectors.rs`). Time is linear in the text, whatever the text is.
//!
//! What it does not do: it asks no service whether a key is alive, it knows no language, and it
//! does not find a secret that was taken apart or encoded on purpose. A key without a published
//! form, and without a telling name before it, is not found. It makes leaks rare, not impossible.

mod ahead;
mod base64;
mod checksum;
mod detector;
mod detectors;
mod find;
mod flow;
pub mod inspect;
mod json;
mod name;
mod redact;
mod replace;
mod sanitize;
mod set;
mod sieve;
mod value;
mod word;

pub use detector::Group;
pub use detectors::{DetectorInfo, detectors};
pub use find::{Finding, secrets};
pub use flow::{Change, Flow, Flowed, Settled};
pub use json::redact_json;
pub use redact::redact;
pub use replace::Replace;
pub use sanitize::Cleaned;
pub use set::{Builder, Hit, Set, Unusable};
