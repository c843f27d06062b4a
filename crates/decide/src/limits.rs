//! Token buckets of one process. They start full and end with the process.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Instant;

use callgate_call::ToolCall;
use callgate_policy::{Judgement, LimitKey, Policies, SpentLimits};

use crate::clock::now;

/// The buckets of all limits.
#[derive(Debug, Default)]
pub struct Buckets(HashMap<LimitKey, ProcessBucket>);

#[derive(Debug, Clone, Copy)]
struct ProcessBucket {
    tokens: f64,
    at: Instant,
}

/// The maximum number of buckets. A hostile client may name a new session with each request. At
/// this number, buckets that are full again are dropped, which changes nothing because a new bucket
/// is full too. If that is not enough, the family with the most buckets loses the fuller half of
/// them. So a client that creates many buckets loses its own, and a rule that counts by key keeps
/// its one bucket for that key.
const MAX_BUCKETS: usize = 65_536;

impl Buckets {
    /// Judges again with the limits, if the call passes without them. A call that is denied takes
    /// no token.
    pub fn judge(&mut self, policies: &Policies, call: &ToolCall, first: Judgement) -> Judgement {
        if first.limits.is_empty() || !first.verdict.passes() {
            return first;
        }
        let at = Instant::now();
        let facts = SpentLimits::exceeded(self.lacking(&first.limits, at));
        let judgement = policies.judge(call, &now(), &facts);
        if judgement.verdict.passes() {
            for key in &first.limits {
                self.take(key, at);
            }
        }
        judgement
    }

    /// Returns the keys whose bucket has no token. A key that occurs twice needs two tokens.
    pub(crate) fn empty(&mut self, keys: &[LimitKey]) -> Vec<LimitKey> {
        self.lacking(keys, Instant::now())
    }

    /// Takes a token from each bucket.
    pub(crate) fn take_all(&mut self, keys: &[LimitKey]) {
        let at = Instant::now();
        keys.iter().for_each(|key| self.take(key, at));
    }

    fn lacking(&mut self, keys: &[LimitKey], at: Instant) -> Vec<LimitKey> {
        let mut needed: HashMap<&LimitKey, u32> = HashMap::new();
        let mut lacking = Vec::new();
        for key in keys {
            let needed = needed.entry(key).or_default();
            *needed += 1;
            if self.filled(key, at).tokens < f64::from(*needed) {
                lacking.push(key.clone());
            }
        }
        lacking
    }

    fn take(&mut self, key: &LimitKey, at: Instant) {
        let bucket = self.filled(key, at);
        bucket.tokens = (bucket.tokens - 1.0).max(0.0);
    }

    fn filled(&mut self, key: &LimitKey, at: Instant) -> &mut ProcessBucket {
        if self.0.len() >= MAX_BUCKETS && !self.0.contains_key(key) {
            self.make_room(at);
        }
        let full = ProcessBucket { tokens: f64::from(key.rate.burst), at };
        let bucket = self.0.entry(key.clone()).or_insert(full);
        *bucket = bucket.refill(key, at);
        bucket
    }

    fn make_room(&mut self, at: Instant) {
        self.0.retain(|key, bucket| {
            *bucket = bucket.refill(key, at);
            bucket.tokens < f64::from(key.rate.burst)
        });
        if self.0.len() < MAX_BUCKETS {
            return;
        }
        let mut families: HashMap<u64, Vec<f64>> = HashMap::new();
        for (key, bucket) in &self.0 {
            families.entry(family(key)).or_default().push(bucket.tokens);
        }
        let Some((largest, mut levels)) = families.into_iter().max_by_key(|(_, it)| it.len())
        else {
            return;
        };
        let half = levels.len() / 2;
        let (_, middle, _) = levels.select_nth_unstable_by(half, f64::total_cmp);
        let middle = *middle;
        let mut surplus = levels.len().div_ceil(2);
        self.0.retain(|key, bucket| {
            let leaves = surplus > 0 && bucket.tokens >= middle && family(key) == largest;
            surplus -= usize::from(leaves);
            !leaves
        });
    }
}

/// Identifies the buckets of one limit and owner, which all have the same rate.
fn family(key: &LimitKey) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&key.policy, &key.rule, key.rate).hash(&mut hasher);
    key.owner().for_each(|pair| pair.hash(&mut hasher));
    hasher.finish()
}

impl ProcessBucket {
    fn refill(self, key: &LimitKey, at: Instant) -> Self {
        let (burst, rate) = (f64::from(key.rate.burst), key.rate);
        let elapsed = at.saturating_duration_since(self.at).as_secs_f64();
        let gained = elapsed * f64::from(rate.calls) / f64::from(rate.seconds.max(1));
        Self { tokens: (self.tokens + gained).min(burst), at }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use callgate_policy::{LimitBy, Rate};

    use super::*;

    fn key(session: &str) -> LimitKey {
        let rate = Rate { calls: 60, seconds: 60, burst: 2 };
        let bucket = vec![(LimitBy::Session, session.to_owned())];
        LimitKey { policy: "p".to_owned(), rule: "r".to_owned(), bucket, rate }
    }

    impl Buckets {
        fn is_empty(&mut self, key: &LimitKey, at: Instant) -> bool {
            !self.lacking(std::slice::from_ref(key), at).is_empty()
        }
    }

    #[test]
    fn three_tokens_are_not_taken_from_a_bucket_with_two() {
        let (mut buckets, key) = (Buckets::default(), key("s"));
        let keys = |times| vec![key.clone(); times];
        assert_eq!(buckets.empty(&keys(2)), []);
        assert_eq!(buckets.empty(&keys(3)), keys(1));
        buckets.take_all(&keys(2));
        assert_eq!(buckets.empty(&keys(1)), keys(1));
    }

    #[test]
    fn a_bucket_empties_and_fills() {
        let (mut buckets, start, key) = (Buckets::default(), Instant::now(), key("s"));
        for _ in 0..2 {
            assert!(!buckets.is_empty(&key, start));
            buckets.take(&key, start);
        }
        assert!(buckets.is_empty(&key, start));
        assert!(!buckets.is_empty(&key, start + Duration::from_secs(1)));
        buckets.take(&key, start + Duration::from_secs(1));
        assert!(buckets.is_empty(&key, start + Duration::from_millis(1500)));
    }

    #[test]
    fn a_client_with_too_many_buckets_loses_its_own() {
        let (mut buckets, start) = (Buckets::default(), Instant::now());
        let mine = LimitKey { bucket: vec![(LimitBy::Key, "mine".to_owned())], ..key("") };
        let of_hostile = |n: usize| {
            let mut key = key(&n.to_string());
            key.bucket.push((LimitBy::Key, "hostile".to_owned()));
            key
        };
        let last = of_hostile(0);
        for key in [&mine, &mine, &last, &last] {
            buckets.take(key, start);
        }
        for n in 1..3 * MAX_BUCKETS {
            buckets.take(&of_hostile(n), start);
            assert!(buckets.0.len() <= MAX_BUCKETS);
        }
        assert!(buckets.is_empty(&mine, start), "another key's bucket stays as it is");
        assert!(buckets.is_empty(&last, start), "the emptier half stays");
    }

    #[test]
    fn full_buckets_are_forgotten_and_empty_ones_kept() {
        let (mut buckets, start) = (Buckets::default(), Instant::now());
        let empty = key("empty");
        for n in 0..MAX_BUCKETS - 1 {
            buckets.is_empty(&key(&n.to_string()), start);
        }
        buckets.take(&empty, start);
        buckets.take(&empty, start);
        assert!(!buckets.is_empty(&key("one more"), start));
        assert_eq!(buckets.0.len(), 2);
        assert!(buckets.is_empty(&empty, start));
    }
}
