//! Gateway keys: shown once, kept as hashes.

use std::collections::HashMap;
use std::fmt;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use callgate_call::Who;
use jiff::Timestamp;
use parking_lot::RwLock;
use rusqlite::{Row, params};
use sha2::{Digest, Sha256};

use crate::error::StoreError;
use crate::store::{Fault, Store};

/// A gateway key as it is listed: everything but the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyInfo {
    /// Its name.
    pub name: String,
    /// Whom it stands for; `who.key` is the name.
    pub who: Who,
    /// When it was made.
    pub created: Timestamp,
    /// When it was revoked.
    pub revoked: Option<Timestamp>,
}

/// A key that is shown once. It prints masked, so that it does not end up in a log.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The key itself.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// A new key: `cg_` and 43 letters and digits, which are 256 random bits.
    fn random() -> Result<Self, getrandom::Error> {
        const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        let mut text = String::from("cg_");
        while text.len() < 3 + 43 {
            let mut byte = [0];
            getrandom::fill(&mut byte)?;
            // Bytes above the last whole multiple of 62 would make some digits likelier.
            let digit = byte.first().filter(|byte| **byte < 248).map(|byte| usize::from(byte % 62));
            text.extend(digit.and_then(|digit| DIGITS.get(digit)).map(|digit| char::from(*digit)));
        }
        Ok(Self(text))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

type KeyHash = [u8; 32];

/// The keys in force, in memory.
#[derive(Debug, Default)]
pub(crate) struct Keys(RwLock<HashMap<KeyHash, KeyInfo>>);

impl Keys {
    /// The key that was presented, if it is in force.
    pub(crate) fn find(&self, presented: &str) -> Option<KeyInfo> {
        if presented.len() > MAX_PRESENTED {
            return None;
        }
        let hash: KeyHash = Sha256::digest(presented).into();
        let keys = self.0.read();
        let (kept, info) = keys.get_key_value(&hash)?;
        // How a map compares is nobody's promise, so what it found is compared once more.
        verify_slices_are_equal(kept, &hash).ok().map(|()| info.clone())
    }

    /// Takes over the keys as they are in the store.
    pub(crate) fn load(&self, store: &Store) -> Result<(), Fault> {
        let all = rows(store)?;
        let in_force = all.into_iter().filter(|(_, info)| info.revoked.is_none()).collect();
        *self.0.write() = in_force;
        Ok(())
    }
}

/// Makes a key.
pub(crate) fn add(store: &Store, name: &str, who: &Who, now: i64) -> Result<Secret, StoreError> {
    check_name(name)?;
    let secret = Secret::random().map_err(|error| StoreError::Failed(error.to_string()))?;
    let hash: KeyHash = Sha256::digest(&secret.0).into();
    let added = store
        .transaction(|store| {
            store.execute(
                "INSERT INTO keys (name, hash, org, team, user, created) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (name) DO NOTHING",
                params![name, hash, who.org, who.team, who.user, now],
            )
        })
        .map_err(failed)?;
    match added {
        0 => Err(StoreError::NameTaken(name.to_owned())),
        _ => Ok(secret),
    }
}

/// Every key, in the order they were made.
pub(crate) fn list(store: &Store) -> Result<Vec<KeyInfo>, StoreError> {
    let rows = rows(store).map_err(failed)?;
    Ok(rows.into_iter().map(|(_, info)| info).collect())
}

/// Revokes a key that is in force.
pub(crate) fn revoke(store: &Store, name: &str, now: i64) -> Result<bool, StoreError> {
    let changed = store.transaction(|store| {
        store.execute(
            "UPDATE keys SET revoked = ?2 WHERE name = ?1 AND revoked IS NULL",
            params![name, now],
        )
    });
    changed.map(|changed| changed > 0).map_err(failed)
}

fn failed(fault: Fault) -> StoreError {
    StoreError::Failed(fault.why())
}

fn rows(store: &Store) -> Result<Vec<(KeyHash, KeyInfo)>, Fault> {
    let mut query = store.connection().prepare_cached(
        "SELECT hash, name, org, team, user, created, revoked FROM keys ORDER BY created, name",
    )?;
    let rows = query.query_map([], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn read(row: &Row<'_>) -> rusqlite::Result<(KeyHash, KeyInfo)> {
    let time = |micros: i64| Timestamp::from_microsecond(micros).unwrap_or(Timestamp::UNIX_EPOCH);
    let name: String = row.get(1)?;
    let key = Some(name.clone());
    let who = Who { org: row.get(2)?, team: row.get(3)?, user: row.get(4)?, key };
    let revoked = row.get::<_, Option<i64>>(6)?.map(time);
    Ok((row.get(0)?, KeyInfo { name, who, created: time(row.get(5)?), revoked }))
}

/// Names go into records, filters and terminals.
fn check_name(name: &str) -> Result<(), StoreError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        return Err(StoreError::BadName(name.chars().take(80).collect()));
    }
    Ok(())
}

/// A key has 46 characters; what is much longer is none and not worth hashing.
const MAX_PRESENTED: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_long_random_and_masked() {
        let key = Secret::random().unwrap();
        assert_eq!(key.expose().len(), 46);
        assert!(key.expose()[3..].chars().all(|c| c.is_ascii_alphanumeric()));
        assert_ne!(key, Secret::random().unwrap());
        assert!(!format!("{key:?}").contains(&key.expose()[3..]));
    }

    #[test]
    fn names_are_plain() {
        check_name("ci-runner_1.a@b").unwrap();
        for bad in ["", "a b", "a\n", "ü", &"x".repeat(65)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
