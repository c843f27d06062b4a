//! What a gateway says of itself, and what a client needs of it to believe it.

use std::fs;
use std::os::unix::fs::MetadataExt;

use callgate_store::Location;
use serde::{Deserialize, Serialize};

/// What a gateway says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// How it is.
    pub status: Status,
    /// The version of callgate.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// The config file; none if the defaults hold.
    pub config: Option<String>,
    /// The digest of the config and the policies in force.
    pub config_digest: String,
    /// The store.
    pub store: StoreHealth,
    /// The policies.
    pub policies: PolicyHealth,
    /// The settings that were changed and that only a restart applies.
    pub restart_needed: Vec<String>,
    /// How many feeds are open.
    #[serde(default)]
    pub feeds: usize,
}

/// How a gateway is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// As it should be.
    Ok,
    /// The latest policies were rejected; the last good ones are in force.
    Degraded,
    /// Records cannot be written.
    Failing,
}

impl Status {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Degraded => "degraded",
            Self::Failing => "failing",
        }
    }
}

/// The store of a gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreHealth {
    /// Where it is; `memory` if it is nowhere.
    pub location: String,
    /// Tells the file from others, also where two paths lead to it; none for a store in memory.
    pub file: Option<String>,
    /// Why records cannot be written.
    pub problem: Option<String>,
}

/// The policies of a gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyHealth {
    /// Where those in force come from.
    pub in_force: Vec<String>,
    /// How many rules they have.
    pub rules: usize,
    /// Why a later version of them was rejected.
    pub rejected: Option<String>,
}

impl StoreHealth {
    /// A store with nothing wrong.
    pub fn of(store: &Location) -> Self {
        let location = match store {
            Location::Sqlite(path) => format!("sqlite:{}", path.display()),
            Location::Memory => "memory".to_owned(),
        };
        Self { location, file: store_file(store), problem: None }
    }
}

/// What tells the file of a store from every other one on this machine.
pub fn store_file(store: &Location) -> Option<String> {
    let Location::Sqlite(path) = store else { return None };
    let about = fs::metadata(path).ok()?;
    Some(format!("{}:{}", about.dev(), about.ino()))
}
