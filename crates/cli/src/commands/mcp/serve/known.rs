//! What the server knows: the policies of this moment, and where the records are.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use anyhow::Result;
use callgate_audit::{Location, Reader};
use callgate_call::Surface;
use callgate_config::Resolved;
use callgate_mcp::{About, Called, Host, Resource, Tool};
use callgate_policy::Policies;
use jiff::Timestamp;

use super::{evaluate, explain, health, offer, recent};
use crate::judge::Judge;
use crate::records;
use crate::render;

/// The host of the server.
pub(super) struct Known {
    loaded: RwLock<Arc<Loaded>>,
    /// Why a later version of the policies was rejected; none if what is loaded is the latest.
    rejected: RwLock<Option<String>>,
    tools: Vec<Tool>,
}

/// What was loaded last.
pub(super) struct Loaded {
    /// The config file.
    pub(super) path: Option<PathBuf>,
    pub(super) judge: Judge,
    /// Whether anything is judged at all.
    pub(super) judges: bool,
    /// The largest arguments that are judged, and what becomes of larger or odd ones.
    pub(super) max_arguments: usize,
    pub(super) decide: callgate_decide::Settings,
    pub(super) origins: Vec<String>,
    /// The texts of the policies.
    rules: String,
    pub(super) warnings: usize,
    pub(super) since: Timestamp,
    pub(super) store: Location,
    /// Where the gateway listens.
    pub(super) gateway: std::net::SocketAddr,
}

impl Known {
    pub(super) fn new(resolved: Resolved) -> Self {
        let loaded = RwLock::new(Arc::new(Loaded::of(resolved)));
        Self { loaded, rejected: RwLock::default(), tools: offer::tools() }
    }

    /// What is in force now.
    pub(super) fn now(&self) -> Arc<Loaded> {
        Arc::clone(&self.loaded.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Why a later version of the policies was rejected.
    pub(super) fn rejected(&self) -> Option<String> {
        self.rejected.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn swap(&self, resolved: Resolved) {
        *self.loaded.write().unwrap_or_else(PoisonError::into_inner) =
            Arc::new(Loaded::of(resolved));
        *self.rejected.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(super) fn reject(&self, why: String) {
        *self.rejected.write().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }
}

impl Loaded {
    fn of(resolved: Resolved) -> Self {
        let rules = rules_text(&resolved);
        let policies = resolved.policies;
        Self {
            path: resolved.path,
            judges: policies.compiled.is_some(),
            max_arguments: resolved.proxy.limits.arguments,
            decide: resolved.decide,
            judge: Judge::new(policies.compiled.unwrap_or_else(Policies::none)),
            origins: policies.origins,
            rules,
            warnings: policies.warnings.len(),
            since: Timestamp::now(),
            store: resolved.audit.store,
            gateway: resolved.proxy.listen,
        }
    }

    /// The records.
    pub(super) fn records(&self) -> Result<Reader> {
        Reader::open(&self.store).map_err(records::open_error)
    }
}

/// The policies as they were written, those that are built in among them: one YAML document each.
/// What stands in them of secrets is not told.
fn rules_text(resolved: &Resolved) -> String {
    let policies = &resolved.policies;
    let in_force = policies.sources.iter().filter(|source| policies.origins.contains(&source.name));
    let mut text = match policies.origins.len() {
        0 => "# No policy is in force: nothing is judged.\n".to_owned(),
        _ => "# The policies in force. Each is judged by itself; the strictest verdict wins.\n"
            .to_owned(),
    };
    for source in in_force {
        text.push_str(&format!("---\n# from {}\n", render::printable(&source.name)));
        // A file may begin with such a line itself.
        let own = source.text.strip_prefix("---\n").unwrap_or(&source.text);
        text.push_str(&callgate_scan::redact(own));
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

impl Host for Known {
    fn about(&self) -> &About {
        &offer::ABOUT
    }

    fn resources(&self) -> &[Resource] {
        &offer::RESOURCES
    }

    fn tools(&self) -> &[Tool] {
        &self.tools
    }

    fn read(&self, uri: &str) -> Result<String, String> {
        let text = match uri {
            offer::RULES => Ok(self.now().rules.clone()),
            offer::RECENT => recent::resource(&self.now()),
            offer::HEALTH => health::resource(self),
            _ => Err(anyhow::anyhow!("there is no such resource")),
        };
        text.map_err(|error| told(&error))
    }

    fn call(&self, tool: &str, arguments: &str) -> Called {
        let now = self.now();
        let called = match tool {
            offer::EVALUATE => evaluate::call(&now, arguments),
            offer::EXPLAIN => explain::call(&now, arguments),
            offer::RECENT_DECISIONS => recent::call(&now, arguments),
            _ => Err(anyhow::anyhow!("there is no such tool")),
        };
        called.unwrap_or_else(|error| Called::Failed(told(&error)))
    }
}

/// What a tool answers. Secrets stay here, and so does what nobody sees: all of it was written by
/// somebody else, a model among them.
pub(super) fn answered(structured: &impl serde::Serialize, text: &str) -> Result<Called> {
    let structured = clean(&serde_json::to_string(structured)?);
    Ok(Called::Done { structured, text: callgate_scan::redact(text).into_owned() })
}

/// A JSON document without secrets and hidden characters.
pub(super) fn clean(json: &str) -> String {
    let json = callgate_scan::redact_json(json);
    callgate_scan::inspect::strip(&json).unwrap_or_else(|| json.into_owned())
}

/// What went wrong and what to do next, for a model.
fn told(error: &anyhow::Error) -> String {
    let (message, hint) = render::message_and_hint(error);
    match hint {
        Some(hint) => format!("error: {message}\nhint: {hint}"),
        None => format!("error: {message}"),
    }
}

/// Where a call that is asked about shows up, and what is known of its surroundings, if nobody says.
pub(super) fn unsaid() -> crate::args::Call {
    crate::args::Call {
        tool: None,
        input: None,
        server: None,
        surface: Surface::Hook,
        home: None,
        context: crate::args::Context::default(),
    }
}
