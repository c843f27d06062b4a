//! What can go wrong with a store, apart from appending to it.

use std::path::PathBuf;

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is nothing to read.
    #[error("there is no audit store at `{}`\nhint: it is made when `callgate serve` first runs; check `store` in the configuration", path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// The folder or the file cannot be written.
    #[error("the audit store `{}` cannot be written: {why}\nhint: choose another path with `store: sqlite:PATH`, or make this one writable for the user that runs callgate", path.display())]
    Unwritable {
        /// The store.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// The file cannot be read.
    #[error("the audit store `{}` cannot be read: {why}", path.display())]
    Unreadable {
        /// The store.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// The file is something else.
    #[error("`{}` is not a callgate store: {why}\nhint: choose another path with `store: sqlite:PATH`; this file was left as it is", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is.
        why: String,
    },
    /// A newer callgate wrote the store.
    #[error("the audit store `{}` has schema {found}, and this callgate knows up to {known}\nhint: use the newer callgate that wrote it", path.display())]
    Newer {
        /// The store.
        path: PathBuf,
        /// The schema of the store.
        found: i64,
        /// The newest that this program knows.
        known: i64,
    },
    /// Another process keeps the store locked.
    #[error("the audit store `{}` is locked by another process\nhint: look for a program that has it open, such as `sqlite3` or a backup", path.display())]
    Locked {
        /// The store.
        path: PathBuf,
    },
    /// Other users of the machine could write gateway keys, limits and records into it.
    #[error("`{}` can be written by other users of this machine (mode {mode:o}), and belongs to the audit store\nhint: run `chmod go-w {}`, then look at `callgate keys list`: somebody may have added a key", path.display(), path.display())]
    Exposed {
        /// The store, a file beside it, or its folder.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Another user could write gateway keys and limits into it.
    #[error("`{}` belongs to another user (uid {owner}), who could write into the audit store\nhint: run callgate as that user, or take the file over with `chown {own} {}` as root. Then check `callgate keys list` for keys you did not add", path.display(), path.display())]
    Owned {
        /// The store, a file beside it, or its folder.
        path: PathBuf,
        /// Whom it belongs to.
        owner: u32,
        /// Who runs this.
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
    /// A store in memory belongs to the process that keeps it.
    #[error(
        "a store in memory can only be read by the process that keeps it\nhint: set `store: sqlite:PATH` to keep records in a file"
    )]
    InMemory,
    /// The writer could not be started.
    #[error("the audit writer could not be started: {0}")]
    Thread(String),
}

/// Why a key, a pin or a removed call could not be kept or found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store failed.
    #[error("the audit store failed: {0}")]
    Failed(String),
    /// There is a key of that name.
    #[error(
        "there is a gateway key `{0}` already\nhint: choose another name; the name of a revoked key is not used again, so that records stay clear"
    )]
    NameTaken(String),
    /// The name cannot be used.
    #[error(
        "`{0}` is no name for a gateway key\nhint: 1 to 64 letters, digits, `-`, `_`, `.` or `@`"
    )]
    BadName(String),
    /// There is no key of that name.
    #[error("there is no key `{0}`\nhint: `callgate keys list` shows them all")]
    NoKey(String),
    /// A revoked key stays revoked.
    #[error(
        "the key `{0}` is revoked, and a revoked key cannot be renewed\nhint: make another one with `callgate keys add NAME`"
    )]
    KeyRevoked(String),
    /// There is nothing to renew.
    #[error(
        "the key `{0}` does not expire, so there is nothing to renew\nhint: `--expires 90d` gives it an expiry, `--new-secret` another secret"
    )]
    NeverExpires(String),
    /// A pin with a definition or a name that is longer than any is kept.
    #[error("`{0}` cannot be pinned: its definition is longer than is kept")]
    PinTooLarge(String),
    /// A removed call that cannot be decrypted.
    #[error("a removed call cannot be decrypted: the key file is not the one it was kept with")]
    Decrypt,
}

/// Why records could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The store failed.
    #[error("the audit store failed: {0}")]
    Failed(String),
    /// A record that cannot be understood.
    #[error(
        "record {seq} cannot be read: {why}\nhint: `callgate audit verify` tells whether it was changed"
    )]
    Unreadable {
        /// Its number.
        seq: u64,
        /// What is wrong with it.
        why: String,
    },
    /// A pattern of the filter is broken.
    #[error(transparent)]
    Pattern(#[from] callgate_audit::PatternError),
    /// No record has that id.
    #[error("there is no record `{0}`")]
    NoRecord(String),
    /// Several records have ids that begin like that.
    #[error("several records begin with `{prefix}`: {}", some.join(", "))]
    Ambiguous {
        /// What was asked for.
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
