//! What the record is told by whoever starts it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::legacy;
use crate::place::Place;

/// Where records go, how safe they are there, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Where they go.
    pub store: Location,
    /// What a written record survives.
    pub durability: Durability,
    /// When old ones leave.
    pub retention: Retention,
    /// A session has ended once nothing was recorded of it for so long.
    pub session_idle: Duration,
    /// Who fills the index.
    pub indexing: Indexing,
}

/// Who fills the index from the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indexing {
    /// Whoever reads. For processes that must not do more than they have to.
    ByReaders,
    /// This process too, when it has nothing better to do: then readers find little left to do.
    Here,
}

impl Settings {
    /// This store, with `disk` durability and the usual retention.
    pub fn at(store: Location) -> Self {
        Self {
            store,
            durability: Durability::Disk,
            retention: Retention::default(),
            session_idle: Self::SESSION_IDLE,
            indexing: Indexing::ByReaders,
        }
    }

    /// How long a session is usually waited for: half an hour.
    pub const SESSION_IDLE: Duration = Duration::from_secs(30 * 60);
}

/// Where a store lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// Files whose names begin with this path: the index has the path itself, the journal, its head, the
    /// state and the key file have it with an ending. Several processes may write and read at once.
    Sqlite(PathBuf),
    /// The memory of this process, gone at its end. At most [`Location::MEMORY_BYTES`] of records.
    Memory,
}

impl Location {
    /// How many bytes of records a store in memory keeps, whatever its retention says: it must not
    /// eat the machine it guards.
    pub const MEMORY_BYTES: u64 = 256 * 1024 * 1024;

    /// Whether a store is there. Its journal is enough: the index is rebuilt from it.
    pub fn exists(&self) -> bool {
        let place = Place::new(self);
        let journal = place.beside(".journal");
        let exists = |path: &Path| path.try_exists().unwrap_or(true);
        matches!(self, Self::Sqlite(path) if exists(path)) || journal.is_some_and(|it| exists(&it))
    }

    /// The number of records that version 0.1 left here and that move into the journal when the store
    /// is opened next. `None` if there is no store of version 0.1.
    pub fn records_to_move(&self) -> Option<u64> {
        match self {
            Self::Sqlite(path) => legacy::count(path),
            Self::Memory => None,
        }
    }
}

/// What a record survives once its receipt is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Power loss: synced to the disk, many records at once.
    Disk,
    /// The end of this process, also by `kill -9`: handed to the operating system.
    Process,
}

/// When old records leave: whichever limit is reached first. Records leave from the oldest on and
/// never from the middle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// Older ones leave.
    pub age: Option<Duration>,
    /// At most so many stay.
    pub records: Option<u64>,
    /// At most this many bytes of records stay. The index (a few percent of that) is not counted, nor
    /// are removed calls, which have limits of their own.
    pub bytes: Option<u64>,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            age: Some(Duration::from_secs(90 * 24 * 60 * 60)),
            records: None,
            bytes: Some(2 * 1024 * 1024 * 1024),
        }
    }
}
