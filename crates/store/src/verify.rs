//! The result of verifying the chain.

use crate::error::ReadError;

/// An intact chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// How many records were checked.
    pub records: u64,
    /// The sequence number of the first record that has not expired.
    pub first: u64,
    /// The sequence number of the last record.
    pub last: u64,
    /// The hash of the last record, in hexadecimal. If a copy of it is kept elsewhere, it proves
    /// later that the chain up to here was not rewritten.
    pub head: String,
    /// How many records have expired.
    pub expired: u64,
}

/// A broken chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the chain is broken at record {seq}: {what}")]
pub struct Broken {
    /// The first record that was changed or is missing.
    pub seq: u64,
    /// What is wrong.
    pub what: String,
}

/// Why a chain was not verified.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// It is broken.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// It could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}
