//! What the journal needs of a disk, so that tests can let one fail.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::database::Fault;

/// The folder of a journal, and the file with its head.
pub(crate) trait Volume: fmt::Debug + Send + Sync {
    /// Keeps all other writers out, of this process and others, until it is dropped.
    fn lock(&self) -> Result<Box<dyn Locked + '_>, Fault>;

    /// The numbers of all segments, in order.
    fn numbers(&self) -> io::Result<Vec<u64>>;

    /// Whether there is a segment of this number.
    fn exists(&self, number: u64) -> io::Result<bool>;

    /// Makes a segment that was not there.
    fn create(&self, number: u64) -> io::Result<Arc<dyn Segment>>;

    /// A segment, if there is one of this number.
    fn open(&self, number: u64) -> io::Result<Option<Arc<dyn Segment>>>;

    /// Removes a segment, if it is there.
    fn remove(&self, number: u64) -> io::Result<()>;

    /// Makes sure that new segments are found after a power failure.
    fn sync_names(&self) -> io::Result<()>;

    /// The file with the head: empty if there is none.
    fn read_head(&self) -> io::Result<Vec<u8>>;

    /// Writes a part of the head.
    fn write_head(&self, place: u64, bytes: &[u8]) -> io::Result<()>;
}

/// Held by whoever may write.
pub(crate) trait Locked {}

/// One segment.
pub(crate) trait Segment: fmt::Debug + Send + Sync {
    /// How long it is; `None` if it no longer lies where it was opened.
    fn size(&self) -> io::Result<Option<u64>>;

    /// Reads some bytes; none at the end.
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes all of these bytes.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Cuts it to this length.
    fn truncate(&self, size: u64) -> io::Result<()>;

    /// Returns when what was written is on the disk.
    fn sync(&self) -> io::Result<()>;
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull => Self::Failed("the disk is full".to_owned()),
            // The folder is gone, or another one lies in its place.
            io::ErrorKind::NotFound => Self::Lost("the journal was removed".to_owned()),
            _ => Self::Failed(error.to_string()),
        }
    }
}
