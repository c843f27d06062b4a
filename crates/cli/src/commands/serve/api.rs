//! The API of the gateway, on its own socket.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use anyhow::Result;
use callgate_config::{PolicySet, ResolvedConfig};
use callgate_control::{
    ApiHost, ApiServer, GatewayHealth, HintedError, Listen, OwnedSocket, PolicyHealth, Rules,
    SocketError, Status, StoreHealth, digest,
};
use callgate_decide::{Decider, PolicyState};
use callgate_store::{Location, RecordReader, Store, WriteHealth};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// What the API knows about the gateway.
pub(crate) struct GatewayState {
    decider: Decider,
    audit: Store,
    store: Location,
    loaded: RwLock<LoadedConfig>,
}

/// What was loaded last.
pub(super) struct LoadedConfig {
    config: Option<PathBuf>,
    digest: String,
    origins: Vec<String>,
    max_arguments: usize,
    restart_needed: Vec<String>,
}

impl GatewayState {
    pub(super) fn new(resolved: &ResolvedConfig, decider: Decider, audit: Store) -> Self {
        let loaded = RwLock::new(LoadedConfig::of(resolved, &[]));
        Self { decider, audit, store: resolved.audit.store.clone(), loaded }
    }

    /// Something else is in force.
    pub(super) fn reloaded(&self, loaded: LoadedConfig) {
        *self.loaded.write().unwrap_or_else(PoisonError::into_inner) = loaded;
    }

    fn loaded(&self) -> RwLockReadGuard<'_, LoadedConfig> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LoadedConfig {
    pub(super) fn of(resolved: &ResolvedConfig, restart_needed: &[String]) -> Self {
        Self {
            config: resolved.path.clone(),
            digest: config_digest(&resolved.policies),
            origins: resolved.policies.origins.clone(),
            max_arguments: resolved.proxy.limits.arguments,
            restart_needed: restart_needed.to_vec(),
        }
    }
}

/// The digest of a config and its policies.
pub(crate) fn config_digest(policies: &PolicySet) -> String {
    digest(policies.sources.iter().map(|source| source.text.as_str()))
}

impl ApiHost for GatewayState {
    fn health(&self) -> GatewayHealth {
        let problem = match self.decider.audit_health() {
            WriteHealth::Ok => None,
            WriteHealth::Failing { why, .. } => Some(why),
        };
        let rejected = match self.decider.policy_state() {
            PolicyState::Current => None,
            PolicyState::Rejected { why } => Some(why),
        };
        let status = match (&problem, &rejected) {
            (Some(_), _) => Status::Failing,
            (None, Some(_)) => Status::Degraded,
            (None, None) => Status::Ok,
        };
        let rules = self.rules().policies.rule_count();
        let loaded = self.loaded();
        GatewayHealth {
            status,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            config: loaded.config.as_ref().map(|path| path.display().to_string()),
            config_digest: loaded.digest.clone(),
            store: StoreHealth { problem, ..StoreHealth::of(&self.store) },
            policies: PolicyHealth { in_force: loaded.origins.clone(), rules, rejected },
            restart_needed: loaded.restart_needed.clone(),
            feeds: 0,
        }
    }

    fn rules(&self) -> Rules {
        let in_force = self.decider.in_force();
        Rules {
            policies: in_force.policies.clone().unwrap_or_default(),
            max_arguments: self.loaded().max_arguments,
            oversize: in_force.settings.oversize,
            arguments: in_force.settings.arguments,
            denial: Arc::clone(&in_force.settings.denial),
        }
    }

    fn reader(&self) -> Result<RecordReader, HintedError> {
        let unreadable = |seq, why: &str| {
            tracing::warn!(seq, why, "a record cannot be read by this version of callgate");
        };
        let reader = self.audit.reader().map_err(|error| HintedError::of(&error))?;
        Ok(reader.with_unreadable(unreadable))
    }
}

/// The API of a gateway that runs, or why it has none.
pub(super) enum ApiTask {
    Serving { path: PathBuf, stop: oneshot::Sender<()>, task: JoinHandle<()> },
    Without(String),
}

impl ApiTask {
    /// Takes the socket and serves. Must be called inside a runtime.
    pub(super) fn start(listen: &Listen, known: Arc<GatewayState>) -> Result<Self> {
        let path = match listen {
            Listen::Off => return Ok(Self::Without("off".to_owned())),
            Listen::NoPlace => {
                let why = "none: no folder for its socket is known (set `api.listen`)";
                return Ok(Self::Without(why.to_owned()));
            }
            Listen::Usual(path) | Listen::Chosen(path) => path,
        };
        let is_chosen = matches!(listen, Listen::Chosen(_));
        match OwnedSocket::take(path) {
            Ok(held) => Ok(Self::serve(held, known)),
            // The operator wants it there, and something is wrong there.
            Err(error) if is_chosen && !matches!(error, SocketError::Taken { .. }) => {
                Err(HintedError::of(&error).into())
            }
            Err(error) => {
                let problem = HintedError::of(&error);
                let hint = problem.hint().unwrap_or("the gateway runs without its API");
                tracing::warn!(hint, "no API: {problem}");
                Ok(Self::Without(format!("none: {problem}")))
            }
        }
    }

    fn serve(held: OwnedSocket, known: Arc<GatewayState>) -> Self {
        let path = held.path().to_owned();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(ApiServer::new(held, known).serve(async {
            // A sender that is gone asks for the same.
            let _ = stopped.await;
        }));
        Self::Serving { path, stop, task }
    }

    /// Where it is, for people.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Serving { path, .. } => path.display().to_string(),
            Self::Without(why) => why.clone(),
        }
    }

    /// Ends it, and removes its socket.
    pub(super) async fn end(self) {
        if let Self::Serving { stop, task, .. } = self {
            drop(stop);
            if let Err(error) = task.await {
                tracing::error!(%error, "the API stopped with an error");
            }
        }
    }
}
