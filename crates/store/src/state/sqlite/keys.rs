//! Gateway keys in SQLite.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::{Row, params};

use callgate_audit::{ChangeTarget, Record, RecordKind, RecordedChange, RecordedPrincipal};
use callgate_call::Principal;

use crate::database::{Database, Fault};
use crate::error::StoreError;
use crate::state::keys::{KeyChange, KeyHash, KeyInfo, KeyStore, KeyTerm, NewKey};
use crate::state::{BeforeCommit, StateDb};

impl KeyStore for StateDb {
    fn keys(&self) -> Result<Vec<(KeyHash, KeyInfo)>, Fault> {
        self.look(rows)
    }

    fn add(
        &self,
        key: &NewKey<'_>,
        hash: &KeyHash,
        changing: KeyChange<'_>,
        record_change: BeforeCommit<'_, Record>,
    ) -> Result<(), StoreError> {
        self.change(|database| add(database, key, hash, changing, record_change))?
    }

    fn renew(
        &self,
        name: &str,
        to: (KeyTerm, Option<KeyHash>),
        changing: KeyChange<'_>,
        record_change: BeforeCommit<'_, Record>,
    ) -> Result<KeyInfo, StoreError> {
        self.change(|database| renew(database, name, to, changing, record_change))?
    }

    fn revoke(
        &self,
        name: &str,
        changing: KeyChange<'_>,
        record_change: BeforeCommit<'_, Record>,
    ) -> Result<bool, StoreError> {
        Ok(self.change(|database| revoke(database, name, changing, record_change))?)
    }
}

/// A refusal is not a fault of the store, so it is part of the inner result.
type Refusable<T> = Result<Result<T, StoreError>, Fault>;

fn add(
    database: &Database,
    key: &NewKey<'_>,
    hash: &KeyHash,
    KeyChange { by, now }: KeyChange<'_>,
    record_change: BeforeCommit<'_, Record>,
) -> Refusable<()> {
    let NewKey { name, who, expires } = key;
    let expires = expires.map(Timestamp::as_microsecond);
    let added = database.execute(
        "INSERT INTO keys (name, hash, org, team, user, created, expires, term) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (name) DO NOTHING",
        params![name, hash, who.org, who.team, who.user, now, expires, term(expires, now)],
    )?;
    if added == 0 {
        return Ok(Err(StoreError::NameTaken((*name).to_owned())));
    }
    let after = find_named(database, name)?.map(|(key, _)| fields(&key, now)).unwrap_or_default();
    record_change(record(by, name, "add", BTreeMap::new(), after))?;
    Ok(Ok(()))
}

fn renew(
    database: &Database,
    name: &str,
    (to, hash): (KeyTerm, Option<KeyHash>),
    KeyChange { by, now }: KeyChange<'_>,
    record_change: BeforeCommit<'_, Record>,
) -> Refusable<KeyInfo> {
    let (key, last_term) = match find_named(database, name)? {
        None => return Ok(Err(StoreError::NoKey(name.to_owned()))),
        Some((key, _)) if key.revoked.is_some() => {
            return Ok(Err(StoreError::KeyRevoked(name.to_owned())));
        }
        Some(found) => found,
    };
    let expires = match (to, last_term) {
        (KeyTerm::Until(time), _) => Some(time.as_microsecond()),
        (KeyTerm::Same, Some(length)) => Some(now.saturating_add(length)),
        (KeyTerm::Same, None) if hash.is_none() => {
            return Ok(Err(StoreError::NeverExpires(name.to_owned())));
        }
        (KeyTerm::Same, None) | (KeyTerm::Forever, _) => None,
    };
    database.execute(
        "UPDATE keys SET expires = ?2, term = ?3, hash = coalesce(?4, hash) WHERE name = ?1",
        params![name, expires, term(expires, now), hash],
    )?;
    let before = fields(&key, now);
    let key = KeyInfo { expires: expires.map(at), ..key };
    let mut after = fields(&key, now);
    if hash.is_some() {
        after.insert("secret".to_owned(), "new".to_owned());
    }
    record_change(record(by, name, "renew", before, after))?;
    Ok(Ok(key))
}

fn revoke(
    database: &Database,
    name: &str,
    KeyChange { by, now }: KeyChange<'_>,
    record_change: BeforeCommit<'_, Record>,
) -> Result<bool, Fault> {
    let found = find_named(database, name)?.filter(|(key, _)| key.revoked.is_none());
    let Some((key, _)) = found else { return Ok(false) };
    database.execute("UPDATE keys SET revoked = ?2 WHERE name = ?1", params![name, now])?;
    let before = fields(&key, now);
    let after = fields(&KeyInfo { revoked: Some(at(now)), ..key }, now);
    record_change(record(by, name, "revoke", before, after))?;
    Ok(true)
}

/// How many microseconds a key is valid.
fn term(expires: Option<i64>, now: i64) -> Option<i64> {
    expires.map(|expires| expires.saturating_sub(now))
}

/// The fields of a key in a record.
fn fields(key: &KeyInfo, now: i64) -> BTreeMap<String, String> {
    let who = &key.who;
    let fields = [
        ("org", who.org.clone()),
        ("team", who.team.clone()),
        ("user", who.user.clone()),
        ("expires", Some(key.expires.map_or("never".to_owned(), |time| time.to_string()))),
        ("state", Some(key.state(at(now)).as_str().to_owned())),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn record(
    by: &RecordedPrincipal,
    name: &str,
    action: &str,
    before: BTreeMap<String, String>,
    after: BTreeMap<String, String>,
) -> Record {
    let (name, action) = (name.to_owned(), action.to_owned());
    let change = RecordedChange { what: ChangeTarget::Key, name, action, before, after };
    Record { who: by.clone(), change: Some(change), ..Record::new(RecordKind::Change) }
}

const COLUMNS: &str = "hash, name, org, team, user, created, revoked, expires";

fn rows(database: &Database) -> Result<Vec<(KeyHash, KeyInfo)>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM keys ORDER BY created, name");
    let mut query = database.connection().prepare_cached(&sql)?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, read(row)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The key with that name, and how many microseconds it was last valid for.
fn find_named(database: &Database, name: &str) -> Result<Option<(KeyInfo, Option<i64>)>, Fault> {
    let sql = format!("SELECT {COLUMNS}, term FROM keys WHERE name = ?1");
    database.one(&sql, [name], |row| Ok((read(row)?, row.get(8)?)))
}

fn read(row: &Row<'_>) -> rusqlite::Result<KeyInfo> {
    let name: String = row.get(1)?;
    let key = Some(name.clone());
    Ok(KeyInfo {
        name,
        who: Principal { org: row.get(2)?, team: row.get(3)?, user: row.get(4)?, key },
        created: at(row.get(5)?),
        revoked: row.get::<_, Option<i64>>(6)?.map(at),
        expires: row.get::<_, Option<i64>>(7)?.map(at),
    })
}

/// A time in microseconds since 1970.
fn at(micros: i64) -> Timestamp {
    Timestamp::from_microsecond(micros).unwrap_or(Timestamp::UNIX_EPOCH)
}
