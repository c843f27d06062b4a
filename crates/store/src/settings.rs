//! The settings of a store.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::legacy;
use crate::place::StorePlace;

/// Where records are stored, how safe they are there, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Where records are stored.
    pub store: Location,
    /// What a written record survives.
    pub durability: Durability,
    /// When old records are removed.
    pub retention: Retention,
    /// A session ends when nothing was recorded for it for this long.
    pub session_idle: Duration,
    /// Who fills the index.
    pub indexing: Indexing,
}

/// Who fills the index from the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indexing {
    /// Only readers. For short-lived processes, which should do as little as possible.
    ByReaders,
    /// This process as well, while it is idle: then readers find little left to do.
    Here,
}

impl Settings {
    /// This location, with `disk` durability and the default retention.
    pub fn at(store: Location) -> Self {
        Self {
            store,
            durability: Durability::Disk,
            retention: Retention::default(),
            session_idle: Self::SESSION_IDLE,
            indexing: Indexing::ByReaders,
        }
    }

    /// The default of `session_idle`: half an hour.
    pub const SESSION_IDLE: Duration = Duration::from_secs(30 * 60);
}

/// Where a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// Files whose names begin with this path: the index has the path itself; the journal, its
    /// head, the state and the key file have it with a suffix. Several processes may write and read
    /// at once.
    Sqlite(PathBuf),
    /// The memory of this process. At most [`Location::MEMORY_BYTES`] of records.
    Memory,
}

impl Location {
    /// How many bytes of records a store in memory keeps, whatever its retention: it must not use
    /// up the memory of the machine it guards.
    pub const MEMORY_BYTES: u64 = 256 * 1024 * 1024;

    /// Whether a store exists. Its journal is enough: the index can be rebuilt from it.
    pub fn exists(&self) -> bool {
        let place = StorePlace::new(self);
        let journal = place.companion(".journal");
        let exists = |path: &Path| path.try_exists().unwrap_or(true);
        matches!(self, Self::Sqlite(path) if exists(path)) || journal.is_some_and(|it| exists(&it))
    }

    /// The number of records in a store of version 0.1, which will be migrated to the journal when
    /// the store is next opened. `None` if there is no store of version 0.1.
    pub fn legacy_records(&self) -> Option<u64> {
        match self {
            Self::Sqlite(path) => legacy::count(path),
            Self::Memory => None,
        }
    }
}

/// What a record survives once its receipt completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Power loss: synced to the disk, many records at once.
    Disk,
    /// The end of this process, even by `kill -9`: handed to the operating system.
    Process,
}

/// When old records are removed: whichever limit is reached first. The oldest are removed first,
/// never any from the middle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// The highest age.
    pub age: Option<Duration>,
    /// The largest number of records.
    pub records: Option<u64>,
    /// The largest number of bytes of records. The index (a few percent of that) is not counted,
    /// nor are removed calls, which have their own limits.
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
