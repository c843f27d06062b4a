//! Gateway keys: shown once, kept as hashes.

mod edit;

use std::collections::HashMap;
use std::fmt;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use callgate_call::Who;
use jiff::Timestamp;
use parking_lot::RwLock;
use rusqlite::Row;
use sha2::{Digest, Sha256};

use crate::database::{Database, Fault};
use crate::error::StoreError;
pub(crate) use edit::{NewKey, add, renew, revoke};
pub use edit::{Renewed, SecretChoice, Term};

/// A gateway key as it is listed: everything but the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyInfo {
    /// Its name.
    pub name: String,
    /// Whom it stands for; `who.key` is the name.
    pub who: Who,
    /// When it was made.
    pub created: Timestamp,
    /// When it expires; `None` if it does not.
    pub expires: Option<Timestamp>,
    /// When it was revoked.
    pub revoked: Option<Timestamp>,
}

/// Whether a key lets anybody in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// It does.
    Active,
    /// It has expired, and can be renewed.
    Expired,
    /// It was revoked, for good.
    Revoked,
}

impl KeyState {
    /// The word used in lists and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

impl KeyInfo {
    /// Its state at that time.
    pub fn state(&self, now: Timestamp) -> KeyState {
        match (self.revoked, self.expires) {
            (Some(_), _) => KeyState::Revoked,
            (None, Some(expires)) if expires <= now => KeyState::Expired,
            (None, _) => KeyState::Active,
        }
    }
}

/// Why a presented key lets nobody in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyRefusal {
    /// No key is like that, or it was revoked.
    Unknown,
    /// The key of this name has expired.
    Expired(String),
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

/// What is kept of a secret.
pub(crate) fn hash_of(secret: &str) -> KeyHash {
    Sha256::digest(secret).into()
}

/// The keys that are not revoked, in memory.
#[derive(Debug, Default)]
pub(crate) struct Keys(RwLock<HashMap<KeyHash, KeyInfo>>);

impl Keys {
    /// The key that was presented, if it is active at that time.
    pub(crate) fn find(&self, presented: &str, now: Timestamp) -> Result<KeyInfo, KeyRefusal> {
        if presented.len() > MAX_PRESENTED {
            return Err(KeyRefusal::Unknown);
        }
        let hash = hash_of(presented);
        let keys = self.0.read();
        let (kept, info) = keys.get_key_value(&hash).ok_or(KeyRefusal::Unknown)?;
        // How a map compares is nobody's promise, so what it found is compared once more.
        verify_slices_are_equal(kept, &hash).map_err(|_| KeyRefusal::Unknown)?;
        match info.state(now) {
            KeyState::Active => Ok(info.clone()),
            KeyState::Expired => Err(KeyRefusal::Expired(info.name.clone())),
            KeyState::Revoked => Err(KeyRefusal::Unknown),
        }
    }

    /// Loads the keys from the store. Expired keys stay, so that a caller who sends one is told that it
    /// has expired.
    pub(crate) fn load(&self, store: &Database) -> Result<(), Fault> {
        let all = rows(store)?;
        let kept = all.into_iter().filter(|(_, info)| info.revoked.is_none()).collect();
        *self.0.write() = kept;
        Ok(())
    }
}

/// Every key, in the order they were made.
pub(crate) fn list(store: &Database) -> Result<Vec<KeyInfo>, StoreError> {
    let rows = rows(store).map_err(|fault| StoreError::Failed(fault.why()))?;
    Ok(rows.into_iter().map(|(_, info)| info).collect())
}

const COLUMNS: &str = "hash, name, org, team, user, created, revoked, expires";

fn rows(store: &Database) -> Result<Vec<(KeyHash, KeyInfo)>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM keys ORDER BY created, name");
    let mut query = store.connection().prepare_cached(&sql)?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, read(row)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The key of that name, and for how many microseconds it was last given.
fn find_named(store: &Database, name: &str) -> Result<Option<(KeyInfo, Option<i64>)>, Fault> {
    let sql = format!("SELECT {COLUMNS}, term FROM keys WHERE name = ?1");
    store.one(&sql, [name], |row| Ok((read(row)?, row.get(8)?)))
}

fn read(row: &Row<'_>) -> rusqlite::Result<KeyInfo> {
    let name: String = row.get(1)?;
    let key = Some(name.clone());
    Ok(KeyInfo {
        name,
        who: Who { org: row.get(2)?, team: row.get(3)?, user: row.get(4)?, key },
        created: at(row.get(5)?),
        revoked: row.get::<_, Option<i64>>(6)?.map(at),
        expires: row.get::<_, Option<i64>>(7)?.map(at),
    })
}

/// A time in microseconds since 1970.
fn at(micros: i64) -> Timestamp {
    Timestamp::from_microsecond(micros).unwrap_or(Timestamp::UNIX_EPOCH)
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
