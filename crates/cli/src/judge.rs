//! Policies and a call in, an answer out. `filter` and `check` share it.

use std::collections::HashMap;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use callgate_call::ToolCall;
use callgate_gate::Answer;
use callgate_policy::{
    Denial, Judgement, LimitFacts, LimitKey, Moment, NameJudgement, Policies, RuleExplanation,
    Weekday,
};

/// The policies of this run, and the buckets of their limits.
#[derive(Debug)]
pub(crate) struct Judge {
    policies: Policies,
    buckets: Buckets,
}

impl Judge {
    pub(crate) fn new(policies: Policies) -> Self {
        Self { policies, buckets: Buckets::default() }
    }

    /// Judges by name alone. A call that a limit counts is asked about again, whole: it must be
    /// counted once.
    pub(crate) fn name(&self, call: &ToolCall) -> NameJudgement {
        match self.policies.judge_name(call, &now(), &LimitFacts::unasked()) {
            NameJudgement::Allow(_, judgement) if !judgement.limits.is_empty() => {
                NameJudgement::NeedArguments
            }
            other => other,
        }
    }

    /// Judges a whole call, counts it, and answers.
    pub(crate) fn whole(&mut self, call: &ToolCall) -> (Answer, Judgement) {
        let judgement = self.counted(call);
        let answer = match (judgement.permit(call), judgement.denial(call)) {
            (Some(permit), _) => Answer::Allow(permit),
            (None, Some(denial)) => Answer::Deny(denial),
            (None, None) => {
                let tool = call.name.raw();
                Answer::Deny(Denial::refused(tool, "the policies gave no permit for it"))
            }
        };
        (answer, judgement)
    }

    /// Judges a whole call and counts nothing.
    pub(crate) fn dry(&self, call: &ToolCall) -> Judgement {
        self.policies.judge(call, &now(), &LimitFacts::unasked())
    }

    /// The same, with what every rule has to say about it.
    pub(crate) fn explained(&self, call: &ToolCall) -> (Judgement, Vec<RuleExplanation>) {
        let (now, limits) = (now(), LimitFacts::unasked());
        let judgement = self.policies.judge(call, &now, &limits);
        (judgement, self.policies.explain(call, &now, &limits))
    }

    /// Judges once without limits; if the call would pass, looks into its buckets and judges once
    /// more. A call that is denied after all takes no token.
    fn counted(&mut self, call: &ToolCall) -> Judgement {
        let first = self.dry(call);
        if first.limits.is_empty() || !first.verdict.passes() {
            return first;
        }
        let at = Instant::now();
        let exceeded = first.limits.iter().filter(|key| self.buckets.is_empty(key, at)).cloned();
        let facts = LimitFacts::exceeded(exceeded);
        let judgement = self.policies.judge(call, &now(), &facts);
        if judgement.verdict.passes() {
            for key in &first.limits {
                self.buckets.take(key, at);
            }
        }
        judgement
    }
}

/// Token buckets of one process. They begin full and are forgotten at its end.
#[derive(Debug, Default)]
struct Buckets(HashMap<LimitKey, Bucket>);

#[derive(Debug, Clone, Copy)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl Buckets {
    fn is_empty(&mut self, key: &LimitKey, at: Instant) -> bool {
        self.filled(key, at).tokens < 1.0
    }

    fn take(&mut self, key: &LimitKey, at: Instant) {
        let bucket = self.filled(key, at);
        bucket.tokens = (bucket.tokens - 1.0).max(0.0);
    }

    fn filled(&mut self, key: &LimitKey, at: Instant) -> &mut Bucket {
        let (burst, rate) = (f64::from(key.rate.burst), key.rate);
        let full = Bucket { tokens: burst, at };
        let bucket = self.0.entry(key.clone()).or_insert(full);
        let elapsed = at.saturating_duration_since(bucket.at).as_secs_f64();
        let gained = elapsed * f64::from(rate.calls) / f64::from(rate.seconds.max(1));
        *bucket = Bucket { tokens: (bucket.tokens + gained).min(burst), at };
        bucket
    }
}

/// The present moment, in UTC: the standard library knows no time zones, and rules that mean
/// another one can say so in UTC hours.
fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    moment(since.as_secs())
}

fn moment(unix_seconds: u64) -> Moment {
    let hour = u8::try_from(unix_seconds / 3600 % 24).unwrap_or(0);
    // The epoch was a Thursday, the fourth day from Monday.
    let day = usize::try_from((unix_seconds / 86_400 + 3) % 7).unwrap_or(0);
    let weekday = Weekday::ALL.get(day).copied().unwrap_or(Weekday::Monday);
    Moment { hour, weekday }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use callgate_policy::Rate;

    use super::*;

    #[test]
    fn moments_are_utc() {
        let at = |seconds, hour, weekday| {
            assert_eq!(moment(seconds), Moment { hour, weekday });
        };
        at(0, 0, Weekday::Thursday);
        at(1_700_000_000, 22, Weekday::Tuesday);
        at(1_709_209_800, 12, Weekday::Thursday);
        at(4 * 86_400 - 1, 23, Weekday::Sunday);
    }

    #[test]
    fn a_bucket_empties_and_fills() {
        let rate = Rate { calls: 60, seconds: 60, burst: 2 };
        let (policy, rule) = ("p".to_owned(), "r".to_owned());
        let key = LimitKey { policy, rule, bucket: Vec::new(), rate };
        let (mut buckets, start) = (Buckets::default(), Instant::now());
        for _ in 0..2 {
            assert!(!buckets.is_empty(&key, start));
            buckets.take(&key, start);
        }
        assert!(buckets.is_empty(&key, start));
        assert!(!buckets.is_empty(&key, start + Duration::from_secs(1)));
        buckets.take(&key, start + Duration::from_secs(1));
        assert!(buckets.is_empty(&key, start + Duration::from_millis(1500)));
    }
}
