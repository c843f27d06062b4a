//! Where the token buckets of limits are: in this process, or in the store and shared by all
//! processes that use it.

use callgate_policy::{LimitBy, LimitKey, Rate};
use callgate_store::{Bucket, Store};
use parking_lot::MutexGuard;
use sha2::{Digest, Sha256};

use crate::decider::DeciderState;
use crate::limits::Buckets;
use crate::mcp::McpSettings;

/// The buckets that a call is counted in.
#[derive(Debug)]
pub(crate) enum Counter<'a> {
    /// The buckets of this process, locked until the call is decided.
    Own(MutexGuard<'a, Buckets>),
    /// The buckets shared by every process that uses the store.
    Shared(&'a Store),
}

impl<'a> Counter<'a> {
    pub(crate) fn of(inner: &'a DeciderState, settings: &McpSettings) -> Self {
        match settings.shared_limits {
            true => Self::Shared(&inner.audit),
            false => Self::Own(inner.buckets.lock()),
        }
    }

    /// Returns the keys whose bucket has no token. A bucket that cannot be read counts as empty: an
    /// error never helps a call pass.
    pub(crate) fn empty(&mut self, keys: &[LimitKey]) -> Vec<LimitKey> {
        match self {
            Self::Own(buckets) => buckets.empty(keys),
            Self::Shared(audit) => chosen(keys, audit.empty_buckets(&buckets(keys))),
        }
    }

    /// Takes a token from each bucket. If one is empty it takes none, and returns the empty ones.
    pub(crate) fn take(&mut self, keys: &[LimitKey]) -> Vec<LimitKey> {
        match self {
            Self::Own(buckets) => {
                let empty = buckets.empty(keys);
                if empty.is_empty() {
                    buckets.take_all(keys);
                }
                empty
            }
            Self::Shared(audit) => chosen(keys, audit.take_tokens(&buckets(keys))),
        }
    }

    /// If the call passes, takes one token from each bucket that has one. `passes` gets the empty
    /// buckets and returns whether the call passes without them. Another process may take a token
    /// in between; then `passes` is called again.
    pub(crate) fn spend(&mut self, keys: &[LimitKey], mut passes: impl FnMut(&[LimitKey]) -> bool) {
        let mut empty = self.empty(keys);
        while passes(&empty) {
            let full: Vec<LimitKey> =
                keys.iter().filter(|key| !empty.contains(key)).cloned().collect();
            let lost = self.take(&full);
            if lost.is_empty() {
                return;
            }
            empty.extend(lost);
        }
    }
}

fn chosen<E: std::fmt::Display>(keys: &[LimitKey], empty: Result<Vec<usize>, E>) -> Vec<LimitKey> {
    match empty {
        Ok(places) => places.iter().filter_map(|place| keys.get(*place)).cloned().collect(),
        Err(error) => {
            tracing::error!(%error, "limits cannot be read, so calls under a limit are denied");
            keys.to_vec()
        }
    }
}

fn buckets(keys: &[LimitKey]) -> Vec<Bucket> {
    keys.iter().map(bucket).collect()
}

fn bucket(key: &LimitKey) -> Bucket {
    let Rate { calls, seconds, burst } = key.rate;
    let rate = [calls, seconds, burst].map(|number| number.to_string());
    let limit = || [&key.policy, &key.rule].into_iter().chain(&rate).map(String::as_str);
    let family = hash(limit().chain(key.owner().flat_map(words)));
    let bucket = hash(limit().chain(key.bucket.iter().flat_map(words)));
    Bucket { key: Bucket::key(&family, &bucket), burst, calls, seconds }
}

fn words((by, value): &(LimitBy, String)) -> [&str; 2] {
    [by.as_str(), value]
}

/// Hashes each part after its length, so that different parts never produce the same bytes.
fn hash<'a>(parts: impl Iterator<Item = &'a str>) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part.len().to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}
