//! The index: finds records in the journal by what people filter by.
//!
//! It is a SQLite file that is filled from the journal in batches and can be made anew at any time. It holds
//! no bodies, only where each record lies and, for every value that a filter can name, which records have
//! it. These sets are kept for blocks of 4096 consecutive records, as the positions of a few or one bit each
//! of many: indexing a record sets a dozen bits, a query combines sets block by block in the order of the
//! records, and setting a bit twice changes nothing.
//!
//! What an index finds may be too much, never too little: whoever asks reads the records themselves and
//! filters again.

mod batch;
mod bits;
mod columns;
mod count;
mod field;
mod fill;
mod filled;
mod names;
mod number;
mod open;
mod page;
mod schema;
mod seek;
mod wanted;

#[cfg(test)]
pub(crate) mod tests;

use std::cell::RefCell;

use rusqlite::{Connection, ErrorCode};

use crate::error::ReadError;
use names::NameCache;

pub(crate) use fill::{Begin, Progress};
pub(crate) use filled::Filled;
pub(crate) use page::Bounds;
pub(crate) use seek::{IdRange, MAX_SHOWN};
pub(crate) use wanted::Wanted;

/// An open index.
#[derive(Debug)]
pub(crate) struct Index {
    connection: Connection,
    access: Access,
    /// The ids of names that were used lately.
    names: RefCell<NameCache>,
}

/// What an index can be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// It can be filled.
    Write,
    /// It can only be read, as far as it goes.
    Read,
}

/// Why an index could not be filled or asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IndexError {
    /// The index itself failed. The journal is not touched by it.
    #[error("the index failed: {0}")]
    Index(#[from] rusqlite::Error),
    /// The journal could not be read.
    #[error(transparent)]
    Journal(#[from] ReadError),
    /// It was begun anew while it was read.
    #[error("the index was begun anew while it was read")]
    BegunAnew,
    /// What it holds was never written like this.
    #[error("the index is damaged")]
    Damaged,
}

impl IndexError {
    /// Whether the file must be made anew before it is of use again.
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
