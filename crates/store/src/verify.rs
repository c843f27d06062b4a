//! What checking the chain shows.

use crate::error::ReadError;

/// A chain that is whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// How many records were checked.
    pub records: u64,
    /// The number of the first one; behind it are those that expired.
    pub first: u64,
    /// The number of the last one.
    pub last: u64,
    /// The hash of the last one, in hexadecimal. Whoever keeps it elsewhere can later show that the
    /// chain up to here was not written anew.
    pub head: String,
    /// How many records have expired.
    pub expired: u64,
}

/// A chain that is not whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the chain is broken at record {seq}: {what}")]
pub struct Broken {
    /// The first record that is not as it was written, or is missing.
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
