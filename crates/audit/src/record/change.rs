//! What a record says of a change that a person made.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What was changed, and from what to what. Who changed it is the record's principal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// What kind of thing was changed.
    pub what: Changed,
    /// Its name: of a key, or `SERVER/TOOL` for a pin.
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
pub enum Changed {
    /// A gateway key.
    Key,
    /// A pin of what an MCP server offers.
    Pin,
}

impl Changed {
    /// The word used in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Pin => "pin",
        }
    }
}

impl Change {
    /// The fields that are not what they were, each with its values before and after.
    pub fn differences(&self) -> impl Iterator<Item = (&str, Option<&str>, Option<&str>)> {
        let added = self.after.keys().filter(|name| !self.before.contains_key(*name));
        self.before.keys().chain(added).filter_map(|name| {
            let was = self.before.get(name).map(String::as_str);
            let is = self.after.get(name).map(String::as_str);
            (was != is).then_some((name.as_str(), was, is))
        })
    }
}
