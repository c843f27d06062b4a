//! What a record says of policies that came into force.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The policies that came into force, and how they differ from those before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyFacts {
    /// Names these very policies; verdicts name it too. None if no policy is in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The digest of those before, where there were any in this process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The files they were read from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PolicyFile>,
    /// Policies and rules that are new: `policy` or `policy/rule`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// Those that are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Those that read differently.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// What stops less than before, or may, each in a few words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weakened: Vec<String>,
}

/// A file with policies in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyFile {
    /// Where it is.
    pub path: String,
    /// Whose it is: a login name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// When it was last written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<Timestamp>,
}
