//! Whether the socket of the API exists, and whether its gateway can be trusted.

use std::path::Path;

use callgate_config::ResolvedConfig;
use callgate_control::{ApiClient, ExpectedGateway, GatewayHealth, Listen, Untrusted, store_file};
use serde::Serialize;

use super::enforcement::PoliciesOnDisk;
use crate::commands::serve::api::config_digest;

#[derive(Debug, Serialize)]
pub(super) struct ApiReport {
    path: Option<String>,
    /// `running`, `not running`, `another config`, `another store`, `not believed` or `off`.
    state: &'static str,
    /// The process of the gateway.
    pid: Option<u32>,
    /// How the gateway is.
    status: Option<&'static str>,
    /// Why it is not used.
    problem: Option<String>,
}

/// Asks as every client does: it must be this user's, this program, with this store and this
/// config.
pub(super) fn examine(resolved: &ResolvedConfig, policies: PoliciesOnDisk) -> ApiReport {
    let path = match &resolved.api {
        Listen::Off => return ApiReport::nothing("off"),
        Listen::NoPlace => return ApiReport::nothing("no place"),
        Listen::Usual(path) | Listen::Chosen(path) => path,
    };
    let expected = ExpectedGateway {
        store: store_file(&resolved.audit.store),
        // A gateway that has rejected the policies on disk cannot have their digest.
        digest: (policies == PoliciesOnDisk::Valid).then(|| config_digest(&resolved.policies)),
        agent: None,
    };
    let shown = Some(path.display().to_string());
    match ask(path, &expected) {
        Ok(health) => ApiReport {
            path: shown,
            state: "running",
            pid: Some(health.pid),
            status: Some(health.status.as_str()),
            problem: None,
        },
        Err(Untrusted::NotListening(_)) => {
            ApiReport { path: shown, ..ApiReport::nothing("not running") }
        }
        Err(distrust) => {
            let state = match &distrust {
                Untrusted::OtherStore(_) => "another store",
                Untrusted::OtherConfig(_) => "another config",
                _ => "not believed",
            };
            ApiReport {
                path: shown,
                problem: Some(distrust.to_string()),
                ..ApiReport::nothing(state)
            }
        }
    }
}

fn ask(path: &Path, expected: &ExpectedGateway) -> Result<GatewayHealth, Untrusted> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Untrusted::Answer(error.to_string()))?;
    runtime.block_on(async { Ok(ApiClient::connect(path, expected).await?.health().clone()) })
}

impl ApiReport {
    fn nothing(state: &'static str) -> Self {
        Self { path: None, state, pid: None, status: None, problem: None }
    }

    /// A gateway with another config is fine; another program in its place is a fault.
    pub(super) fn works(&self) -> bool {
        self.state != "not believed"
    }

    pub(super) fn line(&self) -> String {
        let path = self.path.as_deref().unwrap_or_default();
        match (self.state, self.pid, &self.problem) {
            ("off", ..) => "off (`api.listen`)".to_owned(),
            ("no place", ..) => {
                "no folder for its socket is known: set `api.listen` in the config".to_owned()
            }
            ("running", Some(pid), _) => {
                let status = self.status.unwrap_or_default();
                format!("{path}: process {pid}, with this config and store, is {status}")
            }
            (_, _, Some(problem)) => format!("{path} is not used: {problem}"),
            _ => format!("{path}: no gateway listens here; start it with `callgate serve`"),
        }
    }
}
