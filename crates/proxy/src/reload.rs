//! Changes the settings of a running gateway.

use callgate_gate::Malformed;

use crate::gateway::{Gateway, LoadedGateway};
use crate::server::{StartError, routes};
use crate::settings::{Inbound, InspectionMode, Settings};

/// Changes the settings of a gateway while it serves. Cheap to clone.
#[derive(Clone)]
pub struct GatewayReloader(Gateway);

/// Settings that have been checked and can take effect.
#[must_use = "nothing changes before they are put in force"]
pub struct PreparedSettings {
    gateway: Gateway,
    inner: LoadedGateway,
}

impl GatewayReloader {
    pub(crate) fn new(gateway: Gateway) -> Self {
        Self(gateway)
    }

    /// Checks new settings. Some only take effect after a restart and keep their values: the
    /// address, the threads, the number of connections and the timeouts. `restart_needed` names
    /// those that were changed, for `/healthz`.
    pub fn prepare(
        &self,
        settings: Settings,
        restart_needed: Vec<String>,
    ) -> Result<PreparedSettings, StartError> {
        let now = self.0.now();
        let started = &now.settings;
        let settings = Settings {
            listen: started.listen,
            workers: started.workers,
            timeouts: started.timeouts.clone(),
            max_connections: started.max_connections,
            ..settings
        };
        let inner = LoadedGateway {
            routes: routes(&settings)?,
            restart_needed,
            settings,
            mounts: now.mounts.clone(),
            upstreams: now.upstreams.clone(),
            decider: now.decider.clone(),
            metrics: now.metrics.clone(),
            trust: now.trust,
            body_room: now.body_room.clone(),
            stopping: now.stopping.clone(),
        };
        Ok(PreparedSettings { gateway: self.0.clone(), inner })
    }
}

impl PreparedSettings {
    /// The settings that stop less than the current ones, or may, each in a few words.
    pub fn weakened(&self) -> Vec<String> {
        let (was, is) = (&self.gateway.now().settings, &self.inner.settings);
        let looked_at = |mode: InspectionMode| match mode {
            InspectionMode::Full => 2,
            InspectionMode::CallsOnly => 1,
            InspectionMode::Off => 0,
        };
        let passes = is.passthrough.iter().any(|path| !was.passthrough.contains(path));
        let weaker = [
            ("gateway.mode", looked_at(is.mode) < looked_at(was.mode)),
            ("gateway.passthrough", passes),
            ("inbound", was.inbound == Inbound::Reject && is.inbound == Inbound::Strip),
            ("malformed", was.malformed != is.malformed && is.malformed == Malformed::Pass),
        ];
        let weaker = weaker.into_iter().filter(|(_, is_weaker)| *is_weaker);
        weaker.map(|(path, _)| format!("`{path}` may stop less than before")).collect()
    }

    /// Applies the settings to all requests from now on.
    pub fn put_in_force(self) {
        self.inner.upstreams.keep_only(self.inner.routes.targets());
        self.gateway.replace(self.inner);
    }
}
