//! Warnings about rules that are valid, but do less than they seem to: those that another rule
//! decides before, those that no call can match, and those that other calls get around.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use callgate_call::{OriginFields, Surface};
use callgate_config::PolicySet;
use callgate_effects::{Catalogue, EffectKind, Entry, Kind};
use callgate_policy::{
    ConditionExplanation, ConditionKind, Diagnostic, Policies, RuleInfo, TestExplanation, Warning,
    builtin,
};

use super::probes;
use super::wider::{contradicts_itself, covers};
use crate::commands::policy::list::whom::conditions;
use crate::rule_source::LocatedRule;

/// What is wrong with a rule, and what to do about it.
pub(super) struct Advice {
    pub(super) message: String,
    pub(super) hint: String,
}

/// A rule with its condition.
pub(super) struct KnownRule {
    pub(super) info: RuleInfo,
    pub(super) when: Option<ConditionExplanation>,
}

/// A warning for each rule of one's own that does less than it seems to. The built-in policies are
/// tested by callgate itself.
pub(super) fn warnings(set: &PolicySet) -> Vec<Warning> {
    let Some(policies) = &set.compiled else { return Vec::new() };
    let rules = known(policies);
    let catalogue = Catalogue::builtin();
    let mut warnings = Vec::new();
    for rule in &rules {
        let (policy, id) = (&rule.info.policy, &rule.info.id);
        if builtin(&format!("builtin:{policy}")).is_some() {
            continue;
        }
        let Some(place) = LocatedRule::find(&set.sources, policy, id) else { continue };
        let advice = decided_before(rule, &rules)
            .or_else(|| never_matches(rule, &catalogue))
            .or_else(|| probes::got_around(rule, policies, &catalogue));
        if let Some(Advice { message, hint }) = advice {
            warnings.push(Warning(Diagnostic {
                source: place.file,
                span: place.span,
                message,
                label: String::new(),
                hint: Some(hint),
            }));
        }
    }
    warnings
}

fn known(policies: &Policies) -> Vec<KnownRule> {
    let mut whens: BTreeMap<_, _> = conditions(policies, &OriginFields::at(Surface::Response));
    let with_when = |info: RuleInfo| {
        let when = whens.remove(&(info.policy.clone(), info.id.clone()));
        // The second part of a rule that is compiled into two has no entry any more.
        Some(KnownRule { info, when: when? })
    };
    policies.rules().filter_map(with_when).collect()
}

/// Another rule that decides every call of this rule first, or the same.
fn decided_before(rule: &KnownRule, rules: &[KnownRule]) -> Option<Advice> {
    let decides = |info: &RuleInfo| !info.shadow && info.limit.is_none() && can_decide(info);
    if !decides(&rule.info) {
        return None;
    }
    let own = &rule.info;
    let rank = |info: &RuleInfo| (info.priority, Reverse(info.verdict));
    let is_first = |other: &&KnownRule| {
        let info = &other.info;
        info.policy == own.policy
            && info.id != own.id
            && decides(info)
            && covers(&other.when, &rule.when)
            && rank(info) <= rank(own)
            && !(rank(info) == rank(own) && is_same_reach(info, own) && other.when == rule.when)
            && reaches(info, own)
    };
    let other = rules.iter().find(is_first)?;
    let (id, name) = (&own.id, &other.info.id);
    Some(if other.info.verdict == own.verdict {
        Advice {
            message: format!(
                "rule `{id}` changes nothing: `{name}` is wider and has the same verdict"
            ),
            hint: format!("remove `{id}`, or make `{name}` narrower"),
        }
    } else {
        Advice {
            message: format!(
                "rule `{id}` is never reached: `{name}` decides all of its calls first"
            ),
            hint: format!("give `{id}` a lower `priority` than `{name}`, or `{name}` a condition"),
        }
    })
}

fn can_decide(info: &RuleInfo) -> bool {
    use callgate_policy::Verdict;
    !matches!(info.verdict, Verdict::Audit | Verdict::Sanitize)
}

fn is_same_reach(one: &RuleInfo, other: &RuleInfo) -> bool {
    one.tools == other.tools && one.servers == other.servers
}

/// Whether a rule applies to every call that another one applies to.
fn reaches(wide: &RuleInfo, narrow: &RuleInfo) -> bool {
    use callgate_policy::Verdict;
    let everybody = wide.who.is_empty() || wide.who == narrow.who;
    let surfaces = narrow.surfaces.iter().all(|surface| wide.surfaces.contains(surface));
    let tools = wide.tools.is_empty()
        || !narrow.tools.is_empty() && narrow.tools.iter().all(|tool| wide.tools.contains(tool));
    let servers = wide.servers.is_empty() || wide.servers == narrow.servers;
    // A rule that allows reads names more narrowly than one that restricts.
    let names = wide.verdict != Verdict::Allow
        || narrow.verdict == Verdict::Allow
        || !wide.tools.is_empty() && wide.tools == narrow.tools && wide.servers == narrow.servers;
    everybody && surfaces && tools && servers && names
}

/// A condition that no call of the rule's tools can fulfil.
fn never_matches(rule: &KnownRule, catalogue: &Catalogue) -> Option<Advice> {
    let id = &rule.info.id;
    let when = rule.when.as_ref()?;
    if contradicts_itself(when) {
        return Some(Advice {
            message: format!(
                "rule `{id}` can never match: one of its conditions rules out another"
            ),
            hint: "remove one of the two, or use `any`".to_owned(),
        });
    }
    let needed = needed(when);
    let equals = |test: &&&TestExplanation| test.operator == "equals";
    for (at, test) in needed.iter().enumerate().filter(|(_, test)| equals(test)) {
        let other = needed.iter().skip(at + 1).find(|other| {
            equals(other) && other.path == test.path && other.operand != test.operand
        });
        if let Some(other) = other {
            let (path, one, two) = (&test.path, &test.operand, &other.operand);
            return Some(Advice {
                message: format!(
                    "rule `{id}` can never match: `{path}` cannot equal both {one} and {two}"
                ),
                hint: "use `any` or `in` for several values".to_owned(),
            });
        }
    }
    let tools = tools_of(&rule.info, catalogue)?;
    let kind = |test: &TestExplanation| {
        EffectKind::WORDS.iter().find(|(word, _)| *word == test.path).map(|(_, kind)| *kind)
    };
    let impossible = needed.iter().find(|test| {
        kind(test).is_some_and(|kind| !tools.iter().any(|tool| tool.bound().contains(kind)))
    })?;
    let (tools, word) = (rule.info.tools.join(", "), &impossible.path);
    Some(Advice {
        message: format!("rule `{id}` can never match: no call of {tools} has the effect `{word}`"),
        hint: "leave `tool` out: a condition on effects finds the tools that have them".to_owned(),
    })
}

/// The tests that all have to hold.
fn needed(when: &ConditionExplanation) -> Vec<&TestExplanation> {
    match &when.kind {
        ConditionKind::Test(test) => vec![test],
        ConditionKind::All(parts) => parts.iter().flat_map(needed).collect(),
        ConditionKind::Any(_) | ConditionKind::Not(_) => Vec::new(),
    }
}

/// The tools that a rule names, if callgate knows them all.
pub(super) fn tools_of<'c>(info: &RuleInfo, catalogue: &'c Catalogue) -> Option<Vec<&'c Entry>> {
    if info.tools.is_empty() || !info.servers.is_empty() {
        return None;
    }
    let mut entries = Vec::new();
    for written in &info.tools {
        match written.strip_prefix('@') {
            Some(word) => {
                let names = catalogue.tools_of(Kind::from_word(word)?);
                entries.extend(names.filter_map(|name| catalogue.entry(name)));
            }
            None => entries.push(catalogue.entry(&callgate_call::fold(written.trim()))?),
        }
    }
    (!entries.is_empty()).then_some(entries)
}
