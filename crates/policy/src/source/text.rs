//! Text rules as written.

use super::{EnforcementMode, mode};
use crate::sketch::RuleSketch;
use crate::text::{Direction, TextAction};
use callgate_document::{At, Mapping, Node, Problems, SourceSpan, list, text, texts, word};
use callgate_scan::Replace;

/// One text rule.
#[derive(Debug)]
pub(crate) struct TextRuleSource {
    pub(crate) span: SourceSpan,
    pub(crate) id: Option<At<String>>,
    pub(crate) directions: Vec<Direction>,
    pub(crate) detect: Vec<At<String>>,
    pub(crate) matches: Vec<At<String>>,
    pub(crate) keywords: Vec<At<String>>,
    pub(crate) action: Option<TextAction>,
    pub(crate) replace: Option<Replace>,
    pub(crate) mode: Option<EnforcementMode>,
    pub(crate) reason: Option<String>,
    pub(crate) hint: Option<String>,
    /// Texts that the rule must match.
    pub(crate) matching: Vec<At<String>>,
    /// Texts that the rule must not match.
    pub(crate) not_matching: Vec<At<String>>,
    pub(crate) sketch: RuleSketch,
}

const KEYS: &[&str] = &[
    "id", "in", "detect", "matches", "keywords", "verdict", "replace", "mode", "reason", "hint",
    "examples",
];

const DIRECTIONS: [(&str, Direction); 2] =
    [("request", Direction::Request), ("response", Direction::Response)];

const ACTIONS: [(&str, TextAction); 3] =
    [("block", TextAction::Block), ("mask", TextAction::Mask), ("audit", TextAction::Audit)];

const REPLACES: [(&str, Replace); 3] =
    [("typed", Replace::Typed), ("mask", Replace::Mask), ("drop", Replace::Drop)];

pub(super) fn rules(node: &Node, problems: &mut Problems<'_>) -> Vec<TextRuleSource> {
    let nodes = list(node, "`text`", problems).iter();
    let mut rules = Vec::new();
    for node in nodes {
        let fields = Mapping::of(node, "a text rule", problems);
        rules.extend(fields.map(|fields| rule(&fields, problems)));
    }
    rules
}

fn rule(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> TextRuleSource {
    fields.check(KEYS, &[], problems);
    for (key, hint) in [("id", "add `id: some-name`"), ("verdict", "add `verdict: mask`")] {
        if fields.get(key).is_none() {
            problems.add(fields.start(), format!("this text rule has no `{key}`")).hint(hint);
        }
    }
    if ["detect", "matches", "keywords"].iter().all(|key| fields.get(key).is_none()) {
        problems
            .add(fields.start(), "this text rule looks for nothing")
            .hint("add `detect: [secret]`, `matches: 'a pattern'` or `keywords: [a, b]`");
    }
    let mut several = |key: &str| {
        let node = fields.get(key);
        node.map(|node| texts(node, &format!("`{key}`"), problems)).unwrap_or_default()
    };
    let (detect, matches, keywords) = (several("detect"), several("matches"), several("keywords"));
    let mut one =
        |key: &str| fields.get(key).and_then(|node| text(node, &format!("`{key}`"), problems));
    let (id, reason, hint) = (one("id"), one("reason"), one("hint"));
    let (matching, not_matching) = examples(fields, problems);
    TextRuleSource {
        sketch: RuleSketch::of(fields),
        span: id.as_ref().map_or(fields.start(), |id| id.span),
        id,
        directions: directions(fields, problems),
        detect,
        matches,
        keywords,
        action: fields.get("verdict").and_then(|node| action(node, problems)),
        replace: fields.get("replace").and_then(|node| replace(node, problems)),
        mode: fields.get("mode").and_then(|node| mode(node, problems)),
        reason: reason.map(|at| at.value),
        hint: hint.map(|at| at.value),
        matching,
        not_matching,
    }
}

fn directions(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Vec<Direction> {
    let Some(node) = fields.get("in") else {
        return DIRECTIONS.map(|(_, direction)| direction).to_vec();
    };
    let words = texts(node, "`in`", problems);
    let known = words.iter().filter_map(|it| word(it, "direction", &DIRECTIONS, &[], problems));
    known.map(|at| at.value).collect()
}

fn action(node: &Node, problems: &mut Problems<'_>) -> Option<TextAction> {
    let text = text(node, "`verdict`", problems)?;
    word(&text, "verdict of a text rule", &ACTIONS, &[], problems).map(|at| at.value)
}

/// Reads what replaces a match.
pub(super) fn replace(node: &Node, problems: &mut Problems<'_>) -> Option<Replace> {
    let text = text(node, "`replace`", problems)?;
    word(&text, "replacement", &REPLACES, &[], problems).map(|at| at.value)
}

fn examples(
    fields: &Mapping<'_>,
    problems: &mut Problems<'_>,
) -> (Vec<At<String>>, Vec<At<String>>) {
    let fields = fields.get("examples").and_then(|it| Mapping::of(it, "`examples`", problems));
    let Some(fields) = fields else { return (Vec::new(), Vec::new()) };
    fields.check(&["match", "no_match"], &[], problems);
    let mut read = |key: &str| {
        let node = fields.get(key);
        node.map(|node| texts(node, &format!("`{key}`"), problems)).unwrap_or_default()
    };
    (read("match"), read("no_match"))
}
