//! Other settings for a gateway that runs.

use callgate_gate::Malformed;

use crate::gateway::{Gateway, Inner};
use crate::server::{StartError, routes};
use crate::settings::{Inbound, Mode, Settings};

/// Changes the settings of a gateway while it serves. Cheap to clone.
#[derive(Clone)]
pub struct Control(Gateway);

/// Settings that can be put in force.
#[must_use = "nothing changes before they are put in force"]
pub struct Prepared {
    gateway: Gateway,
    inner: Inner,
}

impl Control {
    pub(crate) fn new(gateway: Gateway) -> Self {
        Self(gateway)
    }

    /// Checks other settings. What only a restart applies stays as it is: the address, the threads, the
    /// number of connections and the waits. `restart_needed` names the settings that therefore are not
    /// in force, for `/healthz`.
    pub fn prepare(
        &self,
        settings: Settings,
        restart_needed: Vec<String>,
    ) -> Result<Prepared, StartError> {
        let now = self.0.now();
        let started = &now.settings;
        let settings = Settings {
            listen: started.listen,
            workers: started.workers,
            timeouts: started.timeouts.clone(),
            max_connections: started.max_connections,
            ..settings
        };
        let inner = Inner {
            routes: routes(&settings)?,
            restart_needed,
            settings,
            mounts: now.mounts.clone(),
            upstreams: now.upstreams.clone(),
            decider: now.decider.clone(),
            metrics: now.metrics.clone(),
            trust: now.trust,
        };
        Ok(Prepared { gateway: self.0.clone(), inner })
    }
}

impl Prepared {
    /// What stops less than what is in force, or may, each in a few words.
    pub fn weakened(&self) -> Vec<String> {
        let (was, is) = (&self.gateway.now().settings, &self.inner.settings);
        let looked_at = |mode: Mode| match mode {
            Mode::Full => 2,
            Mode::CallsOnly => 1,
            Mode::Off => 0,
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

    /// Puts the settings in force for requests that come from now on.
    pub fn put_in_force(self) {
        self.inner.upstreams.keep_only(self.inner.routes.targets());
        self.gateway.replace(self.inner);
    }
}
