//! What this process knows about MCP servers: the registry, the inspected definitions, and the
//! calls in progress.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use callgate_call::{EffectHints, fold};
use callgate_effects::Catalogue;
use callgate_json::Value;
use callgate_policy::NameReader;
use callgate_registry::{ItemIdentity, ItemKind, Pin, PinRegistry, PinStatus, Version};
use callgate_scan::inspect::{Finding, OtherTools, inspect_definition, strip_definition};
use callgate_store::Glance;
use parking_lot::Mutex;

use super::claim::ClaimedIntents;
use super::flows::ToolHints;
use super::shown_lists::ShownLists;
use super::store;
use crate::decider::DeciderState;
use crate::offer::RecentlyRecorded;

/// State that all MCP sessions of a process and the proxy share.
#[derive(Debug)]
pub(crate) struct McpState {
    pub(crate) cache: Mutex<RegistryCache>,
    pub(crate) claimed_intents: Arc<ClaimedIntents>,
    pub(crate) shown_lists: ShownLists,
    pub(crate) catalogue: Catalogue,
    pub(crate) names: NameReader,
}

impl Default for McpState {
    fn default() -> Self {
        let catalogue = Catalogue::builtin();
        Self {
            cache: Mutex::default(),
            claimed_intents: Arc::default(),
            shown_lists: ShownLists::default(),
            names: NameReader::new(&catalogue),
            catalogue,
        }
    }
}

/// The registry as last read from the store, and what is computed from it.
#[derive(Debug, Default)]
pub(crate) struct RegistryCache {
    pub(crate) registry: PinRegistry,
    /// The version of the store that the registry was read from.
    version: Option<u64>,
    /// When the store was last checked for changes.
    refreshed: Option<Instant>,
    /// Counts the changes that this process made to the registry.
    changes: u64,
    /// The inspection of each definition, by the hash of its full text. Cached because inspecting
    /// takes longer than judging.
    inspected: HashMap<String, Arc<Inspection>>,
    first_owners: Option<Arc<FirstOwners>>,
    /// For each server, the tool names that its texts should not mention.
    others: HashMap<String, Arc<OtherTools>>,
    pub(crate) recently_recorded: RecentlyRecorded,
}

/// What is known about a definition in addition to its pin.
#[derive(Debug, Default)]
pub(crate) struct Inspection {
    /// All findings in the definition.
    pub(crate) findings: Vec<Finding>,
    /// The findings that remain once invisible characters are removed.
    pub(crate) remaining: Vec<Finding>,
    pub(crate) hints: ToolHints,
    /// What the server says the tool does.
    pub(crate) effects: EffectHints,
    /// The tools of other servers at the time of the inspection.
    others: Arc<OtherTools>,
}

/// A tool as it is known at the time of a call.
#[derive(Debug, Clone)]
pub(crate) struct ToolSnapshot {
    pub(crate) state: PinStatus,
    /// The hash of the definition that the server offers now.
    pub(crate) hash: String,
    pub(crate) inspection: Arc<Inspection>,
}

/// Computed from the registry, and dropped whenever the registry changes.
#[derive(Debug, Default)]
pub(crate) struct FirstOwners {
    /// By folded tool name: the server that offered it first, and when.
    owners: HashMap<String, (i64, String)>,
}

/// Maximum number of cached inspections. At this number the cache is cleared.
const MAX_INSPECTED: usize = 32_768;

impl DeciderState {
    /// Loads what other processes have pinned, trusted or reset. It reads the store.
    pub(crate) fn refresh_cache(&self) {
        self.refresh_cache_at(self.audit.glance());
    }

    /// Like [`Self::refresh_cache`], unless it was done after `then`.
    pub(crate) fn refresh_cache_since(&self, then: Instant) {
        let is_fresh = self.mcp_state.cache.lock().is_fresh_since(then);
        if !is_fresh {
            self.refresh_cache();
        }
    }

    /// Like [`Self::refresh_cache`], for a snapshot that was taken before. The cache stays unlocked
    /// while the store is read, because threads that carry streams use it. If the store cannot be
    /// read, the cache stays unchanged.
    pub(crate) fn refresh_cache_at(&self, glance: Glance<'_>) {
        let began = Instant::now();
        let (known, changes) = {
            let cache = self.mcp_state.cache.lock();
            (cache.version, cache.changes)
        };
        let newest = glance.pins_version();
        if newest.as_ref().is_ok_and(|newest| known == Some(*newest)) {
            self.mcp_state.cache.lock().refreshed = Some(began);
            return;
        }
        match newest.and_then(|newest| Ok((newest, store::load(&self.audit)?))) {
            Ok((newest, registry)) => {
                let mut cache = self.mcp_state.cache.lock();
                // This process has pinned something that the loaded registry may lack; the next
                // refresh has it.
                if cache.changes == changes {
                    cache.replace_registry(newest, registry, began);
                }
            }
            Err(error) => tracing::error!(%error, "the pins of MCP servers cannot be read"),
        }
    }
}

impl RegistryCache {
    /// Replaces the registry with the one from the store.
    fn replace_registry(&mut self, version: u64, registry: PinRegistry, began: Instant) {
        self.registry = registry;
        self.version = Some(version);
        self.refreshed = Some(began);
        self.changed();
    }

    /// Whether the store was checked after `then`.
    pub(crate) fn is_fresh_since(&self, then: Instant) -> bool {
        self.refreshed.is_some_and(|at| at >= then)
    }

    /// A tool of a server, if it has been seen.
    pub(crate) fn tool(&mut self, server: &str, tool: &str) -> Option<ToolSnapshot> {
        let pin = self.registry.get(&ItemIdentity::tool(server, tool))?;
        let (state, hash) = (pin.status(), pin.seen().hash.as_str().to_owned());
        let key = key(server, pin.seen().whole.as_str());
        if let Some(inspection) = self.inspected.get(&key) {
            return Some(ToolSnapshot { state, hash, inspection: Arc::clone(inspection) });
        }
        // Another process listed it. Only the pinned parts of the definition are known, and they
        // suffice.
        let definition = pin.seen().definition.clone();
        let inspection = self.inspect(server, key, &definition);
        Some(ToolSnapshot { state, hash, inspection })
    }

    /// Like [`Self::tool`], for the definition that this server shows, even if another instance has
    /// shown a different one since.
    pub(crate) fn tool_as(
        &mut self,
        server: &str,
        tool: &str,
        shown: &Version,
    ) -> Option<ToolSnapshot> {
        let state = self.status_as(&ItemIdentity::tool(server, tool), shown);
        if state == PinStatus::Unseen {
            return None;
        }
        let (hash, key) = (shown.hash.as_str().to_owned(), key(server, shown.whole.as_str()));
        let known = self.inspected.get(&key).map(Arc::clone);
        let inspection = known.unwrap_or_else(|| self.inspect(server, key, &shown.definition));
        Some(ToolSnapshot { state, hash, inspection })
    }

    /// The pin status of the definition that this server shows.
    pub(crate) fn status_as(&self, identity: &ItemIdentity, shown: &Version) -> PinStatus {
        match self.registry.get(identity).map(|pin| (pin.status(), &pin.version)) {
            None => PinStatus::Unseen,
            Some((PinStatus::Quarantined, _)) => PinStatus::Quarantined,
            Some((_, trusted)) if shown.is_same(trusted) => PinStatus::Trusted,
            Some(_) => PinStatus::Changed,
        }
    }

    /// Inspects a definition as it was listed, including the parts that are not pinned. Repeated
    /// when the tools of other servers change.
    pub(crate) fn inspect_listed(&mut self, server: &str, whole: &str, raw: &str) {
        let (key, others) = (key(server, whole), self.others(server));
        let known = self.inspected.get(&key);
        if !known.is_some_and(|known| Arc::ptr_eq(&known.others, &others)) {
            self.inspect(server, key, raw);
        }
    }

    fn inspect(&mut self, server: &str, key: String, definition: &str) -> Arc<Inspection> {
        let inspection = Arc::new(Inspection::of(definition, self.others(server)));
        if self.inspected.len() >= MAX_INSPECTED {
            self.inspected.clear();
        }
        self.inspected.insert(key, Arc::clone(&inspection));
        inspection
    }

    /// The tools of all other servers.
    pub(crate) fn others(&mut self, server: &str) -> Arc<OtherTools> {
        if let Some(known) = self.others.get(server) {
            return Arc::clone(known);
        }
        let tools = || self.registry.pins().filter(|pin| pin.identity.kind == ItemKind::Tool);
        let names = |of: &dyn Fn(&Pin) -> bool| -> Vec<String> {
            tools().filter(|pin| of(pin)).map(|pin| pin.identity.name.clone()).collect()
        };
        let others = names(&|pin| pin.identity.server != server);
        let own = match names(&|pin| pin.identity.server == server) {
            own if own.is_empty() => {
                let twins = self.twins(server);
                names(&|pin| twins.contains(&pin.identity.server))
            }
            own => own,
        };
        let known = Arc::new(OtherTools::new(others).with_own(own));
        self.others.insert(server.to_owned(), Arc::clone(&known));
        known
    }

    /// Servers with exactly the same instructions. Until more is known about this server, it may
    /// mention their tools.
    fn twins(&self, server: &str) -> Vec<String> {
        let pins =
            || self.registry.pins().filter(|pin| pin.identity.kind == ItemKind::Instructions);
        let Some(own) = pins().find(|pin| pin.identity.server == server) else { return Vec::new() };
        let is_twin = |pin: &&Pin| {
            pin.identity.server != server
                && pin.status() == PinStatus::Trusted
                && pin.seen().hash == own.seen().hash
        };
        pins().filter(is_twin).map(|pin| pin.identity.server.clone()).collect()
    }

    /// Drops everything computed from the registry, which has changed.
    pub(crate) fn changed(&mut self) {
        self.changes += 1;
        self.first_owners = None;
        self.others.clear();
    }

    /// The server that offered this tool name before this server.
    pub(crate) fn first_owner(&mut self, server: &str, tool: &str) -> Option<String> {
        let first_owners = self.first_owners();
        let (_, owner) = first_owners.owners.get(&fold(tool.trim()))?;
        (owner != server).then(|| owner.clone())
    }

    /// All tools that a name may refer to, in any agent's spelling.
    pub(crate) fn tools_named(&self, name: &str) -> Vec<(String, String)> {
        let found = self.registry.names().find(name).all();
        found.into_iter().map(|it| (it.server.clone(), it.tool.clone())).collect()
    }

    fn first_owners(&mut self) -> Arc<FirstOwners> {
        let first_owners = match self.first_owners.take() {
            Some(first_owners) => first_owners,
            None => Arc::new(FirstOwners::of(&self.registry)),
        };
        self.first_owners = Some(Arc::clone(&first_owners));
        first_owners
    }
}

impl FirstOwners {
    fn of(registry: &PinRegistry) -> Self {
        let mut owners: HashMap<String, (i64, String)> = HashMap::new();
        for pin in registry.pins().filter(|pin| pin.identity.kind == ItemKind::Tool) {
            let first = (pin.first_seen, pin.identity.server.clone());
            let owner =
                owners.entry(fold(pin.identity.name.trim())).or_insert_with(|| first.clone());
            // If two were seen at the same moment, neither took over the name: the alphabetical
            // order decides.
            if first < *owner {
                *owner = first;
            }
        }
        Self { owners }
    }
}

impl Inspection {
    fn of(definition: &str, others: Arc<OtherTools>) -> Self {
        let findings = inspect_definition(definition, &others);
        let remaining = match strip_definition(definition) {
            Some(stripped) => inspect_definition(&stripped, &others),
            None => findings.clone(),
        };
        let annotations = Annotations::of(definition);
        let (hints, effects) = (annotations.hints(), annotations.effects());
        Self { findings, remaining, hints, effects, others }
    }
}

fn key(server: &str, whole: &str) -> String {
    format!("{server}\0{whole}")
}

/// The annotations of a definition. Only what is written counts: a hint that is missing has a default
/// in the protocol, and most servers leave all of them out.
struct Annotations(Option<Value>);

impl Annotations {
    fn of(definition: &str) -> Self {
        let value = Value::parse(definition).ok();
        Self(value.and_then(|value| value.get("annotations").cloned()))
    }

    fn is(&self, hint: &str, wanted: bool) -> bool {
        self.0.as_ref().and_then(|it| it.get(hint)) == Some(&Value::Bool(wanted))
    }

    fn hints(&self) -> ToolHints {
        ToolHints {
            read_only: self.is("readOnlyHint", true),
            open_world: self.is("openWorldHint", true),
        }
    }

    fn effects(&self) -> EffectHints {
        EffectHints {
            writes: self.is("readOnlyHint", false),
            destroys: self.is("destructiveHint", true),
            connects: self.is("openWorldHint", true),
        }
    }
}
