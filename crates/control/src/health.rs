//! The health of a gateway, which clients also use to verify it.

use std::fs;
use std::os::unix::fs::MetadataExt;

use callgate_store::Location;
use serde::{Deserialize, Serialize};

/// The health of a gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatewayHealth {
    /// Its overall status.
    pub status: Status,
    /// The version of callgate.
    pub version: String,
    /// Its process id.
    pub pid: u32,
    /// The config file; `None` if there is none.
    pub config: Option<String>,
    /// The digest of the config and the policies in force.
    pub config_digest: String,
    /// The store.
    pub store: StoreHealth,
    /// The policies.
    pub policies: PolicyHealth,
    /// The changed settings that take effect only after a restart.
    pub restart_needed: Vec<String>,
    /// The number of open feeds.
    #[serde(default)]
    pub feeds: usize,
}

/// The overall status of a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Everything works.
    Ok,
    /// The latest policies were rejected; the last good ones are in force.
    Degraded,
    /// Records cannot be written.
    Failing,
}

impl Status {
    /// The word in JSON.
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
    /// Its path, or `memory`.
    pub location: String,
    /// Identifies the file, even if two paths lead to it; `None` for a store in memory.
    pub file: Option<String>,
    /// Why records cannot be written, if so.
    pub problem: Option<String>,
}

/// The policies of a gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyHealth {
    /// The sources of those in force.
    pub in_force: Vec<String>,
    /// Their number of rules.
    pub rules: usize,
    /// Why a later version was rejected, if so.
    pub rejected: Option<String>,
}

impl StoreHealth {
    /// A store without problems.
    pub fn of(store: &Location) -> Self {
        let location = match store {
            Location::Sqlite(path) => format!("sqlite:{}", path.display()),
            Location::Memory => "memory".to_owned(),
        };
        Self { location, file: store_file(store), problem: None }
    }
}

/// Identifies the file of a store among all files on this machine.
pub fn store_file(store: &Location) -> Option<String> {
    let Location::Sqlite(path) = store else { return None };
    let about = fs::metadata(path).ok()?;
    Some(format!("{}:{}", about.dev(), about.ino()))
}
