//! What happened, provably: the records and their chain.
//!
//! A [`Record`] tells what happened. [`Sealed`] is the record as it is written: redacted, bounded, as
//! JSON. A [`Link`] gives it its place in the chain. Where records are kept and how they are found again is
//! for `callgate-store` to know; what to look for is a [`Filter`].
//!
//! ```
//! use callgate_audit::{Action, GENESIS, Kind, Link, Record, Sealed, Tool, Verdict};
//!
//! let mut record = Record::new(Kind::ToolCall);
//! let input = Some(r#"{"command":"ls"}"#.to_owned());
//! record.tool = Some(Tool { name: "Bash".to_owned(), input, ..Tool::default() });
//! record.verdict = Some(Verdict::new(Action::Allow));
//!
//! let sealed = Sealed::new(record);
//! let link = Link { seq: 1, at: sealed.time, total: 0, joins: None, body: &sealed.body };
//! assert_ne!(link.hash(&GENESIS), Link { seq: 2, ..link }.hash(&GENESIS));
//! ```
//!
//! # What the chain shows, and what it cannot
//!
//! Each record's hash covers its content, its number, its time of storing and the hash before it. So a
//! record that was edited, is missing, was put in or changed places shows.
//!
//! Whoever can write the files can also write the whole chain anew, or let records expire before their
//! time: no file proves its own age. What shows that is a copy of the last number and hash that was kept
//! elsewhere. The hash of an input is not keyed: whoever reads it can try out guesses of a short secret.
//!
//! # What it refuses to do
//!
//! It does not judge, it does no I/O, and a [`Sealed`] record does not hold what [`callgate_scan`] knows as
//! a secret.

mod chain;
mod query;
mod record;
mod seal;
mod session;
mod stats;
mod stored;

pub use chain::{GENESIS, Hash, Link, hex};
pub use query::{Compiled, Filter, Order, Pattern, PatternError, WhoFilter};
pub use record::{
    Action, Caller, Change, Changed, Code, FindingFact, Guardrail, Hit, Kind, McpFacts,
    ParseIdError, PolicyFacts, PolicyFile, Principal, Record, RecordId, RuleId, Subagent, Timing,
    Tokens, Tool, Verdict,
};
pub use seal::{Body, ID_AT, Sealed, completes, turn_of, word};
pub use session::{SessionKey, session_key};
pub use stats::{Stats, Tally, Turns};
pub use stored::{InputProof, Stored};
