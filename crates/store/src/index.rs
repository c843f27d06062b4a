//! The index finds records in the journal by the values of a filter.
//!
//! It is a SQLite file that is filled from the journal in batches and can be rebuilt at any time.
//! It holds no bodies, only the place of each record and, for every value that a filter can name,
//! the set of records that have it. Sets cover blocks of 4096 consecutive records and are stored as
//! a few positions or as a bitmap: indexing a record sets a dozen bits, a query combines sets block
//! by block in record order, and setting a bit twice changes nothing.
//!
//! The index may return too many records, never too few: the caller reads the records themselves
//! and filters again.

mod batch;
mod bits;
mod columns;
mod count;
mod field;
mod fill;
mod filled;
mod filter;
mod names;
mod number;
mod open;
mod page;
mod schema;
mod seek;

#[cfg(test)]
pub(crate) mod tests;

use std::cell::RefCell;

use rusqlite::{Connection, ErrorCode};

use crate::error::ReadError;
use names::NameCache;

pub(crate) use fill::{FillProgress, FillStart};
pub(crate) use filled::Filled;
pub(crate) use filter::IndexFilter;
pub(crate) use page::Bounds;
pub(crate) use seek::{IdRange, MAX_SHOWN};

/// An open index.
#[derive(Debug)]
pub(crate) struct Index {
    connection: Connection,
    access: IndexAccess,
    /// The ids of recently used names.
    names: RefCell<NameCache>,
}

/// How an index may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexAccess {
    /// It can be filled.
    Write,
    /// It can only be read, as far as it is filled.
    Read,
}

/// Why an index could not be filled or queried.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IndexError {
    /// The index itself failed. The journal is not affected.
    #[error("the index failed: {0}")]
    Index(#[from] rusqlite::Error),
    /// The journal could not be read.
    #[error(transparent)]
    Journal(#[from] ReadError),
    /// The index was rebuilt during the query.
    #[error("the index was rebuilt during the query")]
    BegunAnew,
    /// The content is not something that callgate writes.
    #[error("the index is damaged")]
    Damaged,
}

impl IndexError {
    /// Whether the file must be rebuilt before it can be used again.
    pub(crate) fn is_damage(&self) -> bool {
        let Self::Index(error) = self else { return matches!(self, Self::Damaged) };
        let code = error.sqlite_error_code();
        matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
            || matches!(error, rusqlite::Error::InvalidColumnType(..))
            || matches!(error, rusqlite::Error::IntegralValueOutOfRange(..))
    }

    /// Whether another connection holds a lock on it.
    fn is_lock(&self) -> bool {
        let Self::Index(error) = self else { return false };
        let code = error.sqlite_error_code();
        matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }
}

impl From<IndexError> for ReadError {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Journal(error) => error,
            error => Self::Failed(error.to_string()),
        }
    }
}
