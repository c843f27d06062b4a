//! The part of a record that describes a change made by a person.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What was changed, with the fields before and after. The record's principal made the change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedChange {
    /// The kind of thing that was changed.
    pub what: ChangeTarget,
    /// Its name: that of a key, `SERVER/TOOL` for a pin, or the id of a call's record.
    pub name: String,
    /// What was done to it: the verb of the command, such as `revoke`.
    pub action: String,
    /// Its fields before; empty if it did not exist. Never a secret, nor a secret's hash.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub before: BTreeMap<String, String>,
    /// Its fields after; empty if it no longer exists.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub after: BTreeMap<String, String>,
}

/// What can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ChangeTarget {
    /// A gateway key.
    Key,
    /// A pinned definition of an MCP server.
    Pin,
    /// What someone says about the verdict on a recorded call.
    Call,
}

impl ChangeTarget {
    /// The word used in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Pin => "pin",
            Self::Call => "call",
        }
    }
}

impl RecordedChange {
    /// The fields that differ, each with its value before and after.
    pub fn differences(&self) -> impl Iterator<Item = (&str, Option<&str>, Option<&str>)> {
        let added = self.after.keys().filter(|name| !self.before.contains_key(*name));
        self.before.keys().chain(added).filter_map(|name| {
            let was = self.before.get(name).map(String::as_str);
            let is = self.after.get(name).map(String::as_str);
            (was != is).then_some((name.as_str(), was, is))
        })
    }
}
