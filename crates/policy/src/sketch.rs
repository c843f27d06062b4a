//! Hashes of policies: a digest of a whole set, and what changed from one set to the next.

use std::collections::BTreeMap;

use callgate_call::Surface;
use callgate_document::Mapping;
use callgate_effects::Entry;
use sha2::{Digest, Sha256};

use crate::policies::Policies;
use crate::policy::Policy;
use crate::rule::{Rule, RuleRole};
use crate::text::{TextAction, TextRule};
use crate::verdict::Verdict;

type SketchHash = [u8; 32];

/// Two hashes of a rule as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RuleSketch {
    whole: SketchHash,
    /// Without id, verdict and texts for people: covers only what it matches.
    matches: SketchHash,
}

/// Hashes of a policy as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PolicySketch {
    /// Everything except its rules.
    head: SketchHash,
    /// Its rules by id, including text rules.
    rules: BTreeMap<String, RuleSketch>,
}

/// What changed from one set of policies to the next. Rules appear as `policy/rule`, changes to a
/// policy's own settings as `policy`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyChanges {
    /// New policies and rules.
    pub added: Vec<String>,
    /// Policies and rules that no longer exist.
    pub removed: Vec<String>,
    /// Policies and rules that were edited.
    pub changed: Vec<String>,
    /// Changes that stop fewer calls, or may stop fewer: a short description of each.
    pub weakened: Vec<String>,
}

const WORDS: &[&str] = &["id", "verdict", "mode", "reason", "hint", "blocks", "examples"];

impl RuleSketch {
    pub(crate) fn of(fields: &Mapping<'_>) -> Self {
        let texts = texts(fields, &[]);
        Self { whole: hash(&texts, &[]), matches: hash(&texts, WORDS) }
    }
}

impl PolicySketch {
    pub(crate) fn new<'a>(
        fields: &Mapping<'_>,
        rules: impl IntoIterator<Item = (&'a str, RuleSketch)>,
    ) -> Self {
        let rules = rules.into_iter().map(|(id, sketch)| (id.to_owned(), sketch)).collect();
        Self { head: hash(&texts(fields, &["rules", "text"]), &[]), rules }
    }
}

/// The entries as JSON, apart from some keys. Sorted by key, because the order of keys has no meaning.
fn texts<'f>(fields: &Mapping<'f>, without: &[&str]) -> Vec<(&'f str, String)> {
    let entries = fields.entries.iter().map(|(key, node)| (key.name.as_str(), node));
    let entries = entries.filter(|(name, _)| !without.contains(name));
    let mut texts: Vec<_> = entries.map(|(name, node)| (name, node.to_json())).collect();
    texts.sort_by_key(|(name, _)| *name);
    texts
}

fn hash(texts: &[(&str, String)], without: &[&str]) -> SketchHash {
    let mut hash = Sha256::new();
    for (name, text) in texts.iter().filter(|(name, _)| !without.contains(name)) {
        hash.update(name.as_bytes());
        hash.update([0]);
        hash.update(text.as_bytes());
        hash.update([0]);
    }
    hash.finalize().into()
}

impl Policies {
    /// Identifies these policies: two sets with the same digest are the same.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    pub(crate) fn digest_of(policies: &[Policy], tools: &[Entry]) -> String {
        let mut hash = Sha256::new();
        for policy in policies {
            hash.update(policy.name.as_bytes());
            hash.update([0]);
            hash.update(policy.sketch.head);
            for (id, rule) in &policy.sketch.rules {
                hash.update(id.as_bytes());
                hash.update([0]);
                hash.update(rule.whole);
            }
        }
        // What is known about tools decides as much as the rules do.
        for tool in tools {
            hash.update(format!("{tool:?}").as_bytes());
        }
        let bytes: [u8; 32] = hash.finalize().into();
        bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }

    /// What changed since the policies that were in force before.
    pub fn changes_since(&self, before: &Self) -> PolicyChanges {
        let mut changes = PolicyChanges::default();
        let (old, new) = (before.parts(), self.parts());
        for (name, hash) in &new {
            match old.get(name) {
                None => changes.added.push(name.clone()),
                Some(known) if known != hash => changes.changed.push(name.clone()),
                Some(_) => {}
            }
        }
        changes.removed = old.into_keys().filter(|name| !new.contains_key(name)).collect();
        for policy in before.policies().iter().filter(|policy| !policy.shadow) {
            let now = self.policies().iter().find(|now| now.name == policy.name);
            changes.weakened.extend(weakened(policy, now));
        }
        let texts = before.texts().iter().filter(|rule| rule.acts());
        changes.weakened.extend(texts.filter_map(|rule| self.text_weakened(before, rule)));
        changes.weakened.extend(self.tools_weakened(before));
        changes
    }

    /// A tool that the operator declares differently than before may show less of what it does.
    fn tools_weakened(&self, before: &Self) -> Option<String> {
        let has = |tools: &[Entry], tool: &Entry| tools.contains(tool);
        let is_new = |tool: &&Entry| !has(&before.tools, tool);
        let is_gone = |tool: &&Entry| !has(&self.tools, tool) && !tool.bound().is_empty();
        let changed = self.tools.iter().find(is_new).or(before.tools.iter().find(is_gone));
        changed.map(|tool| format!("tool {} is declared differently", tool.name))
    }

    /// Every policy and rule by name, with its hash.
    fn parts(&self) -> BTreeMap<String, SketchHash> {
        let mut parts = BTreeMap::new();
        for policy in self.policies() {
            parts.insert(policy.name.clone(), policy.sketch.head);
            let rules = policy.sketch.rules.iter();
            parts.extend(rules.map(|(id, it)| (format!("{}/{id}", policy.name), it.whole)));
        }
        parts
    }

    fn text_weakened(&self, before: &Self, rule: &TextRule) -> Option<String> {
        let name = format!("text rule {}/{}", rule.policy, rule.id);
        let same =
            |it: &&std::sync::Arc<TextRule>| (&it.policy, &it.id) == (&rule.policy, &rule.id);
        let Some(now) = self.texts().iter().find(same) else {
            return Some(format!("{name} ({}) was removed", rule.action.as_str()));
        };
        let action = if now.shadow { TextAction::Audit } else { now.action };
        if action < rule.action {
            let (was, is) = (rule.action.as_str(), action.as_str());
            return Some(format!("{name}: {was} became {is}"));
        }
        let matches = |policies: &Self| {
            let policy = policies.policies().iter().find(|policy| policy.name == rule.policy)?;
            policy.sketch.rules.get(&rule.id).map(|sketch| sketch.matches)
        };
        if matches(self) != matches(before) {
            return Some(format!("{name} now looks for something else"));
        }
        (now.audience != rule.audience)
            .then(|| format!("{name} applies to different callers than before"))
    }
}

/// What a policy that was in force stops no longer, or may stop no longer.
fn weakened(old: &Policy, new: Option<&Policy>) -> Vec<String> {
    let name = &old.name;
    let Some(new) = new else {
        return if restricts(old) {
            vec![format!("policy {name} was removed")]
        } else {
            Vec::new()
        };
    };
    if new.shadow {
        let weaker = format!("policy {name} is only in shadow mode");
        return if restricts(old) { vec![weaker] } else { Vec::new() };
    }
    let mut found = Vec::new();
    if new.audience != old.audience && restricts(old) {
        found.push(format!("policy {name} applies to different callers than before"));
    }
    for surface in Surface::ALL {
        let (was, is) = (old.default_at(surface), new.default_at(surface));
        if is < was && !was.passes() {
            found.push(format!("the default of policy {name} for {surface}: {was} became {is}"));
        }
    }
    found.extend(old.rules.iter().filter_map(|rule| rule_weakened(rule, old, new)));
    found.extend(new.rules.iter().filter_map(|rule| rule_opened(rule, old, new)));
    found.dedup();
    found
}

fn restricts(policy: &Policy) -> bool {
    Surface::ALL.iter().any(|surface| policy.first_restriction(*surface).is_some())
}

/// How a rule that stopped something became weaker; `None` if it did not.
fn rule_weakened(rule: &Rule, old: &Policy, new: &Policy) -> Option<String> {
    let stops =
        rule.role == RuleRole::Sanitize || rule.role == RuleRole::Decide && rule.restricts();
    let now = new.rules.iter().find(|now| now.id == rule.id).filter(|_| stops);
    let name = format!("rule {}/{}", old.name, rule.id);
    match now {
        _ if !stops => None,
        None => Some(format!("{name} ({}) was removed", rule.verdict)),
        Some(now) if now.role == RuleRole::Shadow => Some(format!("{name} is only in shadow mode")),
        Some(now) if now.verdict < rule.verdict => {
            Some(format!("{name}: {} became {}", rule.verdict, now.verdict))
        }
        Some(_) if matches(old, rule) != matches(new, rule) => {
            Some(format!("{name} ({}) now matches something else", rule.verdict))
        }
        Some(_) => None,
    }
}

/// How a rule now lets calls through that its policy may have stopped: it allows something new, or
/// precedes a stricter rule.
fn rule_opened(rule: &Rule, old: &Policy, new: &Policy) -> Option<String> {
    let decides = |rule: &Rule| rule.role == RuleRole::Decide;
    let before = old.rules.iter().find(|before| before.id == rule.id);
    let same = before.is_some_and(|before| {
        let is_same = decides(before) && before.verdict == rule.verdict;
        is_same && matches(old, rule) == matches(new, rule)
    });
    if same || !decides(rule) {
        return None;
    }
    let name = format!("rule {}/{}", new.name, rule.id);
    let stricter = |other: &Rule| decides(other) && other.verdict > rule.verdict;
    let outranks = |other: &&Rule| stricter(other) && other.priority > rule.priority;
    match rule.verdict {
        Verdict::Allow if restricts(old) => Some(format!("{name} now allows something else")),
        _ => new
            .rules
            .iter()
            .find(outranks)
            .map(|other| format!("{name} takes precedence over {}", other.id)),
    }
}

fn matches(policy: &Policy, rule: &Rule) -> Option<SketchHash> {
    policy.sketch.rules.get(&rule.id).map(|sketch| sketch.matches)
}
