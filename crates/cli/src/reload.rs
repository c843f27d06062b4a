//! Policies that change while the gateway runs: validated, swapped at once, or rejected.

use std::path::PathBuf;
use std::sync::Arc;

use callgate_config::{Error, PolicySet, Watched};
use callgate_decide::mcp::McpSettings;
use callgate_decide::{Decider, InForce};
use callgate_policy::Source;

use crate::served::SERVED;

/// Loads the policies anew, whenever it is called.
pub(crate) struct Reloader {
    /// The file in force, once there is one. If it vanishes, that is a failed reload: the search for
    /// a config must not end at a laxer one.
    config: Option<PathBuf>,
    decider: Decider,
}

impl Reloader {
    pub(crate) fn start(
        config: Option<PathBuf>,
        decider: Decider,
    ) -> impl FnMut() -> Option<Vec<Watched>> + Send + 'static {
        let mut reloader = Self { config: callgate_config::find(config.as_deref()), decider };
        move || reloader.reload()
    }

    /// Puts the new policies in force, or keeps the old ones. Answers with what to watch.
    fn reload(&mut self) -> Option<Vec<Watched>> {
        match callgate_config::load(self.config.as_deref(), &SERVED) {
            Ok(mut resolved) => {
                let detail = detail(&resolved.policies);
                self.config = resolved.path.take().or(self.config.take());
                let in_force = InForce {
                    policies: resolved.policies.compiled.take().map(Arc::new),
                    settings: resolved.decide.clone(),
                    mcp: Arc::new(McpSettings { shared_limits: true, ..resolved.mcp }),
                };
                self.decider.swap(in_force, &detail);
                tracing::info!(policies = detail, "policies loaded");
                Some(resolved.policies.watched)
            }
            Err(error) => {
                let why = why(&error);
                self.decider.reject(&why);
                tracing::error!(why, "policies rejected; the last good ones stay in force");
                None
            }
        }
    }
}

/// Which policies, for the record.
pub(crate) fn detail(policies: &PolicySet) -> String {
    if policies.origins.is_empty() { "none".to_owned() } else { policies.origins.join(", ") }
}

/// Whether a file holds another text than the one that was loaded: an edit that came before the
/// watch began is one, too.
pub(crate) fn changed_since(loaded: &[Source]) -> bool {
    loaded.iter().filter(|source| !source.name.starts_with("builtin:")).any(|source| {
        std::fs::read_to_string(&source.name).map_or(true, |text| text != source.text)
    })
}

/// Why, without the text of the file: that may hold a secret somebody pasted, and this goes into
/// the log and the record. `callgate config check` draws it.
pub(crate) fn why(error: &Error) -> String {
    let said = match error {
        Error::Rejected(rejected) => {
            let problems = rejected.problems.iter().map(|problem| {
                format!("{}:{}: {}", problem.source, problem.span.line, problem.message)
            });
            format!("{rejected}\n{}", problems.collect::<Vec<_>>().join("\n"))
        }
        other => other.to_string(),
    };
    callgate_scan::redact(&said).into_owned()
}
