//! The operations that the journal needs from a disk, as traits, so that tests can make them fail.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::database::Fault;

/// The folder of a journal, and its head file.
pub(crate) trait Volume: fmt::Debug + Send + Sync {
    /// Excludes all other writers, in this process and others, until the lock is dropped.
    fn lock(&self) -> Result<Box<dyn Locked + '_>, Fault>;

    /// The numbers of all segments, in order.
    fn numbers(&self) -> io::Result<Vec<u64>>;

    /// Whether there is a segment of this number.
    fn exists(&self, number: u64) -> io::Result<bool>;

    /// Creates a segment that must not exist yet.
    fn create(&self, number: u64) -> io::Result<Arc<dyn Segment>>;

    /// Opens a segment, if it exists.
    fn open(&self, number: u64) -> io::Result<Option<Arc<dyn Segment>>>;

    /// Removes a segment, if it exists.
    fn remove(&self, number: u64) -> io::Result<()>;

    /// Syncs the folder, so that new segments are found after a power failure.
    fn sync_names(&self) -> io::Result<()>;

    /// The content of the head file: empty if it does not exist.
    fn read_head(&self) -> io::Result<Vec<u8>>;

    /// Writes a part of the head file.
    fn write_head(&self, place: u64, bytes: &[u8]) -> io::Result<()>;
}

/// The write lock.
pub(crate) trait Locked {}

/// One segment.
pub(crate) trait Segment: fmt::Debug + Send + Sync {
    /// Its length; `None` if its file was removed or replaced since it was opened.
    fn size(&self) -> io::Result<Option<u64>>;

    /// Reads some bytes; zero at the end.
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes all of these bytes.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Truncates it to this length.
    fn truncate(&self, size: u64) -> io::Result<()>;

    /// Returns when all written bytes are on the disk.
    fn sync(&self) -> io::Result<()>;
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull => Self::Failed("the disk is full".to_owned()),
            // The folder was removed or replaced.
            io::ErrorKind::NotFound => Self::Lost("the journal was removed".to_owned()),
            _ => Self::Failed(error.to_string()),
        }
    }
}
