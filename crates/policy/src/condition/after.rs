//! The condition `after`: an earlier, allowed call of the session had some effect.

use std::time::Duration;

use callgate_document::{Mapping, Node, Problems, Yaml};
use callgate_json::quote;
use sha2::{Digest, Sha256};

use super::{Condition, Evidence, KeyDoc, LeafCondition, Scene, compile};
use crate::explain::TestExplanation;
use crate::judgement::Matched;
use crate::terms::within;
use crate::tri::Tri;

/// A condition that an earlier call has to fulfil.
#[derive(Debug, Clone)]
pub(crate) struct AfterCondition {
    earlier: Box<Condition>,
    within: Duration,
    /// The name of such an event in the history: the same for the same condition.
    event: String,
    written: String,
}

impl AfterCondition {
    /// The name of such an event.
    pub(crate) fn event(&self) -> &str {
        &self.event
    }

    /// The event that this call is for later calls, if it fulfils the condition.
    pub(crate) fn event_of(&self, scene: &Scene<'_>) -> Option<&str> {
        (self.earlier.holds(scene) == Tri::True).then_some(self.event.as_str())
    }

    fn earlier_call(&self, scene: &Scene<'_>) -> Option<Duration> {
        let fits = scene.call.origin.past.iter().filter(|past| past.what == self.event);
        fits.map(|past| past.ago).filter(|ago| *ago <= self.within).min()
    }
}

impl LeafCondition for AfterCondition {
    const HEADS: &'static [&'static str] = &["after"];

    const KEYS: &'static [KeyDoc] = &[KeyDoc {
        keys: &["after"],
        meaning: "a condition on effects, with `within: 5m`: an earlier, allowed call of the same principal \
                  and session fulfilled it within that time (up to `24h`)",
    }];

    fn compile(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let node = fields.get("after")?;
        let inner = Mapping::of(node, "`after`", problems)?;
        let within = within(&inner, "after", problems);
        let Yaml::Map(entries) = &node.value else { return None };
        let others = entries.iter().filter(|(key, _)| key.name != "within").cloned().collect();
        let earlier = compile(&Node { span: node.span, value: Yaml::Map(others) }, problems)?;
        if !earlier.is_about_effects() {
            problems
                .add(node.span, "`after` needs a condition on effects")
                .hint("write what the earlier call did, like `after: { reads: \"@secrets\", within: 5m }`");
            return None;
        }
        let hash = Sha256::digest(earlier.canonical());
        let event = hash.iter().fold("after ".to_owned(), |text, byte| format!("{text}{byte:02x}"));
        Some(Self { earlier: Box::new(earlier), within: within?, event, written: node.to_json() })
    }

    fn evidence(&self) -> Evidence {
        Evidence::History
    }

    fn holds(&self, scene: &Scene<'_>) -> Tri {
        self.earlier_call(scene).is_some().into()
    }

    fn matched(&self, scene: &Scene<'_>) -> Option<Matched> {
        let ago = self.earlier_call(scene)?;
        Some(Matched::new("after", &format!("an earlier call, {} s ago", ago.as_secs())))
    }

    fn why_unknown(&self, _: &Scene<'_>) -> Option<String> {
        None
    }

    fn explain(&self, scene: &Scene<'_>) -> TestExplanation {
        let found = self.matched(scene).map(|matched| quote(&matched.value));
        TestExplanation::new("after", "within", self.written.clone(), found.into_iter())
    }

    fn canonical(&self) -> String {
        format!("after {} {}", self.within.as_secs(), self.earlier.canonical())
    }
}
