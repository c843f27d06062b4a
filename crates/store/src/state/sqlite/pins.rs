//! Pins in SQLite.

use callgate_scan::{redact, redact_json};
use rusqlite::{Row, params};

use crate::database::{Database, Fault};
use crate::state::pins::{BeforePinCommit, PinName, PinStore, PinnedVersion, PutPin, StoredPin};
use crate::state::{BeforeCommit, StateDb};

impl PinStore for StateDb {
    fn pins(&self) -> Result<Vec<StoredPin>, Fault> {
        self.look(|database| Ok(all(database.connection())?))
    }

    fn pins_version(&self) -> Result<u64, Fault> {
        let read = "SELECT pins FROM versions WHERE one = 1";
        let found = self.look(|database| database.one(read, [], |row| row.get::<_, i64>(0)))?;
        Ok(found.unwrap_or(0).unsigned_abs())
    }

    fn put(&self, pins: &[StoredPin], then: BeforePinCommit<'_>) -> Result<Vec<PutPin>, Fault> {
        self.change(|database| put(database, pins, then))
    }

    fn remove(&self, pin: PinName<'_>, then: BeforeCommit<'_, StoredPin>) -> Result<bool, Fault> {
        self.change(|database| remove(database, pin, then))
    }
}

fn remove(
    database: &Database,
    pin: PinName<'_>,
    then: BeforeCommit<'_, StoredPin>,
) -> Result<bool, Fault> {
    let Some(found) = find(database, pin)? else { return Ok(false) };
    database.execute(
        "DELETE FROM pins WHERE server = ?1 AND kind = ?2 AND name = ?3",
        [pin.server, pin.kind, pin.name],
    )?;
    changed(database)?;
    then(found)?;
    Ok(true)
}

fn put(
    database: &Database,
    pins: &[StoredPin],
    then: BeforePinCommit<'_>,
) -> Result<Vec<PutPin>, Fault> {
    let put = pins.iter().map(|pin| put_one(database, pin)).collect::<Result<Vec<_>, Fault>>()?;
    if put.iter().any(|put| matches!(put, PutPin::Stored(_))) {
        changed(database)?;
    }
    then(&put)?;
    Ok(put)
}

fn find(database: &Database, pin: PinName<'_>) -> Result<Option<StoredPin>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM pins WHERE server = ?1 AND kind = ?2 AND name = ?3");
    database.one(&sql, [pin.server, pin.kind, pin.name], read)
}

fn put_one(database: &Database, pin: &StoredPin) -> Result<PutPin, Fault> {
    let name = PinName { server: &pin.server, kind: &pin.kind, name: &pin.name };
    let found = find(database, name)?;
    if found.as_ref().map_or(0, |found| found.revision) != pin.revision {
        return Ok(PutPin::Stale(found.map(Box::new)));
    }
    let revision = pin.revision.saturating_add(1);
    let (pinned, seen) =
        (RedactedVersion::of(&pin.pinned), pin.seen.as_ref().map(RedactedVersion::of));
    let seen = seen.as_ref();
    database.execute(
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
    Ok(PutPin::Stored(revision))
}

/// A version as stored: without secrets.
struct RedactedVersion<'a> {
    version: &'a PinnedVersion,
    launch_shown: String,
    definition: String,
}

impl<'a> RedactedVersion<'a> {
    fn of(version: &'a PinnedVersion) -> Self {
        Self {
            version,
            launch_shown: redact(&version.launch_shown).into_owned(),
            definition: redact_json(&version.definition).into_owned(),
        }
    }
}

fn changed(database: &Database) -> Result<(), Fault> {
    database.execute("UPDATE versions SET pins = pins + 1 WHERE one = 1", []).map(drop)
}

const COLUMNS: &str = "server, kind, name, state, first_seen, last_seen, revision, \
    launch, launch_shown, hash, whole, definition, \
    seen_launch, seen_launch_shown, seen_hash, seen_whole, seen_definition";

pub(super) fn all(connection: &rusqlite::Connection) -> rusqlite::Result<Vec<StoredPin>> {
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
