//! All text rules of one direction at work.

use std::ops::Range;
use std::sync::Arc;

use callgate_scan::{Change, Flow, Flowed, Hit, Replace, Set, Settled, Unusable};

use super::{TextAction, TextRule};

/// The text rules for one direction. Cheap to clone.
#[derive(Debug, Clone)]
pub struct TextGuard(Arc<Guard>);

#[derive(Debug)]
struct Guard {
    rules: Vec<Arc<TextRule>>,
    /// What rules that mask or block look for.
    acting: Option<Set>,
    /// What is only recorded: nothing is ever held back for it.
    watching: Option<Set>,
}

/// Something a text rule found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextHit {
    /// The rule's policy.
    pub policy: String,
    /// The rule's id.
    pub rule: String,
    /// What becomes of it. A rule in shadow mode audits, and its reason says what it would do.
    pub action: TextAction,
    /// What it is: a detector's name, or the rule's id for its own patterns and keywords.
    pub kind: String,
    /// The rule's reason; in shadow mode prefixed with `[shadow] would mask: `.
    pub reason: String,
    /// The rule's hint.
    pub hint: Option<String>,
}

/// What becomes of a text, or of a piece of one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextOutcome {
    /// What may leave in its place; `None` if it leaves as it came. Where it is blocked, only what
    /// stands in front of the first thing that blocks.
    pub text: Option<String>,
    /// What was found.
    pub hits: Vec<TextHit>,
    /// A rule blocks it.
    pub blocked: bool,
}

/// What was decided of a text in pieces. Places are bytes from the beginning of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextSettled {
    /// From where to where it was decided now. What stands behind is held back; where a rule
    /// blocks, it never leaves.
    pub span: Range<usize>,
    /// What leaves otherwise than it came, in order.
    pub changes: Vec<Change>,
    /// What was found.
    pub hits: Vec<TextHit>,
    /// A rule blocks it.
    pub blocked: bool,
}

/// A text in pieces before the rules.
#[derive(Debug)]
pub struct TextFlow {
    guard: TextGuard,
    acting: Option<Flow>,
    watching: Option<Flow>,
    blocked: bool,
    /// It can be recorded and not changed.
    fixed: bool,
    /// How many bytes have come.
    length: usize,
    /// How many of them were decided, where no rule acts.
    seen: usize,
}

impl TextGuard {
    /// These rules at work, if there are any.
    pub(crate) fn new(rules: &[Arc<TextRule>]) -> Result<Option<Self>, Unusable> {
        if rules.is_empty() {
            return Ok(None);
        }
        let acting = set(rules, |rule| rule.acts())?;
        let watching = set(rules, |rule| !rule.acts())?;
        Ok(Some(Self(Arc::new(Guard { rules: rules.to_vec(), acting, watching }))))
    }

    /// What becomes of a whole text.
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

    /// The same for a text that comes in pieces.
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

    /// The same for a text that nobody can change: rules that audit read it, and no others.
    pub fn fixed_flow(&self) -> TextFlow {
        TextFlow { acting: None, fixed: true, ..self.flow() }
    }

    /// What rules that audit find in a whole text that nobody can change.
    pub fn fixed(&self, text: &str) -> Vec<TextHit> {
        let watching = self.0.watching.as_ref().map(|set| set.find(text)).unwrap_or_default();
        self.audited(&watching).collect()
    }

    /// A rule that only would act, were it not in shadow mode, would not act on such a text.
    fn audited(&self, found: &[Hit]) -> impl Iterator<Item = TextHit> {
        let rules = found.iter().filter_map(|hit| Some((self.0.rules.get(hit.source)?, hit)));
        let audits = rules.filter(|(rule, _)| rule.action == TextAction::Audit);
        audits.map(|(rule, hit)| rule.hit(&hit.kind))
    }

    fn hits(&self, found: &[Hit]) -> impl Iterator<Item = TextHit> {
        found.iter().filter_map(|hit| Some(self.0.rules.get(hit.source)?.hit(&hit.kind)))
    }
}

/// What the rules that are meant look for; a hit's source is the rule's place.
fn set(
    rules: &[Arc<TextRule>],
    meant: impl Fn(&TextRule) -> bool,
) -> Result<Option<Set>, Unusable> {
    let mut builder = Set::builder();
    for (source, rule) in rules.iter().enumerate().filter(|(_, rule)| meant(rule)) {
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
    /// The next piece. `text` is what may leave now: what was held back before comes first, and
    /// what may still become a match is held back.
    pub fn push(&mut self, piece: &str) -> TextOutcome {
        self.length += piece.len();
        self.seen = self.length;
        self.step(|flow| flow.push(piece))
    }

    /// The text is over: what was held back leaves, or does not.
    pub fn finish(&mut self) -> TextOutcome {
        self.step(Flow::finish)
    }

    /// Takes in a piece of which nothing is to be known yet. Answers where it ends, in bytes from
    /// the beginning of the text.
    pub fn append(&mut self, piece: &str) -> usize {
        self.length += piece.len();
        for flow in [&mut self.acting, &mut self.watching].into_iter().flatten() {
            flow.append(piece);
        }
        self.length
    }

    /// Decides what may leave of all that was taken in.
    pub fn settle(&mut self) -> TextSettled {
        self.decide(Flow::settle)
    }

    /// The same, where nothing follows: nothing is held back.
    pub fn settle_all(&mut self) -> TextSettled {
        self.decide(Flow::settle_all)
    }

    fn decide(&mut self, decide: fn(&mut Flow) -> Settled) -> TextSettled {
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

    /// The text of a place, as it came: of what was decided last, and of what is held back.
    pub fn text(&self, span: Range<usize>) -> &str {
        self.acting.as_ref().map_or("", |flow| flow.text(span))
    }

    fn step(&mut self, mut step: impl FnMut(&mut Flow) -> Flowed) -> TextOutcome {
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
