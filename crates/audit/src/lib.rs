//! A verifiable record of what happened: the records and their hash chain.
//!
//! A [`Record`] describes one event. [`Sealed`] is its stored form: redacted, bounded, as JSON. A
//! [`ChainLink`] gives it its place in the chain. `callgate-store` stores records and finds them
//! again; a [`Filter`] selects them.
//!
//! ```
//! use callgate_audit::{CallOutcome, ChainLink, GENESIS, Record, RecordKind, RecordedTool};
//! use callgate_audit::{RecordedVerdict, Sealed};
//!
//! let mut record = Record::new(RecordKind::ToolCall);
//! let input = Some(r#"{"command":"ls"}"#.to_owned());
//! let name = "Bash".to_owned();
//! record.tool = Some(RecordedTool { name, input, ..RecordedTool::default() });
//! record.verdict = Some(RecordedVerdict::new(CallOutcome::Allow));
//!
//! let sealed = Sealed::new(record);
//! let link = ChainLink { seq: 1, at: sealed.time, total: 0, joins: None, body: &sealed.body };
//! assert_ne!(link.hash(&GENESIS), ChainLink { seq: 2, ..link }.hash(&GENESIS));
//! ```
//!
//! # What the chain proves, and what it cannot
//!
//! Each record's hash covers its content, its sequence number, the time it was stored and the
//! previous hash. So a record that was edited, removed, inserted or moved is detected.
//!
//! A user who can write the files can also rewrite the whole chain, or let records expire early: no
//! file proves its own age. To detect that, keep a copy of the last number and hash elsewhere. The
//! hash of an input is not keyed: a reader can use it to test guesses of a short secret.
//!
//! # What it refuses to do
//!
//! It does not judge, it does no I/O, and a [`Sealed`] record does not contain anything that
//! [`callgate_scan`] detects as a secret.

mod chain;
mod query;
mod record;
mod seal;
mod session;
mod stats;
mod stored;

pub use chain::{ChainHash, ChainLink, GENESIS, hex};
pub use query::{CompiledFilter, Filter, FilterPattern, PatternError, RecordOrder, WhoFilter};
pub use record::{
    CallOutcome, ChangeTarget, FindingFact, InputExtent, MatchedRule, McpFacts, OriginFact,
    ParseIdError, PolicyFacts, PolicyFile, ReasonCode, Record, RecordId, RecordKind,
    RecordedCaller, RecordedChange, RecordedPrincipal, RecordedTool, RecordedVerdict, RuleId,
    Subagent, TextRuleMatch, Timing, Tokens,
};
pub use seal::{ID_AT, RecordBody, Sealed, completes, seal_name, turn_of};
pub use session::{SessionKey, session_key};
pub use stats::{Stats, StatsCounter, TurnStats};
pub use stored::{InputLoss, InputProof, StoredRecord};
