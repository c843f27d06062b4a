//! Rules that sanitize: what they replace in the arguments.

use std::sync::Arc;

use callgate_call::{Arguments, ArgumentsForm, Surface, ToolCall};
use callgate_document::Problems;
use callgate_scan::Set;

use crate::judgement::{Judgement, RuleHit};
use crate::rule::{Rule, RuleRole};
use crate::source::RuleSource;
use crate::text::detectors;
use crate::verdict::Verdict;

/// What one rule replaces.
#[derive(Debug, Clone)]
pub(crate) struct Sanitizer {
    set: Set,
    /// The detectors and the replacement as written. Rules for which this is equal are applied
    /// once.
    written: String,
}

impl PartialEq for Sanitizer {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

/// What a rule that sanitizes replaces. Reports a rule with only one of `verdict: sanitize` and
/// `sanitize`.
pub(crate) fn compile(source: &RuleSource, problems: &mut Problems<'_>) -> Option<Sanitizer> {
    let sanitize = match (&source.sanitize, source.verdict) {
        (Some(sanitize), Some(Verdict::Sanitize)) => sanitize,
        (Some(sanitize), Some(_)) => {
            problems
                .add(sanitize.span, "`sanitize` without `verdict: sanitize` replaces nothing")
                .hint("write `verdict: sanitize`; another rule decides whether the call passes");
            return None;
        }
        (None, Some(Verdict::Sanitize)) => {
            problems
                .add(source.span, "this rule does not say what to sanitize")
                .hint("add `sanitize: { detectors: [secret] }`");
            return None;
        }
        _ => return None,
    };
    let mut builder = Set::builder();
    detectors(&sanitize.detectors, 0, &mut builder, problems);
    builder.replace(0, sanitize.replace.unwrap_or_default());
    let names: Vec<&str> = sanitize.detectors.iter().map(|name| name.value.as_str()).collect();
    let written = format!("{names:?} {:?}", sanitize.replace.unwrap_or_default());
    Some(Sanitizer { set: builder.build().ok()?, written })
}

/// A tool that is only advertised has no arguments to rewrite, so on `inbound` the rule denies.
pub(crate) fn split(rule: Rule) -> Vec<Rule> {
    let inbound = |surface: &Surface| *surface == Surface::Inbound;
    if rule.verdict != Verdict::Sanitize || !rule.surfaces.iter().any(inbound) {
        return vec![rule];
    }
    let role = if rule.role == RuleRole::Shadow { RuleRole::Shadow } else { RuleRole::Decide };
    let surfaces = rule.surfaces.iter().copied();
    let advertised = Rule {
        surfaces: vec![Surface::Inbound],
        verdict: Verdict::Deny,
        role,
        cleaner: None,
        ..rule.clone()
    };
    let called = Rule { surfaces: surfaces.filter(|it| !inbound(it)).collect(), ..rule };
    match called.surfaces.is_empty() {
        true => vec![advertised],
        false => vec![called, advertised],
    }
}

impl Judgement {
    /// Rewrites the arguments if sanitize rules matched. Becomes a denial if the arguments cannot
    /// be read.
    pub(crate) fn sanitized(mut self, call: &ToolCall) -> Self {
        if self.cleaners.is_empty() || self.verdict.stops() {
            return self;
        }
        match clean(&self.cleaners, &call.arguments) {
            Ok(clean) => {
                self.rewritten = clean.text;
                self.replace(clean.kinds);
            }
            Err(why) => self.refuse(&format!("the arguments cannot be sanitized: {why}")),
        }
        self
    }

    /// Adds the detectors that found what was replaced.
    pub(crate) fn replace(&mut self, kinds: Vec<String>) {
        self.details.replaced.extend(kinds);
        self.details.replaced.sort();
        self.details.replaced.dedup();
    }

    /// Denies the call in the name of the first rule that sanitizes it. Without such a rule it is denied
    /// all the same: what should have been removed is still in it.
    pub(crate) fn refuse(&mut self, reason: &str) {
        let rule = self.sanitizers.first();
        let hit = RuleHit {
            policy: rule.map(|rule| rule.policy.clone()).unwrap_or_default(),
            rule: rule.and_then(|rule| rule.rule.clone()),
            verdict: Verdict::Deny,
            reason: reason.to_owned(),
            hint: Some("make the call with arguments that are one JSON object".to_owned()),
            blocks: rule.and_then(|rule| rule.blocks.clone()),
            limited: rule.is_some_and(|rule| rule.limited),
            unknown: true,
            terms: rule.and_then(|rule| rule.terms.clone()),
        };
        self.details.deciding.insert(0, hit.clone());
        self.decide(hit);
    }
}

/// A sanitized text.
pub(crate) struct Clean {
    /// The text, if anything changed.
    pub(crate) text: Option<String>,
    /// The detector of each replacement, in order.
    pub(crate) kinds: Vec<String>,
}

/// The rewritten arguments; or why they cannot be rewritten.
pub(crate) fn clean(cleaners: &[Arc<Sanitizer>], arguments: &Arguments) -> Result<Clean, String> {
    arguments.value().map_err(ToString::to_string)?;
    let mut rewritten: Option<String> = None;
    let mut kinds = Vec::new();
    for cleaner in cleaners {
        let text = rewritten.as_deref().unwrap_or(arguments.raw());
        let (cleaned, hits) = match arguments.form() {
            ArgumentsForm::Text(_) => {
                let hits = cleaner.set.find(text);
                ((!hits.is_empty()).then(|| cleaner.set.replace(text, &hits)), hits)
            }
            _ if text.trim_ascii().is_empty() => (None, Vec::new()),
            _ => {
                let cleaned = cleaner.set.clean_json(text);
                let cleaned = cleaned.map_err(|error| error.to_string())?;
                (cleaned.text, cleaned.hits)
            }
        };
        kinds.extend(hits.iter().map(|hit| hit.kind.to_string()));
        rewritten = cleaned.or(rewritten);
    }
    if let (Some(text), ArgumentsForm::Json(_)) = (&rewritten, arguments.form()) {
        // Replacing may have made two keys equal.
        Arguments::json(text.as_str()).value().map_err(ToString::to_string)?;
    }
    Ok(Clean { text: rewritten, kinds })
}
