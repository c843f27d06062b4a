//! What one process knows of MCP servers: registry, what was found, what was called.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use callgate_audit::RecordId;
use callgate_call::{fold, json::Value};
use callgate_effects::Catalogue;
use callgate_policy::NameReader;
use callgate_registry::{ItemIdentity, ItemKind, Pin, PinStatus, Registry, Version};
use callgate_scan::inspect::{Finding, Known, inspect_definition, strip_definition};
use callgate_store::Glance;
use parking_lot::Mutex;

use super::flows::Hints;
use super::shown::Shelf;
use super::store;
use crate::advertised::Told;
use crate::decider::Inner;

/// What all MCP sessions of a process share, and the proxy's door reads.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) books: Mutex<Books>,
    pub(crate) claims: Mutex<Claims>,
    pub(crate) shelf: Shelf,
    pub(crate) catalogue: Catalogue,
    pub(crate) names: NameReader,
}

impl Default for Desk {
    fn default() -> Self {
        let catalogue = Catalogue::builtin();
        Self {
            books: Mutex::default(),
            claims: Mutex::default(),
            shelf: Shelf::default(),
            names: NameReader::new(&catalogue),
            catalogue,
        }
    }
}

/// Calls of models whose execution has begun. The store knows of one a moment later.
#[derive(Debug, Default)]
pub(crate) struct Claims(VecDeque<RecordId>);

impl Claims {
    /// More than can begin before the store knows of the first.
    const MOST: usize = 4096;

    /// Whether nobody has claimed it before.
    pub(crate) fn claim(&mut self, call: RecordId) -> bool {
        if self.0.contains(&call) {
            return false;
        }
        if self.0.len() >= Self::MOST {
            self.0.pop_front();
        }
        self.0.push_back(call);
        true
    }

    /// The execution did not take place.
    pub(crate) fn give_back(&mut self, call: RecordId) {
        self.0.retain(|claimed| *claimed != call);
    }
}

/// What changes with every list and call.
#[derive(Debug, Default)]
pub(crate) struct Books {
    pub(crate) registry: Registry,
    /// Which state of the store the registry was read from.
    version: Option<u64>,
    /// When that was looked up.
    refreshed: Option<Instant>,
    /// How often the registry was changed.
    changes: u64,
    /// What was found in each definition, by the hash of all of it: inspecting takes longer than
    /// judging.
    inspected: HashMap<String, Arc<Inspection>>,
    index: Option<Arc<Index>>,
    /// The names that a server's texts may not speak of.
    others: HashMap<String, Arc<Known>>,
    pub(crate) told: Told,
}

/// What is known of one definition beside its pin.
#[derive(Debug, Default)]
pub(crate) struct Inspection {
    /// Everything that was found in it.
    pub(crate) findings: Vec<Finding>,
    /// What is left of that once invisible characters are taken out.
    pub(crate) remaining: Vec<Finding>,
    pub(crate) hints: Hints,
    /// What other servers had when it was looked at.
    others: Arc<Known>,
}

/// A tool as a call finds it.
#[derive(Debug, Clone)]
pub(crate) struct KnownTool {
    pub(crate) state: PinStatus,
    /// The hash of what the server offers now.
    pub(crate) hash: String,
    pub(crate) inspection: Arc<Inspection>,
}

/// Made anew whenever the registry changes.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// By folded tool name: who had it first.
    owners: HashMap<String, (i64, String)>,
}

/// Definitions that are remembered as inspected; past it all are forgotten and looked at again.
const MAX_INSPECTED: usize = 32_768;

impl Inner {
    /// Takes over what other processes have pinned, trusted or reset meanwhile. It reads the store.
    pub(crate) fn refresh_books(&self) {
        self.refresh_books_at(self.audit.glance());
    }

    /// The same, unless somebody has done so since then.
    pub(crate) fn refresh_books_since(&self, then: Instant) {
        let is_fresh = self.desk.books.lock().is_fresh_since(then);
        if !is_fresh {
            self.refresh_books();
        }
    }

    /// The same, with a glance that was taken before. The books stay unlocked while the store is read,
    /// because threads that carry streams use them. If the store cannot be read, the books stay as they
    /// are.
    pub(crate) fn refresh_books_at(&self, glance: Glance<'_>) {
        let began = Instant::now();
        let (known, changes) = {
            let books = self.desk.books.lock();
            (books.version, books.changes)
        };
        let newest = glance.pins_version();
        if newest.as_ref().is_ok_and(|newest| known == Some(*newest)) {
            self.desk.books.lock().refreshed = Some(began);
            return;
        }
        match newest.and_then(|newest| Ok((newest, store::load(&self.audit)?))) {
            Ok((newest, registry)) => {
                let mut books = self.desk.books.lock();
                // What this process has pinned meanwhile may not be in what was read: the next time.
                if books.changes == changes {
                    books.take_over(newest, registry, began);
                }
            }
            Err(error) => tracing::error!(%error, "the pins of MCP servers cannot be read"),
        }
    }
}

impl Books {
    /// What the store has now.
    fn take_over(&mut self, version: u64, registry: Registry, began: Instant) {
        self.registry = registry;
        self.version = Some(version);
        self.refreshed = Some(began);
        self.changed();
    }

    /// Whether the store was asked since then.
    pub(crate) fn is_fresh_since(&self, then: Instant) -> bool {
        self.refreshed.is_some_and(|at| at >= then)
    }

    /// A tool of a server, if it has been seen.
    pub(crate) fn tool(&mut self, server: &str, tool: &str) -> Option<KnownTool> {
        let pin = self.registry.get(&ItemIdentity::tool(server, tool))?;
        let (state, hash) = (pin.state(), pin.seen().hash.as_str().to_owned());
        let key = key(server, pin.seen().whole.as_str());
        if let Some(inspection) = self.inspected.get(&key) {
            return Some(KnownTool { state, hash, inspection: Arc::clone(inspection) });
        }
        // Another process listed it: what is pinned of it is known, and enough.
        let definition = pin.seen().definition.clone();
        let inspection = self.inspect(server, key, &definition);
        Some(KnownTool { state, hash, inspection })
    }

    /// The same as one server shows it, whatever another instance of it has shown since.
    pub(crate) fn tool_as(
        &mut self,
        server: &str,
        tool: &str,
        shown: &Version,
    ) -> Option<KnownTool> {
        let state = self.state_as(&ItemIdentity::tool(server, tool), shown);
        if state == PinStatus::Unseen {
            return None;
        }
        let (hash, key) = (shown.hash.as_str().to_owned(), key(server, shown.whole.as_str()));
        let known = self.inspected.get(&key).map(Arc::clone);
        let inspection = known.unwrap_or_else(|| self.inspect(server, key, &shown.definition));
        Some(KnownTool { state, hash, inspection })
    }

    /// Where something stands as one server shows it.
    pub(crate) fn state_as(&self, identity: &ItemIdentity, shown: &Version) -> PinStatus {
        match self.registry.get(identity).map(|pin| (pin.state(), &pin.version)) {
            None => PinStatus::Unseen,
            Some((PinStatus::Quarantined, _)) => PinStatus::Quarantined,
            Some((_, trusted)) if shown.is_same(trusted) => PinStatus::Trusted,
            Some(_) => PinStatus::Changed,
        }
    }

    /// Inspects a definition as it was listed, with everything that is not pinned. It is done
    /// again when other servers have other tools.
    pub(crate) fn look_at(&mut self, server: &str, whole: &str, raw: &str) {
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
    pub(crate) fn others(&mut self, server: &str) -> Arc<Known> {
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
        let known = Arc::new(Known::new(others).with_own(own));
        self.others.insert(server.to_owned(), Arc::clone(&known));
        known
    }

    /// Servers that introduce themselves with the very same words: as long as nothing else is known of
    /// this one, it speaks of the same tools.
    fn twins(&self, server: &str) -> Vec<String> {
        let pins =
            || self.registry.pins().filter(|pin| pin.identity.kind == ItemKind::Instructions);
        let Some(own) = pins().find(|pin| pin.identity.server == server) else { return Vec::new() };
        let is_twin = |pin: &&Pin| {
            pin.identity.server != server
                && pin.state() == PinStatus::Trusted
                && pin.seen().hash == own.seen().hash
        };
        pins().filter(is_twin).map(|pin| pin.identity.server.clone()).collect()
    }

    /// The registry has something new: what was made from it is made again.
    pub(crate) fn changed(&mut self) {
        self.changes += 1;
        self.index = None;
        self.others.clear();
    }

    /// The server that had a tool's name before this one.
    pub(crate) fn first_owner(&mut self, server: &str, tool: &str) -> Option<String> {
        let index = self.index();
        let (_, owner) = index.owners.get(&fold(tool.trim()))?;
        (owner != server).then(|| owner.clone())
    }

    /// Every tool that a name may mean, however an agent spells it.
    pub(crate) fn meant_by(&self, name: &str) -> Vec<(String, String)> {
        let found = self.registry.names().find(name).all();
        found.into_iter().map(|it| (it.server.clone(), it.tool.clone())).collect()
    }

    fn index(&mut self) -> Arc<Index> {
        let index = match self.index.take() {
            Some(index) => index,
            None => Arc::new(Index::of(&self.registry)),
        };
        self.index = Some(Arc::clone(&index));
        index
    }
}

impl Index {
    fn of(registry: &Registry) -> Self {
        let mut owners: HashMap<String, (i64, String)> = HashMap::new();
        for pin in registry.pins().filter(|pin| pin.identity.kind == ItemKind::Tool) {
            let first = (pin.first_seen, pin.identity.server.clone());
            let owner =
                owners.entry(fold(pin.identity.name.trim())).or_insert_with(|| first.clone());
            // Of two seen in the same moment neither took over: the order of names settles it.
            if first < *owner {
                *owner = first;
            }
        }
        Self { owners }
    }
}

impl Inspection {
    fn of(definition: &str, others: Arc<Known>) -> Self {
        let findings = inspect_definition(definition, &others);
        let remaining = match strip_definition(definition) {
            Some(stripped) => inspect_definition(&stripped, &others),
            None => findings.clone(),
        };
        Self { findings, remaining, hints: hints(definition), others }
    }
}

fn key(server: &str, whole: &str) -> String {
    format!("{server}\0{whole}")
}

/// What a server says of its tool, where it says so plainly.
fn hints(definition: &str) -> Hints {
    let Ok(value) = Value::parse(definition) else { return Hints::default() };
    let says = |hint: &str| {
        let annotations = value.get("annotations");
        annotations.and_then(|it| it.get(hint)) == Some(&Value::Bool(true))
    };
    Hints { read_only: says("readOnlyHint"), open_world: says("openWorldHint") }
}

/// Microseconds since 1970.
pub(crate) fn now_micros() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
