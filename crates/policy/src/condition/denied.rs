//! The condition `denied`: a rule has denied several calls of the session.

use std::collections::HashMap;
use std::time::Duration;

use callgate_document::{Mapping, Problems, integer};
use callgate_json::quote;

use super::{Evidence, KeyDoc, LeafCondition, Scene};
use crate::explain::TestExplanation;
use crate::judgement::{JudgementDetails, Matched};
use crate::terms::within;
use crate::tri::Tri;

/// Denials that a session got from one rule.
#[derive(Debug, Clone)]
pub(crate) struct DeniedCondition {
    times: usize,
    within: Duration,
    written: String,
}

/// How the event of a denial begins; the rule follows.
const DENIED: &str = "denied ";

/// The most denials that a rule can count.
const MAX_TIMES: i64 = 1000;

/// The event of a denial, for later calls. Denials without a rule have none.
pub(crate) fn event_of(denial: &JudgementDetails) -> Option<String> {
    let (policy, rule) = (denial.policy.as_ref()?, denial.rule.as_ref()?);
    Some(format!("{DENIED}{policy}/{rule}"))
}

impl DeniedCondition {
    /// The rule that has denied most often, and how often.
    fn most(&self, scene: &Scene<'_>) -> Option<(String, usize)> {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for past in scene.call.origin.past.iter().filter(|past| past.ago <= self.within) {
            if let Some(rule) = past.what.strip_prefix(DENIED) {
                *counts.entry(rule).or_default() += 1;
            }
        }
        let most = counts.into_iter().max_by_key(|(rule, count)| (*count, *rule))?;
        (most.1 >= self.times).then(|| (most.0.to_owned(), most.1))
    }
}

impl LeafCondition for DeniedCondition {
    const HEADS: &'static [&'static str] = &["denied"];

    const KEYS: &'static [KeyDoc] = &[KeyDoc {
        keys: &["denied"],
        meaning: "`{ times: 3, within: 10m }`: one rule, whichever, has denied at least that many earlier \
                  calls of the same principal and session within that time (up to `24h`)",
    }];

    fn compile(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let node = fields.get("denied")?;
        let inner = Mapping::of(node, "`denied`", problems)?;
        inner.check(&["times", "within"], &[], problems);
        let within = within(&inner, "denied", problems);
        let Some(times) = inner.get("times") else {
            problems.add(node.span, "`denied` needs `times`").hint("write `times: 3`");
            return None;
        };
        let times = integer(times, "`times`", 1..=MAX_TIMES, problems)?;
        let times = usize::try_from(times).ok()?;
        Some(Self { times, within: within?, written: node.to_json() })
    }

    fn evidence(&self) -> Evidence {
        Evidence::History
    }

    fn holds(&self, scene: &Scene<'_>) -> Tri {
        self.most(scene).is_some().into()
    }

    fn matched(&self, scene: &Scene<'_>) -> Option<Matched> {
        let (rule, times) = self.most(scene)?;
        Some(Matched::new("denied", &format!("{rule}, {times} times")))
    }

    fn why_unknown(&self, _: &Scene<'_>) -> Option<String> {
        None
    }

    fn explain(&self, scene: &Scene<'_>) -> TestExplanation {
        let found = self.matched(scene).map(|matched| quote(&matched.value));
        TestExplanation::new("denied", "within", self.written.clone(), found.into_iter())
    }

    fn canonical(&self) -> String {
        format!("denied {} {}", self.times, self.within.as_secs())
    }
}
