//! Counts limits and checks the history. A call is counted only if nothing else stops it. If a limit
//! is used up, the rules are asked again.

use std::sync::Arc;

use callgate_policy::{Judgement, LimitKey, SpentLimits};

use super::Resolved;
use super::judge::Judged;
use super::resolve::HistoryEntry;
use crate::counter::Counter;
use crate::decider::DeciderState;
use crate::mcp::{McpSettings, too_many};
use crate::session_steps::KeyedStep;
use crate::store_query::StoreUnavailable;

/// A call that was counted, with the judgement of the rules about it and its limits.
#[derive(Debug)]
pub(crate) struct Metered {
    pub(crate) resolved: Resolved,
    pub(crate) judgement: Judgement,
    /// What to store for later calls, if this one is allowed.
    pub(crate) steps: Vec<KeyedStep>,
    history_entry: HistoryEntry,
}

pub(crate) async fn meter(
    inner: &Arc<DeciderState>,
    judged: Judged,
) -> Result<Metered, StoreUnavailable> {
    let metered = Metered::new(judged);
    match metered.needs_store() {
        // If the client has gone, the call must not stay in the history of its session.
        true => inner.query_store_or_undo(move |inner| metered.counted(inner), Metered::undo).await,
        false => Ok(metered.counted(inner)),
    }
}

impl Metered {
    /// Nothing is counted yet.
    fn new(judged: Judged) -> Self {
        let Judged { resolved, judgement } = judged;
        Self { resolved, judgement, steps: Vec::new(), history_entry: HistoryEntry::NotKept }
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

    /// Whether counting the call needs the store.
    fn needs_store(&self) -> bool {
        let counts = !self.resolved.rate.is_empty() || !(self.stops() || self.limits().is_empty());
        let notes = self.resolved.target_tool().is_some_and(|at| at.history_since.is_some());
        (notes && self.passes()) || (counts && self.settings().shared_limits)
    }

    /// The limits that count this call. It is counted once, at the first door that sees it. If its
    /// arguments are not examined, no rule counts it.
    fn limits(&self) -> &[LimitKey] {
        match self.resolved.joined().is_some() || self.resolved.waived {
            true => &[],
            false => &self.judgement.limits,
        }
    }

    fn counted(mut self, inner: &DeciderState) -> Self {
        // All reasons are reported, even if one of them is enough.
        let mut spent = Counter::of(inner, self.settings()).empty(&self.resolved.rate);
        self.resolved.add_failures(spent.iter().map(too_many));
        if self.passes() {
            self.history_entry = self.resolved.add_to_history(inner);
        }
        if !self.stops() {
            self.take_tokens(&mut Counter::of(inner, self.settings()), &mut spent);
        }
        if self.passes() {
            self.steps = self.resolved.steps(inner, &self.judgement, self.history_entry);
        } else {
            self.resolved.remove_from_history(inner, self.history_entry);
        }
        self
    }

    /// Removes the call from the history, because its client has gone.
    fn undo(self, inner: &DeciderState) {
        self.resolved.remove_from_history(inner, self.history_entry);
    }

    /// Takes a token for every limit and rate that counts the call, or no token at all. If one is
    /// empty, judges the call again with that. `spent` are the rates that were reported as empty.
    fn take_tokens(&mut self, tokens: &mut Counter<'_>, spent: &mut Vec<LimitKey>) {
        let limits = self.limits().to_vec();
        let keys = [limits.as_slice(), &self.resolved.rate].concat();
        if keys.is_empty() {
            return;
        }
        tokens.spend(&keys, |empty| {
            if !limits.is_empty() && !empty.is_empty() {
                let limits = SpentLimits::exceeded(empty.iter().cloned());
                self.judgement = self.resolved.subject.judge(&limits, self.resolved.findings());
            }
            let is_first_seen =
                |key: &&LimitKey| self.resolved.rate.contains(key) && !spent.contains(key);
            let news: Vec<LimitKey> = empty.iter().filter(is_first_seen).cloned().collect();
            self.resolved.add_failures(news.iter().map(too_many));
            spent.extend(news);
            self.passes()
        });
    }
}
