//! Pinned definitions of MCP servers, shared by every process that uses the store.

use crate::database::Fault;
use crate::error::StoreError;
use crate::state::BeforeCommit;
use crate::store::{Glance, Store};
use callgate_audit::Record;

/// A pin as stored. The store does not interpret its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPin {
    /// The server, by its name in the configuration.
    pub server: String,
    /// What is pinned: a tool, a prompt or instructions.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The state of the pin.
    pub state: String,
    /// The pinned version.
    pub pinned: PinnedVersion,
    /// A different version that was seen since.
    pub seen: Option<PinnedVersion>,
    /// When it was first seen, in microseconds since 1970.
    pub first_seen: i64,
    /// When it was last seen.
    pub last_seen: i64,
    /// How often it was stored; 0 for a new pin. See [`Store::put_pins`].
    pub revision: u64,
}

/// A definition, and how its server was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinnedVersion {
    /// The fingerprint of the command or URL of the server.
    pub launch: String,
    /// The command or URL, as displayed.
    pub launch_shown: String,
    /// The hash of the pinned part.
    pub hash: String,
    /// The hash of the whole definition.
    pub whole: String,
    /// The definition, to show what changed. Secrets in it are redacted before it is stored.
    pub definition: String,
}

impl StoredPin {
    /// The longest definition that is stored, in bytes.
    pub const MAX_DEFINITION: usize = 512 * 1024;
    /// The longest other text, in bytes.
    pub const MAX_WORD: usize = 4096;

    fn check(&self) -> Result<(), StoreError> {
        let versions = [Some(&self.pinned), self.seen.as_ref()];
        let versions = versions.into_iter().flatten();
        let long = versions.clone().any(|it| it.definition.len() > Self::MAX_DEFINITION);
        let of_versions =
            versions.flat_map(|it| [&it.launch, &it.launch_shown, &it.hash, &it.whole]);
        let words = [&self.server, &self.kind, &self.name, &self.state];
        let long_word = words.into_iter().chain(of_versions).any(|it| it.len() > Self::MAX_WORD);
        match long || long_word {
            true => Err(StoreError::PinTooLarge(self.name.chars().take(80).collect())),
            false => Ok(()),
        }
    }
}

/// The result of storing a pin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PutPin {
    /// It is stored, with this revision.
    Stored(u64),
    /// Another process has changed it first. This is the stored pin; `None` if it was removed.
    Stale(Option<Box<StoredPin>>),
}

/// Identifies a pin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PinName<'a> {
    pub(crate) server: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) name: &'a str,
}

/// See [`BeforeCommit`]: it gets the result for each pin.
pub(crate) type BeforePinCommit<'a> = &'a mut dyn FnMut(&[PutPin]) -> Result<(), Fault>;

/// The store of pins. `then` runs before a change is committed; if it fails, nothing is changed.
/// What it recorded stays recorded even if the commit fails after that.
pub(crate) trait PinStore {
    /// Every pin, by server, kind and name.
    fn pins(&self) -> Result<Vec<StoredPin>, Fault>;

    /// A number that changes with each change of any pin.
    fn pins_version(&self) -> Result<u64, Fault>;

    /// Stores pins in one transaction, each only if it still has the given revision. `then` gets
    /// the result for each.
    fn put(&self, pins: &[StoredPin], then: BeforePinCommit<'_>) -> Result<Vec<PutPin>, Fault>;

    /// Removes a pin in whatever state it is. `then` gets the removed pin. Returns `false` if it
    /// does not exist.
    fn remove(&self, pin: PinName<'_>, then: BeforeCommit<'_, StoredPin>) -> Result<bool, Fault>;
}

impl Glance<'_> {
    /// See [`Store::pins_version`].
    pub fn pins_version(&self) -> Result<u64, StoreError> {
        Ok(self.shared.cache.pins_version(self.view, || self.shared.state.pins_version())?)
    }
}

impl Store {
    /// Every pin, by server, kind and name.
    pub fn pins(&self) -> Result<Vec<StoredPin>, StoreError> {
        Ok(self.shared().state.pins()?)
    }

    /// A number that changes with each change of any pin, by any process: cheap enough to ask for
    /// before every call.
    pub fn pins_version(&self) -> Result<u64, StoreError> {
        self.glance().pins_version()
    }

    /// Stores pins in one transaction. Each is stored only if it has not been changed since the
    /// given revision, so that two processes that see a new tool at once agree on one pin.
    pub fn put_pins(&self, pins: &[StoredPin]) -> Result<Vec<PutPin>, StoreError> {
        pins.iter().try_for_each(StoredPin::check)?;
        self.change_pins(|kept| kept.put(pins, &mut |_| Ok(())))
    }

    /// Stores one pin.
    pub fn put_pin(&self, pin: &StoredPin) -> Result<PutPin, StoreError> {
        let put = self.put_pins(std::slice::from_ref(pin))?;
        Ok(put.into_iter().next().unwrap_or(PutPin::Stale(None)))
    }

    /// Stores pins that a person changed, and the records of the changes, which are written first.
    /// If the commit fails after that, or the process ends in between, there are records of a
    /// change that did not happen.
    pub fn put_pins_recorded(
        &self,
        changes: Vec<(StoredPin, Record)>,
    ) -> Result<Vec<PutPin>, StoreError> {
        changes.iter().try_for_each(|(pin, _)| pin.check())?;
        let (pins, records): (Vec<StoredPin>, Vec<Record>) = changes.into_iter().unzip();
        let mut record = |put: &[PutPin]| {
            let kept = put.iter().zip(&records).filter(|(put, _)| matches!(put, PutPin::Stored(_)));
            self.shared().record(kept.map(|(_, record)| record.clone()))
        };
        self.change_pins(|kept| kept.put(&pins, &mut record))
    }

    /// Removes a pin in whatever state it is. Returns `false` if it does not exist.
    pub fn remove_pin(&self, server: &str, kind: &str, name: &str) -> Result<bool, StoreError> {
        self.change_pins(|kept| kept.remove(PinName { server, kind, name }, &mut |_| Ok(())))
    }

    /// Like [`Self::remove_pin`], for a change by a person, with a record made from the removed
    /// pin. It is recorded first: see [`put_pins_recorded`](Self::put_pins_recorded).
    pub fn remove_pin_recorded(
        &self,
        server: &str,
        kind: &str,
        name: &str,
        record: impl FnOnce(StoredPin) -> Record,
    ) -> Result<bool, StoreError> {
        // A pin is removed once, so the closure runs once.
        let mut record = Some(record);
        let mut record_change = |pin: StoredPin| match record.take() {
            Some(record) => self.shared().record([record(pin)]),
            None => Ok(()),
        };
        self.change_pins(|kept| kept.remove(PinName { server, kind, name }, &mut record_change))
    }

    fn change_pins<T>(
        &self,
        change: impl FnOnce(&dyn PinStore) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let shared = self.shared();
        let changed = change(&shared.state);
        shared.cache.pins_changed();
        Ok(changed?)
    }
}
