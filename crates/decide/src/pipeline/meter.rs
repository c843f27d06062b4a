//! Limits, and what was called before. Counted only if nothing else stops the call.

use std::sync::Arc;

use callgate_policy::{Judgement, LimitKey, SpentLimits};

use super::Resolved;
use super::effects::Analysed;
use crate::clerk::NoAnswer;
use crate::counter::Counter;
use crate::decider::Inner;
use crate::mcp::{KeyedStep, McpSettings, Noted, too_many};

/// A call that was counted, with what the rules say about it.
#[derive(Debug)]
pub(crate) struct Metered {
    pub(crate) resolved: Resolved,
    pub(crate) judgement: Judgement,
    /// What later calls are judged with in mind, if this one passes.
    pub(crate) steps: Vec<KeyedStep>,
    noted: Noted,
}

pub(crate) async fn meter(inner: &Arc<Inner>, analysed: Analysed) -> Result<Metered, NoAnswer> {
    let metered = Metered::new(analysed.resolved);
    match metered.needs_store() {
        // Whoever has gone makes no call: it must not count among those of its session.
        true => inner.ask_or(move |inner| metered.counted(inner), Metered::undo).await,
        false => Ok(metered.counted(inner)),
    }
}

impl Metered {
    /// Judged before any limit is asked.
    fn new(resolved: Resolved) -> Self {
        let subject = &resolved.subject;
        let judgement = match resolved.waived {
            true => subject.judge_waived(),
            false => subject.judge(&SpentLimits::none(), resolved.findings()),
        };
        Self { resolved, judgement, steps: Vec::new(), noted: Noted::No }
    }

    fn settings(&self) -> &McpSettings {
        &self.resolved.subject.in_force.mcp
    }

    fn stops(&self) -> bool {
        self.resolved.stops() || self.judgement.verdict.stops()
    }

    fn passes(&self) -> bool {
        !self.resolved.stops() && self.judgement.verdict.passes()
    }

    /// Whether counting it asks the store.
    fn needs_store(&self) -> bool {
        let counts = !self.resolved.rate.is_empty() || !(self.stops() || self.limits().is_empty());
        let notes = self.resolved.at_tool().is_some_and(|at| at.noted_since.is_some());
        (notes && self.passes()) || (counts && self.settings().shared_limits)
    }

    /// A call is counted once, at the first door that sees it. One whose arguments nobody looks at is
    /// counted by no rule.
    fn limits(&self) -> &[LimitKey] {
        match self.resolved.joined().is_some() || self.resolved.waived {
            true => &[],
            false => &self.judgement.limits,
        }
    }

    fn counted(mut self, inner: &Inner) -> Self {
        // What speaks against a call is told even if something else stops it.
        let mut spent = Counter::of(inner, self.settings()).empty(&self.resolved.rate);
        self.resolved.object(spent.iter().map(too_many));
        if self.passes() {
            self.noted = self.resolved.note(inner);
        }
        if !self.stops() {
            self.take_tokens(&mut Counter::of(inner, self.settings()), &mut spent);
        }
        if self.passes() {
            self.steps = self.resolved.steps(inner, &self.judgement, self.noted);
        } else {
            self.resolved.take_back(inner, self.noted);
        }
        self
    }

    /// Nobody waits for the call any more.
    fn undo(self, inner: &Inner) {
        self.resolved.take_back(inner, self.noted);
    }

    /// Takes a token for every limit and rate that the call is counted by, or none at all: then it is
    /// judged again with what was found empty. `spent` are the rates that were told to be.
    fn take_tokens(&mut self, tokens: &mut Counter<'_>, spent: &mut Vec<LimitKey>) {
        let limits = self.limits().to_vec();
        let keys = [limits.as_slice(), &self.resolved.rate].concat();
        if keys.is_empty() {
            return;
        }
        tokens.spend(&keys, |empty| {
            if !limits.is_empty() && !empty.is_empty() {
                let facts = SpentLimits::exceeded(empty.iter().cloned());
                self.judgement = self.resolved.subject.judge(&facts, self.resolved.findings());
            }
            let is_news =
                |key: &&LimitKey| self.resolved.rate.contains(key) && !spent.contains(key);
            let news: Vec<LimitKey> = empty.iter().filter(is_news).cloned().collect();
            self.resolved.object(news.iter().map(too_many));
            spent.extend(news);
            self.passes()
        });
    }
}
