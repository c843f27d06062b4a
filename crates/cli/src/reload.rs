//! Policies and settings that change while a command runs: validated, then swapped at once, or
//! rejected as a whole.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use callgate_config::{
    ConfigError, PolicySet, Protect, ResolvedConfig, StartSettings, Watch, Watched,
};
use callgate_decide::mcp::McpSettings;
use callgate_decide::{Decider, InForce, PolicyFile, PolicyProvenance, login};
use callgate_document::Source;

/// A command that takes changes over while it runs.
pub(crate) trait Running: Send + 'static {
    /// How the settings that only a restart applies are applied.
    const RESTART: &'static str;

    /// The config as the command would read it if it started now.
    fn load(&self, config: Option<&Path>) -> Result<ResolvedConfig, ConfigError>;

    /// The settings of it that only a restart applies.
    fn start_settings(&self, resolved: &ResolvedConfig) -> StartSettings;

    /// Checks the settings that the decider does not know, and answers with what puts them in
    /// force. `restart_needed` are those that cannot be.
    fn prepare(
        &self,
        resolved: &ResolvedConfig,
        restart_needed: &[String],
    ) -> Result<Prepared, String>;
}

/// Settings that the decider does not know, ready to be put in force.
pub(crate) struct Prepared {
    pub(crate) put_in_force: Box<dyn FnOnce()>,
    /// What stops less than before, or may, each in a few words.
    pub(crate) weakened: Vec<String>,
}

/// Reloads the config and the policies whenever it is called.
pub(crate) struct Reloader<R> {
    /// The file in force, once there is one. If it vanishes, that is a failed reload: the search
    /// for a config must not end at a laxer one.
    config: Option<PathBuf>,
    decider: Decider,
    running: R,
    /// What the config in force and its policies are made of.
    watched: Vec<Watched>,
    /// What the command started with.
    started: StartSettings,
    /// The settings that were changed since then and are not in force.
    restart_needed: Vec<String>,
}

impl<R: Running> Reloader<R> {
    /// Applies changes from now on, and those since `loaded` was read. `started` has the settings
    /// that the command started with.
    pub(crate) fn watch(
        config: Option<&Path>,
        loaded: &PolicySet,
        decider: Decider,
        running: R,
        started: StartSettings,
    ) -> Result<Watch> {
        let mut reloader = Self {
            config: callgate_config::find(config),
            decider,
            running,
            watched: loaded.watched.clone(),
            started,
            restart_needed: Vec::new(),
        };
        let watch = Watch::start(loaded.watched.clone(), move || Some(reloader.reload()));
        let watch = watch.context("cannot watch the policy files")?;
        if changed_since(&loaded.sources) {
            watch.trigger();
        }
        Ok(watch)
    }

    /// Applies the changed files, or keeps what is in force. Returns the files to watch.
    fn reload(&mut self) -> Vec<Watched> {
        match self.running.load(self.config.as_deref()) {
            Ok(resolved) => self.take_over(resolved),
            Err(error) => self.reject(&why(&error), error.watched()),
        }
    }

    fn take_over(&mut self, resolved: ResolvedConfig) -> Vec<Watched> {
        let restart_needed = self.started.changed(&self.running.start_settings(&resolved));
        match self.running.prepare(&resolved, &restart_needed) {
            Ok(prepared) => {
                // First the policies: until then nothing new is served, and nothing judged by old
                // ones.
                let watched = self.accept(resolved, restart_needed, prepared.weakened);
                (prepared.put_in_force)();
                watched
            }
            Err(why) => self.reject(&why, &resolved.policies.watched),
        }
    }

    /// `named` are the files that the rejected config names: a change of one may mend it.
    fn reject(&self, why: &str, named: &[Watched]) -> Vec<Watched> {
        self.decider.reject(why);
        // Each problem on a line of its own: a text log would escape the line breaks.
        let mut lines = why.lines();
        let first = lines.next().unwrap_or_default();
        tracing::error!(
            why = first,
            "config and policies rejected; the last valid ones stay in force"
        );
        lines.for_each(|problem| tracing::error!("{problem}"));
        [&self.watched, named].concat()
    }

    /// `weakened` is what the settings that the decider does not know stop less.
    fn accept(
        &mut self,
        mut resolved: ResolvedConfig,
        restart_needed: Vec<String>,
        weakened: Vec<String>,
    ) -> Vec<Watched> {
        let source = source(&resolved);
        let weakened = self.decider.swap(in_force(&mut resolved), &source, weakened);
        tracing::info!(policies = source.detail, "policies and settings loaded");
        for lost in weakened {
            tracing::warn!(lost, "policies or settings became weaker");
        }
        warn_of_exposed(&resolved.policies);
        self.report_restart(restart_needed);
        self.config = resolved.path.take().or(self.config.take());
        self.watched = resolved.policies.watched;
        self.watched.clone()
    }

    /// Reports each setting once, and when no setting needs a restart any more.
    fn report_restart(&mut self, needed: Vec<String>) {
        for setting in needed.iter().filter(|it| !self.restart_needed.contains(it)) {
            tracing::warn!("`{setting}` changed; {} to apply it", R::RESTART);
        }
        if needed.is_empty() && !self.restart_needed.is_empty() {
            tracing::info!("all settings are in effect again; no restart is needed");
        }
        self.restart_needed = needed;
    }
}

/// What the decider judges by. The policies are taken out.
fn in_force(resolved: &mut ResolvedConfig) -> InForce {
    InForce {
        policies: resolved.policies.compiled.take().map(Arc::new),
        settings: resolved.decide.clone(),
        mcp: Arc::new(shared_limits(resolved.mcp.clone())),
    }
}

/// A gateway and the shims of several servers count calls together, so limits are one for all.
pub(crate) fn shared_limits(settings: McpSettings) -> McpSettings {
    McpSettings { shared_limits: true, ..settings }
}

/// Logs the files that other users can change.
pub(crate) fn warn_of_exposed(policies: &PolicySet) {
    for exposed in &policies.exposed {
        tracing::warn!("{exposed}; run `{}`", exposed.fix());
    }
}

/// Which policies, and whose files they are, for the record.
pub(crate) fn source(resolved: &ResolvedConfig) -> PolicyProvenance {
    let policies = &resolved.policies;
    let named = |source: &&Source| !source.name.starts_with("builtin:");
    let files = policies.sources.iter().filter(named).map(|source| file(&source.name)).collect();
    let mut detail = match policies.origins.is_empty() {
        true => "none".to_owned(),
        false => policies.origins.join(", "),
    };
    if resolved.protect == Protect::Off {
        detail.push_str("; self-protection is off");
    }
    PolicyProvenance { detail, files }
}

fn file(path: &str) -> PolicyFile {
    let found = std::fs::metadata(path).ok();
    let owner = found.as_ref().and_then(|found| login::of(found.uid()));
    let modified = found.and_then(|found| found.modified().ok()?.try_into().ok());
    PolicyFile { path: path.to_owned(), owner, modified }
}

/// Whether a file holds another text than the one that was loaded: an edit that came before the
/// watch began is one, too.
pub(crate) fn changed_since(loaded: &[Source]) -> bool {
    loaded.iter().filter(|source| !source.name.starts_with("builtin:")).any(|source| {
        std::fs::read_to_string(&source.name).map_or(true, |text| text != source.text)
    })
}

/// The reason without the text of the file, which may contain a pasted secret: this goes into the
/// log and the record. `callgate config check` shows the text.
pub(crate) fn why(error: &ConfigError) -> String {
    let message = match error {
        ConfigError::Rejected(rejected) => {
            let problems = rejected.problems.iter().map(|problem| {
                format!("{}:{}: {}", problem.source, problem.span.line, problem.message)
            });
            format!("{rejected}\n{}", problems.collect::<Vec<_>>().join("\n"))
        }
        other => other.to_string(),
    };
    callgate_scan::redact(&message).into_owned()
}
