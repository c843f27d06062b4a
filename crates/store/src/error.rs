//! The errors of a store, except those of appending.

use std::path::PathBuf;

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no store to read.
    #[error("there is no audit store at `{}`\nhint: `callgate serve` creates it on its first run; check `store` in the configuration", path.display())]
    Missing {
        /// The path of the missing store.
        path: PathBuf,
    },
    /// The folder or the file cannot be written.
    #[error("the audit store `{}` cannot be written: {why}\nhint: choose another path with `store: sqlite:PATH`, or make this one writable for the user that runs callgate", path.display())]
    Unwritable {
        /// The store.
        path: PathBuf,
        /// The error of the operating system.
        why: String,
    },
    /// The file cannot be read.
    #[error("the audit store `{}` cannot be read: {why}", path.display())]
    Unreadable {
        /// The store.
        path: PathBuf,
        /// The error of the operating system.
        why: String,
    },
    /// The file is not a store.
    #[error("`{}` is not a callgate store: {why}\nhint: choose another path with `store: sqlite:PATH`; this file was left as it is", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What the file is instead.
        why: String,
    },
    /// A newer callgate wrote the store.
    #[error("the audit store `{}` has schema {found}, and this callgate knows up to {known}\nhint: use the newer callgate that wrote it", path.display())]
    Newer {
        /// The store.
        path: PathBuf,
        /// The schema version of the store.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// Another process keeps the store locked.
    #[error("the audit store `{}` is locked by another process\nhint: look for a program that has it open, such as `sqlite3` or a backup", path.display())]
    Locked {
        /// The store.
        path: PathBuf,
    },
    /// Other users of the machine could write gateway keys, limits and records into the store.
    #[error("`{}` can be written by other users of this machine (mode {mode:o}), and belongs to the audit store\nhint: run `chmod go-w {}`, then check `callgate keys list`: another user may have added a key", path.display(), path.display())]
    Exposed {
        /// The store, one of its companion files, or its folder.
        path: PathBuf,
        /// The file mode.
        mode: u32,
    },
    /// Another user could write gateway keys and limits into the store.
    #[error("`{}` belongs to another user (uid {owner}), who could write into the audit store\nhint: run callgate as that user, or take the file over with `chown {own} {}` as root. Then check `callgate keys list` for keys you did not add", path.display(), path.display())]
    Owned {
        /// The store, one of its companion files, or its folder.
        path: PathBuf,
        /// The uid of the owner.
        owner: u32,
        /// The uid of this process.
        own: u32,
    },
    /// The key file is not safe to use.
    #[error("the key file `{}` {why}", path.display())]
    KeyFile {
        /// The key file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// A store in memory can only be read by its own process.
    #[error(
        "a store in memory can only be read by its own process\nhint: set `store: sqlite:PATH` to keep records in a file"
    )]
    InMemory,
    /// The writer could not be started.
    #[error("the audit writer could not be started: {0}")]
    Thread(String),
}

/// Why a key, a pin or a removed call could not be stored or found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store failed.
    #[error("the audit store failed: {0}")]
    Failed(String),
    /// A key with that name exists already.
    #[error(
        "a gateway key named `{0}` already exists\nhint: choose another name; names of revoked keys are not reused, so that records stay unambiguous"
    )]
    NameTaken(String),
    /// The name is not valid.
    #[error(
        "`{0}` is not a valid key name\nhint: use 1 to 64 letters, digits, `-`, `_`, `.` or `@`"
    )]
    BadName(String),
    /// No key has that name.
    #[error("there is no key `{0}`\nhint: `callgate keys list` shows all keys")]
    NoKey(String),
    /// The key is revoked, which is final.
    #[error(
        "the key `{0}` is revoked, and a revoked key cannot be renewed\nhint: create another key with `callgate keys add NAME`"
    )]
    KeyRevoked(String),
    /// The key has nothing to renew.
    #[error(
        "the key `{0}` does not expire, so there is nothing to renew\nhint: `--expires 90d` gives it an expiry, `--new-secret` another secret"
    )]
    NeverExpires(String),
    /// The definition or a name of a pin is too long to be stored.
    #[error("`{0}` cannot be pinned: its definition is too long")]
    PinTooLarge(String),
    /// A removed call cannot be decrypted.
    #[error("a removed call cannot be decrypted: it was encrypted with another key file")]
    Decrypt,
}

/// Why records could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The store failed.
    #[error("the audit store failed: {0}")]
    Failed(String),
    /// A record cannot be parsed: it was changed, or a newer version wrote it.
    #[error(
        "record {seq} cannot be read: {why}\nhint: `callgate audit verify` checks whether it was changed; if not, a newer version of callgate wrote it"
    )]
    Unreadable {
        /// Its sequence number.
        seq: u64,
        /// What is wrong with it.
        why: String,
    },
    /// A pattern of the filter is invalid.
    #[error(transparent)]
    Pattern(#[from] callgate_audit::PatternError),
    /// No record has that id.
    #[error("there is no record `{0}`")]
    NoRecord(String),
    /// Several records have ids with this prefix.
    #[error("several records begin with `{prefix}`: {}", some.join(", "))]
    Ambiguous {
        /// The prefix.
        prefix: String,
        /// Some of them.
        some: Vec<String>,
    },
    /// The output could not be written.
    #[error("cannot write the records: {0}")]
    Output(#[from] std::io::Error),
}

impl From<rusqlite::Error> for ReadError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(error.to_string())
    }
}
