//! Pins of what MCP servers offer: one set for every process that uses the store.

use callgate_scan::{redact, redact_json};
use rusqlite::{Row, params};

use crate::database::{Database, Fault};
use crate::error::{ReadError, StoreError};
use crate::reader::Reader;
use crate::schema;
use crate::shared::now;
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

impl Glance<'_> {
    /// See [`Store::pins_version`].
    pub fn pins_version(&self) -> Result<u64, StoreError> {
        self.shared.known.pins_version(self.view, || {
            let read = "SELECT pins FROM versions WHERE one = 1";
            let number = |store: &Database| store.one(read, [], |row| row.get::<_, i64>(0));
            let found = self.shared.with_looking(|store| number(store).map_err(failed_store))?;
            Ok(found.unwrap_or(0).unsigned_abs())
        })
    }
}

impl Store {
    /// Every pin, by server, kind and name.
    pub fn pins(&self) -> Result<Vec<StoredPin>, StoreError> {
        self.shared().with_looking(|store| all(store.connection()).map_err(failed))
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
        self.change_pins(|store| put(store, pins))
    }

    /// Keeps one pin.
    pub fn put_pin(&self, pin: &StoredPin) -> Result<PutPin, StoreError> {
        let put = self.put_pins(std::slice::from_ref(pin))?;
        Ok(put.into_iter().next().unwrap_or(PutPin::Stale(None)))
    }

    /// Keeps pins that a person changed, and the records of the changes: what is kept is recorded, in
    /// one transaction.
    pub fn put_pins_recorded(
        &self,
        changes: Vec<(StoredPin, Record)>,
    ) -> Result<Vec<PutPin>, StoreError> {
        changes.iter().try_for_each(|(pin, _)| pin.check())?;
        let (pins, records): (Vec<StoredPin>, Vec<Record>) = changes.into_iter().unzip();
        self.change_pins(|store| {
            let put = put(store, &pins)?;
            let kept = put.iter().zip(records).filter(|(put, _)| matches!(put, PutPin::Kept(_)));
            kept.map(|(_, record)| record).try_for_each(|record| store.append(record, now()))?;
            Ok(put)
        })
    }

    /// Forgets a pin, whatever it is by now. Returns `false` if there is none.
    pub fn remove_pin(&self, server: &str, kind: &str, name: &str) -> Result<bool, StoreError> {
        self.change_pins(|store| remove(store, server, kind, name))
    }

    /// The same for a person, with the record of the change that is made of what was forgotten.
    pub fn remove_pin_recorded(
        &self,
        server: &str,
        kind: &str,
        name: &str,
        record: impl FnOnce(StoredPin) -> Record,
    ) -> Result<bool, StoreError> {
        self.change_pins(|store| {
            let Some(pin) = find(store, server, kind, name)? else { return Ok(false) };
            remove(store, server, kind, name)?;
            store.append(record(pin), now())?;
            Ok(true)
        })
    }

    fn change_pins<T>(
        &self,
        change: impl FnOnce(&Database) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let shared = self.shared();
        let changed = shared.with_appending(|store| store.transaction(change));
        shared.known.pins_changed();
        changed.map_err(failed_store)
    }
}

impl Reader {
    /// Every pin, by server, kind and name. A store that was made before there were any has none.
    pub fn pins(&self) -> Result<Vec<StoredPin>, ReadError> {
        match schema::has_table(self.connection(), "pins")? {
            true => Ok(all(self.connection())?),
            false => Ok(Vec::new()),
        }
    }
}

pub(crate) fn remove(
    store: &Database,
    server: &str,
    kind: &str,
    name: &str,
) -> Result<bool, Fault> {
    let removed = store.execute(
        "DELETE FROM pins WHERE server = ?1 AND kind = ?2 AND name = ?3",
        [server, kind, name],
    )?;
    if removed > 0 {
        changed(store)?;
    }
    Ok(removed > 0)
}

pub(crate) fn put(store: &Database, pins: &[StoredPin]) -> Result<Vec<PutPin>, Fault> {
    let put = pins.iter().map(|pin| put_one(store, pin)).collect::<Result<Vec<_>, Fault>>()?;
    if put.iter().any(|put| matches!(put, PutPin::Kept(_))) {
        changed(store)?;
    }
    Ok(put)
}

fn find(
    store: &Database,
    server: &str,
    kind: &str,
    name: &str,
) -> Result<Option<StoredPin>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM pins WHERE server = ?1 AND kind = ?2 AND name = ?3");
    store.one(&sql, [server, kind, name], read)
}

fn put_one(store: &Database, pin: &StoredPin) -> Result<PutPin, Fault> {
    let found = find(store, &pin.server, &pin.kind, &pin.name)?;
    if found.as_ref().map_or(0, |found| found.revision) != pin.revision {
        return Ok(PutPin::Stale(found.map(Box::new)));
    }
    let revision = pin.revision.saturating_add(1);
    let (pinned, seen) = (Kept::of(&pin.pinned), pin.seen.as_ref().map(Kept::of));
    let seen = seen.as_ref();
    store.execute(
        "INSERT OR REPLACE INTO pins (server, kind, name, state, first_seen, last_seen, revision, \
         launch, launch_shown, hash, whole, definition, seen_launch, seen_launch_shown, seen_hash, \
         seen_whole, seen_definition) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
        params![
            pin.server,
            pin.kind,
            pin.name,
            pin.state,
            pin.first_seen,
            pin.last_seen,
            i64::try_from(revision).unwrap_or(i64::MAX),
            pinned.version.launch,
            pinned.launch_shown,
            pinned.version.hash,
            pinned.version.whole,
            pinned.definition,
            seen.map(|it| &it.version.launch),
            seen.map(|it| &it.launch_shown),
            seen.map(|it| &it.version.hash),
            seen.map(|it| &it.version.whole),
            seen.map(|it| &it.definition),
        ],
    )?;
    Ok(PutPin::Kept(revision))
}

/// A version as it may be written: without secrets.
struct Kept<'a> {
    version: &'a PinnedVersion,
    launch_shown: String,
    definition: String,
}

impl<'a> Kept<'a> {
    fn of(version: &'a PinnedVersion) -> Self {
        Self {
            version,
            launch_shown: redact(&version.launch_shown).into_owned(),
            definition: redact_json(&version.definition).into_owned(),
        }
    }
}

fn changed(store: &Database) -> Result<(), Fault> {
    store.execute("UPDATE versions SET pins = pins + 1 WHERE one = 1", []).map(drop)
}

const COLUMNS: &str = "server, kind, name, state, first_seen, last_seen, revision, \
    launch, launch_shown, hash, whole, definition, \
    seen_launch, seen_launch_shown, seen_hash, seen_whole, seen_definition";

fn all(connection: &rusqlite::Connection) -> rusqlite::Result<Vec<StoredPin>> {
    let sql = format!("SELECT {COLUMNS} FROM pins ORDER BY server, kind, name");
    let mut query = connection.prepare_cached(&sql)?;
    query.query_map([], read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<StoredPin> {
    let version = |from: usize| -> rusqlite::Result<PinnedVersion> {
        Ok(PinnedVersion {
            launch: row.get(from)?,
            launch_shown: row.get(from + 1)?,
            hash: row.get(from + 2)?,
            whole: row.get(from + 3)?,
            definition: row.get(from + 4)?,
        })
    };
    let has_seen = row.get_ref(14)? != rusqlite::types::ValueRef::Null;
    Ok(StoredPin {
        server: row.get(0)?,
        kind: row.get(1)?,
        name: row.get(2)?,
        state: row.get(3)?,
        first_seen: row.get(4)?,
        last_seen: row.get(5)?,
        revision: row.get::<_, i64>(6)?.unsigned_abs(),
        pinned: version(7)?,
        seen: has_seen.then(|| version(12)).transpose()?,
    })
}

fn failed(error: rusqlite::Error) -> StoreError {
    failed_store(Fault::from(error))
}

fn failed_store(fault: Fault) -> StoreError {
    StoreError::Failed(fault.why())
}
