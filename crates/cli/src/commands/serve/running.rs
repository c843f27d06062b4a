//! What a gateway takes over while it runs.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use callgate_config::{ConfigError, Process, ResolvedConfig, StartSettings};
use callgate_proxy::GatewayReloader;

use super::api::{GatewayState, LoadedConfig};
use crate::args;
use crate::reload::{Prepared, Running};
use crate::served::SERVED;

/// What the user typed, which counts more than the config, also when that changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flags {
    listen: Option<SocketAddr>,
    exposed: OnExposed,
}

/// What to do about files that other users can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnExposed {
    Warn,
    Refuse,
}

impl Flags {
    pub(super) fn of(args: &args::ServeArgs) -> Self {
        let exposed = if args.strict { OnExposed::Refuse } else { OnExposed::Warn };
        Self { listen: args.listen, exposed }
    }

    /// Loads the config, if a gateway may run with it.
    pub(super) fn load(self, config: Option<&Path>) -> Result<ResolvedConfig, ConfigError> {
        let mut resolved = callgate_config::load(config, &SERVED)?;
        if let Some(listen) = self.listen {
            resolved.proxy.listen = listen;
        }
        resolved.check_variables()?;
        if self.exposed == OnExposed::Refuse {
            resolved.policies.check_exposed()?;
        }
        Ok(resolved)
    }
}

/// A gateway that runs.
pub(super) struct RunningGateway {
    pub(super) flags: Flags,
    pub(super) control: GatewayReloader,
    pub(super) known: Arc<GatewayState>,
}

impl Running for RunningGateway {
    const RESTART: &'static str = "restart callgate";

    fn load(&self, config: Option<&Path>) -> Result<ResolvedConfig, ConfigError> {
        self.flags.load(config)
    }

    fn start_settings(&self, resolved: &ResolvedConfig) -> StartSettings {
        start_settings(resolved)
    }

    fn prepare(
        &self,
        resolved: &ResolvedConfig,
        restart_needed: &[String],
    ) -> Result<Prepared, String> {
        let prepared = self.control.prepare(resolved.proxy.clone(), restart_needed.to_vec());
        let prepared = prepared.map_err(|error| error.to_string())?;
        let known = Arc::clone(&self.known);
        let loaded = LoadedConfig::of(resolved, restart_needed);
        let weakened = prepared.weakened();
        let put_in_force = Box::new(move || {
            prepared.put_in_force();
            known.reloaded(loaded);
        });
        Ok(Prepared { put_in_force, weakened })
    }
}

/// The settings that a gateway takes over only when it starts.
pub(super) fn start_settings(resolved: &ResolvedConfig) -> StartSettings {
    StartSettings::of(resolved, Process::Gateway)
}
