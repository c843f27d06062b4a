//! Persistence: stores records and finds them again, with all other persistent data.
//!
//! A [`Store`] is an open store. [`Store::append`] takes a [`Record`] and returns a [`Receipt`],
//! which completes when the record is as safe as the [`Durability`] promises; a call is released
//! only after that. A [`RecordReader`] finds records by a [`Filter`], counts them, verifies their
//! chain and exports them, even while a gateway writes.
//!
//! [`Record`]: callgate_audit::Record
//! [`Filter`]: callgate_audit::Filter
//! [`RecordedTool::MAX_INPUT`]: callgate_audit::RecordedTool::MAX_INPUT
//!
//! ```
//! use callgate_audit::{CallOutcome, Filter, Record, RecordKind, RecordedTool, RecordedVerdict};
//! use callgate_store::{Location, Settings, Store};
//!
//! let store = Store::open(&Settings::at(Location::Memory))?;
//!
//! let mut record = Record::new(RecordKind::ToolCall);
//! let input = Some(r#"{"command":"ls"}"#.to_owned());
//! let name = "Bash".to_owned();
//! record.tool = Some(RecordedTool { name, input, ..RecordedTool::default() });
//! record.verdict = Some(RecordedVerdict::new(CallOutcome::Allow));
//! store.append(record).wait()?;
//!
//! let reader = store.reader()?;
//! let bash = Filter { tool: Some("bash".to_owned()), ..Filter::default() };
//! assert_eq!(reader.records(&bash)?.len(), 1);
//! assert_eq!(reader.verify(|_done, _all| {})?.records, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How a record is stored
//!
//! A record is redacted, truncated to its limits and encoded by the thread that creates it
//! ([`RecordedTool::MAX_INPUT`] bytes of input are stored, with the hash of all of it). It then
//! waits in a bounded queue for the writer thread, which appends all waiting records to the
//! **journal** with one write and, for `disk` durability, one sync. The journal is a folder of
//! append-only segments; it is the source of truth. Several processes append to one journal: there
//! is one hash chain and one sequence, and a lock file decides who writes next.
//!
//! Records are found through the **index**, a SQLite file that is filled from the journal in batches by
//! readers and by `callgate serve`, and can be rebuilt at any time. It holds no bodies.
//!
//! # What else is stored
//!
//! Gateway keys, pins, removed calls, token buckets, steps of sessions, open sessions and counts of turns
//! are not records. They are stored in the **state**, a separate SQLite file (`PATH.state`), so that
//! rebuilding the index cannot lose them. A change to the state is recorded before it is committed: there
//! is no change without a record, but there may be a record of a change whose commit failed. The step of a
//! call is stored before the call is recorded.
//!
//! [`backup`] copies the journal, the state and the key file as of one moment.
//!
//! # What the chain proves, and what it cannot
//!
//! Each record's hash covers its content, its sequence number, the time it was stored and the previous hash.
//! [`RecordReader::verify`] finds a record that was edited, removed, inserted or moved, and a
//! truncated end. For that, the last record's number and hash are also stored outside the journal.
//! When old records expire, the hash of the last of them is kept, and the check starts there.
//!
//! A user who can write the files can also write a whole new chain, or let records expire early: no file
//! proves its own age. To detect that, keep a copy of [`Verified::last`] and [`Verified::head`] elsewhere.
//! The state is not part of the chain. The hash of an input is not keyed, so a short secret can be
//! guessed from it.
//!
//! # What it refuses to do
//!
//! It does not judge, and it does not write anything that [`callgate_scan`] detects as a secret. It
//! never changes a record and only ever removes the oldest. It never reports a record as safe before it
//! is: a full queue, a full disk and a locked store are reported as errors ([`AppendError`],
//! [`WriteHealth`]), and the caller decides what they mean for a call. It opens neither other
//! SQLite files nor stores of a newer version.

mod background;
mod backup;
mod cipher;
mod database;
mod derived;
mod error;
#[cfg(test)]
mod faults;
mod health;
mod index;
mod indexer;
mod journal;
mod legacy;
mod maintenance;
mod pace;
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
mod write_connection;
mod writer;

#[cfg(test)]
mod tests;

pub use backup::{BackedUp, BackupError, backup};
pub use error::{OpenError, ReadError, StoreError};
pub use health::WriteHealth;
pub use reader::RecordReader;
pub use receipt::{AppendError, Receipt};
pub use reply::{NoAnswer, StoreReply};
pub use settings::{Durability, Indexing, Location, Retention, Settings};
pub use state::history::{FlowName, FlowStep};
pub use state::keys::{
    KeyInfo, KeyRefusal, KeySecret, KeyState, KeyTerm, RenewedKey, SecretChoice,
};
pub use state::marks::{CallMark, Opinion};
pub use state::meters::Bucket;
pub use state::pins::{PinnedVersion, PutPin, StoredPin};
pub use state::removed::{RemovedEntry, RemovedMatches, RemovedQuery};
pub use state::turns::TurnCount;
pub use store::{Glance, Store};
pub use verify::{Broken, Verified, VerifyError};
