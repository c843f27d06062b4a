//! Settings that only a restart applies: which of them a running process does not have as they are
//! written now.

use std::collections::BTreeMap;

use crate::fields::{self, ANY, Applies, ComparedValue, Users};
use crate::resolve::ResolvedConfig;

/// A running process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Process<'a> {
    /// `callgate serve`.
    Gateway,
    /// `callgate mcp wrap` of this server.
    Shim {
        /// The server's name.
        server: &'a str,
    },
}

/// The settings that a process reads only when it starts, with their values in one version of
/// the config.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartSettings(BTreeMap<String, String>);

impl StartSettings {
    /// The settings that this process uses.
    pub fn of(resolved: &ResolvedConfig, process: Process<'_>) -> Self {
        let mut values = BTreeMap::new();
        for field in fields::all() {
            let Applies::AtRestart(users, value) = field.applies else { continue };
            if !process.is_among(users) {
                continue;
            }
            match value {
                ComparedValue::AsSet => {
                    let value = resolved.set.get(field.path).cloned();
                    values.insert(field.path.to_owned(), value.unwrap_or_default());
                }
                ComparedValue::One(read) => {
                    values.insert(field.path.to_owned(), read(resolved));
                }
                ComparedValue::OfServer(read) => {
                    let servers = &resolved.mcp_servers;
                    for server in servers.iter().filter(|it| process.uses(it)) {
                        let path = field.path.replace(ANY, &server.id);
                        values.extend(read(server).map(|value| (path, value)));
                    }
                }
            }
        }
        Self(values)
    }

    /// The paths of the settings that differ in `now`.
    pub fn changed(&self, now: &Self) -> Vec<String> {
        let paths = self.0.keys().chain(now.0.keys().filter(|path| !self.0.contains_key(*path)));
        let mut changed: Vec<String> =
            paths.filter(|path| self.0.get(*path) != now.0.get(*path)).cloned().collect();
        changed.sort_unstable();
        changed
    }
}

impl Process<'_> {
    fn is_among(self, users: Users) -> bool {
        match users {
            Users::Gateway => self == Self::Gateway,
            Users::Shims => self != Self::Gateway,
            Users::Both => true,
        }
    }

    /// The gateway uses the servers on the network, a shim only the server that it has started.
    fn uses(self, server: &crate::McpServer) -> bool {
        match self {
            Self::Gateway => server.url.is_some(),
            Self::Shim { server: own } => server.id == own,
        }
    }
}
