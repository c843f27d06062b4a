//! The id of a record.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The id of a record: a UUIDv7, so ids sort by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordId(Uuid);

impl RecordId {
    /// A new id with the current time.
    #[expect(
        clippy::new_without_default,
        reason = "every id is another one; a default is the same"
    )]
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }

    /// The id as a number, for crates that do not know records.
    pub fn as_number(self) -> u128 {
        self.0.as_u128()
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl FromStr for RecordId {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        Uuid::try_parse(text).map(Self).map_err(|_| ParseIdError(text.chars().take(80).collect()))
    }
}

/// Text that is not a record id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a record id")]
pub struct ParseIdError(String);
