//! Gateway keys: shown once, stored as hashes.

use std::collections::HashMap;
use std::fmt;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use callgate_call::Principal;
use jiff::Timestamp;
use parking_lot::{Mutex, RwLock};
use sha2::{Digest, Sha256};

use crate::database::Fault;
use crate::error::StoreError;
use crate::shared::now;
use crate::state::BeforeCommit;
use crate::store::Store;
use callgate_audit::{Record, RecordedPrincipal};

/// A gateway key as listed: everything except the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyInfo {
    /// Its name.
    pub name: String,
    /// The principal it authenticates; `who.key` is the name.
    pub who: Principal,
    /// When it was made.
    pub created: Timestamp,
    /// When it expires; `None` if never.
    pub expires: Option<Timestamp>,
    /// When it was revoked.
    pub revoked: Option<Timestamp>,
}

/// Whether a key grants access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// It grants access.
    Active,
    /// It has expired, and can be renewed.
    Expired,
    /// It was revoked, which is final.
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

/// Why a presented key was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyRefusal {
    /// No such key exists, or it was revoked.
    Unknown,
    /// The key with this name has expired.
    Expired(String),
}

/// A key that is shown once. Its `Debug` output is masked, so that it does not end up in a log.
#[derive(Clone, PartialEq, Eq)]
pub struct KeySecret(String);

impl KeySecret {
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
            // Bytes above the largest multiple of 62 would make some digits likelier.
            let digit = byte.first().filter(|byte| **byte < 248).map(|byte| usize::from(byte % 62));
            text.extend(digit.and_then(|digit| DIGITS.get(digit)).map(|digit| char::from(*digit)));
        }
        Ok(Self(text))
    }
}

impl fmt::Debug for KeySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeySecret(…)")
    }
}

/// The hash of a secret, which is all that is stored of it.
pub(crate) type KeyHash = [u8; 32];

pub(crate) fn hash_of(secret: &str) -> KeyHash {
    Sha256::digest(secret).into()
}

/// How long a renewed key is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyTerm {
    /// For as long as the last time.
    Same,
    /// Until this time.
    Until(Timestamp),
    /// Without end.
    Forever,
}

/// Which secret a renewed key has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretChoice {
    /// The secret that it has.
    Keep,
    /// A new one; the old one is refused from then on.
    Replace,
}

/// A renewed key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenewedKey {
    /// The key as it is now.
    pub key: KeyInfo,
    /// Its new secret, if it has one.
    pub secret: Option<KeySecret>,
}

/// The values of a new key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewKey<'a> {
    pub(crate) name: &'a str,
    pub(crate) who: &'a Principal,
    pub(crate) expires: Option<Timestamp>,
}

/// Who changes a key, and when, in microseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyChange<'a> {
    pub(crate) by: &'a RecordedPrincipal,
    pub(crate) now: i64,
}

/// The store of gateway keys. Each change passes its record to `record_change` before it is committed, so no
/// key is changed without a record. If the commit fails after that, or the process ends in between,
/// there is a record of a change that did not happen.
pub(crate) trait KeyStore {
    /// Every key with the hash of its secret, in order of creation.
    fn keys(&self) -> Result<Vec<(KeyHash, KeyInfo)>, Fault>;

    /// Creates a key.
    fn add(
        &self,
        key: &NewKey<'_>,
        hash: &KeyHash,
        changing: KeyChange<'_>,
        record_change: BeforeCommit<'_, Record>,
    ) -> Result<(), StoreError>;

    /// Gives a key that is not revoked another expiry, another secret, or both.
    fn renew(
        &self,
        name: &str,
        to: (KeyTerm, Option<KeyHash>),
        changing: KeyChange<'_>,
        record_change: BeforeCommit<'_, Record>,
    ) -> Result<KeyInfo, StoreError>;

    /// Revokes a key. Returns `false` if no active key has that name.
    fn revoke(
        &self,
        name: &str,
        changing: KeyChange<'_>,
        record_change: BeforeCommit<'_, Record>,
    ) -> Result<bool, StoreError>;
}

/// The keys that are not revoked, in memory.
#[derive(Debug, Default)]
pub(crate) struct KnownKeys {
    keys: RwLock<HashMap<KeyHash, KeyInfo>>,
    /// Held while reading the keys and storing them in memory, so that an older result never
    /// replaces a newer one.
    loading: Mutex<()>,
}

impl KnownKeys {
    /// The presented key, if it is active at that time.
    pub(crate) fn find(&self, presented: &str, now: Timestamp) -> Result<KeyInfo, KeyRefusal> {
        if presented.len() > MAX_PRESENTED {
            return Err(KeyRefusal::Unknown);
        }
        let hash = hash_of(presented);
        let keys = self.keys.read();
        let (kept, info) = keys.get_key_value(&hash).ok_or(KeyRefusal::Unknown)?;
        // The map's comparison may not take constant time, so compares the hash once more.
        verify_slices_are_equal(kept, &hash).map_err(|_| KeyRefusal::Unknown)?;
        match info.state(now) {
            KeyState::Active => Ok(info.clone()),
            KeyState::Expired => Err(KeyRefusal::Expired(info.name.clone())),
            KeyState::Revoked => Err(KeyRefusal::Unknown),
        }
    }

    /// Loads the keys. Expired keys stay, so that the refusal can say that the key has expired.
    pub(crate) fn load(&self, kept: &dyn KeyStore) -> Result<(), Fault> {
        let _loading = self.loading.lock();
        let all = kept.keys()?;
        let alive = all.into_iter().filter(|(_, info)| info.revoked.is_none()).collect();
        *self.keys.write() = alive;
        Ok(())
    }
}

impl Store {
    /// Creates a gateway key and records who created it. The secret is only in the returned value;
    /// the store keeps its hash.
    pub fn add_key(
        &self,
        name: &str,
        who: &Principal,
        expires: Option<Timestamp>,
        by: &RecordedPrincipal,
    ) -> Result<KeySecret, StoreError> {
        check_name(name)?;
        let (key, secret) = (NewKey { name, who, expires }, new_secret()?);
        let hash = hash_of(secret.expose());
        self.change_keys(by, |keys, changing, record_change| {
            keys.add(&key, &hash, changing, record_change)
        })?;
        Ok(secret)
    }

    /// Gives a key another expiry, another secret or both, and records who did so.
    pub fn renew_key(
        &self,
        name: &str,
        term: KeyTerm,
        secret: SecretChoice,
        by: &RecordedPrincipal,
    ) -> Result<RenewedKey, StoreError> {
        let secret = match secret {
            SecretChoice::Keep => None,
            SecretChoice::Replace => Some(new_secret()?),
        };
        let to = (term, secret.as_ref().map(|secret| hash_of(secret.expose())));
        let renew = |keys: &dyn KeyStore,
                     changing: KeyChange<'_>,
                     record_change: BeforeCommit<'_, Record>| {
            keys.renew(name, to, changing, record_change)
        };
        let key = self.change_keys(by, renew)?;
        Ok(RenewedKey { key, secret })
    }

    /// Every gateway key, including expired and revoked ones, in order of creation.
    pub fn list_keys(&self) -> Result<Vec<KeyInfo>, StoreError> {
        let keys = self.shared().state.keys()?;
        Ok(keys.into_iter().map(|(_, info)| info).collect())
    }

    /// Revokes a key, and records who did so. Returns `false` if no active key has that name.
    pub fn revoke_key(&self, name: &str, by: &RecordedPrincipal) -> Result<bool, StoreError> {
        self.change_keys(by, |keys, changing, record_change| {
            keys.revoke(name, changing, record_change)
        })
    }

    /// The presented key, if it is active at that time. Answered from memory: a key that another
    /// process creates, renews or revokes is noticed about a second later, and an expiry takes
    /// effect at once.
    pub fn find_key(&self, presented: &str, now: Timestamp) -> Result<KeyInfo, KeyRefusal> {
        self.shared().keys.find(presented, now)
    }

    /// Changes keys in the store, then in memory, so that the change is in effect when this
    /// returns.
    fn change_keys<T>(
        &self,
        by: &RecordedPrincipal,
        change: impl FnOnce(
            &dyn KeyStore,
            KeyChange<'_>,
            BeforeCommit<'_, Record>,
        ) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let shared = self.shared();
        let changed =
            change(&shared.state, KeyChange { by, now: now() }, &mut |told| shared.record([told]))?;
        shared.keys.load(&shared.state)?;
        Ok(changed)
    }
}

fn new_secret() -> Result<KeySecret, StoreError> {
    KeySecret::random().map_err(|error| StoreError::Failed(error.to_string()))
}

/// Names are used in records, filters and terminals.
fn check_name(name: &str) -> Result<(), StoreError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        return Err(StoreError::BadName(name.chars().take(80).collect()));
    }
    Ok(())
}

/// A key has 46 characters; anything much longer is not a key and not worth hashing.
const MAX_PRESENTED: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_long_random_and_masked() {
        let key = KeySecret::random().unwrap();
        assert_eq!(key.expose().len(), 46);
        assert!(key.expose()[3..].chars().all(|c| c.is_ascii_alphanumeric()));
        assert_ne!(key, KeySecret::random().unwrap());
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
