//! Making, renewing and revoking keys. Each change is written together with its record, so that
//! neither exists without the other.

use std::collections::BTreeMap;

use callgate_call::Who;
use jiff::Timestamp;
use rusqlite::params;

use super::{KeyHash, KeyInfo, Secret, at, check_name, find_named, hash_of};
use crate::database::{Database, Fault};
use crate::error::StoreError;
use callgate_audit::{Change, Changed, Kind, Principal, Record};

/// For how long a key is renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Term {
    /// For as long as it was given the last time.
    Same,
    /// Until this time.
    Until(Timestamp),
    /// For good.
    Forever,
}

/// Which secret a renewed key has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretChoice {
    /// The one it had.
    Keep,
    /// A new one; the old one is refused from then on.
    Replace,
}

/// A renewed key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renewed {
    /// The key as it is now.
    pub key: KeyInfo,
    /// Its new secret, if it has one.
    pub secret: Option<Secret>,
}

/// Makes a key. `now` is in microseconds since 1970, here and below.
pub(crate) fn add(
    store: &Database,
    key: &NewKey<'_>,
    by: &Principal,
    now: i64,
) -> Result<Secret, StoreError> {
    check_name(key.name)?;
    let secret = new_secret()?;
    let expires = key.expires.map(Timestamp::as_microsecond);
    let made = store.transaction(|store| {
        let NewKey { name, who, .. } = key;
        let added = store.execute(
            "INSERT INTO keys (name, hash, org, team, user, created, expires, term) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (name) DO NOTHING",
            params![
                name,
                hash_of(secret.expose()),
                who.org,
                who.team,
                who.user,
                now,
                expires,
                expires.map(|expires| expires.saturating_sub(now)),
            ],
        )?;
        if added == 0 {
            return Ok(Err(StoreError::NameTaken((*name).to_owned())));
        }
        let after = find_named(store, name)?.map(|(key, _)| fields(&key, now)).unwrap_or_default();
        store.append(record(by, name, "add", BTreeMap::new(), after), now)?;
        Ok(Ok(()))
    });
    made.map_err(failed)?.map(|()| secret)
}

/// What a key is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewKey<'a> {
    pub(crate) name: &'a str,
    pub(crate) who: &'a Who,
    pub(crate) expires: Option<Timestamp>,
}

/// Gives a key that is not revoked another expiry, another secret, or both.
pub(crate) fn renew(
    store: &Database,
    name: &str,
    (term, choice): (Term, SecretChoice),
    by: &Principal,
    now: i64,
) -> Result<Renewed, StoreError> {
    let secret = match choice {
        SecretChoice::Keep => None,
        SecretChoice::Replace => Some(new_secret()?),
    };
    let renewed = store.transaction(|store| {
        let (key, last_term) = match find_named(store, name)? {
            None => return Ok(Err(StoreError::NoKey(name.to_owned()))),
            Some((key, _)) if key.revoked.is_some() => {
                return Ok(Err(StoreError::KeyRevoked(name.to_owned())));
            }
            Some(found) => found,
        };
        let expires = match (term, last_term) {
            (Term::Until(time), _) => Some(time.as_microsecond()),
            (Term::Same, Some(length)) => Some(now.saturating_add(length)),
            (Term::Same, None) if secret.is_none() => {
                return Ok(Err(StoreError::NeverExpires(name.to_owned())));
            }
            (Term::Same, None) | (Term::Forever, _) => None,
        };
        let hash: Option<KeyHash> = secret.as_ref().map(|secret| hash_of(secret.expose()));
        store.execute(
            "UPDATE keys SET expires = ?2, term = ?3, hash = coalesce(?4, hash) WHERE name = ?1",
            params![name, expires, expires.map(|expires| expires.saturating_sub(now)), hash],
        )?;
        let before = fields(&key, now);
        let key = KeyInfo { expires: expires.map(at), ..key };
        let mut after = fields(&key, now);
        if secret.is_some() {
            after.insert("secret".to_owned(), "new".to_owned());
        }
        store.append(record(by, name, "renew", before, after), now)?;
        Ok(Ok(key))
    });
    let key = renewed.map_err(failed)??;
    Ok(Renewed { key, secret })
}

/// Revokes a key. `false` if no key of that name is left to revoke.
pub(crate) fn revoke(
    store: &Database,
    name: &str,
    by: &Principal,
    now: i64,
) -> Result<bool, StoreError> {
    let revoked = store.transaction(|store| {
        let Some((key, _)) = find_named(store, name)?.filter(|(key, _)| key.revoked.is_none())
        else {
            return Ok(false);
        };
        store.execute("UPDATE keys SET revoked = ?2 WHERE name = ?1", params![name, now])?;
        let before = fields(&key, now);
        let after = fields(&KeyInfo { revoked: Some(at(now)), ..key }, now);
        store.append(record(by, name, "revoke", before, after), now)?;
        Ok(true)
    });
    revoked.map_err(failed)
}

fn new_secret() -> Result<Secret, StoreError> {
    Secret::random().map_err(|error| StoreError::Failed(error.to_string()))
}

/// What a record tells of a key.
fn fields(key: &KeyInfo, now: i64) -> BTreeMap<String, String> {
    let who = &key.who;
    let told = [
        ("org", who.org.clone()),
        ("team", who.team.clone()),
        ("user", who.user.clone()),
        ("expires", Some(key.expires.map_or("never".to_owned(), |time| time.to_string()))),
        ("state", Some(key.state(at(now)).as_str().to_owned())),
    ];
    told.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn record(
    by: &Principal,
    name: &str,
    action: &str,
    before: BTreeMap<String, String>,
    after: BTreeMap<String, String>,
) -> Record {
    let (name, action) = (name.to_owned(), action.to_owned());
    let change = Change { what: Changed::Key, name, action, before, after };
    Record { who: by.clone(), change: Some(change), ..Record::new(Kind::Change) }
}

fn failed(fault: Fault) -> StoreError {
    StoreError::Failed(fault.why())
}
