//! The part of a record that describes policies that took effect.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The policies that took effect, and how they differ from the previous ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyFacts {
    /// The digest of the policies; verdicts refer to it. `None` if no policy is in effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The digest of the previous policies, if this process had any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The files they were read from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PolicyFile>,
    /// New policies and rules: `policy` or `policy/rule`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// Removed policies and rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Changed policies and rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// What blocks less than before, or may, each in a few words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weakened: Vec<String>,
}

/// A file that contains policies.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyFile {
    /// Its path.
    pub path: String,
    /// Its owner: a login name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// When it was last modified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<Timestamp>,
}
