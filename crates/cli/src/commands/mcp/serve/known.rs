//! The state of the server: the current policies, and the location of the records.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use anyhow::Result;
use callgate_config::{Protect, ResolvedConfig};
use callgate_control::{HintedError, Rules};
use callgate_mcp::{CallResult, Resource, ServedTool, ServerContent, ServerInfo};
use callgate_policy::Policies;
use callgate_store::{Location, RecordReader};
use jiff::Timestamp;

use super::{evaluate, explain, health, offer, recent};
use crate::records;
use crate::render;

/// The host of the server.
pub(super) struct PolicyContent {
    loaded: RwLock<Arc<LoadedRules>>,
    /// Why a later version of the policies was rejected; none if what is loaded is the latest.
    rejected: RwLock<Option<String>>,
    tools: Vec<ServedTool>,
}

/// What was loaded last.
pub(super) struct LoadedRules {
    /// The config file.
    pub(super) path: Option<PathBuf>,
    /// What calls are judged by.
    pub(super) rules: Rules,
    /// Whether anything is judged at all.
    pub(super) judges: bool,
    pub(super) origins: Vec<String>,
    /// The policies as they were written.
    text: String,
    pub(super) warnings: usize,
    pub(super) since: Timestamp,
    pub(super) store: Location,
    /// Where the gateway listens.
    pub(super) gateway: std::net::SocketAddr,
}

impl PolicyContent {
    pub(super) fn new(resolved: ResolvedConfig) -> Self {
        let loaded = RwLock::new(Arc::new(LoadedRules::of(resolved)));
        Self { loaded, rejected: RwLock::default(), tools: offer::tools() }
    }

    /// What is in force now.
    pub(super) fn now(&self) -> Arc<LoadedRules> {
        Arc::clone(&self.loaded.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Why a later version of the policies was rejected.
    pub(super) fn rejected(&self) -> Option<String> {
        self.rejected.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn swap(&self, resolved: ResolvedConfig) {
        *self.loaded.write().unwrap_or_else(PoisonError::into_inner) =
            Arc::new(LoadedRules::of(resolved));
        *self.rejected.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(super) fn reject(&self, why: String) {
        *self.rejected.write().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }
}

impl LoadedRules {
    fn of(resolved: ResolvedConfig) -> Self {
        let text = rules_text(&resolved);
        let policies = resolved.policies;
        Self {
            path: resolved.path,
            judges: policies.compiled.is_some(),
            rules: Rules {
                policies: Arc::new(policies.compiled.unwrap_or_else(Policies::none)),
                max_arguments: resolved.proxy.limits.arguments,
                oversize: resolved.decide.oversize,
                arguments: resolved.decide.arguments,
                denial: resolved.decide.denial,
            },
            origins: policies.origins,
            text,
            warnings: policies.warnings.len(),
            since: Timestamp::now(),
            store: resolved.audit.store,
            gateway: resolved.proxy.listen,
        }
    }

    /// The records.
    pub(super) fn records(&self) -> Result<RecordReader, HintedError> {
        let opened = RecordReader::open(&self.store);
        opened.map(records::reporting).map_err(|error| records::open_problem(&error))
    }
}

/// The policies as they were written, those that are built in among them: one YAML document each.
/// Secrets in them are redacted.
fn rules_text(resolved: &ResolvedConfig) -> String {
    let policies = &resolved.policies;
    // A relaxed built-in policy has its name, and then what is taken away.
    let is_in_force = |source: &&callgate_document::Source| {
        let relaxed = format!("{} (", source.name);
        policies.origins.iter().any(|it| *it == source.name || it.starts_with(&relaxed))
    };
    let in_force = policies.sources.iter().filter(is_in_force);
    let mut text = match policies.origins.len() {
        0 if resolved.protect == Protect::On => {
            "# No policy is in force: calls are judged only to protect callgate itself.\n"
                .to_owned()
        }
        0 => "# No policy is in force: nothing is judged.\n".to_owned(),
        _ => "# The policies in force. Each is judged by itself; the strictest verdict wins.\n"
            .to_owned(),
    };
    for source in in_force {
        text.push_str(&format!("---\n# from {}\n", render::printable(&source.name)));
        for relaxed in policies.relaxed.iter().filter(|it| it.policy == source.name) {
            text.push_str(&format!("# {}\n", render::printable(&relaxed.what)));
        }
        // A file may begin with such a line itself.
        let own = source.text.strip_prefix("---\n").unwrap_or(&source.text);
        text.push_str(&callgate_scan::redact(own));
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

impl ServerContent for PolicyContent {
    fn about(&self) -> &ServerInfo {
        &offer::ABOUT
    }

    fn resources(&self) -> &[Resource] {
        &offer::RESOURCES
    }

    fn tools(&self) -> &[ServedTool] {
        &self.tools
    }

    fn read(&self, uri: &str) -> Result<String, String> {
        let text = match uri {
            offer::RULES => Ok(self.now().text.clone()),
            offer::RECENT => recent::resource(&self.now()),
            offer::HEALTH => health::resource(self),
            _ => Err(anyhow::anyhow!("there is no such resource")),
        };
        text.map_err(|error| error_text(&error))
    }

    fn call(&self, tool: &str, arguments: &str) -> CallResult {
        let now = self.now();
        let called = match tool {
            offer::EVALUATE => evaluate::call(&now, arguments),
            offer::EXPLAIN => explain::call(&now, arguments),
            offer::RECENT_DECISIONS => recent::call(&now, arguments),
            _ => Err(anyhow::anyhow!("there is no such tool")),
        };
        called.unwrap_or_else(|error| CallResult::Failed(error_text(&error)))
    }
}

/// The result of a tool: redacted JSON, and the same as text, which may still contain secrets.
pub(super) fn answered(structured: String, text: &str) -> CallResult {
    CallResult::Done { structured, text: callgate_scan::redact(text).into_owned() }
}

/// What went wrong and what to do next, for a model.
fn error_text(error: &anyhow::Error) -> String {
    let (message, hint) = render::message_and_hint(error);
    match hint {
        Some(hint) => format!("error: {message}\nhint: {hint}"),
        None => format!("error: {message}"),
    }
}
