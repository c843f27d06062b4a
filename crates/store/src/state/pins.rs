//! Pins of what MCP servers offer: one set for every process that uses the store.

use crate::database::Fault;
use crate::error::StoreError;
use crate::state::Then;
use crate::store::{Glance, Store};
use callgate_audit::Record;

/// A pin as it is kept. What its words mean is for whoever pins to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPin {
    /// The server, by its name in the configuration.
    pub server: String,
    /// What is pinned: a tool, a prompt, instructions.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Where the pin stands.
    pub state: String,
    /// What is pinned.
    pub pinned: PinnedVersion,
    /// What was seen instead.
    pub seen: Option<PinnedVersion>,
    /// When it was first seen, in microseconds since 1970.
    pub first_seen: i64,
    /// When it was last seen.
    pub last_seen: i64,
    /// How often it was kept; 0 for one that never was. See [`Store::put_pins`].
    pub revision: u64,
}

/// A definition, and how its server was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinnedVersion {
    /// The fingerprint of how the server was started or reached.
    pub launch: String,
    /// The same for people.
    pub launch_shown: String,
    /// The hash of what is pinned.
    pub hash: String,
    /// The hash of the whole definition.
    pub whole: String,
    /// The definition, to show what changed. Secrets in it are redacted when it is kept.
    pub definition: String,
}

impl StoredPin {
    /// The longest definition that is kept, in bytes.
    pub const MAX_DEFINITION: usize = 512 * 1024;
    /// The longest of all other texts.
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

/// What became of a pin that was to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PutPin {
    /// It is kept, with this revision.
    Kept(u64),
    /// Somebody else was faster. This is what is kept now; `None` if it was removed.
    Stale(Option<Box<StoredPin>>),
}

/// Which pin is meant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PinName<'a> {
    pub(crate) server: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) name: &'a str,
}

/// See [`Then`]: it is given what becomes of each pin.
pub(crate) type ThenPut<'a> = &'a mut dyn FnMut(&[PutPin]) -> Result<(), Fault>;

/// Where pins are kept. `then` runs before a change holds; if it fails, nothing is changed. What it
/// records is on record also if the change cannot be kept after that.
pub(crate) trait Pins {
    /// Every pin, by server, kind and name.
    fn pins(&self) -> Result<Vec<StoredPin>, Fault>;

    /// A number that is another one after each change of any pin.
    fn pins_version(&self) -> Result<u64, Fault>;

    /// Keeps pins, all at once, each only if it still has the revision that is told. `then` is given what
    /// became of each.
    fn put(&self, pins: &[StoredPin], then: ThenPut<'_>) -> Result<Vec<PutPin>, Fault>;

    /// Forgets a pin, whatever it is by now. `then` is given what is forgotten. `false` if there is none.
    fn remove(&self, pin: PinName<'_>, then: Then<'_, StoredPin>) -> Result<bool, Fault>;
}

impl Glance<'_> {
    /// See [`Store::pins_version`].
    pub fn pins_version(&self) -> Result<u64, StoreError> {
        Ok(self.shared.known.pins_version(self.view, || self.shared.state.pins_version())?)
    }
}

impl Store {
    /// Every pin, by server, kind and name.
    pub fn pins(&self) -> Result<Vec<StoredPin>, StoreError> {
        Ok(self.shared().state.pins()?)
    }

    /// A number that is another one after each change of any pin, by any process: cheap enough to
    /// ask before every call.
    pub fn pins_version(&self) -> Result<u64, StoreError> {
        self.glance().pins_version()
    }

    /// Keeps pins, all in one transaction. Each is kept only if nobody else has changed it since it
    /// had this revision, so that two processes that see a new tool at once agree on one.
    pub fn put_pins(&self, pins: &[StoredPin]) -> Result<Vec<PutPin>, StoreError> {
        pins.iter().try_for_each(StoredPin::check)?;
        self.change_pins(|kept| kept.put(pins, &mut |_| Ok(())))
    }

    /// Keeps one pin.
    pub fn put_pin(&self, pin: &StoredPin) -> Result<PutPin, StoreError> {
        let put = self.put_pins(std::slice::from_ref(pin))?;
        Ok(put.into_iter().next().unwrap_or(PutPin::Stale(None)))
    }

    /// Keeps pins that a person changed, and the records of the changes: what is kept is on record. If
    /// the pins cannot be kept after all, or the process ends in between, the records tell of a change
    /// that did not happen.
    pub fn put_pins_recorded(
        &self,
        changes: Vec<(StoredPin, Record)>,
    ) -> Result<Vec<PutPin>, StoreError> {
        changes.iter().try_for_each(|(pin, _)| pin.check())?;
        let (pins, records): (Vec<StoredPin>, Vec<Record>) = changes.into_iter().unzip();
        let mut record = |put: &[PutPin]| {
            let kept = put.iter().zip(&records).filter(|(put, _)| matches!(put, PutPin::Kept(_)));
            self.shared().record(kept.map(|(_, record)| record.clone()))
        };
        self.change_pins(|kept| kept.put(&pins, &mut record))
    }

    /// Forgets a pin, whatever it is by now. Returns `false` if there is none.
    pub fn remove_pin(&self, server: &str, kind: &str, name: &str) -> Result<bool, StoreError> {
        self.change_pins(|kept| kept.remove(PinName { server, kind, name }, &mut |_| Ok(())))
    }

    /// The same for a person, with the record of the change that is made of what was forgotten. It is
    /// recorded first: see [`put_pins_recorded`](Self::put_pins_recorded).
    pub fn remove_pin_recorded(
        &self,
        server: &str,
        kind: &str,
        name: &str,
        record: impl FnOnce(StoredPin) -> Record,
    ) -> Result<bool, StoreError> {
        // A pin is forgotten once, so what tells of it is asked once.
        let mut record = Some(record);
        let mut tell = |pin: StoredPin| match record.take() {
            Some(record) => self.shared().record([record(pin)]),
            None => Ok(()),
        };
        self.change_pins(|kept| kept.remove(PinName { server, kind, name }, &mut tell))
    }

    fn change_pins<T>(
        &self,
        change: impl FnOnce(&dyn Pins) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let shared = self.shared();
        let changed = change(&shared.state);
        shared.known.pins_changed();
        Ok(changed?)
    }
}
