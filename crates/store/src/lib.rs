//! Where records are kept and found again, with everything else that must last.
//!
//! A [`Store`] is an open store. [`Store::append`] takes a [`Record`] and gives a [`Receipt`], which
//! is ready when the record is as safe as the [`Durability`] promises; what completes a call is let
//! go only then. A [`Reader`] finds records again by a [`Filter`], counts them, checks their chain
//! and exports them, also while a gateway writes.
//!
//! [`Record`]: callgate_audit::Record
//! [`Filter`]: callgate_audit::Filter
//! [`Tool::MAX_INPUT`]: callgate_audit::Tool::MAX_INPUT
//!
//! ```
//! use callgate_audit::{Action, Filter, Kind, Record, Tool, Verdict};
//! use callgate_store::{Location, Settings, Store};
//!
//! let store = Store::open(&Settings::at(Location::Memory))?;
//!
//! let mut record = Record::new(Kind::ToolCall);
//! let input = Some(r#"{"command":"ls"}"#.to_owned());
//! record.tool = Some(Tool { name: "Bash".to_owned(), input, ..Tool::default() });
//! record.verdict = Some(Verdict::new(Action::Allow));
//! store.append(record).wait()?;
//!
//! let reader = store.reader()?;
//! let bash = Filter { tool: Some("bash".to_owned()), ..Filter::default() };
//! assert_eq!(reader.records(&bash)?.len(), 1);
//! assert_eq!(reader.verify(|_done, _all| {})?.records, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How a record is kept
//!
//! It is redacted, bounded and encoded where it is made ([`Tool::MAX_INPUT`] bytes of input stay,
//! beside the hash of the whole). With `process` durability the same thread then writes it, if
//! nobody else is writing; otherwise, and always with `disk`, it goes through a bounded queue to one
//! writer thread, which commits everything that waits at once. The store is a SQLite file with a
//! write-ahead log. Several processes may append to it: the end of the chain is read inside the
//! transaction that adds to it.
//!
//! # What else is kept
//!
//! Gateway keys, pins, removed calls, token buckets, steps of sessions, sessions under way and counts of
//! turns are no records. They lie in a SQLite file of their own beside the records (`PATH.state`), so that
//! nothing that happens to the records, or to what finds them, can lose them. What somebody changes there
//! is on record before it holds: a change without its record is impossible, a record whose change failed
//! at the last moment is not. The step of a call is kept before the call is recorded.
//!
//! # What the chain shows, and what it cannot
//!
//! Each record's hash covers its content, its number, its time of storing and the hash before it.
//! [`Reader::verify`] finds a record that was edited, is missing, was put in or changed places, and
//! an end that was cut off, also if more was appended afterwards. When old records expire, the hash
//! of the last of them stays, and the check begins there.
//!
//! Whoever can write the file can also write the whole chain anew, or let records expire before
//! their time: no file proves its own age. What shows that is a copy of [`Verified::last`] and
//! [`Verified::head`] that was kept elsewhere. Counts of turns without calls, gateway keys, removed
//! calls, and what several processes share about MCP servers ([`StoredPin`], [`Bucket`], [`FlowStep`])
//! are not part of the chain. The hash of an input is not keyed: whoever reads it
//! can try out guesses of a short secret.
//!
//! # What it refuses to do
//!
//! It does not judge, and it does not write what [`callgate_scan`] knows as a secret. It never
//! changes a record and removes none but the oldest. It never says that a record is safe before it
//! is: a full queue, a full disk and a locked store are answers ([`AppendError`], [`Health`]), and
//! what they mean for a call is decided elsewhere. It takes no other SQLite file for its own, and
//! no store of a newer version.

mod backup;
mod beside;
mod cipher;
mod clerk;
mod database;
mod error;
#[cfg(test)]
mod faults;
mod filler;
mod health;
mod index;
mod journal;
mod keeper;
mod legacy;
mod place;
mod queue;
mod reader;
mod receipt;
mod records;
mod reply;
mod schema;
mod settings;
mod shared;
mod state;
mod store;
mod verify;
mod wal;
mod writer;
mod writing;

#[cfg(test)]
mod tests;

pub use backup::{BackedUp, BackupError, backup};
pub use error::{OpenError, ReadError, StoreError};
pub use health::Health;
pub use reader::Reader;
pub use receipt::{AppendError, Receipt};
pub use reply::{NoAnswer, Reply};
pub use settings::{Durability, Indexing, Location, Retention, Settings};
pub use state::history::{FlowName, FlowStep};
pub use state::keys::{KeyInfo, KeyRefusal, KeyState, Renewed, Secret, SecretChoice, Term};
pub use state::meters::Bucket;
pub use state::pins::{PinnedVersion, PutPin, StoredPin};
pub use state::removed::{FoundRemoved, RemovedEntry, SoughtRemoved};
pub use state::turns::TurnCount;
pub use store::{Glance, Store};
pub use verify::{Broken, Verified, VerifyError};
