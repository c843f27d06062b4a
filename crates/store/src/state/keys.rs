//! Gateway keys: shown once, kept as hashes.

use std::collections::HashMap;
use std::fmt;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use callgate_call::Who;
use jiff::Timestamp;
use parking_lot::{Mutex, RwLock};
use sha2::{Digest, Sha256};

use crate::database::Fault;
use crate::error::StoreError;
use crate::shared::now;
use crate::state::Then;
use crate::store::Store;
use callgate_audit::{Principal, Record};

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

/// What is kept of a secret.
pub(crate) type KeyHash = [u8; 32];

pub(crate) fn hash_of(secret: &str) -> KeyHash {
    Sha256::digest(secret).into()
}

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

/// What a key is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewKey<'a> {
    pub(crate) name: &'a str,
    pub(crate) who: &'a Who,
    pub(crate) expires: Option<Timestamp>,
}

/// Who changes a key, and when: in microseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Changing<'a> {
    pub(crate) by: &'a Principal,
    pub(crate) now: i64,
}

/// Where gateway keys are kept. What changes one gives its record to `tell` before the change holds: so
/// no key is changed without a record. If the change cannot be kept after that, or the process ends in
/// between, there is a record of a change that did not happen.
pub(crate) trait Keys {
    /// Every key with the hash of its secret, in the order they were made.
    fn keys(&self) -> Result<Vec<(KeyHash, KeyInfo)>, Fault>;

    /// Makes a key.
    fn add(
        &self,
        key: &NewKey<'_>,
        hash: &KeyHash,
        changing: Changing<'_>,
        tell: Then<'_, Record>,
    ) -> Result<(), StoreError>;

    /// Gives a key that is not revoked another expiry, another secret, or both.
    fn renew(
        &self,
        name: &str,
        to: (Term, Option<KeyHash>),
        changing: Changing<'_>,
        tell: Then<'_, Record>,
    ) -> Result<KeyInfo, StoreError>;

    /// Revokes a key. `false` if no key of that name is left to revoke.
    fn revoke(
        &self,
        name: &str,
        changing: Changing<'_>,
        tell: Then<'_, Record>,
    ) -> Result<bool, StoreError>;
}

/// The keys that are not revoked, in memory.
#[derive(Debug, Default)]
pub(crate) struct KnownKeys {
    keys: RwLock<HashMap<KeyHash, KeyInfo>>,
    /// Held from reading to knowing, so that what was read earlier is not known later.
    loading: Mutex<()>,
}

impl KnownKeys {
    /// The key that was presented, if it is active at that time.
    pub(crate) fn find(&self, presented: &str, now: Timestamp) -> Result<KeyInfo, KeyRefusal> {
        if presented.len() > MAX_PRESENTED {
            return Err(KeyRefusal::Unknown);
        }
        let hash = hash_of(presented);
        let keys = self.keys.read();
        let (kept, info) = keys.get_key_value(&hash).ok_or(KeyRefusal::Unknown)?;
        // How a map compares is nobody's promise, so what it found is compared once more.
        verify_slices_are_equal(kept, &hash).map_err(|_| KeyRefusal::Unknown)?;
        match info.state(now) {
            KeyState::Active => Ok(info.clone()),
            KeyState::Expired => Err(KeyRefusal::Expired(info.name.clone())),
            KeyState::Revoked => Err(KeyRefusal::Unknown),
        }
    }

    /// Loads the keys. Expired keys stay, so that a caller who sends one is told that it has expired.
    pub(crate) fn load(&self, kept: &dyn Keys) -> Result<(), Fault> {
        let _loading = self.loading.lock();
        let all = kept.keys()?;
        let alive = all.into_iter().filter(|(_, info)| info.revoked.is_none()).collect();
        *self.keys.write() = alive;
        Ok(())
    }
}

impl Store {
    /// Creates a gateway key and records who created it. The key itself is only in the answer; the store
    /// keeps its hash.
    pub fn add_key(
        &self,
        name: &str,
        who: &Who,
        expires: Option<Timestamp>,
        by: &Principal,
    ) -> Result<Secret, StoreError> {
        check_name(name)?;
        let (key, secret) = (NewKey { name, who, expires }, new_secret()?);
        let hash = hash_of(secret.expose());
        self.change_keys(by, |keys, changing, tell| keys.add(&key, &hash, changing, tell))?;
        Ok(secret)
    }

    /// Gives a key another expiry, another secret or both, and records who did so.
    pub fn renew_key(
        &self,
        name: &str,
        term: Term,
        secret: SecretChoice,
        by: &Principal,
    ) -> Result<Renewed, StoreError> {
        let secret = match secret {
            SecretChoice::Keep => None,
            SecretChoice::Replace => Some(new_secret()?),
        };
        let to = (term, secret.as_ref().map(|secret| hash_of(secret.expose())));
        let renew = |keys: &dyn Keys, changing: Changing<'_>, tell: Then<'_, Record>| {
            keys.renew(name, to, changing, tell)
        };
        let key = self.change_keys(by, renew)?;
        Ok(Renewed { key, secret })
    }

    /// Every gateway key, expired and revoked ones too, in the order they were made.
    pub fn list_keys(&self) -> Result<Vec<KeyInfo>, StoreError> {
        let keys = self.shared().state.keys()?;
        Ok(keys.into_iter().map(|(_, info)| info).collect())
    }

    /// Revokes a key, and records who did so. Returns `false` if no key of that name is left to
    /// revoke.
    pub fn revoke_key(&self, name: &str, by: &Principal) -> Result<bool, StoreError> {
        self.change_keys(by, |keys, changing, tell| keys.revoke(name, changing, tell))
    }

    /// The key that was presented, if it is active at that time. Answered from memory: a key that
    /// another process makes, renews or revokes is known about a second later, and an expiry holds
    /// to the moment.
    pub fn find_key(&self, presented: &str, now: Timestamp) -> Result<KeyInfo, KeyRefusal> {
        self.shared().keys.find(presented, now)
    }

    /// Changes keys in the store, then in memory, so that the change holds when this returns.
    fn change_keys<T>(
        &self,
        by: &Principal,
        change: impl FnOnce(&dyn Keys, Changing<'_>, Then<'_, Record>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let shared = self.shared();
        let changed =
            change(&shared.state, Changing { by, now: now() }, &mut |told| shared.record([told]))?;
        shared.keys.load(&shared.state)?;
        Ok(changed)
    }
}

fn new_secret() -> Result<Secret, StoreError> {
    Secret::random().map_err(|error| StoreError::Failed(error.to_string()))
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
