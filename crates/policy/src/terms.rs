//! How a call waits for an answer: for whom, how long, and what happens without an answer.

use std::time::Duration;

use callgate_document::{At, Mapping, Node, Problems, text, texts, word};

use crate::source::RuleSource;
use crate::verdict::Verdict;

/// How a call waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Terms {
    /// For a person.
    Ask(AskTerms),
    /// For a second model.
    Review(ReviewTerms),
}

/// The terms of `ask`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskTerms {
    /// How long the call waits for the person.
    pub timeout: Duration,
    /// Who may answer. If empty, every approver may.
    pub approvers: Vec<String>,
    /// What happens if no person is available.
    pub unattended: Unattended,
    /// What happens without an answer in time.
    pub fallback: Fallback,
}

/// The terms of `review`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewTerms {
    /// What the model should look for.
    pub guidance: Option<String>,
    /// Which model is asked.
    pub model: Option<String>,
    /// How long the call waits for the model.
    pub timeout: Duration,
    /// What happens without an answer in time.
    pub fallback: Fallback,
}

/// What happens if no person is available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unattended {
    /// The call is denied.
    Deny,
    /// The call waits until a person is available.
    Queue,
    /// A second model is asked instead.
    Review,
}

/// What happens to a call without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    /// It is denied.
    Deny,
    /// It passes.
    Allow,
}

const ASK_TIMEOUT: Duration = Duration::from_secs(600);
const REVIEW_TIMEOUT: Duration = Duration::from_secs(30);

/// `ask:` and `review:` as written.
#[derive(Debug)]
pub(crate) struct TermsSource {
    key: At<&'static str>,
    terms: Terms,
}

/// Reads `ask:` and `review:` of a rule.
pub(crate) fn read(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Vec<TermsSource> {
    let mut found = Vec::new();
    for (key, node) in fields.entries {
        let (word, terms) = match key.name.as_str() {
            "ask" => ("ask", ask(node, problems).map(Terms::Ask)),
            "review" => ("review", review(node, problems).map(Terms::Review)),
            _ => continue,
        };
        let key = At { value: word, span: key.span };
        found.extend(terms.map(|terms| TermsSource { key, terms }));
    }
    found
}

/// The terms of a rule that waits: its own or the default ones. Reports terms of another verdict.
pub(crate) fn compile(source: &RuleSource, problems: &mut Problems<'_>) -> Option<Terms> {
    let verdict = source.verdict?;
    for other in source.terms.iter().filter(|it| it.key.value != verdict.as_str()) {
        let key = other.key.value;
        problems
            .add(
                other.key.span,
                format!("`{key}` needs `verdict: {key}`, and this rule has `verdict: {verdict}`"),
            )
            .hint(format!("write `verdict: {key}`, or leave `{key}` out"));
    }
    let own = source.terms.iter().find(|it| it.key.value == verdict.as_str());
    match verdict {
        Verdict::Ask | Verdict::Review => {
            Some(own.map_or_else(|| default_terms(verdict), |own| own.terms.clone()))
        }
        _ => None,
    }
}

fn default_terms(verdict: Verdict) -> Terms {
    match verdict {
        Verdict::Review => Terms::Review(ReviewTerms {
            guidance: None,
            model: None,
            timeout: REVIEW_TIMEOUT,
            fallback: Fallback::Deny,
        }),
        _ => Terms::Ask(AskTerms {
            timeout: ASK_TIMEOUT,
            approvers: Vec::new(),
            unattended: Unattended::Deny,
            fallback: Fallback::Deny,
        }),
    }
}

fn ask(node: &Node, problems: &mut Problems<'_>) -> Option<AskTerms> {
    let fields = Mapping::of(node, "`ask`", problems)?;
    fields.check(&["timeout", "approvers", "unattended", "fallback"], &[], problems);
    let approvers = fields.get("approvers").map(|node| texts(node, "`approvers`", problems));
    let known =
        [("deny", Unattended::Deny), ("queue", Unattended::Queue), ("review", Unattended::Review)];
    let unattended = fields.get("unattended").and_then(|node| {
        let text = text(node, "`unattended`", problems)?;
        word(&text, "word", &known, &[], problems)
    });
    Some(AskTerms {
        timeout: timeout(&fields, ASK_TIMEOUT, problems),
        approvers: approvers.unwrap_or_default().into_iter().map(|at| at.value).collect(),
        unattended: unattended.map_or(Unattended::Deny, |at| at.value),
        fallback: fallback(&fields, problems),
    })
}

fn review(node: &Node, problems: &mut Problems<'_>) -> Option<ReviewTerms> {
    let fields = Mapping::of(node, "`review`", problems)?;
    fields.check(&["guidance", "model", "timeout", "fallback"], &[], problems);
    let mut optional =
        |key: &str| fields.get(key).and_then(|node| text(node, &format!("`{key}`"), problems));
    let (guidance, model) = (optional("guidance"), optional("model"));
    Some(ReviewTerms {
        guidance: guidance.map(|at| at.value),
        model: model.map(|at| at.value),
        timeout: timeout(&fields, REVIEW_TIMEOUT, problems),
        fallback: fallback(&fields, problems),
    })
}

fn fallback(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Fallback {
    let known = [("deny", Fallback::Deny), ("allow", Fallback::Allow)];
    let read = fields.get("fallback").and_then(|node| {
        let text = text(node, "`fallback`", problems)?;
        word(&text, "fallback", &known, &[], problems)
    });
    read.map_or(Fallback::Deny, |at| at.value)
}

fn timeout(fields: &Mapping<'_>, default: Duration, problems: &mut Problems<'_>) -> Duration {
    let Some(node) = fields.get("timeout") else { return default };
    let Some(written) = text(node, "`timeout`", problems) else { return default };
    duration(&written).unwrap_or_else(|| {
        problems
            .add(written.span, format!("`{}` is not a valid duration", written.value))
            .hint(DURATION_HINT);
        default
    })
}

/// The time that a condition on earlier calls looks back.
pub(crate) fn within(
    fields: &Mapping<'_>,
    what: &str,
    problems: &mut Problems<'_>,
) -> Option<Duration> {
    let Some(node) = fields.get("within") else {
        problems
            .add(fields.start(), format!("`{what}` needs `within`"))
            .hint("write how far to look back, like `within: 5m`");
        return None;
    };
    let written = text(node, "`within`", problems)?;
    let found = duration(&written);
    if found.is_none() {
        problems
            .add(written.span, format!("`{}` is not a valid duration", written.value))
            .hint(DURATION_HINT);
    }
    found
}

const DURATION_HINT: &str =
    "write a number and a unit, from `1s` to `24h`, like `90s`, `10m` or `1h`";

fn duration(written: &At<String>) -> Option<Duration> {
    let units = [('s', 1), ('m', 60), ('h', 3600)];
    let unit = units.iter().find(|(unit, _)| written.value.ends_with(*unit))?;
    let number = written.value.strip_suffix(unit.0)?.trim();
    let seconds = number.parse::<u64>().ok()?.checked_mul(unit.1)?;
    (1..=24 * 3600).contains(&seconds).then(|| Duration::from_secs(seconds))
}
