//! A pin, and the states it goes through.
//!
//! ```text
//!            first seen,                     another definition
//!            trusted at once                 or launch is seen
//!  unseen ──────────────────────► trusted ───────────────────────► changed ─┐ another again
//!    │                             ▲   ▲                            │   ▲   │
//!    │ first seen, to be trusted   │   └────── trust, or the ───────┘   └───┘
//!    ▼ by a person                 │           trusted one is back
//!  quarantined ────── trust ───────┘
//!      └─┘ another is seen: kept instead, for nobody trusted the one before
//! ```
//!
//! A reset leads from each of them back to unseen.

use std::fmt;

use crate::definition::{Definition, ItemKind, PinHash};
use crate::launch::Launch;

/// Who something is: two servers with one tool name are two identities.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemIdentity {
    /// The server, by its name in the configuration; never what it calls itself.
    pub server: String,
    /// What it is.
    pub kind: ItemKind,
    /// Its name, exactly; empty for instructions.
    pub name: String,
}

impl ItemIdentity {
    /// A tool of a server.
    pub fn tool(server: impl Into<String>, name: impl Into<String>) -> Self {
        Self { server: server.into(), kind: ItemKind::Tool, name: name.into() }
    }

    /// What a definition of this server defines.
    pub fn of(server: impl Into<String>, definition: &Definition) -> Self {
        let (kind, name) = (definition.kind(), definition.name().to_owned());
        Self { server: server.into(), kind, name }
    }
}

impl fmt::Display for ItemIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ItemKind::Tool => write!(f, "{}/{}", self.server, self.name),
            ItemKind::Prompt => write!(f, "{}/prompt:{}", self.server, self.name),
            ItemKind::Instructions => write!(f, "{}/instructions", self.server),
        }
    }
}

/// A definition as a server gave it, and how that server was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// How the server was started or reached.
    pub launch: Launch,
    /// The hash of what is pinned.
    pub hash: PinHash,
    /// The hash of all of it.
    pub whole: PinHash,
    /// What is pinned, as canonical JSON, to show what changed.
    pub definition: String,
}

impl Version {
    /// This definition from this server.
    pub fn new(launch: &Launch, definition: &Definition) -> Self {
        Self {
            launch: launch.clone(),
            hash: definition.hash().clone(),
            whole: definition.whole().clone(),
            definition: definition.canonical().to_owned(),
        }
    }

    /// Whether the pin holds for both: the same definition from a server started the same way.
    pub fn is_same(&self, other: &Self) -> bool {
        self.hash == other.hash && self.is_launched_like(other)
    }

    fn is_launched_like(&self, other: &Self) -> bool {
        self.launch.fingerprint() == other.launch.fingerprint()
    }

    /// About how many bytes it takes.
    pub(crate) fn size(&self) -> usize {
        self.definition.len() + self.launch.shown().len() + 256
    }
}

/// What is known of something a server offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// Who it is.
    pub identity: ItemIdentity,
    /// What is pinned: trusted, or in quarantine.
    pub version: Version,
    /// Where it stands.
    pub state: PinState,
    /// When it was first seen, in microseconds since 1970.
    pub first_seen: i64,
    /// When it was last seen, to within [`Pin::SEEN_EVERY`].
    pub last_seen: i64,
    /// How often the store has kept it; 0 if never. The store takes a pin only from whoever has
    /// seen the newest.
    pub revision: u64,
}

/// Where a pin stands. Something without a pin is unseen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PinState {
    /// What is pinned may be shown and called.
    Trusted,
    /// This was seen instead of it.
    Changed(Version),
    /// It waits for a person.
    Quarantined,
}

/// The states by name, with the one that has no pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PinStatus {
    /// There is no pin.
    Unseen,
    /// It may be shown and called.
    Trusted,
    /// It is another than was trusted.
    Changed,
    /// Nobody has trusted it yet.
    Quarantined,
}

impl PinStatus {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Unseen, Self::Trusted, Self::Changed, Self::Quarantined];

    /// As it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unseen => "unseen",
            Self::Trusted => "trusted",
            Self::Changed => "changed",
            Self::Quarantined => "quarantined",
        }
    }

    /// The state of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

impl fmt::Display for PinStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What becomes of something that is seen for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstUse {
    /// It is trusted, and held to what it was.
    Trust,
    /// It waits for a person.
    Quarantine,
}

/// What was noticed when a definition was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observation {
    /// For the first time.
    New,
    /// As before.
    Same,
    /// As before in everything that is pinned; something else of it moved. Told once.
    OnlyMetaMoved,
    /// Changed before, and now again as it was trusted.
    Reverted,
    /// Another than is pinned.
    Changed(PinChange),
}

/// How something differs from its pin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinChange {
    /// The hash that is pinned.
    pub was: PinHash,
    /// The hash that was seen.
    pub is: PinHash,
    /// The server is started or reached otherwise: what was pinned, what was seen.
    pub launch: Option<(Launch, Launch)>,
    /// It was not seen like this before, so that it is worth a record.
    pub is_news: bool,
}

/// What was noticed, and whether the store should hear of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// What was noticed.
    pub what: Observation,
    /// Where the pin stands now.
    pub state: PinStatus,
    /// The pin is not what it was: it is to be stored.
    pub is_dirty: bool,
}

/// A pin was to be trusted as it was shown, but it is no longer that.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{identity}` is no longer {expected}: it was seen as {found} meanwhile\nhint: look at the difference again before you trust it"
)]
pub struct PinMoved {
    /// Which.
    pub identity: ItemIdentity,
    /// What was to be trusted.
    pub expected: PinHash,
    /// What is there.
    pub found: PinHash,
}

impl Pin {
    /// How exact the time of last seeing is, in microseconds: an hour. Lists are asked for all the
    /// time, and each time that is kept is a write.
    pub const SEEN_EVERY: i64 = 60 * 60 * 1_000_000;

    /// Something that is seen for the first time.
    pub fn first(identity: ItemIdentity, version: Version, first: FirstUse, now: i64) -> Self {
        let state = match first {
            FirstUse::Trust => PinState::Trusted,
            FirstUse::Quarantine => PinState::Quarantined,
        };
        Self { identity, version, state, first_seen: now, last_seen: now, revision: 0 }
    }

    /// Where it stands.
    pub fn state(&self) -> PinStatus {
        match self.state {
            PinState::Trusted => PinStatus::Trusted,
            PinState::Changed(_) => PinStatus::Changed,
            PinState::Quarantined => PinStatus::Quarantined,
        }
    }

    /// What the server offers now: what was seen last.
    pub fn seen(&self) -> &Version {
        match &self.state {
            PinState::Changed(seen) => seen,
            PinState::Trusted | PinState::Quarantined => &self.version,
        }
    }

    /// Takes in what was seen.
    pub fn observe(&mut self, seen: Version, now: i64) -> Observed {
        let before = (self.state(), self.last_seen);
        if now.saturating_sub(self.last_seen) >= Self::SEEN_EVERY {
            self.last_seen = now;
        }
        let what = match self.version.is_same(&seen) {
            true => self.observe_same(seen),
            false => self.observe_other(seen),
        };
        let is_news = match &what {
            Observation::New | Observation::OnlyMetaMoved | Observation::Reverted => true,
            Observation::Same => false,
            Observation::Changed(change) => change.is_news,
        };
        let is_dirty = is_news || before != (self.state(), self.last_seen);
        Observed { what, state: self.state(), is_dirty }
    }

    fn observe_same(&mut self, seen: Version) -> Observation {
        let moved = self.version.whole != seen.whole;
        self.version.whole = seen.whole;
        match self.state {
            PinState::Changed(_) => {
                self.state = PinState::Trusted;
                Observation::Reverted
            }
            _ if moved => Observation::OnlyMetaMoved,
            _ => Observation::Same,
        }
    }

    fn observe_other(&mut self, seen: Version) -> Observation {
        let mut change = PinChange {
            was: self.version.hash.clone(),
            is: seen.hash.clone(),
            launch: (!self.version.is_launched_like(&seen))
                .then(|| (self.version.launch.clone(), seen.launch.clone())),
            is_news: true,
        };
        match &self.state {
            PinState::Quarantined => self.version = seen,
            PinState::Changed(before) if before.is_same(&seen) => change.is_news = false,
            PinState::Changed(_) => self.state = PinState::Changed(seen),
            PinState::Trusted => self.state = PinState::Changed(seen),
        }
        Observation::Changed(change)
    }

    /// Trusts what was seen last; if a hash is given, only if it is that. `false` if it was trusted
    /// already.
    pub fn trust(&mut self, expected: Option<&PinHash>) -> Result<bool, PinMoved> {
        self.expect(expected)?;
        match std::mem::replace(&mut self.state, PinState::Trusted) {
            PinState::Trusted => Ok(false),
            PinState::Quarantined => Ok(true),
            PinState::Changed(seen) => {
                self.version = seen;
                Ok(true)
            }
        }
    }

    /// Puts what was seen last into quarantine. `false` if it was there already.
    pub fn quarantine(&mut self) -> bool {
        match std::mem::replace(&mut self.state, PinState::Quarantined) {
            PinState::Quarantined => false,
            PinState::Trusted => true,
            PinState::Changed(seen) => {
                self.version = seen;
                true
            }
        }
    }

    fn expect(&self, expected: Option<&PinHash>) -> Result<(), PinMoved> {
        let found = &self.seen().hash;
        match expected {
            Some(expected) if expected != found => Err(PinMoved {
                identity: self.identity.clone(),
                expected: expected.clone(),
                found: found.clone(),
            }),
            _ => Ok(()),
        }
    }

    pub(crate) fn size(&self) -> usize {
        let seen = match &self.state {
            PinState::Changed(seen) => seen.size(),
            PinState::Trusted | PinState::Quarantined => 0,
        };
        self.identity.name.len() + self.version.size() + seen
    }
}
