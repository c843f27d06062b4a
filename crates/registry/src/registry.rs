//! The pins of all servers, in memory.

use std::collections::BTreeMap;

use crate::definition::{Definition, ItemKind, PinHash};
use crate::launch::Launch;
use crate::names::{KnownTool, NameMap};
use crate::pin::{
    ChangedSinceReview, FirstUse, ItemIdentity, Observation, Observed, Pin, PinStatus, Version,
};

/// The servers, their items and the pins of these. The caller loads the pins from the store, and
/// saves changes there.
#[derive(Debug, Default)]
pub struct PinRegistry {
    servers: BTreeMap<String, ServerPins>,
    names: NameMap,
}

#[derive(Debug, Default)]
struct ServerPins {
    pins: BTreeMap<(ItemKind, String), Pin>,
    bytes: usize,
}

/// A server offers more than the registry keeps. What exceeds the limit cannot be pinned, and so is
/// not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the server `{server}` offers more than can be pinned: {} definitions, {} bytes",
    PinRegistry::MAX_PINS,
    PinRegistry::MAX_BYTES
)]
pub struct RegistryFull {
    /// The server.
    pub server: String,
}

/// Why a pin could not be trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    /// There is no pin.
    #[error(
        "`{0}` is unknown\nhint: `callgate mcp pins list` shows what is known; a server must list its tools first"
    )]
    Unseen(ItemIdentity),
    /// It changed after it was shown.
    #[error(transparent)]
    ChangedSinceReview(#[from] ChangedSinceReview),
}

impl PinRegistry {
    /// The most definitions of one server. No model can choose among that many; a server that
    /// offers more is trying to fill memory.
    pub const MAX_PINS: usize = 10_000;
    /// The most bytes of one server's definitions: a hundred times what large servers have.
    pub const MAX_BYTES: usize = 64 * 1024 * 1024;

    /// A registry with these pins.
    pub fn new(pins: impl IntoIterator<Item = Pin>) -> Self {
        let mut registry = Self::default();
        for pin in pins {
            registry.put(pin);
        }
        registry
    }

    /// Adds or replaces one pin, as it is in the store.
    pub fn put(&mut self, pin: Pin) {
        self.names.extend(known_tool(&pin));
        let server = self.servers.entry(pin.identity.server.clone()).or_default();
        server.bytes += pin.size();
        let key = (pin.identity.kind, pin.identity.name.clone());
        if let Some(before) = server.pins.insert(key, pin) {
            server.bytes = server.bytes.saturating_sub(before.size());
        }
    }

    /// Removes a pin: its item is unseen again.
    pub fn reset(&mut self, identity: &ItemIdentity) -> Option<Pin> {
        let server = self.servers.get_mut(&identity.server)?;
        let pin = server.pins.remove(&(identity.kind, identity.name.clone()))?;
        server.bytes = server.bytes.saturating_sub(pin.size());
        if server.pins.is_empty() {
            self.servers.remove(&identity.server);
        }
        // The map is rebuilt: it cannot remove a single name, and a reset is a rare action of a
        // person.
        self.names = NameMap::new(self.pins().filter_map(known_tool));
        Some(pin)
    }

    /// Compares a definition with its pin, and updates the pin. Fails only for a new item for which
    /// there is no room.
    pub fn observe(
        &mut self,
        identity: &ItemIdentity,
        launch: &Launch,
        definition: &Definition,
        first: FirstUse,
        now: i64,
    ) -> Result<Observed, RegistryFull> {
        let mut seen = Version::new(launch, definition);
        let room = self.room(&identity.server);
        let Some(pin) = self.get_mut(identity) else {
            let pin = Pin::first(identity.clone(), seen, first, now);
            if room < pin.size() {
                return Err(RegistryFull { server: identity.server.clone() });
            }
            let state = pin.status();
            self.put(pin);
            return Ok(Observed { what: Observation::New, state, is_dirty: true });
        };
        // A change is always accepted; otherwise a full registry would keep trusting an item that
        // changed.
        if seen.size() > room {
            seen.definition = NOT_KEPT.to_owned();
        }
        let before = pin.size();
        let observed = pin.observe(seen, now);
        let after = pin.size();
        if let Some(server) = self.servers.get_mut(&identity.server) {
            server.bytes = server.bytes.saturating_sub(before).saturating_add(after);
        }
        Ok(observed)
    }

    /// Trusts the version of an item that was seen last; if a hash is given, only if it is the
    /// same. Returns `false` if it was trusted already.
    pub fn trust(
        &mut self,
        identity: &ItemIdentity,
        expected: Option<&PinHash>,
    ) -> Result<bool, TrustError> {
        let Some(mut pin) = self.get(identity).cloned() else {
            return Err(TrustError::Unseen(identity.clone()));
        };
        let trusted = pin.trust(expected)?;
        self.put(pin);
        Ok(trusted)
    }

    /// The state of an item.
    pub fn status_of(&self, identity: &ItemIdentity) -> PinStatus {
        self.get(identity).map_or(PinStatus::Unseen, Pin::status)
    }

    /// The pin of an item.
    pub fn get(&self, identity: &ItemIdentity) -> Option<&Pin> {
        self.servers.get(&identity.server)?.pins.get(&(identity.kind, identity.name.clone()))
    }

    /// Every pin, by server, kind and name.
    pub fn pins(&self) -> impl Iterator<Item = &Pin> {
        self.servers.values().flat_map(|server| server.pins.values())
    }

    /// The pins of one server, by kind and name.
    pub fn of_server<'a>(&'a self, server: &str) -> impl Iterator<Item = &'a Pin> + use<'a> {
        self.servers.get(server).into_iter().flat_map(|server| server.pins.values())
    }

    /// The servers that have pins.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().map(String::as_str)
    }

    /// Every name that agents use for the tools of these servers, in any state.
    pub fn names(&self) -> &NameMap {
        &self.names
    }

    fn get_mut(&mut self, identity: &ItemIdentity) -> Option<&mut Pin> {
        let server = self.servers.get_mut(&identity.server)?;
        server.pins.get_mut(&(identity.kind, identity.name.clone()))
    }

    /// The number of bytes that may still be added for a server; 0 if it has too many definitions.
    fn room(&self, server: &str) -> usize {
        match self.servers.get(server) {
            None => Self::MAX_BYTES,
            Some(server) if server.pins.len() >= Self::MAX_PINS => 0,
            Some(server) => Self::MAX_BYTES.saturating_sub(server.bytes),
        }
    }
}

/// Replaces a changed definition of a server that has no room left: a JSON string.
const NOT_KEPT: &str = r#""(this server offers so much that the definition was not kept)""#;

fn known_tool(pin: &Pin) -> Option<KnownTool> {
    let ItemIdentity { server, kind, name } = &pin.identity;
    (*kind == ItemKind::Tool).then(|| KnownTool { server: server.clone(), tool: name.clone() })
}
