//! Compiles text rules.

use callgate_document::{At, Diagnostic, Problems, Source, Warning, did_you_mean};
use callgate_scan::{Set, SetBuilder, Unusable};

use super::{TextAction, TextPatterns, TextRule};
use crate::condition::regex_hint;
use crate::policy::Policy;
use crate::source::{EnforcementMode, TextRuleSource};

/// Compiles the text rules of one policy. Those with a problem are left out; the caller rejects the
/// file anyway.
pub(crate) fn rules(
    sources: &[TextRuleSource],
    policy: &Policy,
    problems: &mut Problems<'_>,
) -> Vec<TextRule> {
    let rules = sources.iter().filter_map(|source| rule(source, policy, problems));
    rules.collect()
}

fn rule(source: &TextRuleSource, policy: &Policy, problems: &mut Problems<'_>) -> Option<TextRule> {
    let before = problems.len();
    let name = source.id.as_ref().map_or("", |id| id.value.as_str());
    let mut builder = Set::builder();
    detectors(&source.detect, 0, &mut builder, problems);
    for pattern in &source.matches {
        if let Err(error) = builder.regex(0, name, &pattern.value) {
            refuse(pattern, &error, problems);
        }
    }
    for keyword in &source.keywords {
        if let Err(error) = builder.word(0, name, &keyword.value) {
            refuse(keyword, &error, problems);
        }
    }
    if source.replace.is_some() && source.action.is_some_and(|it| it != TextAction::Mask) {
        problems
            .add(source.span, "`replace` without `verdict: mask` changes nothing")
            .hint("write `verdict: mask`, or leave `replace` out");
    }
    let set = builder.build().map_err(|error| {
        problems.add(source.span, error.to_string());
    });
    if problems.len() > before {
        return None;
    }
    let (id, action) = (source.id.as_ref()?.value.clone(), source.action?);
    let plain = |written: &[At<String>]| written.iter().map(|at| at.value.clone()).collect();
    Some(TextRule {
        policy: policy.name.clone(),
        audience: policy.audience.clone(),
        directions: source.directions.clone(),
        patterns: TextPatterns {
            detect: plain(&source.detect),
            matches: plain(&source.matches),
            keywords: plain(&source.keywords),
        },
        action,
        shadow: policy.shadow || source.mode == Some(EnforcementMode::Shadow),
        replace: source.replace.unwrap_or_default(),
        reason: source
            .reason
            .clone()
            .unwrap_or_else(|| format!("text rule `{id}` says {}", action.as_str())),
        hint: source.hint.clone(),
        set: set.ok()?,
        id,
    })
}

/// Adds detectors and groups by name.
pub(crate) fn detectors(
    names: &[At<String>],
    source: usize,
    builder: &mut SetBuilder,
    problems: &mut Problems<'_>,
) {
    for name in names {
        if let Err(error) = builder.detector(source, &name.value) {
            refuse(name, &error, problems);
        }
    }
}

/// Reports a detector, pattern or keyword that cannot be used.
fn refuse(written: &At<String>, error: &Unusable, problems: &mut Problems<'_>) {
    let (message, label, hint) = match error {
        Unusable::UnknownDetector { name, .. } => {
            let known = callgate_scan::detectors().map(|detector| detector.name);
            let hint = did_you_mean(name, ["secret", "personal"].into_iter().chain(known));
            let hint = hint.unwrap_or_else(|| {
                "groups are `secret` and `personal`; `callgate policy detectors` lists the rest"
                    .to_owned()
            });
            (format!("unknown detector `{name}`"), String::new(), hint)
        }
        Unusable::Pattern(why) => (
            "cannot read this regular expression".to_owned(),
            why.clone(),
            regex_hint(why).unwrap_or_else(|| "correct the pattern".to_owned()),
        ),
        Unusable::TooLarge => (
            "this regular expression is too large".to_owned(),
            String::new(),
            "use fewer or smaller repetitions, `(?-u)` classes, or several rules".to_owned(),
        ),
        Unusable::MatchesNothing => (
            "this regular expression matches the empty text".to_owned(),
            String::new(),
            "it would match everywhere: require at least one character".to_owned(),
        ),
        Unusable::EmptyWord => {
            ("this keyword is empty".to_owned(), String::new(), "leave it out".to_owned())
        }
    };
    problems.add(written.span, message).label(label).hint(hint);
}

/// Reports every example that does not hold. Rules that did not compile are skipped.
pub(crate) fn examples(
    sources: &[TextRuleSource],
    rules: &[TextRule],
    problems: &mut Problems<'_>,
) {
    for source in sources {
        let Some(id) = &source.id else { continue };
        let Some(rule) = rules.iter().find(|rule| rule.id == id.value) else { continue };
        for text in source.matching.iter().filter(|text| !rule.set.matches(&text.value)) {
            problems
                .add(text.span, format!("text rule `{}` does not match this example", rule.id))
                .hint("it looks for something else: change the rule or the example");
        }
        for text in source.not_matching.iter().filter(|text| rule.set.matches(&text.value)) {
            problems
                .add(
                    text.span,
                    format!("text rule `{}` matches this example, which it must not", rule.id),
                )
                .hint("narrow the rule, or move the example to `match`");
        }
    }
}

/// Warns about rules that are probably a mistake: another rule, at least as strict, looks for the
/// same in the same texts.
pub(crate) fn warnings(
    sources: &[TextRuleSource],
    rules: &[TextRule],
    file: &Source,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (at, rule) in rules.iter().enumerate() {
        let hides = |(place, other): &(usize, &TextRule)| {
            let stricter =
                other.action > rule.action || (other.action == rule.action && *place < at);
            *place != at && !other.shadow && stricter && other.covers(rule)
        };
        let Some((_, hider)) = rules.iter().enumerate().find(hides) else { continue };
        let source = sources.iter().find(|it| it.id.as_ref().is_some_and(|id| id.value == rule.id));
        warnings.push(Warning(Diagnostic {
            source: file.name.clone(),
            span: source.map(|source| source.span).unwrap_or_default(),
            message: format!("text rule `{}` adds nothing: `{}` finds the same", rule.id, hider.id),
            label: String::new(),
            hint: Some("remove one of the two, or make them look for different things".to_owned()),
        }));
    }
    warnings
}

impl TextRule {
    /// Whether it finds everything that the other rule finds.
    fn covers(&self, other: &Self) -> bool {
        let all = |mine: &[String], theirs: &[String]| theirs.iter().all(|it| mine.contains(it));
        let (mine, theirs) = (&self.patterns, &other.patterns);
        all(&mine.detect, &theirs.detect)
            && all(&mine.matches, &theirs.matches)
            && all(&mine.keywords, &theirs.keywords)
            && other.directions.iter().all(|direction| self.directions.contains(direction))
    }
}
