//! Every environment variable callgate reads, once, with its meaning.

use std::ffi::OsString;

/// One variable.
#[derive(Debug, Clone, Copy)]
pub struct EnvVariable {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub doc: &'static str,
}

/// The config file.
pub const CONFIG: EnvVariable =
    EnvVariable { name: "CALLGATE_CONFIG", doc: "The config file, unless `--config` names one." };

/// The listen address.
pub const LISTEN: EnvVariable = EnvVariable {
    name: "CALLGATE_LISTEN",
    doc: "Where the gateway listens, instead of `listen` of the config file.",
};

/// The log filter.
pub const LOG: EnvVariable = EnvVariable {
    name: "CALLGATE_LOG",
    doc: "What the gateway logs: `error`, `warn`, `info`, `debug`, or a filter like `callgate_proxy=debug`.",
};

/// The user's config folder.
pub const XDG_CONFIG_HOME: EnvVariable = EnvVariable {
    name: "XDG_CONFIG_HOME",
    doc: "The folder of the user's config; `~/.config` if it is not set or not absolute.",
};

/// The user's state folder.
pub const XDG_STATE_HOME: EnvVariable = EnvVariable {
    name: "XDG_STATE_HOME",
    doc: "The folder of the record store; `~/.local/state` if it is not set or not absolute.",
};

/// The user's folder for files that last as long as the login session.
pub const XDG_RUNTIME_DIR: EnvVariable = EnvVariable {
    name: "XDG_RUNTIME_DIR",
    doc: "The folder of the API's socket; `/run/user/UID` if it is not set, not absolute or not yours, else the store's folder.",
};

/// No colours.
pub const NO_COLOR: EnvVariable =
    EnvVariable { name: "NO_COLOR", doc: "If it is set and not empty, output has no colour." };

/// Every variable, in the order of the reference.
pub const ALL: [EnvVariable; 7] =
    [CONFIG, LISTEN, LOG, XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_RUNTIME_DIR, NO_COLOR];

impl EnvVariable {
    /// Its value. An empty variable counts as not set.
    pub fn get(self) -> Option<OsString> {
        std::env::var_os(self.name).filter(|value| !value.is_empty())
    }
}
