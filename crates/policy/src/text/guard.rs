//! Applies all text rules of one direction.

use std::ops::Range;
use std::sync::Arc;

use callgate_scan::{Flow, FlowDecision, FlowOutput, Hit, Replace, Set, TextChange, Unusable};

use super::{TextAction, TextRule};

/// The text rules for one direction. Cheap to clone.
#[derive(Debug, Clone)]
pub struct TextGuard(Arc<Guard>);

#[derive(Debug)]
struct Guard {
    rules: Vec<Arc<TextRule>>,
    /// The patterns of rules that mask or block.
    acting: Option<Set>,
    /// The patterns of rules that only record. No text is ever held back for them.
    watching: Option<Set>,
}

/// Something a text rule found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextHit {
    /// The rule's policy.
    pub policy: String,
    /// The rule's id.
    pub rule: String,
    /// What is done about it. A rule in shadow mode audits, and its reason says what it would do.
    pub action: TextAction,
    /// What it is: a detector's name, or the rule's id for its own patterns and keywords.
    pub kind: String,
    /// The rule's reason, with a prefix such as `[shadow] would mask: ` in shadow mode.
    pub reason: String,
    /// The rule's hint.
    pub hint: Option<String>,
}

/// The result for a text, or for a piece of one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextOutcome {
    /// The text to send instead; `None` to send it unchanged. If a rule blocks, only the text
    /// before the first match that blocks.
    pub text: Option<String>,
    /// What was found.
    pub hits: Vec<TextHit>,
    /// Whether a rule blocks it.
    pub blocked: bool,
}

/// What was decided about a text that arrives in pieces. Positions are bytes from the start of the
/// text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextSettled {
    /// The range that is decided now. Text after it is held back; if a rule blocks, it is never
    /// sent.
    pub span: Range<usize>,
    /// The replacements in this range, in order.
    pub changes: Vec<TextChange>,
    /// What was found.
    pub hits: Vec<TextHit>,
    /// Whether a rule blocks it.
    pub blocked: bool,
}

/// A text that arrives in pieces, while the rules are applied to it.
#[derive(Debug)]
pub struct TextFlow {
    guard: TextGuard,
    acting: Option<Flow>,
    watching: Option<Flow>,
    blocked: bool,
    /// Whether the text cannot be changed: then rules can only record.
    fixed: bool,
    /// The number of bytes that have arrived.
    length: usize,
    /// The number of bytes that were decided; used only if no rule masks or blocks.
    seen: usize,
}

impl TextGuard {
    /// A guard of these rules; `None` if there are none.
    pub(crate) fn new(rules: &[Arc<TextRule>]) -> Result<Option<Self>, Unusable> {
        if rules.is_empty() {
            return Ok(None);
        }
        let acting = set(rules, |rule| rule.acts())?;
        let watching = set(rules, |rule| !rule.acts())?;
        Ok(Some(Self(Arc::new(Guard { rules: rules.to_vec(), acting, watching }))))
    }

    /// Applies the rules to a whole text.
    pub fn whole(&self, text: &str) -> TextOutcome {
        let found = |set: &Option<Set>| set.as_ref().map(|set| set.find(text)).unwrap_or_default();
        let (acting, watching) = (found(&self.0.acting), found(&self.0.watching));
        let changed = self.0.acting.as_ref().filter(|_| !acting.is_empty());
        let hits: Vec<TextHit> = self.hits(&acting).chain(self.hits(&watching)).collect();
        TextOutcome {
            text: changed.map(|set| set.replace(text, &acting)),
            blocked: hits.iter().any(|hit| hit.action == TextAction::Block),
            hits,
        }
    }

    /// Applies the rules to a text that arrives in pieces.
    pub fn flow(&self) -> TextFlow {
        TextFlow {
            guard: self.clone(),
            acting: self.0.acting.as_ref().map(Set::flow),
            watching: self.0.watching.as_ref().map(Set::flow),
            blocked: false,
            fixed: false,
            length: 0,
            seen: 0,
        }
    }

    /// Like [`Self::flow`], for a text that cannot be changed: only rules that audit apply.
    pub fn fixed_flow(&self) -> TextFlow {
        TextFlow { acting: None, fixed: true, ..self.flow() }
    }

    /// Applies the rules that audit to a whole text that cannot be changed.
    pub fn fixed(&self, text: &str) -> Vec<TextHit> {
        let watching = self.0.watching.as_ref().map(|set| set.find(text)).unwrap_or_default();
        self.audited(&watching).collect()
    }

    /// The hits of rules that audit. A rule in shadow mode that would mask or block is left out: it
    /// could not do that to this text.
    fn audited(&self, found: &[Hit]) -> impl Iterator<Item = TextHit> {
        let rules = found.iter().filter_map(|hit| Some((self.0.rules.get(hit.source)?, hit)));
        let audits = rules.filter(|(rule, _)| rule.action == TextAction::Audit);
        audits.map(|(rule, hit)| rule.hit(&hit.kind))
    }

    fn hits(&self, found: &[Hit]) -> impl Iterator<Item = TextHit> {
        found.iter().filter_map(|hit| Some(self.0.rules.get(hit.source)?.hit(&hit.kind)))
    }
}

/// The patterns of some of the rules. The source of a hit is the position of its rule.
fn set(
    rules: &[Arc<TextRule>],
    is_used: impl Fn(&TextRule) -> bool,
) -> Result<Option<Set>, Unusable> {
    let mut builder = Set::builder();
    for (source, rule) in rules.iter().enumerate().filter(|(_, rule)| is_used(rule)) {
        for name in &rule.patterns.detect {
            builder.detector(source, name)?;
        }
        for pattern in &rule.patterns.matches {
            builder.regex(source, &rule.id, pattern)?;
        }
        for keyword in &rule.patterns.keywords {
            builder.word(source, &rule.id, keyword)?;
        }
        let blocks = rule.action == TextAction::Block;
        builder.replace(source, if blocks { Replace::Stop } else { rule.replace });
    }
    if builder.is_empty() {
        return Ok(None);
    }
    let set = builder.build()?;
    set.prepare()?;
    Ok(Some(set))
}

impl TextFlow {
    /// Takes the next piece. The result's `text` may be sent now: it begins with text that was held
    /// back before, and what may still become a match is held back.
    pub fn push(&mut self, piece: &str) -> TextOutcome {
        self.length += piece.len();
        self.seen = self.length;
        self.step(|flow| flow.push(piece))
    }

    /// Ends the text, and decides about the text that was held back.
    pub fn finish(&mut self) -> TextOutcome {
        self.step(Flow::finish)
    }

    /// Takes the next piece without deciding. Returns where it ends, in bytes from the start of the
    /// text.
    pub fn append(&mut self, piece: &str) -> usize {
        self.length += piece.len();
        for flow in [&mut self.acting, &mut self.watching].into_iter().flatten() {
            flow.append(piece);
        }
        self.length
    }

    /// Decides about everything that has arrived, and holds back what may still become a match.
    pub fn settle(&mut self) -> TextSettled {
        self.decide(Flow::settle)
    }

    /// Like [`Self::settle`], at the end of the text: nothing is held back.
    pub fn settle_all(&mut self) -> TextSettled {
        self.decide(Flow::settle_all)
    }

    fn decide(&mut self, decide: fn(&mut Flow) -> FlowDecision) -> TextSettled {
        let seen = std::mem::replace(&mut self.seen, self.length);
        if self.blocked {
            return TextSettled { span: seen..seen, blocked: true, ..TextSettled::default() };
        }
        let mut settled = TextSettled { span: seen..self.length, ..TextSettled::default() };
        if let Some(acting) = &mut self.acting {
            let acted = decide(acting);
            settled.hits.extend(self.guard.hits(&acted.hits));
            (settled.span, settled.changes) = (acted.span, acted.changes);
        }
        if let Some(watching) = &mut self.watching {
            settled.hits.extend(self.guard.hits(&decide(watching).hits));
        }
        self.blocked = settled.hits.iter().any(|hit| hit.action == TextAction::Block);
        settled.blocked = self.blocked;
        settled
    }

    /// The original text of a range that was decided last or is held back.
    pub fn text(&self, span: Range<usize>) -> &str {
        self.acting.as_ref().map_or("", |flow| flow.text(span))
    }

    fn step(&mut self, mut step: impl FnMut(&mut Flow) -> FlowOutput) -> TextOutcome {
        if self.blocked {
            return TextOutcome { text: Some(String::new()), hits: Vec::new(), blocked: true };
        }
        let mut outcome = TextOutcome::default();
        if let Some(acting) = &mut self.acting {
            let flowed = step(acting);
            outcome.hits.extend(self.guard.hits(&flowed.hits));
            outcome.text = flowed.text;
        }
        if let Some(watching) = &mut self.watching {
            let found = step(watching).hits;
            match self.fixed {
                false => outcome.hits.extend(self.guard.hits(&found)),
                true => outcome.hits.extend(self.guard.audited(&found)),
            }
        }
        self.blocked = outcome.hits.iter().any(|hit| hit.action == TextAction::Block);
        outcome.blocked = self.blocked;
        outcome
    }
}

impl TextRule {
    /// Whether it changes anything.
    pub(crate) fn acts(&self) -> bool {
        !self.shadow && self.action != TextAction::Audit
    }

    fn hit(&self, kind: &str) -> TextHit {
        let (action, reason) = match self.shadow {
            false => (self.action, self.reason.clone()),
            true => (
                TextAction::Audit,
                format!("[shadow] would {}: {}", self.action.as_str(), self.reason),
            ),
        };
        TextHit {
            policy: self.policy.clone(),
            rule: self.id.clone(),
            action,
            kind: kind.to_owned(),
            reason,
            hint: self.hint.clone(),
        }
    }
}
