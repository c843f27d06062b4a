//! Policies that change while the server runs.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use callgate_call::Surface;
use callgate_config::{ResolvedConfig, Watched};
use callgate_mcp::Changes;

use super::known::PolicyContent;
use super::offer::{HEALTH, RULES};
use crate::reload::why;

/// The config and its policies. Any surface may be asked about here, whether something serves it or not.
pub(super) fn load(config: Option<&Path>) -> Result<ResolvedConfig> {
    Ok(callgate_config::load(config, &Surface::ALL)?)
}

/// Reloads the policies whenever it is called, and notifies subscribers. If the file in force vanishes, that is a
/// failed reload: the search for a config must not end at another one.
pub(super) fn reloader(
    config: Option<&Path>,
    mut watched: Vec<Watched>,
    known: Arc<PolicyContent>,
    changes: Changes,
) -> impl FnMut() -> Option<Vec<Watched>> + Send + 'static {
    let mut config = callgate_config::find(config);
    move || match callgate_config::load(config.as_deref(), &Surface::ALL) {
        Ok(resolved) => {
            config = resolved.path.clone().or(config.take());
            watched.clone_from(&resolved.policies.watched);
            known.swap(resolved);
            changes.notify(&[RULES, HEALTH]);
            Some(watched.clone())
        }
        Err(error) => {
            known.reject(why(&error));
            changes.notify(&[HEALTH]);
            // A change of a file that the rejected config names may mend it.
            Some([&watched, error.watched()].concat())
        }
    }
}
