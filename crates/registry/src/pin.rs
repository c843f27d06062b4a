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
//!      └─┘ another is seen: replaces the one before, which was never trusted
//! ```
//!
//! A reset leads from each state back to unseen.

use std::fmt;

use crate::definition::{Definition, ItemKind, PinHash};
use crate::launch::Launch;

/// Identifies an item of a server. Tools of the same name on two servers are two items.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemIdentity {
    /// The server's name in the configuration, never the name that it gives itself.
    pub server: String,
    /// What kind of item it is.
    pub kind: ItemKind,
    /// Its exact name; empty for instructions.
    pub name: String,
}

impl ItemIdentity {
    /// A tool of a server.
    pub fn tool(server: impl Into<String>, name: impl Into<String>) -> Self {
        Self { server: server.into(), kind: ItemKind::Tool, name: name.into() }
    }

    /// The item that this server defines.
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

/// A definition as a server sent it, and how that server was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// How the server was started or reached.
    pub launch: Launch,
    /// The hash of the pinned part.
    pub hash: PinHash,
    /// The hash of the whole definition.
    pub whole: PinHash,
    /// The pinned part as canonical JSON, to show what changed.
    pub definition: String,
}

impl Version {
    /// This definition, from a server that was started like this.
    pub fn new(launch: &Launch, definition: &Definition) -> Self {
        Self {
            launch: launch.clone(),
            hash: definition.hash().clone(),
            whole: definition.whole().clone(),
            definition: definition.canonical().to_owned(),
        }
    }

    /// Whether a pin of one covers the other: the same definition from a server that was started
    /// the same way.
    pub fn is_same(&self, other: &Self) -> bool {
        self.hash == other.hash && self.is_launched_like(other)
    }

    fn is_launched_like(&self, other: &Self) -> bool {
        self.launch.fingerprint() == other.launch.fingerprint()
    }

    /// Its approximate size in bytes.
    pub(crate) fn size(&self) -> usize {
        self.definition.len() + self.launch.shown().len() + 256
    }
}

/// What is known about an item of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The item.
    pub identity: ItemIdentity,
    /// The pinned version: trusted, or in quarantine.
    pub version: Version,
    /// Its state.
    pub state: PinState,
    /// When it was first seen, in microseconds since 1970.
    pub first_seen: i64,
    /// When it was last seen, to within [`Pin::SEEN_EVERY`].
    pub last_seen: i64,
    /// How often the store has saved it; 0 if never. The store accepts a pin only from a process
    /// that has read its newest revision.
    pub revision: u64,
}

/// The state of a pin, with what belongs to it. An item without a pin is unseen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PinState {
    /// The pinned version may be shown and called.
    Trusted,
    /// This version was seen instead of the pinned one.
    Changed(Version),
    /// A person has to trust it first.
    Quarantined,
}

/// The state of an item: that of its pin, or unseen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PinStatus {
    /// It has no pin.
    Unseen,
    /// It may be shown and called.
    Trusted,
    /// It differs from what was trusted.
    Changed,
    /// It has not been trusted yet.
    Quarantined,
}

impl PinStatus {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Unseen, Self::Trusted, Self::Changed, Self::Quarantined];

    /// The word for it in the store and in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unseen => "unseen",
            Self::Trusted => "trusted",
            Self::Changed => "changed",
            Self::Quarantined => "quarantined",
        }
    }

    /// The state with that word.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

impl fmt::Display for PinStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What happens to an item on first use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstUse {
    /// It is trusted and pinned.
    Trust,
    /// A person has to trust it first.
    Quarantine,
}

/// How a definition that was just seen relates to its pin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observation {
    /// Seen for the first time.
    New,
    /// Same as pinned.
    Same,
    /// The pinned part is the same, but the rest changed. Reported once per change.
    MetadataChanged,
    /// It had changed, and is now back to what was trusted.
    Reverted,
    /// It differs from its pin.
    Changed(PinChange),
}

/// How an item differs from its pin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinChange {
    /// The hash that is pinned.
    pub was: PinHash,
    /// The hash that was seen.
    pub is: PinHash,
    /// Set if the server is started or reached differently: the pinned launch, then the one seen.
    pub launch: Option<(Launch, Launch)>,
    /// Whether this version was not seen before, so that it should be recorded.
    pub is_first_seen: bool,
}

/// An observation, and whether the pin has to be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// The observation.
    pub what: Observation,
    /// The state of the pin now.
    pub state: PinStatus,
    /// Whether the pin changed and has to be saved.
    pub is_dirty: bool,
}

/// An item changed after it was shown to the person who wanted to trust it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{identity}` is no longer {expected}: it has changed to {found}\nhint: review the difference again before you trust it"
)]
pub struct ChangedSinceReview {
    /// The item.
    pub identity: ItemIdentity,
    /// The hash that was to be trusted.
    pub expected: PinHash,
    /// The hash that was seen last.
    pub found: PinHash,
}

impl Pin {
    /// The precision of `last_seen`, in microseconds: one hour. Lists are requested all the time,
    /// and each saved time is a write.
    pub const SEEN_EVERY: i64 = 60 * 60 * 1_000_000;

    /// The pin of an item that is seen for the first time.
    pub fn first(identity: ItemIdentity, version: Version, first: FirstUse, now: i64) -> Self {
        let state = match first {
            FirstUse::Trust => PinState::Trusted,
            FirstUse::Quarantine => PinState::Quarantined,
        };
        Self { identity, version, state, first_seen: now, last_seen: now, revision: 0 }
    }

    /// Its state, without what belongs to it.
    pub fn status(&self) -> PinStatus {
        match self.state {
            PinState::Trusted => PinStatus::Trusted,
            PinState::Changed(_) => PinStatus::Changed,
            PinState::Quarantined => PinStatus::Quarantined,
        }
    }

    /// The version that was seen last.
    pub fn seen(&self) -> &Version {
        match &self.state {
            PinState::Changed(seen) => seen,
            PinState::Trusted | PinState::Quarantined => &self.version,
        }
    }

    /// Compares a version that was seen with the pin, and updates the pin.
    pub fn observe(&mut self, seen: Version, now: i64) -> Observed {
        let before = (self.status(), self.last_seen);
        if now.saturating_sub(self.last_seen) >= Self::SEEN_EVERY {
            self.last_seen = now;
        }
        let what = match self.version.is_same(&seen) {
            true => self.observe_same(seen),
            false => self.observe_other(seen),
        };
        let is_first_seen = match &what {
            Observation::New | Observation::MetadataChanged | Observation::Reverted => true,
            Observation::Same => false,
            Observation::Changed(change) => change.is_first_seen,
        };
        let is_dirty = is_first_seen || before != (self.status(), self.last_seen);
        Observed { what, state: self.status(), is_dirty }
    }

    fn observe_same(&mut self, seen: Version) -> Observation {
        let moved = self.version.whole != seen.whole;
        self.version.whole = seen.whole;
        match self.state {
            PinState::Changed(_) => {
                self.state = PinState::Trusted;
                Observation::Reverted
            }
            _ if moved => Observation::MetadataChanged,
            _ => Observation::Same,
        }
    }

    fn observe_other(&mut self, seen: Version) -> Observation {
        let mut change = PinChange {
            was: self.version.hash.clone(),
            is: seen.hash.clone(),
            launch: (!self.version.is_launched_like(&seen))
                .then(|| (self.version.launch.clone(), seen.launch.clone())),
            is_first_seen: true,
        };
        match &self.state {
            PinState::Quarantined => self.version = seen,
            PinState::Changed(before) if before.is_same(&seen) => change.is_first_seen = false,
            PinState::Changed(_) => self.state = PinState::Changed(seen),
            PinState::Trusted => self.state = PinState::Changed(seen),
        }
        Observation::Changed(change)
    }

    /// Trusts the version that was seen last; if a hash is given, only if it is the same. Returns
    /// `false` if it was trusted already.
    pub fn trust(&mut self, expected: Option<&PinHash>) -> Result<bool, ChangedSinceReview> {
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

    /// Puts the version that was seen last into quarantine. Returns `false` if it was there
    /// already.
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

    fn expect(&self, expected: Option<&PinHash>) -> Result<(), ChangedSinceReview> {
        let found = &self.seen().hash;
        match expected {
            Some(expected) if expected != found => Err(ChangedSinceReview {
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
